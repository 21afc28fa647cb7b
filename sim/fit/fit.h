/* sim/fit/fit.h — a run that does not fit: its memory, and flags that would help.
 *
 * Each flag is tried on the user's own command, which is resolved and simulated again. Options
 * that the user left open are chosen as usual. Typing the changed command gives the printed
 * figures. Batch and model stay as they are. */
#pragma once

#include "sim/config/config.h"

/* A class of tensors of the fullest rank at its peak. */
struct pp_holder {
    const char *what; /* "optimizer" */
    int stage;        /* -1 = no single one */
    double bytes;
};
struct pp_relief {
    const char *flags;      /* "--tp 4 --dp 8": to be added to the command */
    const char *instead_of; /* flags of the command that they replace: "--tp 2"; "" = none */
    const struct pp_parsed *command; /* the changed command */
    const char *also; /* state that the tool chooses otherwise with them: "ZeRO 0"; "" = none */
    double peak_bytes, iteration_s;
    int gpus;
    bool fits, is_moved; /* is_moved: more state, or saved activations, off the device */
};
enum { PP_RELIEFS_SHOWN = 8 };
struct pp_oom {
    double iteration_s;        /* of the run, simulated as the reliefs are */
    bool is_contention_free;   /* replicas share links, but reliefs have links of their own */
    struct pp_holder *holders; /* largest first */
    struct pp_relief *reliefs; /* fitting ones first, then by devices, then by time (if they do not
                                * fit by size). A combination is tried if no single one fits, and
                                * is then the first */
    int holder_count, relief_count;
    const char *replaced; /* flags that the shown reliefs replace, as in instead_of */
};

/* A level of recomputation, simulated with the rest of a run by dag. */
struct pp_level {
    const char *text; /* as --recompute takes it */
    struct pp_outcome outcome;
};
struct pp_levels {
    struct pp_level *list; /* from none to full */
    int count, chosen;     /* chosen: index of the run's own */
};
/* Simulates the levels of a run whose recomputation the tool chose: none, its own and the last, or
 * all of them. In the arena; NULL if nothing is computed again. */
const struct pp_levels *pp_levels_find(struct pp_arena *arena, const struct pp_result *result,
                                       bool has_all);

/* Finds memory and reliefs, in the arena; NULL if the device has room, or in unit mode. */
const struct pp_oom *pp_oom_find(struct pp_arena *arena, const struct pp_result *result);

/* Text such as "p is loaded 2 m (V - R) + R = 119 times a step; --cache~12 would load 107
 * (+0.7~GiB)". NULL without --cache, if no more units have room, or if the loads have no closed
 * form. */
const char *pp_cache_note(struct pp_arena *arena, const struct pp_result *result);
