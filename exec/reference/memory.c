/* Memory of the reference: one block of the device, and small buffers shared with the host. */
#include "core/units.h"
#include "exec/host/host.h"
#include "exec/reference/parts.h"

#include <assert.h>

size_t pp_reference_granule_tokens(const struct pp_stage *stage)
{
    return (size_t)stage->shape.rows * (size_t)stage->shape.tokens * (size_t)stage->shape.splits;
}

/* Offsets in the block, in bytes. */
struct places {
    size_t state, kept, saved, losses, scratch, grad_scratch, blocks, end;
};

static size_t take(size_t *end, size_t bytes)
{
    const size_t at = *end;

    *end += pp_whole_lines(bytes);
    return at;
}

static struct places places_of(const struct pp_stage *stage, const struct pp_kernels *k,
                               bool is_exact)
{
    const struct pp_state_bytes state = pp_state_bytes(stage, k, is_exact, 1);
    const size_t splits = (size_t)stage->shape.splits;
    struct places p = {0};

    p.state = take(&p.end, state.weights + state.gradients + state.optimizer);
    p.kept = take(&p.end, splits * pp_whole_lines(stage->kept_bytes));
    p.saved = take(&p.end, splits * pp_whole_lines(stage->saved_bytes));
    p.losses = take(&p.end, pp_reference_granule_tokens(stage) * sizeof(double));
    p.scratch = take(&p.end, stage->scratch_bytes);
    p.grad_scratch = take(&p.end, stage->grad_scratch_bytes);
    p.blocks = take(&p.end, (size_t)pp_squares_blocks(stage) * sizeof(double));
    return p;
}

static struct pp_stage *stage_of(struct pp_arena *arena, const struct pp_net *net,
                                 const struct pp_kernels *kernels, const struct pp_batch *batch)
{
    assert(batch->mbs % batch->granules == 0 && net->seq % batch->splits == 0);
    return pp_stage_whole(arena, net, batch->mbs / batch->granules, batch->splits, kernels);
}

/* Returns the bytes of ids, targets and sums of squares. */
static size_t shared_bytes(const struct pp_stage *stage)
{
    return 2 * pp_reference_granule_tokens(stage) * sizeof(int32_t) +
           (size_t)pp_squares_blocks(stage) * sizeof(double);
}

void pp_reference_bytes(const struct pp_net *net, const struct pp_kernels *kernels,
                        const struct pp_batch *batch, bool is_exact, size_t *bytes,
                        size_t *staging_bytes)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_stage *stage = stage_of(scratch, net, kernels, batch);
    const struct places p = places_of(stage, kernels, is_exact);

    *bytes = p.end + shared_bytes(stage);
    *staging_bytes = p.kept - p.state + p.scratch - p.losses;
}

static enum pp_status check_memory(const struct pp_reference *r, const struct places *p,
                                   struct pp_error *err)
{
    const bool is_host = r->backend->available_bytes == NULL;
    const size_t total = p->end + shared_bytes(r->stage),
                 available =
                     is_host ? pp_host_available_bytes() : r->backend->available_bytes(r->device);
    char text[5][PP_UNITS_TEXT_BYTES];

    if (total <= available)
        return PP_OK;
    return pp_error_set(
        err, PP_EFAIL,
        "the reference that gradients are checked against takes %s (weights, gradients, optimizer "
        "%s; activations %s; scratch %s), but the %s has %s left: run without the check, or "
        "make the model, the sequence or --mbs smaller",
        pp_units_print((double)total, PP_UNIT_BYTES, text[0]),
        pp_units_print((double)p->kept, PP_UNIT_BYTES, text[1]),
        pp_units_print((double)(p->scratch - p->kept), PP_UNIT_BYTES, text[2]),
        pp_units_print((double)(p->end - p->scratch), PP_UNIT_BYTES, text[3]),
        is_host ? "machine" : "device", pp_units_print((double)available, PP_UNIT_BYTES, text[4]));
}

static void lay_out(struct pp_arena *arena, struct pp_reference *r, const struct places *p,
                    char *at)
{
    const struct pp_stage *stage = r->stage;

    r->staging = pp_staging_make(arena, r->backend, r->device, at + p->state, p->kept - p->state);
    r->losses = pp_staging_make(arena, r->backend, r->device, at + p->losses,
                                pp_reference_granule_tokens(stage) * sizeof(double));
    r->state = pp_state_at(stage, r->kernels, r->recipe.is_exact, 0, 1, at + p->state);
    r->seen = pp_state_shifted(&r->state, r->staging.on_device, r->staging.on_host);
    r->kept = PP_ARRAY(arena, void *, stage->shape.splits);
    r->saved = PP_ARRAY(arena, void *, stage->shape.splits);
    for (int split = 0; split < stage->shape.splits; split++) {
        r->kept[split] = at + p->kept + (size_t)split * pp_whole_lines(stage->kept_bytes);
        r->saved[split] = at + p->saved + (size_t)split * pp_whole_lines(stage->saved_bytes);
    }
    r->scratch = at + p->scratch;
    r->grad_scratch = at + p->grad_scratch;
    r->block_scratch = (double *)(void *)(at + p->blocks);
}

static enum pp_status share(struct pp_reference *r, struct pp_error *err)
{
    const size_t tokens = pp_reference_granule_tokens(r->stage);
    const size_t bytes[] = {tokens * sizeof(int32_t), tokens * sizeof(int32_t), sizeof(int),
                            (size_t)pp_squares_blocks(r->stage) * sizeof(double),
                            sizeof(*r->adamw)};
    void *shared[5];

    for (int k = 0; k < 5; k++)
        PP_TRY(r->backend->alloc_shared(r->device, bytes[k], &shared[k], err));
    r->ids = shared[0];
    r->targets = shared[1];
    r->status = shared[2];
    r->blocks = shared[3];
    r->adamw = shared[4];
    return PP_OK;
}

static void close_device(void *reference)
{
    const struct pp_reference *r = reference;

    r->backend->close(r->device);
}

enum pp_status pp_reference_take(struct pp_arena *arena, struct pp_reference *r,
                                 const struct pp_place *place, struct pp_error *err)
{
    const struct pp_device_options options = {.kernels = r->kernels,
                                              .streams = 1,
                                              .events = 1,
                                              .workers = 1,
                                              .place = place->place,
                                              .mode = place->mode,
                                              .parts = place->parts,
                                              .left_free = place->left_free};
    void *memory;

    r->stage = stage_of(arena, r->net, r->kernels, &r->batch);
    const struct places places = places_of(r->stage, r->kernels, r->recipe.is_exact);
    PP_TRY(r->backend->open(arena, &options, &r->device, err));
    pp_arena_defer(arena, close_device, r);
    PP_TRY(check_memory(r, &places, err));
    PP_TRY(r->backend->alloc(r->device, places.end, &memory, err));
    lay_out(arena, r, &places, memory);
    r->squares = PP_ARRAY(arena, double, r->net->layers + 2);
    return share(r, err);
}
