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
    double peak_bytes, iteration_s;
    int gpus;
    bool fits;
};
enum { PP_RELIEFS_SHOWN = 8 };
struct pp_oom {
    double needed_bytes;       /* beyond the memory of the device */
    double iteration_s;        /* of the run, simulated as the reliefs are */
    bool is_contention_free;   /* replicas share links, but reliefs have links of their own */
    struct pp_holder *holders; /* largest first */
    struct pp_relief *reliefs; /* fitting ones first, then by devices, then by time (if they do not
                                * fit by size). A combination is tried if no single one fits, and
                                * is then the first */
    int holder_count, relief_count;
    const char *replaced; /* flags that the shown reliefs replace, as in instead_of */
};

/* Finds memory and reliefs, in the arena; NULL if the device has room, or in unit mode. */
const struct pp_oom *pp_oom_find(struct pp_arena *arena, const struct pp_result *result);
