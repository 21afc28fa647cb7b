/* exec/nodes/loss.h — the loss of a step, summed over its tokens. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The loss of each token is rounded to int64 fixed point with PP_LOSS_BITS binary places, so that
 * the order of additions does not matter. A sum starts as {.is_finite = true}; a loss beyond 1e6
 * counts as not finite. The mean of a sum that is not finite, or over no tokens, is NAN. */
enum { PP_LOSS_BITS = 32 };
struct pp_loss_sum {
    int64_t fixed;
    bool is_finite;
};
void pp_loss_add(struct pp_loss_sum *sum, const double *loss, int64_t count);
double pp_loss_mean(const struct pp_loss_sum *sum, int64_t tokens);
