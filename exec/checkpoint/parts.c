/* Where the tensors of a state lie, whatever stages hold them. */
#include "exec/checkpoint/checkpoint.h"

const struct pp_stage *pp_checkpoint_whole(struct pp_arena *arena, const struct pp_net *net,
                                           const struct pp_kernels *kernels)
{
    const struct pp_stage_shape shape = {.blocks = net->layers,
                                         .has_embedding = true,
                                         .has_head = true,
                                         .rows = 1,
                                         .tokens = net->seq,
                                         .splits = 1};

    return pp_stage_create(arena, net, &shape, kernels);
}

const struct pp_param *pp_checkpoint_find(const struct pp_checkpoint_parts *parts, int id,
                                          int *from)
{
    while (*from < parts->count) {
        const struct pp_stage *stage = parts->part[(*from)++].stage;
        for (int p = 0; p < stage->param_count; p++)
            if (stage->params[p].id == id)
                return &stage->params[p];
    }
    return NULL;
}

/* A vector of a state, and which of the stage's elements it has. */
struct held {
    void *vector;
    struct pp_range range;
};

void *pp_checkpoint_vector(const struct pp_checkpoint_parts *parts, int part,
                           const struct pp_param *param, int vector, struct pp_range *range)
{
    const struct pp_state *state = &parts->part[part].state;
    const struct pp_range all = {param->offset, param->offset + param->count};
    const struct held vectors[PP_CHECKPOINT_VECTORS] = {
        state->master ? (struct held){state->master, state->share}
                      : (struct held){state->weights, {0, parts->part[part].stage->elements}},
        {state->m, state->share},
        {state->v, state->share}};
    const struct pp_range here = pp_range_common(all, vectors[vector].range);

    if (here.from >= here.until) {
        *range = (struct pp_range){0, 0};
        return NULL;
    }
    *range = (struct pp_range){here.from - all.from, here.until - all.from};
    return (char *)vectors[vector].vector +
           (size_t)(here.from - vectors[vector].range.from) * parts->kernels->gradient_bytes;
}
