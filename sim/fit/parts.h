/* sim/fit/parts.h — the pieces of sim/fit/fit.h: what may be changed of a run, and the same
 * run with it. Private to sim/fit. */
#pragma once

#include "sim/fit/fit.h"

/* What a relief changes of a run; all else is as asked for. */
struct pp_relief_setting {
    struct pp_layout layout;
    int zero; /* -1: cut by --shard */
    const char *recompute, *schedule, *offload;
    bool is_tp_only;
};
struct pp_relief_setting pp_relief_setting_of(const struct pp_config *config);

/* Flags that stand in place of those of the same name in the user's own command, or next to them.
 */
enum { PP_RELIEF_FLAGS_MAX = 16, PP_RELIEF_VALUE_BYTES = 32 };
struct pp_relief_flag {
    const char *name;
    char value[PP_RELIEF_VALUE_BYTES];
};
struct pp_relief_flags {
    struct pp_relief_flag list[PP_RELIEF_FLAGS_MAX];
    int count;
};

/* Ways to need less memory, mildest first. False where the run cannot go one, or goes it already.
 */
enum { PP_RELIEF_KINDS = 14 };
bool pp_relief_take(int kind, struct pp_relief_setting *setting, const struct pp_config *config);

/* Adds the flags that turn `from`, the setting of `config`, into `to`. Replicas, devices and
 * micro-batches follow from the rest, so they are added only if the user gave them. */
void pp_relief_change(const struct pp_config *config, const struct pp_relief_setting *from,
                      const struct pp_relief_setting *to, struct pp_relief_flags *flags);
/* `flags` and the degrees of a setting, where the user left them open. */
struct pp_relief_flags pp_relief_pin(const struct pp_config *config,
                                     const struct pp_relief_setting *setting,
                                     struct pp_relief_flags flags);
/* "--tp 4 --dp 8" */
const char *pp_relief_print(struct pp_arena *arena, const struct pp_relief_flags *flags);
/* Add to `typed` what the user typed of the same names. */
void pp_relief_typed(const struct pp_config *config, const struct pp_relief_flags *flags,
                     struct pp_relief_flags *typed);
/* The user's own command of `config` with the flags, resolved anew. What it leaves open is chosen
 * as for any run. A flag for the batch is added to `flags` where it would be another one.
 * PP_EINVAL for what the run cannot have. */
enum pp_status pp_relief_resolve(struct pp_arena *arena, const struct pp_config *config,
                                 struct pp_relief_flags *flags, struct pp_config *other,
                                 struct pp_error *err);
/* Makespan and memory of a configuration by its own engine, or with links that are not shared. */
enum pp_status pp_relief_simulate(struct pp_arena *arena, const struct pp_config *config,
                                  bool has_own_links, struct pp_result *result,
                                  struct pp_error *err);
