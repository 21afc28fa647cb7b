/* sim/emit/emit.h — writes a resolved run as the configuration of a training framework: a fragment
 * with the same degrees, batch, schedule, model, recomputation and sharding. Its comments say what
 * the framework cannot do, with the nearest that it can. */
#pragma once

#include "sim/cli/wish.h"
#include "sim/config/config.h"

struct pp_emit_tool;
/* Finds a framework by its name on the command line. PP_EINVAL with a suggestion. */
enum pp_status pp_emit_find(const char *name, const struct pp_emit_tool **tool,
                            struct pp_error *err);

/* Returns what the framework runs. */
const struct pp_tool *pp_emit_software(const struct pp_emit_tool *tool);

/* --emit and -o of a run, checked before the simulation. */
struct pp_emit_target {
    const struct pp_emit_tool *tool; /* NULL without --emit */
    const char *path;                /* NULL: stdout, in place of the report */
};
/* PP_EINVAL: unknown framework, unit mode, or -o without --emit. PP_EFAIL: unwritable file. */
enum pp_status pp_emit_open(struct pp_arena *arena, const struct pp_wish *wish,
                            struct pp_emit_target *target, struct pp_error *err);

/* Reads --emit of a plan, where -o is its table; *tool NULL: not given. PP_EINVAL if unknown. */
enum pp_status pp_emit_open_plan(const struct pp_wish *wish, const struct pp_emit_tool **tool,
                                 struct pp_error *err);

struct pp_emit_run {
    const struct pp_config *config;   /* complete, not of unit mode */
    const struct pp_program *program; /* as simulated; read only with a path */
    bool fits;
    const char *path;   /* NULL or "-": `out` */
    const char *remark; /* further sentence, or NULL */
};
/* Is true if the framework runs the degrees and this very order, not the nearest. */
bool pp_emit_runs(struct pp_arena *arena, const struct pp_emit_tool *tool,
                  const struct pp_config *config);
/* Prints the fragment, or writes it to run->path, with FILE.csv next to FILE.toml. PP_EINVAL, with
 * nothing printed, if the framework cannot run the degrees. PP_EFAIL, with no file, if one cannot
 * be written. */
enum pp_status pp_emit(struct pp_arena *arena, const struct pp_emit_tool *tool,
                       const struct pp_emit_run *run, FILE *out, struct pp_error *err);
