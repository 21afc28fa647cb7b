/* schedules/closed_form.h — what schedule files share: small arithmetic, formulas that several
 * schedules have, and refusals that name the nearest legal values. Internal to schedules/. */
#ifndef PP_SCHEDULES_CLOSED_FORM_H
#define PP_SCHEDULES_CLOSED_FORM_H

#include "schedules/schedule.h"

#define PP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PP_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Idle share of a synchronous pipeline of N micro-batches through V*D stages on a loop placement:
 * (D-1)/(NV+D-1) when N >= D (Narayanan et al., SC'21, section 2.2); with N < D a rank also waits
 * for its next chunk, and the step is NqV + (D-1) + (V-1)(D-Nq) pairs of F and B long. Splits count
 * as micro-batches (q). Holds for any F and B. */
double pp_bubble_flush(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank);

/* Refuse `value` of `option` because it is no multiple of `step`, naming the multiples around. */
enum pp_status pp_refuse_multiple(const char *option, int value, int step, const char *why,
                                  struct pp_error *err);

#endif
