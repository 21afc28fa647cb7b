/* schedules/order/closed_form.h — what schedule files share: small arithmetic, formulas that
 * several schedules have, and the nearest legal values for refusals. Internal to schedules/. */
#pragma once

#include "schedules/order/schedule.h"

#define PP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PP_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Idle share w/(NqV + w) of a synchronous pipeline through V*D stages on a loop placement
 * (Narayanan et al., SC'21, section 2.2). For N >= D, w = D-1. With Nq < D a rank also waits for
 * its next chunk: w = D-1 + (V-1)(D-Nq). Holds for any F and B; splits count as micro-batches
 * (q). */
double pp_bubble_flush(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank);

/* Idle share x/(N V (F+I+W) + x) where each backward is an I and, later, a W (PyTorch's zero-bubble
 * rule). Here x = (D-1)(F+I-m) + max(0,D-N) m with m = min(F,I,W). Usual costs have m = W: that is
 * the (D-1)(F+I-W) of Qi et al., ICLR'24, section 2. NAN for several chunks with N < D. */
double pp_bubble_split(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank);

/* --group G of interleaved schedules. Default: PyTorch's N div D rounds of equal groups. Legal
 * (Megatron): min(D,N) <= G <= N, and a last group that is smaller must still fill the ranks. */
#define PP_GROUP_LIMITS                                                                            \
    "N a multiple of max(1, N div D); or --group G with min(D,N) <= G <= N and N mod G either 0 "  \
    "or at least D"
void pp_group_defaults(struct pp_shape *shape);
/* PyTorch's groups, over several chunks as its classes ask for. */
bool pp_group_is_torch(const struct pp_shape *shape);
enum pp_status pp_group_accepts(const struct pp_shape *shape, struct pp_error *err);

/* A value of a shape, and the range in which others are looked for. */
struct pp_wanted {
    int value, min, max;
    bool (*is_legal)(const struct pp_shape *shape, int value);
};
/* A rule for that, whatever the shape. */
bool pp_is_even(const struct pp_shape *shape, int value);
/* PP_OK for a legal value. Else PP_EINVAL with the message and "; nearest: A or B", the legal
 * values below and above. */
enum pp_status pp_want_legal(struct pp_error *err, const struct pp_shape *shape,
                             struct pp_wanted wanted, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
