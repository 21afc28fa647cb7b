/* sim/cli/emit_tools.h — the frameworks of --emit, alphabetical: rows of a table that help,
 * completion and the writers are made from. */
#pragma once

#define PP_EMIT_TOOLS(TOOL)                                                                        \
    TOOL(deepspeed)                                                                                \
    TOOL(megatron)                                                                                 \
    TOOL(nanotron)                                                                                 \
    TOOL(torchtitan)
