/* The loss of a step as a sum in fixed point. */
#include "exec/nodes/loss.h"

#include <math.h>

/* A larger loss means that training has diverged; up to it llrint() cannot overflow. */
static const double largest_loss = 1e6;

void pp_loss_add(struct pp_loss_sum *sum, const double *loss, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (!(fabs(loss[i]) <= largest_loss)) {
            sum->is_finite = false;
            continue;
        }
        const int64_t fixed = llrint(ldexp(loss[i], PP_LOSS_BITS));
        if (__builtin_add_overflow(sum->fixed, fixed, &sum->fixed))
            sum->is_finite = false;
    }
}

double pp_loss_mean(const struct pp_loss_sum *sum, int64_t tokens)
{
    if (!sum->is_finite || tokens == 0)
        return (double)NAN;
    return ldexp((double)sum->fixed, -PP_LOSS_BITS) / (double)tokens;
}
