/* sim/relief_parts.h — the pieces behind sim/relief.h: what may be changed of a run, and the same
 * run with it. Private to sim/relief*.c. */
#ifndef PP_SIM_RELIEF_PARTS_H
#define PP_SIM_RELIEF_PARTS_H

#include "sim/relief.h"

/* What a relief changes of a run; all else is as asked for. */
struct pp_relief_setting {
    int gpus, tp, cp, pp, dp, mbs;
    int zero; /* -1: `shard` */
    const char *shard, *recompute, *schedule, *offload;
    bool is_tp_only;
};
struct pp_relief_setting pp_relief_setting_of(struct pp_arena *arena,
                                              const struct pp_config *config);

/* A way to need less memory: false where the run cannot go it, or goes it already. Mildest first;
 * ends with NULL. */
enum { PP_RELIEF_KINDS_MAX = 16 };
extern bool (*const pp_relief_kinds[])(struct pp_relief_setting *, const struct pp_config *);

/* "--tp 4 --dp 8": the flags in which two settings differ. */
const char *pp_relief_flags(struct pp_arena *arena, const struct pp_relief_setting *from,
                            const struct pp_relief_setting *to);
/* Makespan and memory of the run of `config` with another setting. PP_EINVAL for what it cannot
 * have. */
enum pp_status pp_relief_run(struct pp_arena *arena, const struct pp_config *config,
                             const struct pp_relief_setting *setting, struct pp_result *result,
                             struct pp_error *err);
/* What the fullest rank holds at its peak, into oom->holders. */
void pp_relief_holders(struct pp_arena *arena, const struct pp_result *result, struct pp_oom *oom);

#endif
