/* One loop, one stage. It shares the stage code with pipeexec, but nothing that a schedule, a
 * program or a slot could get wrong: every granule uses the same memory, one after the other. */
#include "exec/reference.h"

#include "core/units.h"
#include "exec/host.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct pp_reference {
    const struct pp_net *net;
    const struct pp_kernels *kernels;
    struct pp_batch batch;
    struct pp_recipe recipe;
    struct pp_stage *stage;
    struct pp_state state;
    struct pp_state_scratch state_scratch;
    double *squares, *blocks; /* [layers + 2], [blocks of all tensors] */
    bool has_gradients; /* of a step that no update has used and zeroed */

    /* of one granule */
    void **kept, **saved; /* [splits] */
    double *loss;         /* [splits][rows * tokens] */
    int32_t *ids, *targets;
    void *scratch, *grad_scratch;
};

static int64_t blocks_of(const struct pp_stage *stage)
{
    int64_t largest = 0;

    for (int p = 0; p < stage->param_count; p++)
        if (stage->params[p].count > largest)
            largest = stage->params[p].count;
    return (largest + PP_SQUARES_BLOCK - 1) / PP_SQUARES_BLOCK;
}

static size_t tokens_of_granule(const struct pp_stage *stage)
{
    return (size_t)stage->shape.rows * (size_t)stage->shape.tokens * (size_t)stage->shape.splits;
}

/* What pp_reference_create takes, in the same order. */
struct needs {
    size_t state, granule, scratch;
};

static struct needs needs_of(const struct pp_stage *stage, const struct pp_kernels *k,
                             bool is_exact)
{
    const struct pp_state_bytes state = pp_state_bytes(stage, k, is_exact, 1);
    const size_t tokens = tokens_of_granule(stage);

    return (struct needs){
        .state = state.weights + state.gradients + state.optimizer,
        .granule = (size_t)stage->shape.splits * (stage->kept_bytes + stage->saved_bytes) +
                   tokens * (2 * sizeof(int32_t) + sizeof(double)),
        .scratch = stage->scratch_bytes + stage->grad_scratch_bytes +
                   (size_t)(blocks_of(stage) + pp_squares_blocks(stage)) * sizeof(double),
    };
}

static struct pp_stage *stage_of(struct pp_arena *arena, const struct pp_net *net,
                                 const struct pp_kernels *kernels, const struct pp_batch *batch)
{
    const struct pp_stage_shape shape = {
        .blocks = net->layers,
        .has_embedding = true,
        .has_head = true,
        .rows = batch->mbs / batch->granules,
        .tokens = net->seq / batch->splits,
        .splits = batch->splits,
    };

    assert(batch->mbs % batch->granules == 0 && net->seq % batch->splits == 0);
    return pp_stage_create(arena, net, &shape, kernels);
}

size_t pp_reference_bytes(const struct pp_net *net, const struct pp_kernels *kernels,
                          const struct pp_batch *batch, bool is_exact)
{
    struct pp_arena *scratch PP_ARENA_AUTO = pp_arena_create();
    const struct needs needs = needs_of(stage_of(scratch, net, kernels, batch), kernels, is_exact);

    return needs.state + needs.granule + needs.scratch;
}

static enum pp_status check_memory(const struct needs *needs, struct pp_error *err)
{
    const size_t total = needs->state + needs->granule + needs->scratch;
    const size_t available = pp_host_available_bytes();
    char text[5][PP_UNITS_TEXT_BYTES];

    if (total <= available)
        return PP_OK;
    return pp_error_set(
        err, PP_EFAIL,
        "the reference that gradients are checked against takes %s (weights, gradients, optimizer "
        "%s; activations %s; scratch %s), but the machine has %s left: run without the check, or "
        "make the model, the sequence or --mbs smaller",
        pp_units_print((double)total, PP_UNIT_BYTES, text[0]),
        pp_units_print((double)needs->state, PP_UNIT_BYTES, text[1]),
        pp_units_print((double)needs->granule, PP_UNIT_BYTES, text[2]),
        pp_units_print((double)needs->scratch, PP_UNIT_BYTES, text[3]),
        pp_units_print((double)available, PP_UNIT_BYTES, text[4]));
}

