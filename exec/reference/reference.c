/* Trains on one rank: one loop, one stage. It shares the code of stages with pipeexec, but has no
 * schedule, program or slots that could be wrong. All granules use the same memory in turn. */
#include "exec/nodes/loss.h"
#include "exec/reference/parts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum pp_status pp_reference_create(struct pp_arena *arena, const struct pp_net *net,
                                   const struct pp_kernels *kernels, const struct pp_place *place,
                                   const struct pp_batch *batch, const struct pp_recipe *recipe,
                                   struct pp_reference **reference, struct pp_error *err)
{
    struct pp_reference *r = PP_NEW(arena, struct pp_reference);

    *r = (struct pp_reference){.net = net,
                               .kernels = kernels,
                               .backend = place->backend,
                               .tp = place->share.tp > 1 ? place->share.tp : 1,
                               .batch = *batch,
                               .recipe = *recipe};
    PP_TRY(pp_reference_take(arena, r, place, err));
    PP_TRY(pp_alarm_create(arena, place,
                           "the training on one rank that gradients are checked against "
                           "(--no-check leaves it out)",
                           &r->alarm, err));
    for (int t = 0; t < r->tp; t++)
        pp_state_init(r->parts[t].stage, kernels, recipe, &r->parts[t].seen, pp_cuts_none());
    PP_TRY(pp_staging_push(&r->staging, err));
    *reference = r;
    return PP_OK;
}

static enum pp_status run(struct pp_reference *r, pp_backend_work work, void *argument,
                          struct pp_error *err)
{
    pp_alarm_switch(r->alarm);
    r->backend->begin(r->device);
    r->backend->launch(r->device, 0, work, argument);
    const enum pp_status status = r->backend->finish(r->device, err);
    pp_alarm_switch(r->alarm);
    return status;
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* Takes the consecutive samples of granule g, counted over micro-batches and replicas of a step. */
static enum pp_status take_samples(struct pp_reference *r, const struct pp_text *text, int step,
                                   int g, struct pp_error *err)
{
    const int rows = r->parts[0].stage->shape.rows, seq = r->net->seq;

    assert(text->seq == seq);
    for (int row = 0; row < rows; row++)
        if (pp_text_sample(text, step, (int64_t)g * rows + row, r->ids + (int64_t)row * seq,
                           r->targets + (int64_t)row * seq, err) != PP_OK)
            return pp_error_prefix(err, "step %d: ", step + 1);
    return PP_OK;
}

static struct pp_stage_work work_of(const struct pp_reference *r,
                                    const struct pp_reference_part *part, int split)
{
    const size_t tokens =
        pp_reference_granule_tokens(part->stage) / (size_t)part->stage->shape.splits;

    return (struct pp_stage_work){
        .stage = part->stage,
        .weights = part->state.weights,
        .grads = {.is_exact = r->recipe.is_exact,
                  .sum = part->state.sum,
                  .fixed = part->state.fixed,
                  .scratch = part->grad_scratch,
                  .status = r->status},
        .split = split,
        .kept = part->kept,
        .saved = part->saved,
        .ids = r->ids,
        .targets = r->targets,
        .loss_scale = 1.0 / (double)pp_targets_of_step(&r->batch, r->net),
        .loss = part->losses + (size_t)split * tokens,
        .scratch = part->scratch,
    };
}

static void run_call(const struct pp_kernels *k, void *stream, struct pp_reference *r,
                     enum pp_stage_call_kind kind, int split)
{
    for (int t = 0; t < r->tp; t++)
        r->turn.works[t] = work_of(r, &r->parts[t], split);
    pp_turn_call(k, stream, &r->turn, kind);
}

static void run_forward(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_reference *r = argument;

    for (int split = 0; split < r->batch.splits; split++)
        run_call(k, stream, r, PP_CALL_FORWARD, split);
}

static void run_granule(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_reference *r = argument;

    run_forward(k, stream, argument);
    for (int split = r->batch.splits - 1; split >= 0; split--)
        run_call(k, stream, r, PP_CALL_BACKWARD, split);
}

static void zero_gradients(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_reference *r = argument;

    for (int t = 0; t < r->tp; t++) {
        const struct pp_reference_part *part = &r->parts[t];
        k->zero(stream,
                pp_state_bytes(part->stage, k, r->recipe.is_exact, pp_cuts_none()).gradients,
                part->state.fixed ? (void *)part->state.fixed : part->state.sum);
    }
}

static const char *const grad_faults[] = {
    [PP_FIXED_NOT_FINITE] = "is not finite",
    [PP_FIXED_OVERFLOW] = "does not fit into fixed point with 44 binary places",
};

/* PP_EFAIL, with the place, if the loss or a gradient is invalid after granule g. */
static enum pp_status check_granule(const struct pp_reference *r, int step, int g,
                                    const struct pp_loss_sum *loss, struct pp_error *err)
{
    const int micro_batch = g / r->batch.granules, status = *r->status;
    char what[128];

    if (loss->is_finite && status == PP_FIXED_OK)
        return PP_OK;
    snprintf(what, sizeof what, "step %d: after micro-batch %d of replica %d", step + 1,
             micro_batch % r->batch.micro_batches, micro_batch / r->batch.micro_batches);
    if (!loss->is_finite)
        return pp_error_set(err, PP_EFAIL, "%s, the loss is not finite", what);
    return pp_error_set(err, PP_EFAIL, "%s, a gradient %s", what, grad_faults[status]);
}

/* Runs `work` for each granule of a step; `*loss` is the mean over its tokens. */
static enum pp_status run_granules(struct pp_reference *r, const struct pp_text *text, int step,
                                   pp_backend_work work, double *loss, struct pp_error *err)
{
    const int granules = r->batch.replicas * r->batch.micro_batches * r->batch.granules;
    struct pp_loss_sum sum = {.is_finite = true};

    *r->status = PP_FIXED_OK;
    for (int g = 0; g < granules; g++) {
        PP_TRY(take_samples(r, text, step, g, err));
        PP_TRY(run(r, work, r, err));
        PP_TRY(pp_staging_fetch(&r->losses, err));
        pp_loss_add(&sum, (const double *)(const void *)r->losses.on_host,
                    (int64_t)pp_reference_granule_tokens(r->parts[0].stage));
        PP_TRY(check_granule(r, step, g, &sum, err));
    }
    *loss = pp_loss_mean(&sum, pp_targets_of_step(&r->batch, r->net));
    return PP_OK;
}

enum pp_status pp_reference_step(struct pp_reference *reference, const struct pp_text *text,
                                 int step, double *loss, struct pp_error *err)
{
    struct pp_reference *r = reference;

    if (r->has_gradients)
        PP_TRY(run(r, zero_gradients, r, err));
    r->has_gradients = true;
    PP_TRY(run_granules(r, text, step, run_granule, loss, err));
    return pp_staging_fetch(&r->staging, err);
}

enum pp_status pp_reference_forward(struct pp_reference *reference, const struct pp_text *text,
                                    int pass, double *loss, struct pp_error *err)
{
    return run_granules(reference, text, pass, run_forward, loss, err);
}

/* ---- update ---------------------------------------------------------------------------------- */

static enum pp_status fail_norm(const struct pp_reference *r, int step, struct pp_error *err)
{
    const struct pp_param *fault = NULL;

