/* Folds twins: rows with the same step and the same peak, to the bit. Their layouts or schedules
 * differ in a way that changes nothing. The simplest stands for all. */
#include "sim/plan/search.h"

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
