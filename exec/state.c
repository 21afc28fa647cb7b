#include "exec/state.h"

#include <math.h>

struct pp_state_bytes pp_state_bytes(const struct pp_stage *stage, const struct pp_kernels *k,
                                     bool is_exact)
{
    const size_t elements = (size_t)stage->elements;

    return (struct pp_state_bytes){
        .weights = elements * k->element_bytes,
        .gradients = elements * (is_exact ? sizeof(int64_t) : k->element_bytes),
        .optimizer = 2 * elements * k->element_bytes,
    };
}

static void *at(void *vector, const struct pp_kernels *k, const struct pp_param *param)
{
    return (char *)vector + (size_t)param->offset * k->element_bytes;
}

/* The gradient of a tensor as elements of T: where it lies, or from fixed point in `tensor`. */
static const void *gradient(const struct pp_kernels *k, void *stream, const struct pp_param *param,
                            const struct pp_state *state, void *tensor)
{
    if (!state->fixed)
        return at(state->sum, k, param);
    k->fixed_read(stream, param->count, state->fixed + param->offset, PP_GRAD_BITS, tensor);
    return tensor;
}

static double tensor_squares(const struct pp_kernels *k, void *stream, const struct pp_param *param,
                             const struct pp_state *state, const struct pp_state_scratch *scratch)
{
    double sum = 0;

    k->squares(stream, param->count, gradient(k, stream, param, state, scratch->tensor),
               scratch->blocks);
    for (int64_t i = 0; i < (param->count + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK; i++)
        sum += scratch->blocks[i];
    return sum;
}

static void clear_own_layers(const struct pp_stage *stage, double *squares)
{
    const struct pp_stage_shape *shape = &stage->shape;

    if (shape->has_embedding)
        squares[0] = 0;
    for (int block = 0; block < shape->blocks; block++)
        squares[1 + shape->first_block + block] = 0;
    if (shape->has_head)
        squares[1 + stage->net->layers] = 0;
}

void pp_state_squares(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                      const struct pp_state *state, const struct pp_state_scratch *scratch,
                      double *squares)
{
    clear_own_layers(stage, squares);
    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_param *param = &stage->params[p];

        if (param->is_tied && !stage->shape.has_embedding)
            continue;
        squares[param->is_tied ? 0 : param->layer] +=
            tensor_squares(k, stream, param, state, scratch);
    }
}

const struct pp_param *pp_state_not_finite(const struct pp_kernels *k, void *stream,
                                           const struct pp_stage *stage,
                                           const struct pp_state *state,
                                           const struct pp_state_scratch *scratch)
{
    for (int p = 0; p < stage->param_count; p++)
        if (!isfinite(tensor_squares(k, stream, &stage->params[p], state, scratch)))
            return &stage->params[p];
    return NULL;
}

void pp_state_update(const struct pp_kernels *k, void *stream, const struct pp_stage *stage,
                     const struct pp_state *state, const struct pp_state_scratch *scratch,
                     const struct pp_recipe *recipe, int step, double grad_scale)
{
    struct pp_adamw adamw = {
        .rate = pp_recipe_rate(recipe, step),
        .beta1 = recipe->beta1,
        .beta2 = recipe->beta2,
        .epsilon = recipe->epsilon,
        .correction1 = 1 - pow(recipe->beta1, step + 1),
        .correction2 = 1 - pow(recipe->beta2, step + 1),
    };

    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_param *param = &stage->params[p];
        const void *grad = gradient(k, stream, param, state, scratch->tensor);

        adamw.decay = param->decays ? recipe->decay : 0;
        k->adamw(stream, param->count, &adamw, grad_scale, grad, at(state->weights, k, param),
                 at(state->m, k, param), at(state->v, k, param));
    }
    const bool is_exact = state->fixed != NULL;
    k->zero(stream, pp_state_bytes(stage, k, is_exact).gradients,
            is_exact ? (void *)state->fixed : state->sum);
}
