/* The note of a report on a cache of units that could be larger. */
#include "core/units.h"
#include "sim/config/gathers.h"
#include "sim/config/inputs.h"
#include "sim/fit/change.h"
#include "sim/fit/fit.h"

#include <math.h>

/* Returns the units that the fullest rank has room for, its margin left free. */
static int64_t units_with_room(const struct pp_result *r, const struct pp_cache_line *line)
{
    const double free_bytes = pp_config_room_bytes(&r->config) - r->memory[r->peak_rank].peak_bytes;

    return (int64_t)fmin((double)line->units,
                         (double)line->cached +
                             floor(fmax(0, free_bytes) / r->costs->gathers[0].unit_bytes));
}

const char *pp_cache_note(struct pp_arena *arena, const struct pp_result *r)
{
    struct pp_cache_line line;
    struct pp_changed_run change;
    struct pp_error ignored;

    if (!pp_inputs_find(&r->config, "cache") || r->config.wanted.cached < 0 || !r->fits ||
        !pp_cache_line(r, &line))
        return NULL;
    const int64_t most = units_with_room(r, &line);
    struct pp_parsed *command = pp_change_begin(arena, &r->config);
    if (most <= line.cached ||
        pp_command_set_int(arena, command, "cache", most, &ignored) != PP_OK ||
        pp_change_try(arena, &r->config, command, &change, &ignored) != PP_OK ||
        !change.outcome.fits)
        return NULL;
    return pp_arena_printf(
        arena, "p is %s %s = %lld times a step; --cache~%lld would %s %lld (%+.1f~GiB)",
        r->costs->gathers[0].is_cut ? "gathered" : "loaded", line.form, (long long)line.loads,
        (long long)most, r->costs->gathers[0].is_cut ? "gather" : "load",
        (long long)pp_cache_line_loads(&line, most),
        (change.outcome.peak_bytes - pp_outcome_of(r).peak_bytes) / PP_GIB);
}
