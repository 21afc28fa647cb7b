/* sim/fit/fit.h — a run that does not fit: what takes the memory, and which flags would help.
 *
 * Every flag is tried by typing it: the user's own command with it is resolved anew and simulated.
 * What the user left open is chosen as ever. The same command prints the same figures.
 * Batch and model stay as they are. */
#pragma once

#include "sim/config/config.h"

/* A class of tensors of the fullest rank at its peak. */
struct pp_holder {
    const char *what; /* "optimizer" */
    int stage;        /* -1: of no single one */
    double bytes;
};
struct pp_relief {
    const char *flags;      /* "--tp 4 --dp 8": to be added to the command ... */
    const char *instead_of; /* ... in place of these of it: "--tp 2", "" = none */
    double peak_bytes, iteration_s;
    int gpus;
    bool fits;
};
enum { PP_RELIEFS_SHOWN = 8 };
struct pp_oom {
    double needed_bytes;       /* beyond what the device has */
    double iteration_s;        /* of the run itself, as the reliefs are simulated */
    bool is_contention_free;   /* many replicas share links: reliefs are simulated as if none did */
    struct pp_holder *holders; /* largest first */
    struct pp_relief *reliefs; /* fitting ones first, without more devices before those with, fast
                                * before slow; then by size. Where no single one fits the first
                                * is a combination, if one does */
    int holder_count, relief_count;
    const char *replaced; /* what those shown stand in place of, as in instead_of */
};

/* NULL where there is nothing to say: the run fits, or costs are abstract. In the arena. */
const struct pp_oom *pp_oom_find(struct pp_arena *arena, const struct pp_result *result);
