/* Compares an MFU with the highest published ones. */
#include "sim/error/best.h"

#include "core/units.h"
#include "sim/error/band.h"

#include <string.h>

static const struct pp_best_mfu TABLE[] = {
#define PP_BEST_MFU(device, precision, runs, permille, id)                                         \
    {device, precision, runs, (permille) / 1000.0, id},
#include "sim/error/mfus.h"
#undef PP_BEST_MFU
};

const struct pp_best_mfu *pp_best_mfu_of(const struct pp_config *config)
{
    const struct pp_device *device =
        config->is_unit || config->cost ? NULL : pp_error_device(&config->cluster.device);

    if (!device)
        return NULL;
    const enum pp_precision given = config->cluster.device.precision;
    const char *precision =
        pp_precision_names[given == PP_PRECISION_FP16 ? PP_PRECISION_BF16 : given];
    for (size_t i = 0; i < PP_COUNT(TABLE); i++)
        if (!strcmp(TABLE[i].device, device->name) && !strcmp(TABLE[i].precision, precision))
            return &TABLE[i];
    return NULL;
}

const char *pp_best_mfu_text(struct pp_arena *arena, const struct pp_config *config, double mfu)
{
    const struct pp_best_mfu *best = pp_best_mfu_of(config);
    const int seq = config->layout.seq;
    char runs[PP_UNITS_TEXT_BYTES];

    if (!best)
        return NULL;
    mfu *= pp_model_flops_per_sample(&config->model, seq, PP_FLOPS_MEGATRON) /
           pp_model_flops_per_sample(&config->model, seq, config->flops);
    if (!(mfu > best->mfu_frac))
        return NULL;
    return pp_arena_printf(arena, "above all %s published runs on %s in %s (best %.1f~%%)",
                           pp_units_print_count(best->runs, runs), best->device, best->precision,
                           100 * best->mfu_frac);
}