static struct pp_state take_state(struct pp_arena *arena, const struct pp_stage *stage,
                                  const struct pp_kernels *k, bool is_exact)
{
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, is_exact, 1);
    struct pp_state state = {
        .weights = pp_arena_alloc_raw(arena, bytes.weights),
        .m = pp_arena_alloc_raw(arena, bytes.optimizer / 2),
        .v = pp_arena_alloc_raw(arena, bytes.optimizer / 2),
        .share = pp_share_of(stage, 0, 1),
    };
    void *gradients = pp_arena_alloc_raw(arena, bytes.gradients);

    if (is_exact)
        state.fixed = gradients;
    else
        state.sum = gradients;
    return state;
}

static void take_granule(struct pp_arena *arena, struct pp_reference *r)
{
    const struct pp_stage *stage = r->stage;
    const size_t tokens = tokens_of_granule(stage);

    r->kept = PP_ARRAY(arena, void *, stage->shape.splits);
    r->saved = PP_ARRAY(arena, void *, stage->shape.splits);
    for (int split = 0; split < stage->shape.splits; split++) {
        r->kept[split] = pp_arena_alloc_raw(arena, stage->kept_bytes);
        r->saved[split] = pp_arena_alloc_raw(arena, stage->saved_bytes);
    }
    r->loss = PP_ARRAY(arena, double, tokens);
    r->ids = PP_ARRAY(arena, int32_t, tokens);
    r->targets = PP_ARRAY(arena, int32_t, tokens);
    r->scratch = pp_arena_alloc_raw(arena, stage->scratch_bytes);
    r->grad_scratch = pp_arena_alloc_raw(arena, stage->grad_scratch_bytes);
}

enum pp_status pp_reference_create(struct pp_arena *arena, const struct pp_net *net,
                                   const struct pp_kernels *kernels, const struct pp_batch *batch,
                                   const struct pp_recipe *recipe, struct pp_reference **reference,
                                   struct pp_error *err)
{
    struct pp_reference *r = PP_NEW(arena, struct pp_reference);

    *r = (struct pp_reference){.net = net, .kernels = kernels, .batch = *batch, .recipe = *recipe};
    r->stage = stage_of(arena, net, kernels, batch);
    const struct needs needs = needs_of(r->stage, kernels, recipe->is_exact);
    PP_TRY(check_memory(&needs, err));
    r->state = take_state(arena, r->stage, kernels, recipe->is_exact);
    take_granule(arena, r);
    r->state_scratch.tensor = r->grad_scratch;
    r->state_scratch.blocks = PP_ARRAY(arena, double, blocks_of(r->stage));
    r->squares = PP_ARRAY(arena, double, net->layers + 2);
    r->blocks = PP_ARRAY(arena, double, pp_squares_blocks(r->stage));
    pp_state_init(r->stage, kernels, recipe->seed, &r->state, 1);
    *reference = r;
    return PP_OK;
}

/* Granule g of a step, counted over micro-batches and replicas: its samples follow one another. */
static void take_samples(struct pp_reference *r, const struct pp_text *text, int step, int g)
{
    const int rows = r->stage->shape.rows, seq = r->net->seq;

    for (int row = 0; row < rows; row++)
        pp_text_sample(text, r->recipe.seed, step, (int64_t)g * rows + row, seq,
                       r->ids + (int64_t)row * seq, r->targets + (int64_t)row * seq);
}

static struct pp_stage_work work_of(struct pp_reference *r, int *status)
{
    return (struct pp_stage_work){
        .stage = r->stage,
        .weights = r->state.weights,
        .grads = {.is_exact = r->recipe.is_exact,
                  .sum = r->state.sum,
                  .fixed = r->state.fixed,
                  .scratch = r->grad_scratch,
                  .status = status},
        .saved = r->saved,
        .ids = r->ids,
        .targets = r->targets,
        .loss_scale = 1.0 / ((double)pp_batch_samples(&r->batch) * r->net->seq),
        .scratch = r->scratch,
    };
}

static void run_granule(struct pp_reference *r, struct pp_stage_work *work,
                        struct pp_loss_sum *loss)
{
    const int splits = r->stage->shape.splits;
    const size_t split_tokens = tokens_of_granule(r->stage) / (size_t)splits;

