/* sim/emit/emit.h — a resolved run as the configuration of a training framework: the fragment that
 * says the same degrees, batch, schedule, model, recomputation and sharding there. What the
 * framework cannot do is said in a comment, with the nearest that it can. */
#pragma once

#include "sim/cli/wish.h"
#include "sim/config/config.h"

struct pp_emit_tool;
/* By the name of a command line. PP_EINVAL with a suggestion. */
enum pp_status pp_emit_find(const char *name, const struct pp_emit_tool **tool,
                            struct pp_error *err);

/* --emit and -o of a run, checked before anything is simulated. */
struct pp_emit_target {
    const struct pp_emit_tool *tool; /* NULL: nothing is asked for */
    const char *path;                /* NULL: stdout, in place of the report */
};
/* PP_EINVAL for an unknown framework, in unit mode, and for -o without --emit; PP_EFAIL where the
 * file cannot be written. */
enum pp_status pp_emit_open(struct pp_arena *arena, const struct pp_wish *wish,
                            struct pp_emit_target *target, struct pp_error *err);

/* --emit of a plan, where -o is its table. PP_EINVAL as above; *tool NULL: nothing is asked for. */
enum pp_status pp_emit_open_plan(const struct pp_wish *wish, const struct pp_emit_tool **tool,
                                 struct pp_error *err);

struct pp_emit_run {
    const struct pp_config *config;   /* complete, not of unit mode */
    const struct pp_program *program; /* as simulated; read with a path only */
    bool fits;
    const char *path;   /* NULL or "-": `out` */
    const char *remark; /* a sentence more, or NULL */
};
/* Whether the framework runs the degrees and this very order, not the nearest. */
bool pp_emit_runs(struct pp_arena *arena, const struct pp_emit_tool *tool,
                  const struct pp_config *config);
/* Print the fragment, or write it to run->path with the files that belong to it: FILE.csv
 * next to FILE.toml. PP_EINVAL, and nothing printed, where the framework cannot run the
 * degrees. PP_EFAIL when a file cannot be written; then none is. */
enum pp_status pp_emit(struct pp_arena *arena, const struct pp_emit_tool *tool,
                       const struct pp_emit_run *run, FILE *out, struct pp_error *err);
