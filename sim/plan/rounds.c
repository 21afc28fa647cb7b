/* Simulates open points in order of bounds, until no bound is near the best, which workers share.
 */
#include "core/process/pool.h"
#include "core/text/progress.h"
#include "sim/plan/levels.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROUND = 256,
    FIRST_TRIALS = 8, /* while nothing fits */
    GROWTH = 4,       /* factor from one round to the next */
    ITEM_POINTS = 4   /* points that a worker takes at a time */
};

/* ---- one point ------------------------------------------------------------------------------- */

struct round {
    struct pp_arena *arena; /* of the search; for the parent alone */
    const struct pp_search_hunt *hunt;
    enum pp_status (*point)(struct pp_arena *arena, struct round *round, struct pp_search_row *row,
                            struct pp_error *err);
    struct pp_search_row *rows; /* shared with the workers */
    int count;
    struct pp_search_mildest roomy;    /* levels with room; shared */
    struct pp_search_excess excess;    /* shared */
    struct pp_search_least least;      /* shared */
    struct pp_known_programs programs; /* of a worker */
    int64_t done;                      /* points; for the parent alone */
    struct pp_progress progress;
};

/* Returns the longest step worth a trial, seconds per sample. */
static double limit_of(const struct pp_search_hunt *hunt)
{
    const double tie_frac = hunt->needs_room ? 0 : hunt->search->margin_frac;

    return hunt->search->is_exhaustive
               ? (double)INFINITY
               : fmin(hunt->ceiling, atomic_load(hunt->best) * (1 + tie_frac));
}

static void lower_best(_Atomic double *best, double value)
{
    double old = atomic_load(best);

    while (value < old && !atomic_compare_exchange_weak(best, &old, value))
        ;
}

static double capacity_of(const struct pp_search_hunt *hunt)
{
    const struct pp_config *fixed = &hunt->search->space.fixed;

    return hunt->needs_room ? pp_config_room_bytes(fixed) : pp_config_capacity_bytes(fixed);
}

static void take_step(const struct round *round, const struct pp_result *result,
                      struct pp_search_row *row)
{
    const struct pp_search_hunt *hunt = round->hunt;

    row->outcome = pp_outcome_of(result);
    row->dag_s = row->outcome.step_s;
    if (pp_search_has_room(&row->outcome))
        pp_search_note_level(round->roomy, &hunt->search->space, row->point);
    else if (hunt->needs_room)
        return;
    lower_best(hunt->best, row->outcome.s_per_sample);
}

/* Finds a point's own bounds: outcome.peak_bytes is that of its memory. */
static enum pp_status bound_point(struct pp_arena *arena, struct round *round,
                                  struct pp_search_row *row, struct pp_error *err)
{
    const struct pp_search *search = round->hunt->search;
    struct pp_search_bounds bounds;
    struct pp_config config;

    row->bound_s = pp_search_least_s(round->least, &search->space, row->point);
    if (row->bound_s > limit_of(round->hunt))
        return PP_OK;
    PP_TRY(pp_search_open_config(arena, &search->space, row->point, &config, err));
    PP_TRY(pp_search_bounds(arena, &config, &bounds, err));
    row->bound_s = bounds.step_s / (double)config.layout.gbs;
    row->outcome.peak_bytes = bounds.peak_bytes;
    pp_search_note_least(round->least, &search->space, row->point, row->bound_s);
    if (!search->is_exhaustive && bounds.peak_bytes > capacity_of(round->hunt))
        row->status = PP_SEARCH_NO_ROOM;
    return PP_OK;
}

/* Is true if bounds of its order exclude a settled point: it needs more than prepared->most_bytes.
 */
static bool is_beyond(struct pp_arena *arena, const struct pp_config *config,
                      struct pp_prepared *prepared)
{
    struct pp_least least;
    struct pp_error ignored; /* the simulation says it */

    return prepared->most_bytes > 0 &&
           pp_prepare_least(arena, config, prepared, &least, &ignored) == PP_OK &&
           least.bytes > prepared->most_bytes;
}

/* Tries a point: by its memory, then by its time. */
static enum pp_status try_point(struct pp_arena *arena, struct round *round,
                                struct pp_search_row *row, struct pp_error *err)
{
    const struct pp_search_hunt *hunt = round->hunt;
    const struct pp_search *search = hunt->search;
    struct pp_prepared prepared = {.programs = &round->programs};
    struct pp_config config;
    struct pp_result result;

