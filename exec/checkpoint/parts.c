/* Finds the tensors of a state in the stages that hold them. */
#include "exec/checkpoint/checkpoint.h"

#include <string.h>

const struct pp_param *pp_checkpoint_find(const struct pp_checkpoint_parts *parts, int id,
                                          int *from)
{
    const struct pp_param *found = NULL;

    while (!found && *from < parts->count)
        found = pp_stage_find(parts->part[(*from)++].stage, id);
    return found;
}

struct pp_range pp_checkpoint_held(const struct pp_checkpoint_parts *parts, int part, int vector,
                                   const struct pp_param *param)
{
    const struct pp_state *state = &parts->part[part].state;
    const bool has_master = parts->kernels->element_bytes != parts->kernels->gradient_bytes;

    return (vector == 0 && !has_master ? pp_state_held : pp_state_share)(
        state, pp_state_part_of(state, param->offset));
}

/* Elements of a slice are in the order of the whole tensor. */
bool pp_checkpoint_run(const struct pp_param *param, struct pp_range held, int64_t from,
                       struct pp_checkpoint_run *run)
{
    const struct pp_range here = pp_range_common(pp_range_of(param), held);
    int64_t at = param->offset + pp_slice_from(&param->slice, from), count;

    at = at > here.from ? at : here.from;
    if (at >= here.until)
        return false;
    run->at = at;
    run->of.from = pp_slice_at(&param->slice, at - param->offset, &count);
    run->of.until = run->of.from + (count < here.until - at ? count : here.until - at);
    return true;
}

int pp_checkpoint_take(const struct pp_checkpoint_parts *parts, int id, int vector, int64_t from,
                       struct pp_checkpoint_run *run)
{
    const struct pp_param *param;

    for (int part = 0; (param = pp_checkpoint_find(parts, id, &part)) != NULL;)
        if (pp_checkpoint_run(param, pp_checkpoint_held(parts, part - 1, vector, param), from,
                              run) &&
            run->of.from == from)
            return part - 1;
    return -1;
}

void *pp_checkpoint_vector(const struct pp_checkpoint_parts *parts, int part, int vector,
                           int64_t at)
{
    const struct pp_state *state = &parts->part[part].state;
    void *const vectors[PP_CHECKPOINT_VECTORS] = {state->master, state->m, state->v};

    return vector == 0 && !state->master
               ? pp_state_weight(state, parts->kernels, at)
               : pp_state_in_share(state, parts->kernels, vectors[vector], at);
}

const void *pp_checkpoint_fetch(const struct pp_checkpoint_parts *parts, int part, const void *at,
                                size_t bytes, void *chunk, struct pp_error *err)
{
    const struct pp_state_reach *reach = &parts->part[part].reach;

    if (!reach->read)
        return at;
    return reach->read(reach->closure, at, chunk, bytes, err) == PP_OK ? chunk : NULL;
}

enum pp_status pp_checkpoint_put(const struct pp_checkpoint_parts *parts, int part, void *to,
                                 const void *from, size_t bytes, struct pp_error *err)
{
    const struct pp_state_reach *reach = &parts->part[part].reach;

    if (reach->write)
        return reach->write(reach->closure, from, to, bytes, err);
    memcpy(to, from, bytes);
    return PP_OK;
}

int64_t pp_checkpoint_layer_bytes(const struct pp_checkpoint_parts *parts, int layer)
{
    const struct pp_stage *whole = parts->whole;
    int64_t elements = 0;

    for (int p = 0; p < whole->param_count; p++)
        if (whole->params[p].layer == layer)
            elements += whole->params[p].count;
    return elements * PP_CHECKPOINT_VECTORS * (int64_t)parts->kernels->gradient_bytes;
}

bool pp_checkpoint_is_layer_here(const struct pp_checkpoint_parts *parts, int layer)
{
    const struct pp_stage *whole = parts->whole;

    for (int p = 0; p < whole->param_count; p++)
        for (int part = 0; whole->params[p].layer == layer &&
                           pp_checkpoint_find(parts, whole->params[p].id, &part);)
            if (!parts->part[part - 1].is_elsewhere)
                return true;
    return false;
}
