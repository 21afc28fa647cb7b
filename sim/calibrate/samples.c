/* Collects durations by kind of op, shape and layers of the stage; all runs share the groups. */
#include "sim/calibrate/calibrate.h"

static bool is_measured_kind(int kind)
{
    for (int k = 0; k < PP_MEASURED_KINDS; k++)
        if (pp_measured_kinds[k] == kind)
            return true;
    return false;
}

static int set_of(struct pp_calibrate *c, const struct pp_measured_shape *shape)
{
    struct pp_cost_file *f = c->file;

    for (int k = 0; k < f->set_count; k++)
        if (pp_measured_shape_is_same(&f->sets[k].shape, shape))
            return k;
    *PP_PUSH(c->arena, f->sets, f->set_count, f->set_capacity) =
        (struct pp_measured_set){.shape = *shape};
    return f->set_count - 1;
}

static struct pp_calibrate_group *group_of(struct pp_calibrate *c,
                                           const struct pp_calibrate_group *key)
{
    for (int k = 0; k < c->group_count; k++) {
        struct pp_calibrate_group *g = &c->groups[k];
        if (g->kind == key->kind && g->set == key->set && g->layers.blocks == key->layers.blocks &&
            g->layers.has_embedding == key->layers.has_embedding &&
            g->layers.has_head == key->layers.has_head && g->params == key->params)
            return g;
    }
    struct pp_calibrate_group *g = PP_PUSH(c->arena, c->groups, c->group_count, c->group_capacity);
    *g = *key;
    return g;
}

/* Returns the group of an op, without samples. */
static struct pp_calibrate_group key_of(struct pp_calibrate *c, const struct pp_calibrate_run *run,
                                        const struct pp_op *op)
{
    struct pp_measured_shape shape = pp_measured_shape_of(&run->inputs);

    shape.split = op->split;
    if (op->kind == PP_U)
        return (struct pp_calibrate_group){
            .kind = PP_U, .set = -1, .params = pp_measured_updated(&run->inputs, op->stage)};
    return (struct pp_calibrate_group){
        .kind = op->kind,
        .set = set_of(c, &shape),
        .params =
            op->kind == PP_B || op->kind == PP_W ? pp_measured_zeroed(&run->inputs, op->stage) : 0,
        .layers = pp_measured_layers_of(&run->inputs, op->kind, op->stage)};
}

static enum pp_status add_compute(struct pp_calibrate *c, const struct pp_calibrate_run *run,
                                  const struct pp_trace_event *event, struct pp_error *err)
{
    struct pp_op ops[2];
    int count;

    PP_TRY(pp_op_parse(event->cell, ops, &count, err));
    if (count == 2) { /* the time belongs to both ops */
        c->fused_count++;
        return PP_OK;
    }
    if (ops[0].kind != PP_U && !is_measured_kind(ops[0].kind))
        return PP_OK;
    if (ops[0].stage >= run->inputs.stages || ops[0].split >= run->inputs.splits)
        return pp_error_set(err, PP_EINVAL, "%s: %s is not of a run of %d stages and %d splits",
                            run->path, event->cell, run->inputs.stages, run->inputs.splits);
    const struct pp_calibrate_group key = key_of(c, run, &ops[0]);
    struct pp_calibrate_group *group = group_of(c, &key);
    const int granules = ops[0].kind == PP_U ? 1 : ops[0].granules;
    *PP_PUSH(c->arena, group->s, group->count, group->capacity) =
        (event->end_s - event->start_s) / granules;
    c->op_count++;
    return PP_OK;
}

enum pp_status pp_calibrate_check_layers(const struct pp_calibrate_run *run, struct pp_error *err)
{
    const char *obstacle = pp_measured_obstacle(&run->inputs);

    return obstacle ? pp_error_set(err, PP_EINVAL, "layers are not told apart with %s", obstacle)
                    : PP_OK;
}

static enum pp_status collect_run(struct pp_calibrate *c, const struct pp_calibrate_run *run,
                                  struct pp_error *err)
{
    const int before = c->op_count;

    if (pp_calibrate_check_layers(run, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", run->path);
    for (int i = 0; i < run->trace->count; i++) {
        const struct pp_trace_event *event = &run->trace->events[i];

        c->file->is_clipped |= event->kind == PP_BAR;
        if (pp_op_is_compute(event->kind))
            PP_TRY(add_compute(c, run, event, err));
        else if (pp_op_is_send(event->kind) && event->bytes > 0)
            *PP_PUSH(c->arena, c->messages, c->message_count, c->message_capacity) =
                (struct pp_calibrate_message){event->bytes, event->end_s - event->start_s};
    }
    return c->op_count > before
               ? PP_OK
               : pp_error_set(err, PP_EINVAL, "%s: no op of it computes anything by itself: %s",
                              run->path, c->fused_count ? "all are fused pairs" : "there is none");
}

enum pp_status pp_calibrate_collect(struct pp_calibrate *c, struct pp_error *err)
{
    for (int k = 0; k < c->run_count; k++)
        if (!c->runs[k].is_left_out)
            PP_TRY(collect_run(c, &c->runs[k], err));
    return PP_OK;
}
