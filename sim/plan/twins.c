/* The order of simulated rows: by time, and by time and margin if they leave no room. Twins are
 * rows with the same step and the same peak, to the bit. Their layouts or schedules differ in a way
 * that changes nothing. The simplest stands for all. */
#define _GNU_SOURCE /* qsort_r */
#include "sim/plan/search.h"
#include "sim/report/text.h"

#include <stdlib.h>

bool pp_search_has_room(const struct pp_outcome *outcome)
{
    return outcome->fits && !outcome->is_tight && !outcome->is_strained;
}

double pp_search_rank_s(const struct pp_search *search, const struct pp_outcome *outcome)
{
    return outcome->s_per_sample * (pp_search_has_room(outcome) ? 1 : 1 + search->margin_frac);
}

static int compare(double x, double y)
{
    return x < y ? -1 : x > y;
}

/* Compares points: fewer of cp, tp, mbs, in this order, are simpler. */
static int by_simplicity(const struct pp_search_space *space, int64_t x, int64_t y)
{
    const struct pp_search_frame *a = pp_search_point(space, x).frame,
                                 *b = pp_search_point(space, y).frame;

    return a->tiers != b->tiers ? a->tiers - b->tiers
           : a->cp != b->cp     ? a->cp - b->cp
           : a->tp != b->tp     ? a->tp - b->tp
           : a->mbs != b->mbs   ? a->mbs - b->mbs
                                : (x > y) - (x < y);
}

static int by_merit(const void *a, const void *b, void *space)
{
    const struct pp_search_row *x = a, *y = b;
    const double keys[][2] = {{x->rank_s, y->rank_s},
                              {x->outcome.s_per_sample, y->outcome.s_per_sample},
                              {x->outcome.peak_bytes, y->outcome.peak_bytes}};

    for (size_t i = 0; i < PP_COUNT(keys); i++)
        if (compare(keys[i][0], keys[i][1]))
            return compare(keys[i][0], keys[i][1]);
    return by_simplicity(space, x->point, y->point);
}

void pp_search_rank(const struct pp_search *search, struct pp_search_row *rows, int count)
{
    for (int i = 0; i < count; i++)
        rows[i].rank_s = pp_search_rank_s(search, &rows[i].outcome);
    if (count)
        qsort_r(rows, (size_t)count, sizeof(*rows), by_merit, (void *)&search->space);
}

/* ---- twins ----------------------------------------------------------------------------------- */

static bool are_twins(const struct pp_search_row *x, const struct pp_search_row *y)
{
    return x->outcome.step_s == y->outcome.step_s && x->outcome.peak_bytes == y->outcome.peak_bytes;
}

void pp_search_fold(struct pp_arena *arena, struct pp_search *search)
{
    struct pp_search_row *rows = search->rows,
                         *twins = PP_ARRAY(arena, struct pp_search_row, search->count + 1);
    int kept = 0;

    for (int i = 0; i < search->count; i++)
        if (kept > 0 && are_twins(&rows[kept - 1], &rows[i])) {
            rows[kept - 1].twins[rows[kept - 1].twin_count++] = rows[i];
            twins++;
        } else {
            rows[kept] = rows[i];
            rows[kept++].twins = twins;
        }
    search->count = kept;
}

/* ---- text -------------------------------------------------------------------------------------
 */

/* Returns the schedules of the row's twins that differ from its own: " (zbv, v-half)". */
static const char *other_schedules(struct pp_arena *arena, const struct pp_search *search,
                                   const struct pp_search_row *row)
{
    const char *text = "";
    bool *is_named = PP_ARRAY(arena, bool, search->space.order_count);

    is_named[row->point % search->space.order_count] = true;
    for (int i = 0; i < row->twin_count; i++) {
        const int order = (int)(row->twins[i].point % search->space.order_count);
        const struct pp_search_order *o = &search->space.orders[order];
        if (!is_named[order])
            text = pp_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", o->base.schedule_name);
        is_named[order] = true;
    }
    return *text ? pp_arena_printf(arena, " (%s)", text) : "";
}

/* Prints how many layouts each shown row stands for. */
void pp_search_print_twins(struct pp_arena *arena, const struct pp_search *search, int shown,
                           FILE *out)
{
    const char *text = "";
    int64_t below = 0;

    for (int i = 0; i < search->count; i++) {
        const struct pp_search_row *row = &search->rows[i];
        if (i >= shown)
            below += row->twin_count;
        else if (row->twin_count)
            text = pp_arena_printf(arena, "%s%s%d~of~#%d%s", text, *text ? ", " : "",
                                   row->twin_count, i + 1, other_schedules(arena, search, row));
    }
    if (below)
        text = pp_arena_printf(arena, "%s%s%s~of rows below", text, *text ? ", " : "",
                               pp_search_count_text(arena, below));
    if (*text)
        pp_text_paragraph(
            out, PP_SEARCH_WIDTH, PP_SEARCH_INDENT, "twins",
            pp_arena_printf(arena, "not shown, as step and memory are the same: %s", text));
}
