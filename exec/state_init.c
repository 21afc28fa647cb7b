/* Weights are drawn by counter: element e of tensor `id` is the same number in every division of
 * the model into stages, and the same in all element types up to rounding. */
#include "exec/state.h"

#include "core/random.h"
#include "kernels/numbers.h"

#include <math.h>
#include <string.h>

/* In (0, 1], 53 bits. */
static double uniform(uint64_t stream, int64_t counter)
{
    return (double)((pp_random_bits(stream, (uint64_t)counter) >> 11) + 1) * 0x1p-53;
}

/* Normal numbers come in pairs (Box and Muller 1958). */
static void draw_pair(uint64_t stream, int64_t pair, double deviation, double drawn[2])
{
    const double radius = deviation * sqrt(-2 * log(uniform(stream, 2 * pair)));
    const double angle = 2 * M_PI * uniform(stream, 2 * pair + 1);

    drawn[0] = radius * cos(angle);
    drawn[1] = radius * sin(angle);
}

static void put(const struct pp_kernels *k, const struct pp_state *state, int64_t element,
                double value)
{
    const struct pp_range share = state->share;

    pp_number_put(state->weights, k->element_bytes, element, value);
    if (state->master != NULL && element >= share.from && element < share.until)
        pp_number_put(state->master, k->gradient_bytes, element - share.from, value);
}

static void fill(const struct pp_param *param, const struct pp_kernels *k, uint64_t seed,
                 const struct pp_state *state)
{
    const uint64_t stream = pp_random_stream(seed, (uint64_t)param->id);

    for (int64_t i = 0; i < param->count; i += 2) {
        double pair[2] = {1, 1};

        if (param->init == PP_INIT_NORMAL)
            draw_pair(stream, i / 2, param->deviation, pair);
        put(k, state, param->offset + i, pair[0]);
        if (i + 1 < param->count)
            put(k, state, param->offset + i + 1, pair[1]);
    }
}

void pp_state_init(const struct pp_stage *stage, const struct pp_kernels *k, uint64_t seed,
                   const struct pp_state *state, int copies)
{
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, state->fixed != NULL, copies);

    memset(state->weights, 0, bytes.weights);
    memset(state->fixed ? (void *)state->fixed : state->sum, 0, bytes.gradients);
    memset(state->m, 0, bytes.moment);
    memset(state->v, 0, bytes.moment);
    if (state->master != NULL)
        memset(state->master, 0, bytes.moment);
    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_param *param = &stage->params[p];

        if (param->init != PP_INIT_ZERO)
            fill(param, k, seed, state);
    }
}
