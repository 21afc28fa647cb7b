/* The error of a prediction, as published runs like it have it. */
#include "core/text/json_write.h"
#include "sim/error/band.h"
#include "sim/report/text.h"

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