    for (work->split = 0; work->split < splits; work->split++) {
        work->kept = r->kept[work->split];
        work->loss = r->loss + (size_t)work->split * split_tokens;
        pp_stage_forward(r->kernels, NULL, work);
    }
    pp_loss_add(loss, r->loss, (int64_t)(split_tokens * (size_t)splits));
    for (work->split = splits - 1; work->split >= 0; work->split--) {
        work->kept = r->kept[work->split];
        pp_stage_backward(r->kernels, NULL, work);
    }
}

static const char *const grad_faults[] = {
    [PP_FIXED_NOT_FINITE] = "is not finite",
    [PP_FIXED_OVERFLOW] = "does not fit into fixed point with 44 binary places",
};

/* Where training went wrong, after granule g. */
static enum pp_status check_granule(const struct pp_reference *r, int step, int g,
                                    const struct pp_loss_sum *loss, int status,
                                    struct pp_error *err)
{
    const int micro_batch = g / r->batch.granules;
    char what[128];

    if (loss->is_finite && status == PP_FIXED_OK)
        return PP_OK;
    snprintf(what, sizeof what, "step %d: after micro-batch %d of replica %d", step + 1,
             micro_batch % r->batch.micro_batches, micro_batch / r->batch.micro_batches);
    if (!loss->is_finite)
        return pp_error_set(err, PP_EFAIL, "%s, the loss is not finite", what);
    return pp_error_set(err, PP_EFAIL, "%s, a gradient %s", what, grad_faults[status]);
}

enum pp_status pp_reference_step(struct pp_reference *reference, const struct pp_text *text,
                                 int step, double *loss, struct pp_error *err)
{
    struct pp_reference *r = reference;
    const int granules = r->batch.replicas * r->batch.micro_batches * r->batch.granules;
    struct pp_loss_sum sum = {.is_finite = true};
    int status = PP_FIXED_OK;
    struct pp_stage_work work = work_of(r, &status);
    void *gradients = r->state.fixed ? (void *)r->state.fixed : r->state.sum;

    if (r->has_gradients)
        memset(gradients, 0, pp_state_bytes(r->stage, r->kernels, r->recipe.is_exact, 1).gradients);
    r->has_gradients = true;
    for (int g = 0; g < granules; g++) {
        take_samples(r, text, step, g);
        run_granule(r, &work, &sum);
        PP_TRY(check_granule(r, step, g, &sum, status, err));
    }
    *loss = pp_loss_mean(&sum);
    return PP_OK;
}

static enum pp_status fail_norm(const struct pp_reference *r, int step, struct pp_error *err)
{
    const struct pp_param *fault =
        pp_state_not_finite(r->kernels, NULL, r->stage, &r->state, &r->state_scratch);

    if (!fault)
        return pp_error_set(err, PP_EFAIL, "step %d: the norm of the gradients is not finite",
                            step + 1);
    return pp_error_set(err, PP_EFAIL,
                        "step %d: the gradient of %s in layer %d of %d (0 is the embedding) is "
                        "not finite",
                        step + 1, fault->name, fault->layer, r->net->layers + 2);
}

enum pp_status pp_reference_update(struct pp_reference *reference, int step, struct pp_error *err)
{
    struct pp_reference *r = reference;

    memset(r->squares, 0, sizeof(double) * (size_t)(r->net->layers + 2));
    pp_state_squares(r->kernels, NULL, r->stage, &r->state, &r->state_scratch, r->blocks);
    pp_squares_add(r->stage, r->blocks, r->squares);
    const double norm = pp_squares_norm(r->squares, r->net->layers),
                 grad_scale = pp_recipe_grad_scale(&r->recipe, norm);
    if (!isfinite(norm))
        return fail_norm(r, step, err);
    pp_state_update(r->kernels, NULL, r->stage, &r->state, &r->state_scratch, &r->recipe, step,
                    &grad_scale);
    r->has_gradients = false;
    return PP_OK;
}

const struct pp_stage *pp_reference_stage(const struct pp_reference *reference)
{
    return reference->stage;
}

const struct pp_state *pp_reference_state(const struct pp_reference *reference)
{
    return &reference->state;
}

const struct pp_kernels *pp_reference_kernels(const struct pp_reference *reference)
{
    return reference->kernels;
}
