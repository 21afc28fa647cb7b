/* Weights are drawn by counter: element e of tensor `id` is the same number in every division of
 * the model into stages, and the same in both element types up to rounding. */
#include "exec/state.h"

#include "core/random.h"

#include <assert.h>
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

static void put(void *weights, size_t element_bytes, int64_t i, double value)
{
    if (element_bytes == sizeof(float))
        ((float *)weights)[i] = (float)value;
    else
        ((double *)weights)[i] = value;
}

static void fill(const struct pp_param *param, size_t element_bytes, uint64_t seed, void *weights)
{
    const uint64_t stream = pp_random_stream(seed, (uint64_t)param->id);

    for (int64_t i = 0; i < param->count; i += 2) {
        double pair[2] = {1, 1};

        if (param->init == PP_INIT_NORMAL)
            draw_pair(stream, i / 2, param->deviation, pair);
        put(weights, element_bytes, i, pair[0]);
        if (i + 1 < param->count)
            put(weights, element_bytes, i + 1, pair[1]);
    }
}

void pp_state_init(const struct pp_stage *stage, const struct pp_kernels *k, uint64_t seed,
                   const struct pp_state *state, int copies)
{
    const size_t vector_bytes = (size_t)stage->elements * k->element_bytes,
                 share_bytes = (size_t)pp_share_elements(stage, copies) * k->element_bytes;

    assert(k->element_bytes == sizeof(float) || k->element_bytes == sizeof(double));
    memset(state->weights, 0, vector_bytes);
    memset(state->m, 0, share_bytes);
    memset(state->v, 0, share_bytes);
    if (state->fixed)
        memset(state->fixed, 0, (size_t)stage->elements * sizeof *state->fixed);
    else
        memset(state->sum, 0, vector_bytes);
    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_param *param = &stage->params[p];

        if (param->init != PP_INIT_ZERO)
            fill(param, k->element_bytes, seed,
                 (char *)state->weights + (size_t)param->offset * k->element_bytes);
    }
}
