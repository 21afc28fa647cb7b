/* kernels/cpu/routes.h — the part of a routing that is the same for all element types. */
#pragma once

#include "kernels/kernels.h"

/* Orders the choices `expert` of all tokens: fills row, from, begin and so_far. */
void pp_routes_order(const struct pp_routing *r);
/* route_count of kernels/kernels.h. */
void pp_routes_count(void *stream, const struct pp_routing *r, int from, int until, double *counts);
/* True if `e` is one of the first `count` choices. */
bool pp_routes_has(const int32_t *chosen, int count, int e);
