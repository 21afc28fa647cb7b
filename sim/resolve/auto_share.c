/* Finds the least share of classes that leaves the device, and with which it has room. */
#include "sim/config/auto_share.h"
#include "sim/resolve/resolve.h"

/* Finds the bytes by which the device is short at a place; at most 0 if it has room. */
static enum pp_status short_at(const struct pp_config *open, int place,
                               struct pp_known_programs *programs, double *bytes,
                               struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_prepared prepared = {.programs = programs, .is_alone = true};
    struct pp_config config = *open;
    struct pp_result result;

    config.state = pp_auto_share_at(&open->state, place);
    if (config.state.cached < 0)
        config.state.cached = 1; /* the cache takes what is left */
    PP_TRY(pp_resolve_settled(scratch, &config, &prepared, &result, err));
    *bytes = result.memory[result.peak_rank].peak_bytes - pp_config_capacity_bytes(&config);
    return PP_OK;
}

/* Finds the first place with room on the device; the last one if none has. The device never needs
 * more at a later place. */
static enum pp_status find_place(const struct pp_config *open, struct pp_known_programs *programs,
                                 int *place, double *short_bytes, struct pp_error *err)
{
    const int first = pp_auto_share_first(&open->state), last = pp_auto_share_last(&open->state);
    int low = first - 1, high = last + 1;

    /* the first and the last tell most: nothing has to leave, or nothing helps */
    *short_bytes = 0;
    for (int at = first; high - low > 1;
         at = low == first && high > last ? last : (low + high) / 2) {
        double bytes;
        PP_TRY(short_at(open, at, programs, &bytes, err));
        if (bytes <= 0) {
            high = at;
        } else {
            low = at;
            *short_bytes = at < last ? bytes : *short_bytes;
        }
    }
    *place = high < last ? high : last;
    return PP_OK;
}

enum pp_status pp_resolve_state(struct pp_arena *arena, struct pp_config *config,
                                struct pp_prepared *prepared, struct pp_result *result,
                                struct pp_error *err)
{
    if (pp_auto_share_last(&config->state) > 0) {
        struct pp_known_programs own = {.arena = arena, .list_arena = arena, .is_bounded = true};
        int place;
        double short_bytes;
        PP_TRY(find_place(config, prepared->programs ? prepared->programs : &own, &place,
                          &short_bytes, err));
        config->state = pp_auto_share_at(&config->state, place);
        config->origin.share_place = place;
        config->origin.share_short_bytes = short_bytes;
    }
    return pp_resolve_kept(arena, config, prepared, result, err);
}
