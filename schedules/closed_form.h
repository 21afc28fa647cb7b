/* schedules/closed_form.h — what schedule files share: small arithmetic, formulas that several
 * schedules have, and the nearest legal values for refusals. Internal to schedules/. */
#ifndef PP_SCHEDULES_CLOSED_FORM_H
#define PP_SCHEDULES_CLOSED_FORM_H

#include "schedules/schedule.h"

#define PP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PP_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Idle share w/(NqV + w) of a synchronous pipeline through V*D stages on a loop placement, with
 * w = D-1 for N >= D (Narayanan et al., SC'21, section 2.2). With Nq < D a rank also waits for its
 * next chunk: w = D-1 + (V-1)(D-Nq). Holds for any F and B; splits count as micro-batches (q). */
double pp_bubble_flush(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank);

/* A value that was refused, and the range that may be suggested instead. */
struct pp_refused {
    int value, min, max;
    bool (*is_legal)(const struct pp_shape *shape, int value);
};
/* Append "; nearest: A or B": the legal values below and above. Returns PP_EINVAL. */
enum pp_status pp_suggest_nearest(const struct pp_shape *shape, struct pp_refused refused,
                                  struct pp_error *err);

#endif
