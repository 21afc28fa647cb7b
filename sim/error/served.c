/* Bands of runs that generate. */
#include "sim/error/parts.h"

#include <math.h>

#define PP_GENERATION_ERRORS(figure_name, name, framework_name, precision_name, tp, small, away,   \
                             from, ...)                                                            \
    {.device = (name),                                                                             \
     .framework = (framework_name),                                                                \
     .precision = (precision_name),                                                                \
     .has_tp = (tp),                                                                               \
     .is_small = (small),                                                                          \
     .is_away = (away),                                                                            \
     .source_count = 1,                                                                            \
     .count = PP_COUNT(((const int16_t[]){__VA_ARGS__})),                                          \
     .sources = PP_ERROR_SOURCES(from),                                                            \
     .permille = (const int16_t[]){__VA_ARGS__},                                                   \
     .figure = PP_ERROR_##figure_name},
static const struct pp_error_group GROUPS[] = {
#include "sim/error/generation_rows.h"
};
#undef PP_GENERATION_ERRORS

static const enum pp_criterion ORDER[] = {PP_LIKE_VERSION,   PP_LIKE_FRAMEWORK, PP_LIKE_TENSOR,
                                          PP_LIKE_PIPELINE,  PP_LIKE_NODES,     PP_LIKE_DEVICE,
                                          PP_LIKE_PRECISION, PP_LIKE_GENERATION};

/* Rows of several families, or else of one. */
static struct pp_error_band band_of(struct pp_arena *arena, const struct pp_likeness *run,
                                    enum pp_error_figure figure)
{
    struct pp_error_rows rows = {.groups = GROUPS,
                                 .count = PP_COUNT(GROUPS),
                                 .order = ORDER,
                                 .order_count = PP_COUNT(ORDER),
                                 .sources_min = 2,
                                 .figure = figure};
    const struct pp_error_band band = pp_error_band_like(arena, run, &rows);

    rows.sources_min = 1;
    return band.rows > 0 ? band : pp_error_band_like(arena, run, &rows);
}

struct pp_error_served pp_error_served_of(struct pp_arena *arena, const struct pp_config *config)
{
    const struct pp_device *known = NULL;
    struct pp_error_served served = {.missing = pp_error_unknown(config, &known)};
    struct pp_likeness run = {0};
    int rows = 0;

    if (!served.missing && config->fitted)
        served.missing = "constants are fitted to steps that train";
    else if (!served.missing && !config->model.is_causal)
        served.missing = "no published run that generates is of an encoder";
    if (!served.missing)
        run = pp_likeness_of_run(config, known);
    for (int figure = 0; figure < PP_ERROR_FIGURES; figure++) {
        served.band[figure] = served.missing ? (struct pp_error_band){.median_frac = (double)NAN,
                                                                      .p90_frac = (double)NAN}
                                             : band_of(arena, &run, (enum pp_error_figure)figure);
        rows += served.band[figure].rows;
    }
    if (!served.missing && rows == 0)
        served.missing = pp_arena_printf(
            arena, "too few published generations are like this (%s, %s, %s)",
            run.word[PP_LIKE_EXPERTS], run.word[PP_LIKE_SIZE], run.word[PP_LIKE_PLACE]);
    return served;
}