    row->bound_s = (double)search->board.bound_s[row->point];
    if (row->bound_s > limit_of(hunt))
        return PP_OK; /* stays open */
    if (pp_search_is_after(round->roomy, &search->space, row->point)) {
        row->status = PP_SEARCH_MILDER;
        return PP_OK;
    }
    PP_TRY(pp_search_open_config(arena, &search->space, row->point, &config, err));
    row->status = PP_SEARCH_TOO_LARGE;
    if (!search->is_exhaustive && isfinite(atomic_load(hunt->best)) &&
        pp_search_exceeds(round->excess, &search->space, row->point, &config))
        return PP_OK; /* its bytes do not matter, as something fits */
    if (!search->is_exhaustive && isfinite(atomic_load(hunt->best)))
        prepared.most_bytes = pp_config_capacity_bytes(&config);
    PP_TRY(pp_search_settle(arena, &config, &prepared, err));
    if (is_beyond(arena, &config, &prepared))
        return PP_OK;
    PP_TRY(pp_simulate(arena, &config, PP_MEMORY, &prepared, &result, err));
    if (!result.program)
        return PP_OK;
    row->outcome = pp_outcome_of(&result);
    if (!result.fits) {
        pp_search_note_excess(round->excess, &search->space, row->point, &result);
        return PP_OK;
    }
    row->status = PP_SEARCH_FITS;
    pp_search_note_fit(round->roomy, &search->space, row->point);
    PP_TRY(pp_simulate(arena, &config, PP_QUICK, &prepared, &result, err));
    take_step(round, &result, row);
    return PP_OK;
}

static void work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    struct round *round = context;

    (void)out;
    for (int64_t i = item * ITEM_POINTS; i < (item + 1) * ITEM_POINTS && i < round->count; i++) {
        const struct pp_arena_mark mark = pp_arena_mark(scratch);
        struct pp_error err = {0};
        pp_known_programs_trim(&round->programs);
        round->rows[i].status = PP_SEARCH_OPEN; /* a worker may have ended in between */
        if (round->point(scratch, round, &round->rows[i], &err) != PP_OK) {
            round->rows[i].status = PP_SEARCH_REFUSED;
            round->rows[i].outcome = pp_outcome_refused(&err);
        }
        pp_arena_release(scratch, mark);
    }
}

static enum pp_status done(void *context, int64_t item, const char *text, size_t length,
                           const char *death, struct pp_error *err)
{
    struct round *round = context;

    (void)text, (void)length, (void)err;
    round->done += ITEM_POINTS;
    if (round->done > round->count)
        round->done = round->count;
    for (int64_t i = item * ITEM_POINTS; death && i < (item + 1) * ITEM_POINTS && i < round->count;
         i++) {
        round->rows[i].status = PP_SEARCH_LOST;
        pp_search_lose(round->arena, round->hunt->search, round->rows[i].point, death);
    }
    return PP_OK;
}

static void tick(void *context)
{
    struct round *round = context;

    /* how many more rounds follow is not known */
    pp_progress_count(&round->progress, round->hunt->search->worked + round->done, 0, "layouts");
}

/* ---- rounds ---------------------------------------------------------------------------------- */

struct candidate {
    float bound_s;
    int64_t point;
};

static int by_bound(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->bound_s != y->bound_s)
        return x->bound_s < y->bound_s ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

/* Is true for a point that may be what is looked for. */
static bool is_open(const struct pp_search_hunt *hunt, int64_t k)
{
    const struct pp_search_board *board = &hunt->search->board;

    return board->status[k] == PP_SEARCH_OPEN &&
           (!hunt->needs_room || (double)board->bound_bytes[k] <= capacity_of(hunt));
}

/* Returns a bound that at least `wanted` candidates do not exceed. Counts them in bins of the bits
 * of a float, which are in the order of its values. */
static float bound_of(const struct pp_search_hunt *hunt, float above, float limit, int64_t wanted)
{
    enum { BINS = 1 << 16 };
    static int64_t bins[BINS];
    const struct pp_search_board *b = &hunt->search->board;
    int64_t sum = 0;

    memset(bins, 0, sizeof(bins));
    for (int64_t k = 0; k < hunt->search->space.points; k++)
        if (b->bound_s[k] > above && b->bound_s[k] <= limit && is_open(hunt, k)) {
            uint32_t bits;
            memcpy(&bits, &b->bound_s[k], sizeof(bits));
            bins[bits >> 16]++;
        }
    for (int bin = 0; bin < BINS; bin++) {
        sum += bins[bin];
        if (sum >= wanted) {
            const uint32_t bits = (uint32_t)bin << 16 | 0xffff;
            float bound;
            memcpy(&bound, &bits, sizeof(bound));
            return fminf(bound, limit);
        }
    }
    return limit;
}

static struct candidate *list_between(struct pp_arena *arena, const struct pp_search_hunt *hunt,
                                      float above, float until, int *count)
{
    const float *bound_s = hunt->search->board.bound_s;
    struct candidate *list = NULL;
    int capacity = 0;

    *count = 0;
    for (int64_t k = 0; k < hunt->search->space.points; k++)
        if (bound_s[k] > above && bound_s[k] <= until && is_open(hunt, k))
            *PP_PUSH(arena, list, *count, capacity) = (struct candidate){bound_s[k], k};
    if (*count)
        qsort(list, (size_t)*count, sizeof(*list), by_bound);
    return list;
}

