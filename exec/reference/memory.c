/* Memory of the reference: one block of the device, and small buffers shared with the host. */
#include "core/units.h"
#include "exec/host/host.h"
#include "exec/reference/parts.h"

#include <assert.h>

size_t pp_reference_granule_tokens(const struct pp_stage *stage)
{
    return (size_t)stage->shape.rows * (size_t)stage->shape.tokens * (size_t)stage->shape.splits;
}

/* Bytes of the state of a part, and offsets of all else in the memory of a part. The block has all
 * states, then the rest of each part. */
struct places {
    size_t state_bytes, kept, saved, losses, scratch, grad_scratch, blocks, end;
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
    const struct pp_state_bytes state = pp_state_bytes(stage, k, is_exact, pp_cuts_none());
    const size_t splits = (size_t)stage->shape.splits;
    struct places p = {0};

    p.state_bytes = pp_whole_lines(state.weights + state.gradients + state.optimizer);
    p.kept = take(&p.end, splits * pp_whole_lines(stage->kept_bytes));
    p.saved = take(&p.end, splits * pp_whole_lines(stage->saved_bytes));
    p.losses = take(&p.end, pp_reference_granule_tokens(stage) * sizeof(double));
    p.scratch = take(&p.end, stage->scratch_bytes);
    p.grad_scratch = take(&p.end, stage->grad_scratch_bytes);
    p.blocks = take(&p.end, (size_t)pp_squares_blocks(stage) * sizeof(double));
    return p;
}

static struct pp_stage *stage_of(struct pp_arena *arena, const struct pp_net *net,
                                 const struct pp_kernels *kernels, const struct pp_batch *batch,
                                 struct pp_stage_share share)
{
    assert(batch->mbs % batch->granules == 0 && net->seq % batch->splits == 0);
    return pp_stage_whole_of(arena, net, batch->mbs / batch->granules, batch->splits, share,
                             kernels);
}

/* Returns the bytes of ids, targets and sums of squares. */
static size_t shared_bytes(const struct pp_stage *stage, int tp)
{
    return 2 * pp_reference_granule_tokens(stage) * sizeof(int32_t) +
           (size_t)tp * (size_t)pp_squares_blocks(stage) * sizeof(double);
}

void pp_reference_bytes(const struct pp_net *net, const struct pp_kernels *kernels,
                        const struct pp_batch *batch, struct pp_stage_share share, bool is_exact,
                        size_t *bytes, size_t *staging_bytes)
{
    const size_t parts = share.tp > 1 ? (size_t)share.tp : 1;
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_stage *stage = stage_of(scratch, net, kernels, batch, share);
    const struct places p = places_of(stage, kernels, is_exact);

    *bytes = parts * (p.state_bytes + p.end) + shared_bytes(stage, (int)parts);
    *staging_bytes = parts * p.state_bytes + p.scratch - p.losses;
}

static enum pp_status check_memory(const struct pp_reference *r, const struct places *p,
                                   struct pp_error *err)
{
    const bool is_host = r->backend->available_bytes == NULL;
    const size_t tp = (size_t)r->tp,
                 total = tp * (p->state_bytes + p->end) + shared_bytes(r->parts[0].stage, r->tp),
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
        pp_units_print((double)(tp * p->state_bytes), PP_UNIT_BYTES, text[1]),
        pp_units_print((double)(tp * p->scratch), PP_UNIT_BYTES, text[2]),
        pp_units_print((double)(tp * (p->end - p->scratch)), PP_UNIT_BYTES, text[3]),
        is_host ? "machine" : "device", pp_units_print((double)available, PP_UNIT_BYTES, text[4]));
}

static void lay_out_part(struct pp_arena *arena, const struct places *p,
                         struct pp_reference_part *part, char *at)
{
    const struct pp_stage *stage = part->stage;

    part->kept = PP_ARRAY(arena, void *, stage->shape.splits);
    part->saved = PP_ARRAY(arena, void *, stage->shape.splits);
    for (int split = 0; split < stage->shape.splits; split++) {
        part->kept[split] = at + p->kept + (size_t)split * pp_whole_lines(stage->kept_bytes);
        part->saved[split] = at + p->saved + (size_t)split * pp_whole_lines(stage->saved_bytes);
    }
    part->losses = (double *)(void *)(at + p->losses);
    part->scratch = at + p->scratch;
    part->grad_scratch = at + p->grad_scratch;
    part->block_scratch = (double *)(void *)(at + p->blocks);
}

static int most_exchanges(const struct pp_reference *r)
{
    int most = 0;

    for (int kind = 0; kind < PP_CALLS && r->tp > 1; kind++) {
        const int count = pp_stage_exchange_count(r->parts[0].stage, (enum pp_stage_call_kind)kind);
        most = count > most ? count : most;
    }
    return most;
}

static void lay_out(struct pp_arena *arena, struct pp_reference *r, const struct places *p,
                    char *at)
{
    const size_t states_bytes = (size_t)r->tp * p->state_bytes;

    r->staging = pp_staging_make(arena, r->backend, r->device, at, states_bytes);
    for (int t = 0; t < r->tp; t++) {
        struct pp_reference_part *part = &r->parts[t];

        part->state = pp_state_at(part->stage, r->kernels, r->recipe.is_exact, 0, pp_cuts_none(),
                                  at + (size_t)t * p->state_bytes);
        part->seen = pp_state_shifted(&part->state, r->staging.on_device, r->staging.on_host);
        lay_out_part(arena, p, part, at + states_bytes + (size_t)t * p->end);
    }
    r->losses = pp_staging_make(arena, r->backend, r->device, (char *)r->parts[0].losses,
                                pp_reference_granule_tokens(r->parts[0].stage) * sizeof(double));
    r->turn = pp_turn_make(arena, r->tp, most_exchanges(r));
}

static enum pp_status share(struct pp_reference *r, struct pp_error *err)
{
    const size_t tokens = pp_reference_granule_tokens(r->parts[0].stage),
                 blocks = (size_t)pp_squares_blocks(r->parts[0].stage);
    const size_t bytes[] = {tokens * sizeof(int32_t), tokens * sizeof(int32_t), sizeof(int),
                            (size_t)r->tp * blocks * sizeof(double), sizeof(*r->adamw)};
    void *shared[5];

    for (int k = 0; k < 5; k++)
        PP_TRY(r->backend->alloc_shared(r->device, bytes[k], &shared[k], err));
    r->ids = shared[0];
    r->targets = shared[1];
    r->status = shared[2];
    for (int t = 0; t < r->tp; t++)
        r->parts[t].blocks = (double *)shared[3] + (size_t)t * blocks;
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

    r->parts = PP_ARRAY(arena, struct pp_reference_part, r->tp);
    for (int t = 0; t < r->tp; t++) {
        struct pp_stage_share share = place->share;
        share.tp_index = t;
        r->parts[t].stage = stage_of(arena, r->net, r->kernels, &r->batch, share);
    }
    const struct places places = places_of(r->parts[0].stage, r->kernels, r->recipe.is_exact);
    PP_TRY(r->backend->open(arena, &options, &r->device, err));
    pp_arena_defer(arena, close_device, r);
    PP_TRY(check_memory(r, &places, err));
    PP_TRY(r->backend->alloc(r->device, (size_t)r->tp * (places.state_bytes + places.end), &memory,
                             err));
    lay_out(arena, r, &places, memory);
    r->squares = PP_ARRAY(arena, double, r->net->layers + 2);
    return share(r, err);
}
