/* Chooses published rows like a run. */
#include "sim/error/band.h"

#include "core/cost/fitted.h"
#include "core/quantile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------ */

/* Rows with the same criteria. */
struct group {
    const char *device, *framework, *precision;
    bool has_pp, has_nodes, has_experts;
    int source_count, count;
    const uint8_t *sources;  /* numbers of the documents that published them */
    const int16_t *permille; /* predicted / published - 1, in 1/1000 */
};
#define PP_ERROR_SOURCES(...) ((const uint8_t[]){__VA_ARGS__})
#define PP_ERROR_ROWS(device, framework, precision, pp, nodes, experts, sources, ...)              \
    {device,                                                                                       \
     framework,                                                                                    \
     precision,                                                                                    \
     pp,                                                                                           \
     nodes,                                                                                        \
     experts,                                                                                      \
     PP_COUNT(sources),                                                                            \
     PP_COUNT(((const int16_t[]){__VA_ARGS__})),                                                   \
     sources,                                                                                      \
     (const int16_t[]){__VA_ARGS__}},
static const struct group STEPS[] = {
#define PP_STEP_ERRORS PP_ERROR_ROWS
#define PP_MEMORY_ERRORS(...)
#include "sim/error/rows.h"
#undef PP_STEP_ERRORS
#undef PP_MEMORY_ERRORS
};
static const struct group MEMORIES[] = {
#define PP_STEP_ERRORS(...)
#define PP_MEMORY_ERRORS PP_ERROR_ROWS
#include "sim/error/rows.h"
#undef PP_STEP_ERRORS
#undef PP_MEMORY_ERRORS
};
enum { MOST_ROWS = 4096, MOST_SOURCES = 256 };

/* ---- criteria -------------------------------------------------------------------------------- */

enum criterion {
    DEVICE,
    GENERATION,
    VERSION,
    FRAMEWORK,
    PRECISION,
    PIPELINE,
    NODES,
    EXPERTS,
    CRITERIA
};

/* A group or a run in words; NULL: this is no criterion of the run. */
struct likeness {
    const char *word[CRITERIA];
};

/* In the order in which they are dropped. The rest is always kept. */
static const enum criterion STEP_ORDER[] = {VERSION, PIPELINE, NODES, DEVICE, PRECISION, FRAMEWORK};
static const enum criterion MEMORY_ORDER[] = {VERSION,  NODES,     DEVICE,   GENERATION,
                                              PIPELINE, PRECISION, FRAMEWORK};

static const char *generation_of(const char *device)
{
    for (const struct pp_device *d = pp_device_presets; d->name; d++)
        if (!strcmp(d->name, device))
            return d->generation;
    return NULL;
}

static const char *family_of(const char *framework)
{
    for (const struct pp_framework *f = pp_frameworks; f->name; f++)
        if (!strcmp(f->name, framework))
            return f->family;
    return NULL;
}

static const char *bits_of(const char *precision)
{
    return !strcmp(precision, "fp16") || !strcmp(precision, "bf16") ? "16 bits" : precision;
}

static struct likeness likeness_of(const struct group *group)
{
    return (struct likeness){{[DEVICE] = group->device,
                              [GENERATION] = generation_of(group->device),
                              [VERSION] = group->framework,
                              [FRAMEWORK] = family_of(group->framework),
                              [PRECISION] = bits_of(group->precision),
                              [PIPELINE] = group->has_pp ? "PP > 1" : "PP 1",
                              [NODES] = group->has_nodes ? "several nodes" : "one node",
                              [EXPERTS] = group->has_experts ? "experts" : "no experts"}};
}

static bool is_alike(const struct likeness *run, const struct likeness *row, unsigned kept)
{
    for (int i = 0; i < CRITERIA; i++)
        if (kept & 1U << i && run->word[i] &&
            (!row->word[i] || strcmp(run->word[i], row->word[i]) != 0))
            return false;
    return true;
}

/* ---- bands ----------------------------------------------------------------------------------- */

struct rows {
    const struct group *groups;
    int count;
    const enum criterion *order;
    int order_count;
};

