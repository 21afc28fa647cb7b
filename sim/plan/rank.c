/* The order of simulated rows: by time, and by time and margin if they leave no room. */
#define _GNU_SOURCE /* qsort_r */
#include "sim/plan/search.h"

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

    return a->cp != b->cp     ? a->cp - b->cp
           : a->tp != b->tp   ? a->tp - b->tp
           : a->mbs != b->mbs ? a->mbs - b->mbs
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
