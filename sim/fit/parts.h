/* sim/fit/parts.h — parts of sim/fit/fit.h: changes of a run, and the run with them; private. */
#pragma once

#include "sim/fit/fit.h"

/* Setting that a relief may change; the rest stays. */
struct pp_relief_setting {
    struct pp_layout layout;
    int zero; /* -1: sharded by --shard */
    enum pp_recompute recompute;
    unsigned again;
    const char *schedule;
    const char *offload; /* NULL = all state is on the device */
    int act_bits;        /* 0 = not quantised */
    bool has_cpu_update, is_offloaded_by_layer;
    bool is_tp_only;
};
/* Texts are copied: a configuration may end before its setting. */
struct pp_relief_setting pp_relief_setting_of(struct pp_arena *arena,
                                              const struct pp_config *config);

/* Flags that are added to the user's command, or replace those of the same name. Texts of values
 * are static or in the arena; NULL: the flag has no value. */
enum { PP_RELIEF_FLAGS_MAX = 16 };
struct pp_relief_flag {
    const char *name, *value;
};
struct pp_relief_flags {
    struct pp_arena *arena;
    struct pp_relief_flag list[PP_RELIEF_FLAGS_MAX];
    int count;
};

/* Takes a way to need less memory other than recomputation; false if the run cannot, or has it.
 * New texts are in the arena. */
enum { PP_RELIEF_KINDS = 17 };
bool pp_relief_take(struct pp_arena *arena, int kind, struct pp_relief_setting *setting,
                    const struct pp_config *config);
/* A kind is worth a trial after this outcome of the kind before it. */
enum pp_relief_after {
    PP_RELIEF_AFTER_ANY,
    PP_RELIEF_AFTER_NO_HELP,
    PP_RELIEF_AFTER_SLOW_FIT /* it fits, but takes more time than the run */
};
enum pp_relief_after pp_relief_after(int kind);

/* Adds the flags that turn `from`, the setting of `config`, into `to`. Replicas, devices and
 * micro-batches follow from the rest, so they are added only if the user gave them. */
void pp_relief_change(const struct pp_config *config, const struct pp_relief_setting *from,
                      const struct pp_relief_setting *to, struct pp_relief_flags *flags);
/* `flags` and the degrees of a setting that the user left open. */
struct pp_relief_flags pp_relief_pin(const struct pp_config *config,
                                     const struct pp_relief_setting *setting,
                                     struct pp_relief_flags flags);
/* Is true if a flag is one of them. */
bool pp_relief_has(const struct pp_relief_flags *flags, const char *name);
/* Text such as "--tp 4 --dp 8". */
const char *pp_relief_print(struct pp_arena *arena, const struct pp_relief_flags *flags);
/* Adds the user's flags of the same names to `typed`. */
void pp_relief_typed(const struct pp_config *config, const struct pp_relief_flags *flags,
                     struct pp_relief_flags *typed);
/* Resolves the user's command of `config` with the flags. Open options are chosen as for any run.
 * Adds a flag for the batch if it would change. PP_EINVAL if the run cannot have the flags. */
enum pp_status pp_relief_resolve(struct pp_arena *arena, const struct pp_config *config,
                                 struct pp_relief_flags *flags, struct pp_config *other,
                                 struct pp_prepared *prepared, struct pp_error *err);
/* Returns the user's command of `config`, with the flags in place of those of the same name.
 * PP_EINVAL if an option does not take the value. */
enum pp_status pp_relief_command(struct pp_arena *arena, const struct pp_config *config,
                                 const struct pp_relief_flags *flags, struct pp_parsed **command,
                                 struct pp_error *err);
/* Simulates makespan and memory of a configuration by its own engine, or without contention. */
enum pp_status pp_relief_simulate(struct pp_arena *arena, const struct pp_config *config,
                                  bool has_own_links, struct pp_prepared *prepared,
                                  struct pp_result *result, struct pp_error *err);
/* Orders fitting reliefs first, then by devices, then by time (by size if they do not fit). */
int pp_relief_compare(const struct pp_relief *x, const struct pp_relief *y);
/* Is true if two reliefs move state off as many devices, and the other is as good or better in time
 * and in memory. */
bool pp_relief_is_outdone(const struct pp_relief *relief, const struct pp_relief *other);
/* Adds the tensors of the fullest rank at its peak to oom->holders. */
void pp_oom_hold(struct pp_arena *arena, const struct pp_result *result, struct pp_oom *oom);
