/* Bands of runs that train. */
#include "sim/error/parts.h"

#include "core/cost/fitted.h"

#include <math.h>
#include <string.h>

/* The criteria of generation are no criteria here: rows of training do not tell them. */
#define PP_ERROR_ROWS(name, framework_name, precision_name, pp, nodes, experts, from, ...)         \
    {.device = (name),                                                                             \
     .framework = (framework_name),                                                                \
     .precision = (precision_name),                                                                \
     .has_pp = (pp),                                                                               \
     .has_nodes = (nodes),                                                                         \
     .has_experts = (experts),                                                                     \
     .source_count = PP_COUNT(from),                                                               \
     .count = PP_COUNT(((const int16_t[]){__VA_ARGS__})),                                          \
     .sources = (from),                                                                            \
     .permille = (const int16_t[]){__VA_ARGS__}},
static const struct pp_error_group STEPS[] = {
#define PP_STEP_ERRORS PP_ERROR_ROWS
#define PP_MEMORY_ERRORS(...)
#include "sim/error/rows.h"
#undef PP_STEP_ERRORS
#undef PP_MEMORY_ERRORS
};
static const struct pp_error_group MEMORIES[] = {
#define PP_STEP_ERRORS(...)
#define PP_MEMORY_ERRORS PP_ERROR_ROWS
#include "sim/error/rows.h"
#undef PP_STEP_ERRORS
#undef PP_MEMORY_ERRORS
};

static const enum pp_criterion STEP_ORDER[] = {PP_LIKE_VERSION,   PP_LIKE_PIPELINE,
                                               PP_LIKE_NODES,     PP_LIKE_DEVICE,
                                               PP_LIKE_PRECISION, PP_LIKE_FRAMEWORK};
static const enum pp_criterion MEMORY_ORDER[] = {
    PP_LIKE_VERSION,  PP_LIKE_NODES,     PP_LIKE_DEVICE,   PP_LIKE_GENERATION,
    PP_LIKE_PIPELINE, PP_LIKE_PRECISION, PP_LIKE_FRAMEWORK};

static bool is_within(double x, double y, double factor)
{
    return x <= y * factor && y <= x * factor;
}

const struct pp_device *pp_error_device(const struct pp_device *device)
{
    for (const struct pp_device *d = pp_device_presets; d->name; d++)
        if (!strcmp(d->name, device->name) &&
            is_within(pp_device_peak(d, device->precision), device->peak_flops_per_s, 1.25) &&
            is_within(d->memory_bytes_per_s, device->memory_bytes_per_s, 1.5))
            return d;
    return NULL;
}

/* Returns the error of the user's own constants: of layouts left out of the fit, if that is known,
 * else of the fitted steps. The file has no other percentile. */
static struct pp_error_band own_band(struct pp_arena *arena, const struct pp_fitted *fitted,
                                     const struct pp_model *model, const char **missing)
{
    const bool is_left_out = isfinite(fitted->left_out);
    const double median_frac = is_left_out ? fitted->left_out : fitted->after;
    struct pp_error_band band = {.median_frac = (double)NAN, .p90_frac = (double)NAN};

    if (fitted->rows == 0 || !isfinite(median_frac))
        *missing = pp_arena_printf(arena, "%s does not state it", fitted->path);
    else if (!pp_fitted_has_model(fitted, model))
        *missing = pp_arena_printf(arena, "%s has no step of this model", fitted->path);
    else
        band = (struct pp_error_band){
            .rows = fitted->rows,
            .median_frac = median_frac,
            .p90_frac = (double)NAN,
            .like = pp_arena_printf(arena, "%s, %s", fitted->path,
                                    is_left_out ? "each layout with constants of the others"
                                                : "to which its constants are fitted")};
    return band;
}

const char *pp_error_unknown(const struct pp_config *config, const struct pp_device **known)
{
    if (config->is_unit)
        return "unit costs are the user's";
    if (config->cost)
        return "costs are measured; their error is not known here";
    *known = pp_error_device(&config->cluster.device);
    return *known ? NULL : "no published run is of this device";
}

struct pp_error_bands pp_error_bands_of(struct pp_arena *arena, const struct pp_config *config)
{
    static const struct pp_error_rows STEP = {.groups = STEPS,
                                              .count = PP_COUNT(STEPS),
                                              .order = STEP_ORDER,
                                              .order_count = PP_COUNT(STEP_ORDER),
                                              .sources_min = PP_ERROR_SOURCES_MIN},
                                      MEMORY = {.groups = MEMORIES,
                                                .count = PP_COUNT(MEMORIES),
                                                .order = MEMORY_ORDER,
                                                .order_count = PP_COUNT(MEMORY_ORDER),
                                                .sources_min = PP_ERROR_SOURCES_MIN};
    const struct pp_error_band none = {.median_frac = (double)NAN, .p90_frac = (double)NAN};
    struct pp_error_bands bands = {.step = none, .memory = none};
    const struct pp_device *known = NULL;

    if ((bands.missing = pp_error_unknown(config, &known)))
        return bands;
    struct pp_likeness run = pp_likeness_of_run(config, known);
    run.word[PP_LIKE_TENSOR] = run.word[PP_LIKE_SIZE] = run.word[PP_LIKE_PLACE] = NULL;
    if (config->fitted)
        bands.step = own_band(arena, config->fitted, &config->model, &bands.missing);
    else
        bands.step = pp_error_band_like(arena, &run, &STEP);
    if (bands.step.rows == 0 && !config->fitted)
        bands.missing = pp_arena_printf(arena, "too few published runs are like this (%s, %s)",
                                        run.word[PP_LIKE_GENERATION], run.word[PP_LIKE_EXPERTS]);
    else
        bands.memory = pp_error_band_like(arena, &run, &MEMORY);
    return bands;
}
