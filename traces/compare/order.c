/* Notices two traces in the wrong order: measured, predicted. */
#include "traces/compare/compare.h"

#include "core/lines.h"

#include <string.h>

/* Engines of predictions, and those of files that do not say. */
static const char *const PREDICTIONS[] = {"dag", "simgrid", "prediction", NULL};
static const char *const SILENT[] = {"file", NULL};

bool pp_compare_is_swapped(const struct pp_trace *predicted, const struct pp_trace *measured)
{
    const char *first = predicted->engine, *second = measured->engine;

    return first && second && !pp_is_one_of(first, PREDICTIONS) && !pp_is_one_of(first, SILENT) &&
           pp_is_one_of(second, PREDICTIONS);
}

const char *pp_compare_order(struct pp_arena *arena, const char *const *names,
                             struct pp_trace **predicted, struct pp_trace **measured)
{
    struct pp_trace *first = *predicted;

    if (!pp_compare_is_swapped(*predicted, *measured))
        return NULL;
    *predicted = *measured;
    *measured = first;
    return pp_arena_printf(
        arena,
        "%s was measured (engine %s) and %s predicted (engine %s): they are taken "
        "in the order PREDICTED MEASURED",
        names[0], first->engine, names[1], (*predicted)->engine);
}
