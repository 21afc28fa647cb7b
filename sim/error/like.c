/* Chooses published rows like a run. */
#include "sim/error/parts.h"

#include "core/quantile.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 4096, MOST_SOURCES = 256 };
static const double small_params = 2e9; /* a model with fewer is small */

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

static const char *const PIPELINES[] = {"PP 1", "PP > 1"}, *const TENSORS[] = {"TP 1", "TP > 1"},
                         *const NODES[] = {"one node", "several nodes"},
                         *const EXPERTS[] = {"no experts", "experts"},
                         *const SIZES[] = {"2 B and more", "below 2 B"},
                         *const PLACES[] = {"on the device", "other tiers", "fewer bits"};

static struct pp_likeness likeness_of(const struct pp_error_group *group)
{
    return (struct pp_likeness){.word = {[PP_LIKE_DEVICE] = group->device,
                                         [PP_LIKE_GENERATION] = generation_of(group->device),
                                         [PP_LIKE_VERSION] = group->framework,
                                         [PP_LIKE_FRAMEWORK] = family_of(group->framework),
                                         [PP_LIKE_PRECISION] = bits_of(group->precision),
                                         [PP_LIKE_PIPELINE] = PIPELINES[group->has_pp],
                                         [PP_LIKE_TENSOR] = TENSORS[group->has_tp],
                                         [PP_LIKE_NODES] = NODES[group->has_nodes],
                                         [PP_LIKE_EXPERTS] = EXPERTS[group->has_experts],
                                         [PP_LIKE_SIZE] = SIZES[group->is_small],
                                         [PP_LIKE_PLACE] = PLACES[group->is_away]}};
}

/* Returns the place in PLACES of where weights and cache are, and in how many bits. */
static int place_of(const struct pp_config *config)
{
    const struct pp_generation *g = &config->generation;
    const bool has_fewer =
        (g->kv_bits > 0 && g->kv_bits < 16) || (g->weight_bits > 0 && g->weight_bits < 16);

    return pp_state_is_offloaded(&config->state) ? 1 : has_fewer ? 2 : 0;
}

struct pp_likeness pp_likeness_of_run(const struct pp_config *config, const struct pp_device *known)
{
    const struct pp_framework *framework = config->costs.framework;
    const bool is_plain = framework == pp_framework_plain;
    const bool is_small = pp_model_params(&config->model) < small_params;
    const bool has_nodes = config->layout.gpus > config->cluster.gpus_per_node;

    return (struct pp_likeness){
        .word = {[PP_LIKE_DEVICE] = known->name,
                 [PP_LIKE_GENERATION] = known->generation,
                 [PP_LIKE_VERSION] = is_plain ? NULL : framework->name,
                 [PP_LIKE_FRAMEWORK] = is_plain ? NULL : framework->family,
                 [PP_LIKE_PRECISION] =
                     bits_of(pp_precision_names[config->cluster.device.precision]),
                 [PP_LIKE_PIPELINE] = PIPELINES[config->layout.pp > 1],
                 [PP_LIKE_TENSOR] = TENSORS[config->layout.tp > 1],
                 [PP_LIKE_NODES] = NODES[has_nodes],
                 [PP_LIKE_EXPERTS] = EXPERTS[config->model.experts.count > 0],
                 [PP_LIKE_SIZE] = SIZES[is_small],
                 [PP_LIKE_PLACE] = PLACES[place_of(config)]}};
}

static bool is_alike(const struct pp_likeness *run, const struct pp_likeness *row, unsigned kept)
{
    for (int i = 0; i < PP_CRITERIA; i++)
        if (kept & 1U << i && run->word[i] &&
            (!row->word[i] || strcmp(run->word[i], row->word[i]) != 0))
            return false;
    return true;
}

/* Returns kept criteria, without those that a narrower one implies. `is_brief`: without usual ones.
 */
static const char *kept_words(struct pp_arena *arena, const struct pp_likeness *run, unsigned kept,
                              bool is_brief)
{
    static const char *const USUAL[PP_CRITERIA] = {
        [PP_LIKE_PRECISION] = "16 bits", [PP_LIKE_PIPELINE] = "PP 1",
        [PP_LIKE_NODES] = "one node",    [PP_LIKE_EXPERTS] = "no experts",
        [PP_LIKE_SIZE] = "2 B and more", [PP_LIKE_PLACE] = "on the device"};
    const char *text = "";

    for (int i = 0; i < PP_CRITERIA; i++) {
        const bool is_implied = (i == PP_LIKE_GENERATION && kept & 1U << PP_LIKE_DEVICE) ||
                                (i == PP_LIKE_FRAMEWORK && kept & 1U << PP_LIKE_VERSION);
        if (!(kept & 1U << i) || !run->word[i] || is_implied ||
            (is_brief && USUAL[i] && strcmp(run->word[i], USUAL[i]) == 0))
            continue;
        text = pp_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", run->word[i]);
    }
    return text;
}

/* Finds |errors| of the rows that are alike in the kept criteria. Returns their number; 0 if they
 * are too few. */
static int find_errors(const struct pp_likeness *run, const struct pp_error_rows *rows,
                       unsigned kept, double errors[MOST_ROWS])
{
    bool is_source[MOST_SOURCES] = {false};
    int count = 0, sources = 0;

    for (int i = 0; i < rows->count; i++) {
        const struct pp_error_group *group = &rows->groups[i];
        const struct pp_likeness row = likeness_of(group);
        if (group->figure != rows->figure || !is_alike(run, &row, kept))
            continue;
        for (int k = 0; k < group->source_count; k++) {
            sources += !is_source[group->sources[k]];
            is_source[group->sources[k]] = true;
        }
        for (int k = 0; k < group->count && count < MOST_ROWS; k++)
            errors[count++] = fabs(group->permille[k] / 1000.0);
    }
    return count >= PP_ERROR_ROWS_MIN && sources >= rows->sources_min ? count : 0;
}

struct pp_error_band pp_error_band_like(struct pp_arena *arena, const struct pp_likeness *run,
                                        const struct pp_error_rows *rows)
{
    unsigned kept = (1U << PP_CRITERIA) - 1;
    double errors[MOST_ROWS];

    for (int dropped = 0; dropped <= rows->order_count; dropped++) {
        if (dropped > 0)
            kept &= ~(1U << rows->order[dropped - 1]);
        const int count = find_errors(run, rows, kept, errors);
        if (count > 0)
            return (struct pp_error_band){
                .rows = count,
                .median_frac = pp_median(errors, count),
                .p90_frac = pp_quantile(errors, count, 0.9),
                .like = kept_words(arena, run, kept, false),
                .brief = kept_words(arena, run, kept, true),
                .lacks = kept & 1U << PP_LIKE_GENERATION ? NULL : run->word[PP_LIKE_GENERATION]};
    }
    return (struct pp_error_band){.median_frac = (double)NAN, .p90_frac = (double)NAN};
}
