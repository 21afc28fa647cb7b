/* sim/error/best.h — the highest MFU that was published for a device.
 *
 * mfus.h lists the published runs of tests/published whose model flops, step and device are known.
 * A prediction above all of them may hold, but no publication supports it. */
#pragma once

#include "sim/config/config.h"

struct pp_best_mfu {
    const char *device, *precision;
    int runs;        /* published */
    double mfu_frac; /* the highest, by the rule `megatron` of --flops */
    const char *id;  /* its row in tests/published */
};

/* Returns the highest published MFU of the run's device and precision. NULL if there is none, the
 * device is unlike its preset, or costs are units or measured. */
const struct pp_best_mfu *pp_best_mfu_of(const struct pp_config *config);
/* Returns "above all 1,183 published runs on a100 in bf16 (best 65.3 %)", or NULL if `mfu` is not
 * above the highest published one. `mfu` is that of the run, by its own rule. */
const char *pp_best_mfu_text(struct pp_arena *arena, const struct pp_config *config, double mfu);
