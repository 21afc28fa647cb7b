/* schedules/order/closed_form.h — arithmetic, formulas and checks with nearest legal values that
 * several schedule files use. Internal to schedules/. */
#pragma once

#include "schedules/order/schedule.h"

#define PP_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PP_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Returns the idle share w/(NqV + w) of a synchronous pipeline through V*D stages on a loop
 * placement (Narayanan et al., SC'21, section 2.2). For N >= D, w = D-1. With Nq < D a rank also
 * waits for its next chunk: w = D-1 + (V-1)(D-Nq). For any F and B; q splits per micro-batch. */
double pp_bubble_flush(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank);

/* Returns the idle share x/(N V (F+I+W) + x) of PyTorch's zero-bubble rule: backwards are an I and,
 * later, a W. Here x = (D-1)(F+I-m) + max(0,D-N) m with m = min(F,I,W). Usual costs have m = W: the
 * (D-1)(F+I-W) of Qi et al., ICLR'24, section 2. NAN for several chunks with N < D. */
double pp_bubble_split(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank);

/* --group G of interleaved schedules. Default: PyTorch's N div D rounds of equal groups. Legal
 * (Megatron): min(D,N) <= G <= N, and a smaller last group has at least D micro-batches. Schedules
 * with one forward more on each earlier rank do with half of it: D/2, rounded up, in place of D.
 * With q splits, D/q, rounded up, in place of D. */
#define PP_GROUP_LIMITS                                                                            \
    "N a multiple of max(1, N div ceil(D/q)); or --group G with min(D/q,N) <= G <= N and N mod G " \
    "either 0 or at least D/q"
#define PP_GROUP_LIMITS_HALF                                                                       \
    "N a multiple of max(1, N div D); or --group G with min(D/2,N) <= G <= N and N mod G either "  \
    "0 or at least D/2"
void pp_group_defaults(struct pp_shape *shape);
/* Is true for PyTorch's groups over several chunks, which its classes need. */
bool pp_group_is_torch(const struct pp_shape *shape);
enum pp_status pp_group_accepts(const struct pp_shape *shape, struct pp_error *err);
enum pp_status pp_group_accepts_half(const struct pp_shape *shape, struct pp_error *err);
/* Is true for groups that are too small to fill the pipeline: bubbles open between them. */
bool pp_group_is_small(const struct pp_shape *shape);

/* A value of a shape, and the range in which legal values are searched for. */
struct pp_wanted {
    int value, min, max;
    bool (*is_legal)(const struct pp_shape *shape, int value);
};
bool pp_is_even(const struct pp_shape *shape, int value);
/* PP_OK if legal. Else PP_EINVAL with the message and "; nearest: A or B", the next legal
 * values. */
enum pp_status pp_want_legal(struct pp_error *err, const struct pp_shape *shape,
                             struct pp_wanted wanted, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
