/* State of stages that are laid out by hand, for tests of exec/state/state.h. */
#pragma once

#include "exec/state/state.h"

#include <math.h>

/* A model of two blocks and its divisions, with tensors of every kind, laid out by hand. So these
 * tests depend on no layer's code. */
enum { BLOCKS = 2, LAYERS = BLOCKS + 2, LARGEST = 3 * PP_SQUARES_BLOCK + 17 };

static const struct pp_net net = {.name = "by hand", .layers = BLOCKS, .is_tied = true};
static const struct pp_param all_params[] = {
    {"embedding", 0, 0, LARGEST, 0, PP_INIT_NORMAL, 0.02, true, true},
    {"qkv", 1, 1, 5001, 0, PP_INIT_NORMAL, 0.1, true, false},
    {"norm", 2, 1, 33, 0, PP_INIT_ONE, 0, false, false},
    {"bias", 3, 1, 7, 0, PP_INIT_ZERO, 0, false, false},
    {"qkv", 4, 2, 5001, 0, PP_INIT_NORMAL, 0.1, true, false},
    {"norm", 5, 3, 33, 0, PP_INIT_ONE, 0, false, false},
};
enum { PARAMS = sizeof all_params / sizeof *all_params };

static struct pp_arena *arena;
static const struct pp_kernels *const k = &pp_kernels_reference;

static inline void set_up(void)
{
    arena = pp_arena_create();
}

static inline void tear_down(void)
{
    pp_arena_destroy(arena);
}

struct copy {
    struct pp_stage stage;
    struct pp_state state;
    double *scratch;
};

static inline void add_param(struct pp_stage *stage, int p)
{
    struct pp_param *param = &stage->params[stage->param_count++];

    *param = all_params[p];
    param->offset = stage->elements;
    stage->tensors[stage->tensor_count++] =
        (struct pp_flat_tensor){param->offset, param->offset + param->count, param->decays};
    stage->elements += (param->count + 15) / 16 * 16;
}

/* A stage of `blocks` from `first` on; its head has the embedding's matrix where both are apart. */
static inline struct copy *make(int first, int blocks, bool has_embedding, bool has_head,
                                bool is_exact)
{
    struct copy *c = PP_NEW(arena, struct copy);

    c->stage.net = &net;
    c->stage.shape = (struct pp_stage_shape){.first_block = first,
                                             .blocks = blocks,
                                             .has_embedding = has_embedding,
                                             .has_head = has_head};
    c->stage.params = PP_ARRAY(arena, struct pp_param, PARAMS);
    c->stage.tensors = PP_ARRAY(arena, struct pp_flat_tensor, PARAMS);
    for (int p = 0; p < PARAMS; p++) {
        const int layer = all_params[p].layer;

        if (layer == 0            ? has_embedding || has_head
            : layer == 1 + BLOCKS ? has_head
                                  : layer > first && layer <= first + blocks)
            add_param(&c->stage, p);
    }
    const struct pp_state_bytes bytes = pp_state_bytes(&c->stage, k, is_exact, pp_cuts_none());
    c->state.weights = pp_arena_alloc(arena, bytes.weights);
    c->state.share = c->state.held = c->state.summed = pp_share_of(&c->stage, 0, 1);
    c->state.m = pp_arena_alloc(arena, bytes.moment);
    c->state.v = pp_arena_alloc(arena, bytes.moment);
    if (is_exact)
        c->state.fixed = pp_arena_alloc(arena, bytes.gradients);
    else
        c->state.sum = pp_arena_alloc(arena, bytes.gradients);
    c->scratch = PP_ARRAY(arena, double, pp_squares_blocks(&c->stage));
    return c;
}

static inline const struct pp_param *param_of(const struct copy *c, int id)
{
    for (int p = 0; p < c->stage.param_count; p++)
        if (c->stage.params[p].id == id)
            return &c->stage.params[p];
    return NULL;
}

static inline double *weights_of(const struct copy *c, int id)
{
    return (double *)c->state.weights + param_of(c, id)->offset;
}

/* Gradients that depend on tensor and element alone. */
static inline void set_gradients(struct copy *c)
{
    for (int p = 0; p < c->stage.param_count; p++) {
        const struct pp_param *param = &c->stage.params[p];

        for (int64_t i = 0; i < param->count; i++) {
            const double value = sin((double)(i + 1) * (param->id + 1)) * 0.01;

            if (c->state.fixed)
                c->state.fixed[param->offset + i] = llrint(ldexp(value, PP_GRAD_BITS));
            else
                ((double *)c->state.sum)[param->offset + i] = value;
        }
    }
}

static const struct pp_recipe recipe = {.seed = 1,
                                        .rate = 0.01,
                                        .end_rate = 0.001,
                                        .warmup_steps = 2,
                                        .steps = 10,
                                        .beta1 = 0.9,
                                        .beta2 = 0.95,
                                        .epsilon = 1e-8,
                                        .decay = 0.1};
