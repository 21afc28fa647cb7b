/* sim/cli/emit_tools.h — table of the frameworks of --emit, for help, completion and writers. */
#pragma once

#define PP_EMIT_TOOLS(TOOL)                                                                        \
    TOOL(deepspeed)                                                                                \
    TOOL(megatron)                                                                                 \
    TOOL(nanotron)                                                                                 \
    TOOL(torchtitan)
