/* sim/cli.h — the command line of pipesim: commands, options, examples, as tables. */
#ifndef PP_SIM_CLI_H
#define PP_SIM_CLI_H

#include "core/options.h"

#define PP_GROUP_OUTPUT "Output" /* options that change no figure */
enum pp_sim_command {
    PP_CMD_RUN,
    PP_CMD_SCHEDULES,
    PP_CMD_MODELS,
    PP_CMD_CLUSTERS,
    PP_CMD_PRESETS,
    PP_CMD_PROGRAM,
    PP_CMD_VERIFY,
    PP_CMD_HELP,
};
extern const struct pp_cli pp_sim_cli;

/* A named set of defaults for a run: flags win over them wherever they stand. */
struct pp_preset {
    const char *name, *summary, *source;
    const char *const *arguments; /* as typed: "--model", "gpt2-64", ...; NULL-terminated */
};
extern const struct pp_preset pp_presets[]; /* alphabetical, terminated by name NULL */

#endif
