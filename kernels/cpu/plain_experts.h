/* kernels/cpu/plain_experts.h — routing and exchange of tokens between experts as plain loops, for
 * tables that include kernels/cpu/plain.h. kernels/kernels.h has meaning and shapes. */
#pragma once

#include "kernels/cpu/grouped.h"
#include "kernels/cpu/plain.h"
#include "kernels/cpu/routes.h"

/* ---- routing --------------------------------------------------------------------------------- */

/* Returns the largest logit that is not yet chosen, the first of equal ones. */
static int next_expert(const struct pp_routing *r, const element *logits, const int32_t *chosen,
                       int count)
{
    int best = -1;

    for (int e = 0; e < r->experts; e++)
        if (!pp_routes_has(chosen, count, e) &&
            (best < 0 || at(logits, (size_t)e) > at(logits, (size_t)best)))
            best = e;
    return best;
}

/* Returns the sum of exp(logit - max) of all experts, or of the chosen ones if only they count. */
static double sum_of_exp(const struct pp_routing *r, const element *logits, double max,
                         const int32_t *chosen)
{
    double sum = 0;

    for (int i = 0; i < (r->is_normalized ? r->top_k : r->experts); i++)
        sum += exp(at(logits, (size_t)(r->is_normalized ? chosen[i] : i)) - max);
    return sum;
}

static void route_forward(void *stream, const struct pp_routing *r)
{
    const size_t experts = (size_t)r->experts, top_k = (size_t)r->top_k;

    (void)stream;
    for (size_t t = 0; t < (size_t)(r->batch * r->tokens); t++) {
        const element *logits = (const element *)r->logits + t * experts;
        int32_t *chosen = r->expert + t * top_k;
        gradient *gates = (gradient *)r->gates + t * top_k;

        for (int k = 0; k < r->top_k; k++)
            chosen[k] = next_expert(r, logits, chosen, k);
        const double max = at(logits, (size_t)chosen[0]), sum = sum_of_exp(r, logits, max, chosen);
        for (size_t k = 0; k < top_k; k++)
            gates[k] = (gradient)(exp(at(logits, (size_t)chosen[k]) - max) / sum);
    }
    pp_routes_order(r);
}

/* With p for the softmax that the gates are taken from: d logit = p (dp - sum of p dp). Other
 * experts than the chosen ones have dp = 0; if only the chosen ones count, they have p = 0. */
static void route_backward(void *stream, const struct pp_routing *r)
{
    const size_t experts = (size_t)r->experts, top_k = (size_t)r->top_k;

    (void)stream;
    for (size_t t = 0; t < (size_t)(r->batch * r->tokens); t++) {
        const element *logits = (const element *)r->logits + t * experts;
        const int32_t *chosen = r->expert + t * top_k;
        const gradient *gates = (const gradient *)r->gates + t * top_k,
                       *dgates = (const gradient *)r->dgates + t * top_k;
        element *to = (element *)r->dlogits + t * experts;
        const double max = at(logits, (size_t)chosen[0]), all = sum_of_exp(r, logits, max, chosen);
        double sum = 0;

        for (size_t k = 0; k < top_k; k++)
            sum += (double)gates[k] * (double)dgates[k];
        for (size_t e = 0; e < experts; e++) {
            double p = r->is_normalized ? 0 : exp(at(logits, e) - max) / all, dp = 0;
            for (size_t k = 0; k < top_k; k++)
                if (chosen[k] == (int32_t)e) {
                    p = (double)gates[k];
                    dp = (double)dgates[k];
                }
            to[e] = from(p * (dp - sum));
        }
    }
}

/* ---- exchange -------------------------------------------------------------------------------- */

/* Return the first row that no choice has; the token of a row. */
static size_t rows_in_use(const struct pp_routing *r)
{
    return (size_t)r->begin[r->experts];
}
static size_t token_of(const struct pp_routing *r, size_t row)
{
    return (size_t)(r->from[row] / r->top_k);
}

static void dispatch_forward(void *stream, const struct pp_token_exchange *e)
{
    const struct pp_routing *r = e->routing;
    const size_t width = (size_t)e->width;
    element *y = e->y;

    (void)stream;
    for (size_t row = 0; row < rows_in_use(r); row++)
        memcpy(y + row * width, (const element *)e->x + token_of(r, row) * width,
               sizeof *y * width);
    memset(y + rows_in_use(r) * width, 0, sizeof *y * width * ((size_t)r->rows - rows_in_use(r)));
}

/* to [token] = base [token] + the sum of its rows of `of`, times their gates or 1. */
static void gather(const struct pp_token_exchange *e, const element *of, bool has_gates,
                   element *to)
{
    const struct pp_routing *r = e->routing;
    const size_t width = (size_t)e->width, top_k = (size_t)r->top_k;

    for (size_t t = 0; t < (size_t)(r->batch * r->tokens); t++)
        for (size_t i = 0; i < width; i++) {
            double sum = e->base ? at(e->base, t * width + i) : 0;
            for (size_t c = t * top_k; c < (t + 1) * top_k; c++)
                if (r->row[c] >= 0)
                    sum += (has_gates ? (double)((const gradient *)r->gates)[c] : 1) *
                           at(of, (size_t)r->row[c] * width + i);
            to[t * width + i] = from(sum);
        }
}

static void dispatch_backward(void *stream, const struct pp_token_exchange *e)
{
    (void)stream;
    gather(e, e->dy, false, e->dx);
}

static void combine_forward(void *stream, const struct pp_token_exchange *e)
{
    (void)stream;
    gather(e, e->x, true, e->y);
}

static void combine_backward(void *stream, const struct pp_token_exchange *e)
{
    const struct pp_routing *r = e->routing;
    const size_t width = (size_t)e->width, choices = (size_t)(r->batch * r->tokens * r->top_k);
    element *dx = e->dx;
    gradient *dgates = e->dgates;

    (void)stream;
    for (size_t c = 0; c < choices; c++)
        dgates[c] = 0;
    for (size_t row = 0; row < rows_in_use(r); row++) {
        const element *dy = (const element *)e->dy + token_of(r, row) * width,
                      *x = (const element *)e->x + row * width;
        const size_t c = (size_t)r->from[row];
        const double gate = (double)((const gradient *)r->gates)[c];
        double sum = 0;

        for (size_t i = 0; i < width; i++)
            sum += at(x, i) * at(dy, i);
        dgates[c] = (gradient)sum;
        for (size_t i = 0; i < width; i++)
            dx[row * width + i] = from(gate * at(dy, i));
    }
}
