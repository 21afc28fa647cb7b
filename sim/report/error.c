/* The error of a prediction, as published runs like it have it. */
#include "core/text/json_write.h"
#include "sim/error/band.h"
#include "sim/error/best.h"
#include "sim/report/lines.h"

static void put_band(json_t *o, const struct pp_error_band *band, const char *const keys[4])
{
    pp_json_put(o, keys[0], band->median_frac);
    pp_json_put(o, keys[1], band->p90_frac);
    json_object_set_new(o, keys[2], band->rows ? json_integer(band->rows) : json_null());
    pp_json_put_text(o, keys[3], band->like);
}

json_t *pp_error_json(const struct pp_config *config)
{
    static const char *const STEP[] = {"step_median_frac", "step_p90_frac", "rows", "like"};
    static const char *const MEMORY[] = {"mem_median_frac", "mem_p90_frac", "mem_rows", "mem_like"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_error_bands bands = pp_error_bands_of(arena, config);
    json_t *o = json_object();

    put_band(o, &bands.step, STEP);
    put_band(o, &bands.memory, MEMORY);
    return o;
}

/* `is_of_plan`: of the first row of a plan, with the median and without the criteria. */
static const char *line(struct pp_arena *arena, const struct pp_config *config, bool is_of_plan)
{
    const struct pp_error_bands bands = pp_error_bands_of(arena, config);
    const struct pp_error_band *step = &bands.step, *memory = &bands.memory;
    const char *p90 = memory->rows ? pp_arena_printf(arena, "%.0f~%%", 100 * memory->p90_frac) : "";

    /* the bands are of steps that train */
    if (config->is_unit || config->cost || config->generation.passes > 0)
        return NULL;
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
