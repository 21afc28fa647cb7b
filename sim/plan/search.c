/* The search: the best layout, its ties, and one that has room. Points beyond the final margin are
 * dropped, so the result does not depend on timing. */
#include "sim/plan/levels.h"

#include "core/clock.h"

#include <math.h>

static double best_of(const struct pp_search *search)
{
    double best = INFINITY;

    for (int i = 0; i < search->count; i++)
        if (search->rows[i].status == PP_SEARCH_FITS)
            best = fmin(best, search->rows[i].outcome.s_per_sample);
    return best;
}

/* Is true for a row that some order of work would not have tried. */
static bool is_late(const struct pp_search *search, const struct pp_search_row *row, double limit)
{
    return (double)search->board.bound_s[row->point] > limit ||
           (row->status != PP_SEARCH_NO_ROOM && row->status != PP_SEARCH_REFUSED &&
            row->status != PP_SEARCH_LOST && row->bound_s > limit);
}

/* Notes the levels at which layouts fit, and those at which they have room. */
static void note_levels(const struct pp_search *search, double limit,
                        struct pp_search_mildest fitting, struct pp_search_mildest roomy)
{
    for (int i = 0; i < search->count; i++) {
        const struct pp_search_row *row = &search->rows[i];
        if (row->status != PP_SEARCH_FITS || is_late(search, row, limit))
            continue;
        pp_search_note_level(fitting, &search->space, row->point);
        pp_search_note_fit(roomy, &search->space, row->point);
        if (pp_search_has_room(&row->outcome))
            pp_search_note_level(roomy, &search->space, row->point);
    }
}

/* Drops losses at points that cannot be among the best. */
static void forget_losses(struct pp_search *search)
{
    int kept = 0;

    for (int i = 0; i < search->loss_count; i++)
        if (search->board.status[search->losses[i].point] == PP_SEARCH_LOST)
            search->losses[kept++] = search->losses[i];
    search->loss_count = kept;
}

/* Drops late rows, as if they had never been, and those with no more room than a milder level. */
static void forget(struct pp_search *search)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_search_space *s = &search->space;
    const struct pp_search_mildest roomy = pp_search_mildest_make(scratch, s),
                                   fitting = pp_search_mildest_make(scratch, s);
    const double limit =
        search->is_exhaustive ? (double)INFINITY : best_of(search) * (1 + search->margin_frac);
    int kept = 0;

    note_levels(search, limit, fitting, roomy);
    for (int i = 0; i < search->count; i++) {
        const struct pp_search_row *row = &search->rows[i];
        uint8_t *status = &search->board.status[row->point];
        const bool fits = row->status == PP_SEARCH_FITS,
                   is_milder = pp_search_is_after(roomy, s, row->point) ||
                               (fits && !pp_search_has_room(&row->outcome) &&
                                pp_search_is_after(fitting, s, row->point));
        if (is_milder && (double)search->board.bound_s[row->point] <= limit)
            *status = PP_SEARCH_MILDER;
        else if (is_late(search, row, limit) || row->status == PP_SEARCH_MILDER)
            *status = PP_SEARCH_OPEN;
        else
            search->rows[kept++] = *row;
    }
    search->count = kept;
    forget_losses(search);
}

/* Returns the fastest row from `from` on that has room; -1 if none has. */
static int best_with_room(const struct pp_search *search, int from)
{
    const struct pp_search_row *rows = search->rows;
    int best = -1;

    for (int i = from; i < search->count; i++) {
        if (rows[i].status != PP_SEARCH_FITS || !pp_search_has_room(&rows[i].outcome))
            continue;
        const double s = rows[i].outcome.s_per_sample,
                     best_s = best < 0 ? (double)INFINITY : rows[best].outcome.s_per_sample;
        if (s < best_s || (s == best_s && rows[i].point < rows[best].point))
            best = i;
    }
    return best;
}

/* Adds the fastest row that has room, if there is none among the ties and one is in reach. */
static enum pp_status find_room(struct pp_arena *arena, struct pp_search *search,
                                struct pp_error *err)
{
    const double fastest = best_of(search);
    const int before = search->count;
    struct pp_search_hunt hunt = {
        .search = search, .needs_room = true, .ceiling = fastest * (1 + PP_SEARCH_REACH_FRAC)};

    if (!isfinite(fastest) || search->is_exhaustive || best_with_room(search, 0) >= 0)
        return PP_OK;
    PP_TRY(pp_search_hunt(arena, &hunt, err));
    const int best = best_with_room(search, before);
    for (int i = before; i < search->count; i++)
        if (i != best && search->rows[i].status != PP_SEARCH_LOST)
            search->board.status[search->rows[i].point] = PP_SEARCH_OPEN;
    search->count = before + (best >= 0);
    if (best >= 0)
        search->rows[before] = search->rows[best];
    return PP_OK;
}

static void count_points(struct pp_search *search)
{
    for (int i = 0; i < PP_SEARCH_STATUSES; i++)
        search->counts[i] = 0, search->examples[i] = -1;
    for (int64_t k = 0; k < search->space.points; k++) {
        const int status = search->board.status[k];
        if (search->counts[status]++ == 0)
            search->examples[status] = k;
    }
}

enum pp_status pp_search_run(struct pp_arena *arena, struct pp_search *search, struct pp_error *err)
{
    const double start_s = pp_clock_s();
    struct pp_search_hunt hunt = {.search = search, .ceiling = INFINITY};

    PP_TRY(pp_search_screen(arena, &search->space, search->is_exhaustive, &search->board, err));
    PP_TRY(pp_search_hunt(arena, &hunt, err));
    forget(search);
    PP_TRY(find_room(arena, search, err));
    count_points(search);
    PP_TRY(pp_search_finish(arena, search, err));
    PP_TRY(pp_search_flip(arena, search, err));
    pp_search_recipes(search);
    if (search->count == 0)
        pp_search_find_nearest(arena, search);
    search->wall_s = pp_clock_s() - start_s;
    return PP_OK;
}
