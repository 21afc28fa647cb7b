/* schedules/dualpipe.h — the eight steps of both DualPipe and DualPipeV. Internal to schedules/. */
#pragma once

#include "schedules/order/schedule.h"

#include <stdbool.h>

struct pp_dualpipe {
    int depth;        /* ranks between an end and the turn: D/2, or D on a V */
    int place;        /* distance of this rank from its end: 0 ... depth - 1 */
    int pairs;        /* steps of the main phase, each of two overlapped pairs */
    bool is_mirrored; /* the direction that enters nearer is chunk 1, not 0 */
};
void pp_dualpipe_phases(struct pp_phases *out, struct pp_dualpipe steps);

/* Returns the idle share of a pipeline with `depth` ranks to the turn and `each` micro-batches per
 * direction. Without overlap gain the idle time is m max(0, I-W) + max(2mF, (m-1)F + mI), with m =
 * depth - 1. A pair that costs FB instead of F+B counts 2 each - depth - 2 times on the critical
 * path. NAN unless FB >= max(F, B). */
double pp_dualpipe_bubble(int depth, int each, const struct pp_unit_costs *unit);
