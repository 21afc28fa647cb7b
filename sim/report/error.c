/* The error of a prediction, as published runs like it have it. */
#include "core/text/json_write.h"
#include "sim/error/band.h"
#include "sim/error/best.h"
#include "sim/report/lines.h"

#include <string.h>

static void put_band(json_t *o, const struct pp_error_band *band, const char *const keys[4])
{
    pp_json_put(o, keys[0], band->median_frac);
    pp_json_put(o, keys[1], band->p90_frac);
    json_object_set_new(o, keys[2], band->rows ? json_integer(band->rows) : json_null());
    pp_json_put_text(o, keys[3], band->like);
}

static json_t *served_json(const struct pp_config *config)
{
    static const char *const KEYS[PP_ERROR_FIGURES][4] = {
        {"latency_median_frac", "latency_p90_frac", "latency_rows", "latency_like"},
        {"tokens_per_s_median_frac", "tokens_per_s_p90_frac", "tokens_per_s_rows",
         "tokens_per_s_like"},
        {"first_token_median_frac", "first_token_p90_frac", "first_token_rows", "first_token_like"},
        {"token_median_frac", "token_p90_frac", "token_rows", "token_like"}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_error_served served = pp_error_served_of(arena, config);
    json_t *o = json_object();

    for (int i = 0; i < PP_ERROR_FIGURES; i++)
        put_band(o, &served.band[i], KEYS[i]);
    pp_json_put_text(o, "missing", served.missing);
    return o;
}

json_t *pp_error_json(const struct pp_config *config)
{
    if (config->generation.passes > 0)
        return served_json(config);

    static const char *const STEP[] = {"step_median_frac", "step_p90_frac", "rows", "like"};
    static const char *const MEMORY[] = {"mem_median_frac", "mem_p90_frac", "mem_rows", "mem_like"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_error_bands bands = pp_error_bands_of(arena, config);
    json_t *o = json_object();

    put_band(o, &bands.step, STEP);
    put_band(o, &bands.memory, MEMORY);
    return o;
}

/* Returns "98", or with its criteria "98 of a100, TP 1" where they differ from `usual`. */
static const char *rows_text(struct pp_arena *arena, const struct pp_error_band *band,
                             const char *usual)
{
    return strcmp(band->brief, usual) == 0
               ? pp_arena_printf(arena, "%d", band->rows)
               : pp_arena_printf(arena, "%d of %s", band->rows, band->brief);
}

/* Returns "median and p90 of published generations (a100): latency 2 and 8~% (98), ...". */
static const char *served_line(struct pp_arena *arena, const struct pp_config *config)
{
    static const char *const NAMES[PP_ERROR_FIGURES] = {"latency", "tokens/s", "time to first",
                                                        "time of each"};
    const struct pp_error_served served = pp_error_served_of(arena, config);
    const char *text = "", *usual = NULL, *lacks = NULL;

    if (served.missing)
        return pp_arena_printf(arena, "not known: %s", served.missing);
    for (int i = 0; i < PP_ERROR_FIGURES; i++) {
        const struct pp_error_band *band = &served.band[i];
        if (band->rows == 0)
            continue;
        usual = usual ? usual : band->brief;
        lacks = band->lacks ? band->lacks : lacks;
        text = pp_arena_printf(arena, "%s%s%s %.0f and %.0f~%% (%s)", text, *text ? ", " : "",
                               NAMES[i], 100 * band->median_frac, 100 * band->p90_frac,
                               rows_text(arena, band, usual));
    }
    return pp_arena_printf(arena, "median and p90 of published generations%s%s%s: %s%s%s",
                           *usual ? " (" : "", usual, *usual ? ")" : "", text,
                           lacks ? "; none ran on " : "", lacks ? lacks : "");
}

/* `is_of_plan`: of the first row of a plan, with the median and without the criteria. */
static const char *line(struct pp_arena *arena, const struct pp_config *config, bool is_of_plan)
{
    if (config->is_unit || config->cost)
        return NULL;
    if (config->generation.passes > 0)
        return served_line(arena, config);
    const struct pp_error_bands bands = pp_error_bands_of(arena, config);
    const struct pp_error_band *step = &bands.step, *memory = &bands.memory;
    const char *p90 = memory->rows ? pp_arena_printf(arena, "%.0f~%%", 100 * memory->p90_frac) : "";

    if (bands.missing)
        return pp_arena_printf(arena, "not known: %s", bands.missing);
    const char *median =
        is_of_plan ? pp_arena_printf(arena, "median %.0f~%%", 100 * step->median_frac) : "median";
    if (config->fitted)
        return pp_arena_printf(arena, "%s of %d step%s of %s%s%s", median, step->rows,
                               step->rows == 1 ? "" : "s", step->like,
                               *p90 ? "; memory's p90~" : "", p90);
    return pp_arena_printf(arena, "%s of %d published runs like %s; p90~%.0f~%%%s%s", median,
                           step->rows,
                           is_of_plan ? "#1" : pp_arena_printf(arena, "this (%s)", step->like),
                           100 * step->p90_frac, *p90 ? ", memory's " : "", p90);
}

const char *pp_line_error(struct pp_arena *arena, const struct pp_config *config)
{
    return line(arena, config, false);
}

const char *pp_line_error_short(struct pp_arena *arena, const struct pp_config *config)
{
    return line(arena, config, true);
}

json_t *pp_published_mfu_json(const struct pp_config *config, double mfu)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_best_mfu *best = pp_best_mfu_of(config);

    if (!best)
        return json_null();
    return json_pack("{ss ss si sf ss sb}", "device", best->device, "precision", best->precision,
                     "runs", best->runs, "best_frac", best->mfu_frac, "id", best->id, "is_exceeded",
                     pp_best_mfu_text(arena, config, mfu) != NULL);
}
