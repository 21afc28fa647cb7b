/* Routing of tokens to experts, and their exchange. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/fp32/softmax.h"
#include "kernels/cpu/routes.h"

/* ---- routing --------------------------------------------------------------------------------- */

/* Returns the largest logit that is not yet chosen, the first of equal ones. */
static int next_expert(const struct pp_routing *r, const float *logits, const int32_t *chosen,
                       int count)
{
    int best = -1;

    for (int e = 0; e < r->experts; e++)
        if ((best < 0 || logits[e] > logits[best]) && !pp_routes_has(chosen, count, e))
            best = e;
    return best;
}

/* Returns the sum of exp(logit - max). */
static float sum_of_exp(const float *logits, size_t count, float max)
{
    vf sum = {0};

    for (size_t i = 0; i < count; i += LANES)
        sum += only_first(count - i, exp_lanes(load_some(logits + i, count - i) - max), 0);
    return sum_lanes(sum);
}

void PP_AT(route_forward)(void *stream, const struct pp_routing *r)
{
    const size_t experts = (size_t)r->experts, top_k = (size_t)r->top_k;

    (void)stream;
    for (size_t t = 0; t < (size_t)(r->batch * r->tokens); t++) {
        const float *logits = (const float *)r->logits + t * experts;
        int32_t *chosen = r->expert + t * top_k;
        float *gates = (float *)r->gates + t * top_k;

        for (int k = 0; k < r->top_k; k++) {
            chosen[k] = next_expert(r, logits, chosen, k);
            gates[k] = logits[chosen[k]];
        }
        const float max = logits[chosen[0]], own = exponentials(gates, top_k, max),
                    sum = r->is_normalized ? own : sum_of_exp(logits, experts, max);
        for (size_t k = 0; k < top_k; k++)
            gates[k] /= sum;
    }
    pp_routes_order(r);
}

/* See kernels/cpu/plain_experts.h. */
void PP_AT(route_backward)(void *stream, const struct pp_routing *r)
{
    const size_t experts = (size_t)r->experts, top_k = (size_t)r->top_k;

    (void)stream;
    for (size_t t = 0; t < (size_t)(r->batch * r->tokens); t++) {
        const float *logits = (const float *)r->logits + t * experts;
        const int32_t *chosen = r->expert + t * top_k;
        const float *gates = (const float *)r->gates + t * top_k,
                    *dgates = (const float *)r->dgates + t * top_k;
        float *to = (float *)r->dlogits + t * experts;
        float sum = 0;

        for (size_t k = 0; k < top_k; k++)
            sum += gates[k] * dgates[k];
        if (r->is_normalized) {
            memset(to, 0, sizeof *to * experts);
        } else {
            const float max = logits[chosen[0]];
            memmove(to, logits, sizeof *to * experts);
            const float factor = -sum / exponentials(to, experts, max);
            for (size_t e = 0; e < experts; e++)
                to[e] *= factor;
        }
        for (size_t k = 0; k < top_k; k++)
            to[chosen[k]] = gates[k] * (dgates[k] - sum);
    }
}

/* ---- exchange -------------------------------------------------------------------------------- */

void PP_AT(dispatch_forward)(void *stream, const struct pp_token_exchange *e)
{
    const struct pp_routing *r = e->routing;
    const size_t width = (size_t)e->width, rows = (size_t)r->begin[r->experts];

    (void)stream;
    for (size_t row = 0; row < rows; row++)
        memcpy((float *)e->y + row * width,
               (const float *)e->x + (size_t)(r->from[row] / r->top_k) * width,
               sizeof(float) * width);
    memset((float *)e->y + rows * width, 0, sizeof(float) * width * ((size_t)r->rows - rows));
}

/* to = base + the rows of a token's choices, times their gates unless those are NULL. */
PP_INLINE void gather(const struct pp_token_exchange *e, const float *of, const float *gates,
                      float *to)
{
    const struct pp_routing *r = e->routing;
    const size_t width = (size_t)e->width, top_k = (size_t)r->top_k;
    const float *base = e->base;

    for (size_t t = 0; t < (size_t)(r->batch * r->tokens); t++)
        for (size_t i = 0; i < width; i += LANES) {
            vf sum = base ? load_some(base + t * width + i, width - i) : (vf){0};
            for (size_t c = t * top_k; c < (t + 1) * top_k; c++) {
                if (r->row[c] < 0)
                    continue;
                const vf x = load_some(of + (size_t)r->row[c] * width + i, width - i);
                sum = gates ? multiply_add(x, all(gates[c]), sum) : sum + x;
            }
            store_some(to + t * width + i, width - i, sum);
        }
}

void PP_AT(dispatch_backward)(void *stream, const struct pp_token_exchange *e)
{
    (void)stream;
    gather(e, e->dy, NULL, e->dx);
}

void PP_AT(combine_forward)(void *stream, const struct pp_token_exchange *e)
{
    (void)stream;
    gather(e, e->x, e->routing->gates, e->y);
}

void PP_AT(combine_backward)(void *stream, const struct pp_token_exchange *e)
{
    const struct pp_routing *r = e->routing;
    const size_t width = (size_t)e->width, rows = (size_t)r->begin[r->experts],
                 choices = (size_t)(r->batch * r->tokens * r->top_k);

    (void)stream;
    memset(e->dgates, 0, sizeof(float) * choices);
    for (size_t row = 0; row < rows; row++) {
        const size_t c = (size_t)r->from[row];
        const float *dy = (const float *)e->dy + c / (size_t)r->top_k * width,
                    *x = (const float *)e->x + row * width, gate = ((const float *)r->gates)[c];
        float *dx = (float *)e->dx + row * width;
        vf sum = {0};

        for (size_t i = 0; i < width; i += LANES) {
            const vf d = load_some(dy + i, width - i);
            sum = multiply_add(load_some(x + i, width - i), d, sum);
            store_some(dx + i, width - i, d * gate);
        }
        ((float *)e->dgates)[c] = sum_lanes(sum);
    }
}
