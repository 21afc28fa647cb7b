/* Finds the least share of classes that leaves the device, and with which it has room. */
#include "sim/config/auto_share.h"
#include "sim/resolve/resolve.h"

#include <math.h>

struct search {
    const struct pp_config *open;
    struct pp_known_programs *programs;
    double most_bytes; /* lacks beyond it need no figure; 0 = all do */
};

/* Finds the bytes by which the device is short at a place; at most 0 if it has room. They are
 * infinite if a bound tells that it has none. */
static enum pp_status short_at(const struct search *s, int place, double *bytes,
                               struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_prepared prepared = {
        .programs = s->programs, .is_alone = true, .most_bytes = s->most_bytes};
    struct pp_config config = *s->open;
    struct pp_result result;

    config.state = pp_auto_share_at(&s->open->state, place);
    if (config.state.cached < 0)
        config.state.cached = 1; /* the cache takes what is left */
    PP_TRY(pp_resolve_settled(scratch, &config, &prepared, &result, err));
    *bytes = result.program
                 ? result.memory[result.peak_rank].peak_bytes - pp_config_capacity_bytes(&config)
                 : (double)INFINITY;
    return PP_OK;
}

/* Places between which the first with room lies, and the lacks there. */
struct bracket {
    int low, high; /* without room, with room */
    double low_bytes, high_bytes;
};

/* Returns a place in between. Memory is piecewise linear in a share, so the line through both ends
 * is near; every third place is in the middle. */
static int between(const struct bracket *b, int trial)
{
    const double part = b->low_bytes / (b->low_bytes - b->high_bytes);
    const int middle = (b->low + b->high) / 2, width = b->high - b->low,
              by_line = isfinite(b->low_bytes) ? b->low + (int)ceil(part * width) : middle,
              at = trial % 3 == 2 ? middle : by_line;

    return at <= b->low ? b->low + 1 : at >= b->high ? b->high - 1 : at;
}

/* Finds the first place with room on the device; the last one if none has. The device seldom needs
 * more at a later place: buffers of copies may be larger than the share. So both ends tell whether
 * any has room. */
static enum pp_status find_place(const struct search *s, int *place, struct pp_error *err)
{
    struct bracket b = {pp_auto_share_first(&s->open->state), pp_auto_share_last(&s->open->state),
                        0, 0};

    PP_TRY(short_at(s, b.high, &b.high_bytes, err));
    PP_TRY(short_at(s, b.low, &b.low_bytes, err));
    *place = b.low_bytes > 0 ? b.high : b.low;
    if (b.low_bytes <= 0 || b.high_bytes > 0)
        return PP_OK;
    for (int trial = 0; b.high - b.low > 1; trial++) {
        const int at = between(&b, trial);
        double bytes;
        PP_TRY(short_at(s, at, &bytes, err));
        if (bytes <= 0)
            b.high = at, b.high_bytes = bytes;
        else
            b.low = at, b.low_bytes = bytes;
    }
    *place = b.high;
    return PP_OK;
}

/* Finds the bytes that the place before lacks; 0 at the first. */
static enum pp_status find_short(struct search s, int place, double *bytes, struct pp_error *err)
{
    *bytes = 0;
    s.most_bytes = 0;
    return place > pp_auto_share_first(&s.open->state) ? short_at(&s, place - 1, bytes, err)
                                                       : PP_OK;
}

enum pp_status pp_resolve_state(struct pp_arena *arena, struct pp_config *config,
                                struct pp_prepared *prepared, struct pp_result *result,
                                struct pp_error *err)
{
    if (pp_auto_share_last(&config->state) > 0) {
        struct pp_known_programs own = {.arena = arena, .list_arena = arena, .is_bounded = true};
        const struct pp_config open = *config;
        const struct search search = {.open = &open,
                                      .programs = prepared->programs ? prepared->programs : &own,
                                      .most_bytes = pp_config_capacity_bytes(config)};
        int place;
        PP_TRY(find_place(&search, &place, err));
        if (prepared->most_bytes <= 0) /* else others compete, and none tells why */
            PP_TRY(find_short(search, place, &config->origin.share_short_bytes, err));
        config->state = pp_auto_share_at(&open.state, place);
        config->origin.share_place = place;
    }
    return pp_resolve_kept(arena, config, prepared, result, err);
}