    for (int t = 0; t < r->tp && !fault; t++)
        fault = pp_squares_not_finite(r->parts[t].stage, r->parts[t].blocks);
    if (!fault)
        return pp_error_set(err, PP_EFAIL, "step %d: the norm of the gradients is not finite",
                            step + 1);
    return pp_error_set(err, PP_EFAIL,
                        "step %d: the gradient of %s in layer %d of %d (0 is the embedding) is "
                        "not finite",
                        step + 1, fault->name, fault->layer, r->net->layers + 2);
}

static void find_squares(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_reference *r = argument;

    for (int t = 0; t < r->tp; t++) {
        const struct pp_reference_part *part = &r->parts[t];
        pp_state_squares(k, stream, part->stage, &part->state, part->block_scratch, part->blocks);
    }
}

static void update(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_reference *r = argument;

    for (int t = 0; t < r->tp; t++)
        pp_state_update(k, stream, r->parts[t].stage, &r->parts[t].state, &r->recipe, r->adamw);
}

enum pp_status pp_reference_update(struct pp_reference *reference, int step, struct pp_error *err)
{
    struct pp_reference *r = reference;

    memset(r->squares, 0, sizeof(double) * (size_t)(r->net->layers + 2));
    PP_TRY(run(r, find_squares, r, err));
    for (int t = 0; t < r->tp; t++)
        pp_squares_add(&(struct pp_squares_part){r->parts[t].stage, r->parts[t].blocks}, 1,
                       r->squares);
    const double norm = pp_squares_norm(r->squares, r->net->layers);
    if (!isfinite(norm))
        return fail_norm(r, step, err);
    pp_recipe_adamw_step(&r->recipe, step, r->adamw);
    r->adamw->grad_scale = pp_recipe_grad_scale(&r->recipe, norm);
    PP_TRY(run(r, update, r, err));
    r->has_gradients = false;
    return pp_staging_fetch(&r->staging, err);
}

int pp_reference_devices(const struct pp_reference *reference)
{
    return reference->tp;
}

const struct pp_stage *pp_reference_stage(const struct pp_reference *reference, int tp_index)
{
    return reference->parts[tp_index].stage;
}

const struct pp_state *pp_reference_state(const struct pp_reference *reference, int tp_index)
{
    return &reference->parts[tp_index].seen;
}

enum pp_status pp_reference_take_state(struct pp_reference *reference,
                                       const struct pp_reference *from, struct pp_error *err)
{
    assert(reference->staging.bytes == from->staging.bytes);
    memcpy(reference->staging.on_host, from->staging.on_host, from->staging.bytes);
    return pp_staging_push(&reference->staging, err);
}

enum pp_status pp_reference_changed(const struct pp_reference *reference, struct pp_error *err)
{
    return pp_staging_push(&reference->staging, err);
}
