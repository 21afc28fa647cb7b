/* Which reliefs are shown, and in which order. */
#include "sim/fit/parts.h"

int pp_relief_compare(const struct pp_relief *x, const struct pp_relief *y)
{
    const double left = x->fits ? x->iteration_s : x->peak_bytes,
                 right = y->fits ? y->iteration_s : y->peak_bytes;

    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    if (x->gpus != y->gpus)
        return x->gpus < y->gpus ? -1 : 1;
    return left < right ? -1 : left > right;
}

bool pp_relief_is_outdone(const struct pp_relief *relief, const struct pp_relief *other)
{
    return relief->is_moved && other->is_moved && other->gpus == relief->gpus &&
           other->fits >= relief->fits && other->iteration_s <= relief->iteration_s &&
           other->peak_bytes <= relief->peak_bytes;
}
