/* Finds the tensors of a state in the stages that hold them. */
#include "exec/checkpoint/checkpoint.h"

const struct pp_param *pp_checkpoint_find(const struct pp_checkpoint_parts *parts, int id,
                                          int *from)
{
    const struct pp_param *found = NULL;

    while (!found && *from < parts->count)
        found = pp_stage_find(parts->part[(*from)++].stage, id);
    return found;
}

/* A vector of a state, and its range of the stage's elements. */
struct held {
    void *vector;
    struct pp_range range;
};

void *pp_checkpoint_vector(const struct pp_checkpoint_parts *parts, int part,
                           const struct pp_param *param, int vector, struct pp_range *range)
{
    const struct pp_state *state = &parts->part[part].state;
    const struct pp_range all = pp_range_of(param);
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
