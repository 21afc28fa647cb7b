/* sim/cli/cli.h — the command line of pipesim: commands, options, examples, as tables. */
#ifndef PP_SIM_CLI_CLI_H
#define PP_SIM_CLI_CLI_H

#include "core/cli/request.h"

#define PP_GROUP_OUTPUT "Output" /* options that change no figure */
enum pp_sim_command {
    PP_CMD_RUN,
    PP_CMD_SCHEDULES,
    PP_CMD_MODELS,
    PP_CMD_CLUSTERS,
    PP_CMD_PRESETS,
    PP_CMD_PROGRAM,
    PP_CMD_VERIFY,
    PP_CMD_COMPARE,
    PP_CMD_CALIBRATE,
    PP_CMD_SWEEP,
    PP_CMD_PLOT,
    PP_CMD_VALIDATE,
    PP_CMD_PLAN,
    PP_CMD_CHECK,
    PP_CMD_EXPORT,
    PP_CMD_HELP,
};
extern struct pp_cli pp_sim_cli; /* complete before main() begins; read only */
extern const struct pp_topic pp_sim_topics[]; /* alphabetical, ends with a name of NULL */

extern const struct pp_preset pp_presets[]; /* alphabetical, terminated by name NULL */

#endif