/* Returns kept criteria, without those that a narrower one implies. */
static const char *kept_words(struct pp_arena *arena, const struct likeness *run, unsigned kept)
{
    const char *text = "";

    for (int i = 0; i < CRITERIA; i++) {
        const bool is_implied =
            (i == GENERATION && kept & 1U << DEVICE) || (i == FRAMEWORK && kept & 1U << VERSION);
        if (kept & 1U << i && run->word[i] && !is_implied)
            text = pp_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", run->word[i]);
    }
    return text;
}

static struct pp_error_band band_of(struct pp_arena *arena, const struct likeness *run,
                                    const struct rows *rows)
{
    unsigned kept = (1U << CRITERIA) - 1;
    double errors[MOST_ROWS];

    for (int dropped = 0; dropped <= rows->order_count; dropped++) {
        bool is_source[MOST_SOURCES] = {false};
        int count = 0, sources = 0;
        if (dropped > 0)
            kept &= ~(1U << rows->order[dropped - 1]);
        for (int i = 0; i < rows->count; i++) {
            const struct group *group = &rows->groups[i];
            const struct likeness row = likeness_of(group);
            if (!is_alike(run, &row, kept))
                continue;
            for (int k = 0; k < group->source_count; k++) {
                sources += !is_source[group->sources[k]];
                is_source[group->sources[k]] = true;
            }
            for (int k = 0; k < group->count && count < MOST_ROWS; k++)
                errors[count++] = fabs(group->permille[k] / 1000.0);
        }
        if (count >= PP_ERROR_ROWS_MIN && sources >= PP_ERROR_SOURCES_MIN)
            return (struct pp_error_band){.rows = count,
                                          .median_frac = pp_median(errors, count),
                                          .p90_frac = pp_quantile(errors, count, 0.9),
                                          .like = kept_words(arena, run, kept)};
    }
    return (struct pp_error_band){.median_frac = (double)NAN, .p90_frac = (double)NAN};
}

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

struct pp_error_bands pp_error_bands_of(struct pp_arena *arena, const struct pp_config *config)
{
    static const struct rows STEP = {STEPS, PP_COUNT(STEPS), STEP_ORDER, PP_COUNT(STEP_ORDER)};
    static const struct rows MEMORY = {MEMORIES, PP_COUNT(MEMORIES), MEMORY_ORDER,
                                       PP_COUNT(MEMORY_ORDER)};
    const struct pp_device *device = &config->cluster.device, *known = NULL;
    const struct pp_error_band none = {.median_frac = (double)NAN, .p90_frac = (double)NAN};
    struct pp_error_bands bands = {.step = none, .memory = none};

    if (config->is_unit)
        bands.missing = "unit costs are the user's";
    else if (config->cost)
        bands.missing = "costs are measured; their error is not known here";
    else if (!(known = pp_error_device(device)))
        bands.missing = "no published run is of this device";
    if (bands.missing)
        return bands;
    const bool is_plain = config->costs.framework == pp_framework_plain;
    const struct likeness run = {
        {[DEVICE] = known->name,
         [GENERATION] = known->generation,
         [VERSION] = is_plain ? NULL : config->costs.framework->name,
         [FRAMEWORK] = is_plain ? NULL : config->costs.framework->family,
         [PRECISION] = bits_of(pp_precision_names[device->precision]),
         [PIPELINE] = config->layout.pp > 1 ? "PP > 1" : "PP 1",
         [NODES] =
             config->layout.gpus > config->cluster.gpus_per_node ? "several nodes" : "one node",
         [EXPERTS] = config->model.experts.count > 0 ? "experts" : "no experts"}};
    if (config->fitted)
        bands.step = own_band(arena, config->fitted, &config->model, &bands.missing);
    else
        bands.step = band_of(arena, &run, &STEP);
    if (bands.step.rows == 0 && !config->fitted)
        bands.missing = pp_arena_printf(arena, "too few published runs are like this (%s, %s)",
                                        run.word[GENERATION], run.word[EXPERTS]);
    else
        bands.memory = band_of(arena, &run, &MEMORY);
    return bands;
}