/* Moves the open points of a list with the least own bounds to its front. Returns how many. */
static int first_of(const struct pp_search_hunt *hunt, struct candidate *list, int count)
{
    int kept = 0;

    for (int i = 0; i < count; i++)
        if (is_open(hunt, list[i].point))
            list[kept++] =
                (struct candidate){hunt->search->board.bound_s[list[i].point], list[i].point};
    if (kept)
        qsort(list, (size_t)kept, sizeof(*list), by_bound);
    return kept < FIRST_TRIALS ? kept : FIRST_TRIALS;
}

/* Lists the points with bounds in (above, until]. Rough bounds of some are refined first. */
static struct candidate *list_refined(struct pp_arena *arena, const struct pp_search_hunt *hunt,
                                      float above, float until, int *count)
{
    struct candidate *list = list_between(arena, hunt, above, until, count);
    bool is_rough = false;

    for (int i = 0; i < *count; i++)
        is_rough |= pp_search_refine(&hunt->search->board, list[i].point);
    return is_rough ? list_between(arena, hunt, above, until, count) : list;
}

static void keep(struct pp_arena *arena, struct pp_search *search, const struct round *round)
{
    struct pp_search_board *board = &search->board;
    const bool are_bounds = round->point == bound_point;

    for (int i = 0; i < round->count; i++) {
        const struct pp_search_row *row = &round->rows[i];
        if (are_bounds) {
            board->is_own[row->point] = true;
            board->bound_s[row->point] =
                fmaxf(board->bound_s[row->point], nextafterf((float)row->bound_s, 0));
            board->bound_bytes[row->point] = fmaxf(board->bound_bytes[row->point],
                                                   nextafterf((float)row->outcome.peak_bytes, 0));
        }
        if (are_bounds && row->status == PP_SEARCH_OPEN)
            continue;
        board->status[row->point] = (uint8_t)row->status;
        *PP_PUSH(arena, search->rows, search->count, search->capacity) = *row;
    }
}

static enum pp_status run_round(struct pp_arena *arena, struct round *round,
                                const struct candidate *list, int count, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *shared = pp_arena_create_shared();
    struct pp_search *search = round->hunt->search;
    const struct pp_pool pool = {.items = (count + ITEM_POINTS - 1) / ITEM_POINTS,
                                 .workers = search->jobs,
                                 .context = round,
                                 .work = work,
                                 .done = done,
                                 .tick = tick};

    round->rows = PP_ARRAY(shared, struct pp_search_row, count);
    round->count = count;
    round->done = 0;
    for (int i = 0; i < count; i++)
        round->rows[i] = (struct pp_search_row){.point = list[i].point, .status = PP_SEARCH_OPEN};
    round->progress = search->progress;
    const enum pp_status status = pp_pool_run(&pool, err);
    search->progress = round->progress;
    pp_progress_clear(&search->progress);
    PP_TRY(status);
    search->worked += count;
    keep(arena, search, round);
    return PP_OK;
}

/* Raises the bounds of the listed points to their own. */
static enum pp_status bound_all(struct pp_arena *arena, struct round *round,
                                const struct candidate *list, int count, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct candidate *own = PP_ARRAY(scratch, struct candidate, count);
    const bool *is_own = round->hunt->search->board.is_own;
    int kept = 0;

    for (int i = 0; i < count; i++)
        if (!is_own[list[i].point])
            own[kept++] = list[i];
    round->point = bound_point;
    return kept ? run_round(arena, round, own, kept, err) : PP_OK;
}

static enum pp_status try_list(struct pp_arena *arena, struct round *round,
                               const struct candidate *list, int count, struct pp_error *err)
{
    round->point = try_point;
    return count ? run_round(arena, round, list, count, err) : PP_OK;
}

enum pp_status pp_search_hunt(struct pp_arena *arena, struct pp_search_hunt *hunt,
                              struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *shared = pp_arena_create_shared();
    struct round round = {.arena = arena,
                          .hunt = hunt,
                          .roomy = pp_search_mildest_make(shared, &hunt->search->space),
                          .excess = pp_search_excess_make(shared, &hunt->search->space),
                          .least = pp_search_least_make(shared, &hunt->search->space),
                          .programs = {.is_bounded = true}};
    float above = -1, limit = INFINITY;

    hunt->best = (_Atomic double *)pp_arena_alloc(shared, sizeof(*hunt->best));
    atomic_store(hunt->best, (double)INFINITY);
    for (int64_t wanted = FIRST_ROUND; above < limit; wanted *= GROWTH) {
        PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
        const float until = bound_of(hunt, above, limit, wanted);
        int count;
        struct candidate *list = list_refined(scratch, hunt, above, until, &count);
        PP_TRY(bound_all(arena, &round, list, count, err));
        if (isinf(atomic_load(hunt->best)))
            PP_TRY(try_list(arena, &round, list, first_of(hunt, list, count), err));
        list = list_between(scratch, hunt, above, until, &count);
        PP_TRY(try_list(arena, &round, list, count, err));
        above = until;
        limit = nextafterf((float)limit_of(hunt), INFINITY);
    }
    return PP_OK;
}
