/* sim/cli/cli.h — tables of the command line of pipesim: commands, options, examples. */
#pragma once

#include "core/cli/request.h"

/* Default of --memory-margin: the median size of the error of predicted peaks, 4.2 %, rounded
 * (docs/accuracy.md, "Peak memory"; tests/accuracy.sh compares the two). */
#define PP_MEMORY_MARGIN "3%"

#define PP_GROUP_COMM       "Communication"
#define PP_GROUP_OUTPUT     "Output"     /* options that change no prediction */
#define PP_GROUP_GENERATION "Generation" /* options of --mode infer alone */
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

/* Traits of options: bits of pp_option.commands above those of the commands. */
enum pp_sim_trait {
    PP_SIM_UNIT = 1 << 16,           /* has an effect with --unit */
    PP_SIM_UNIT_ONE = 1 << 17,       /* may be 1 with --unit, which fixes it at 1 */
    PP_SIM_OF_PLANNER = 1 << 18,     /* of the planner, not of the runs that it compares */
    PP_SIM_BY_SEARCH = 1 << 19,      /* printed for each layout of a plan */
    PP_SIM_BY_SHARDING = 1 << 20,    /* printed for each choice of a plan of state */
    PP_SIM_NEEDS_REPLICAS = 1 << 21, /* needs several replicas of a stage */
    PP_SIM_NEEDS_SHARDS = 1 << 22,   /* needs sharded parameters */
    PP_SIM_NEEDS_FETCHES = 1 << 23,  /* needs sharded or offloaded parameters */
    PP_SIM_NEEDS_OWN_SUMS = 1 << 24, /* needs gradient sums that are not from a program file */
    PP_SIM_NEEDS_PEERS = 1 << 25,    /* needs several pipeline ranks */
    PP_SIM_NEEDS_DEGREES = 1 << 26,  /* needs several degrees above 1 */
    PP_SIM_NEEDS_GROUPS = 1 << 27,   /* needs collectives */
    PP_SIM_NEEDS_TENSORS = 1 << 28,  /* needs tp above 1 */
    PP_SIM_TRAINS = 1 << 30,         /* has an effect in training alone */
    PP_SIM_NEEDS_MESSAGES = 1 << 29, /* needs messages that are not from a program file */
};

extern const struct pp_preset pp_presets[]; /* alphabetical, terminated by name NULL */
