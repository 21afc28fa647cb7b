/* Binds every compute instruction to its work before the first step, granule by granule, with the
 * addresses of all operands. The program alone determines where a tensor is:
 *
 *   input of F      buffer of the RECV that brings it, or the edge of the stage before on this rank
 *   output of F     buffer of the SEND that takes it, or the own edge
 *   gradients       likewise, the other way; a stage finds its incoming gradient in its own edge
 *   kept, saved     slot of the F; if an R recomputes, kept is in the F's slot, saved in the R's.
 *                   What a COPY.up has brought back is in its slot instead of the F's
 *
 * Where saved activations move, edges have places of their own. */
#include "exec/machine/parts.h"
#include "exec/program/none.h"
#include "schedules/evaluate/weight_stream.h"

static const uint8_t NOTED[] = {PP_F, PP_R, PP_RECV_F, PP_RECV_B, PP_SEND_F, PP_SEND_B};

struct binder {
    struct pp_machine *m;
    const struct pp_program *p;
    int32_t *at[PP_OP_KINDS]; /* of NOTED: [cell]: 1 + instruction, 0 = none */
    int32_t *holder;          /* [cell] 1 + F or COPY.up in whose slot it is so far, 0 = none */
    size_t *loss_at;          /* [rank] bytes in use */
};

/* Notes instruction i for all of its cells. */
static void note(const struct pp_program *p, int32_t *at, int i)
{
    for (int g = p->mb[i]; at && g < p->mb[i] + p->granule_count[i]; g++)
        at[pp_cell_of(p, p->stage[i], g, p->split[i])] = i + 1;
}

static void note_all(struct binder *b)
{
    const struct pp_program *p = b->p;
    const size_t cells = pp_cell_of(p, p->stages, 0, 0);

    for (size_t k = 0; k < PP_COUNT(NOTED); k++)
        b->at[NOTED[k]] = PP_ARRAY(b->m->arena, int32_t, cells + 1);
    for (int i = 0; i < pp_program_size(p); i++)
        note(p, b->at[p->kind[i]], i);
    b->holder = PP_ARRAY(b->m->arena, int32_t, cells + 1);
}

/* Address of granule g in the slot of an instruction. */
static char *granule_at(const struct binder *b, const struct pp_worker *w, int i, int g)
{
    const struct pp_program *p = b->p;
    const size_t pitch =
        pp_op_is_send(p->kind[i]) || pp_op_is_recv(p->kind[i])
            ? pp_message_pitch(p, b->m->options.stages, i)
            : pp_slot_pitch(b->m->options.stages[p->stage[i]],
                            (enum pp_slot_class)b->m->class_of[i], p->kind[i] == PP_R);

    return (char *)pp_worker_buffer(w, i) + (size_t)(g - p->mb[i]) * pitch;
}

/* The same in the slot of the cell's instruction of a kind; NULL if it has none. */
static char *slot_at(const struct binder *b, const struct pp_worker *w, int kind, int stage, int g,
                     int split)
{
    const int i = stage >= 0 && stage < b->p->stages
                      ? b->at[kind][pp_cell_of(b->p, stage, g, split)] - 1
                      : -1;

    return i < 0 ? NULL : granule_at(b, w, i, g);
}

static int holder_of(const struct binder *b, int stage, int g, int split)
{
    return b->holder[pp_cell_of(b->p, stage, g, split)] - 1;
}

/* Address of what the F of a cell has kept, where it is now. */
static char *kept_of(const struct binder *b, const struct pp_worker *w, int stage, int g, int split)
{
    return granule_at(b, w, holder_of(b, stage, g, split), g);
}

/* Is true if the slot of a cell has no room for `saved`. */
static bool is_kept(const struct binder *b, int stage, int g, int split)
{
    return b->m->class_of[holder_of(b, stage, g, split)] == PP_SLOT_KEPT;
}

/* Address of a cell's `saved`: in the slot of the R that recomputes it, else after what is kept.
 * An F with room in its slot always uses that, and one that only keeps has none: NULL. */
static char *saved_of(const struct binder *b, const struct pp_worker *w, int kind, int stage, int g,
                      int split)
{
    char *refilled = kind == PP_F ? NULL : slot_at(b, w, PP_R, stage, g, split);

    if (refilled)
        return refilled;
    return is_kept(b, stage, g, split)
               ? NULL
               : kept_of(b, w, stage, g, split) + b->m->options.stages[stage]->kept_bytes;
}

/* Address of the edge of a stage's cell to the next stage on this rank. */
static char *edge_of(const struct binder *b, const struct pp_worker *w, enum pp_edge_way way,
                     int stage, int g, int split)
{
    const int32_t place = b->m->away->edges.of[way][pp_cell_of(b->p, stage, g, split)];

    if (place < 0)
        return kept_of(b, w, stage, g, split) + b->m->options.stages[stage]->edge_offset;
    return w->block + b->m->layout[w->rank].edge_offset[place];
}

/* Place of the tokens that experts of a stage take; NULL without experts. */
static double *tokens_of(const struct pp_machine *m, const struct pp_worker *w,
                         const struct pp_stage_shape *shape)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    const struct pp_net *net = m->options.stages[0]->net;

    if (layout->expert_bytes == 0)
        return NULL;
    return (double *)(void *)(w->block + layout->loss_offset + layout->loss_bytes) +
           pp_net_mixtures(net, 0, shape->first_block) * (net->experts + PP_EXPERT_MORE);
}

static void bind_forward(const struct binder *b, struct pp_worker *w, const struct pp_op *op, int g,
                         struct pp_stage_work *work)
{
    const struct pp_stage_shape *shape = &work->stage->shape;

    work->in = slot_at(b, w, PP_RECV_F, op->stage, g, op->split);
    if (!work->in && !shape->has_embedding)
        work->in = edge_of(b, w, PP_EDGE_OUTPUT, op->stage - 1, g, op->split);
    work->out = slot_at(b, w, PP_SEND_F, op->stage, g, op->split);
    if (!work->out && !shape->has_head)
        work->out = edge_of(b, w, PP_EDGE_OUTPUT, op->stage, g, op->split);
    if (op->kind != PP_F || !shape->has_head)
        return;
    work->loss =
        (double *)(void *)(w->block + b->m->layout[w->rank].loss_offset + b->loss_at[w->rank]);
    b->loss_at[w->rank] += sizeof(double) * (size_t)shape->rows * (size_t)shape->tokens;
}

static void bind_backward(const struct binder *b, struct pp_worker *w, const struct pp_op *op,
                          int g, struct pp_stage_work *work)
{
    const struct pp_stage_shape *shape = &work->stage->shape;

    work->grad_in = slot_at(b, w, PP_RECV_B, op->stage, g, op->split);
    if (!work->grad_in && !shape->has_head)
        work->grad_in = edge_of(b, w, PP_EDGE_GRADIENT, op->stage, g, op->split);
    work->grad_out = slot_at(b, w, PP_SEND_B, op->stage, g, op->split);
    if (!work->grad_out && !shape->has_embedding)
        work->grad_out = edge_of(b, w, PP_EDGE_GRADIENT, op->stage - 1, g, op->split);
}

static const struct {
    bool is_call;
    enum pp_stage_call_kind kind;
    void (*bind)(const struct binder *, struct pp_worker *, const struct pp_op *, int,
                 struct pp_stage_work *);
} CALLS[PP_OP_KINDS] = {
    [PP_F] = {true, PP_CALL_FORWARD, bind_forward},     [PP_R] = {true, PP_CALL_RECOMPUTE, NULL},
    [PP_I] = {true, PP_CALL_INPUT_GRAD, bind_backward}, [PP_W] = {true, PP_CALL_WEIGHT_GRAD, NULL},
    [PP_B] = {true, PP_CALL_BACKWARD, bind_backward},
};

bool pp_bind_kind(int op_kind, enum pp_stage_call_kind *kind)
{
    *kind = CALLS[op_kind].kind;
    return CALLS[op_kind].is_call;
}

/* First sample of a granule in the step. */
static int64_t sample_of(const struct pp_machine *m, int replica, int granule)
{
    const struct pp_batch *batch = m->options.batch;
    const int rows = batch->mbs / batch->granules;

    return (int64_t)replica * batch->micro_batches * batch->mbs + (int64_t)granule * rows;
}

/* Weights and gradients of an instruction: of the chunk's state, or whole in buffers. */
static void bind_state(struct pp_worker *w, int i, struct pp_stage_work *work)
{
    const struct pp_machine *m = w->machine;
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    const struct pp_state *state = &w->chunks[pp_chunk_of(m, i)].state;
    void *params = pp_worker_whole(w, PP_WHOLE_PARAMS, i),
         *grads = pp_worker_whole(w, PP_WHOLE_GRADS, i);
    const bool is_exact = m->options.recipe->is_exact;

    /* Only what adds to gradients has a buffer for those that live elsewhere. */
    if (!grads && !pp_state_is_away(&m->p->state.spec, PP_STATE_GRADS))
        grads = is_exact ? (void *)state->fixed : state->sum;

    /* W reads no weights, so it does not have them brought. */
    work->weights = params                                                 ? params
                    : pp_state_is_away(&m->p->state.spec, PP_STATE_PARAMS) ? NULL
                                                                           : state->weights;
    work->grads = (struct pp_grads){.is_exact = is_exact,
                                    .sum = is_exact ? NULL : grads,
                                    .fixed = is_exact ? grads : NULL,
                                    .scratch = w->block + (pp_weight_stream_has(m->p, i)
                                                               ? layout->weights_offset
                                                               : layout->tensor_offset),
                                    .status = w->status};
}

static void bind_work(const struct binder *b, struct pp_worker *w, int i, int g,
                      struct pp_bound_call *call, struct pp_stage_work *work)
{
    struct pp_machine *m = b->m;
    const struct pp_op operation = pp_program_op(m->p, i), *op = &operation;
    const struct pp_chunk *chunk = &w->chunks[op->pipe * m->stages + op->stage];
    const int64_t sample = sample_of(m, w->replica, g);
    const int seq = chunk->stage->net->seq;
    void **kept = PP_ARRAY(m->arena, void *, op->split + 1),
         **saved = PP_ARRAY(m->arena, void *, op->split + 1);

    for (int split = 0; split <= op->split; split++) {
        kept[split] = kept_of(b, w, op->stage, g, split);
        saved[split] = saved_of(b, w, op->kind, op->stage, g, split);
    }
    *work = (struct pp_stage_work){
        .stage = chunk->stage,
        .split = op->split,
        .kept = kept,
        .saved = saved,
        .ids = chunk->stage->shape.has_embedding ? m->ids + sample * seq : NULL,
        .targets = chunk->stage->shape.has_head ? m->targets + sample * seq : NULL,
        .loss_scale = 1.0 / (double)pp_targets_of_step(m->options.batch, chunk->stage->net),
        .expert_tokens = tokens_of(m, w, &chunk->stage->shape),
        .scratch =
            pp_weight_stream_has(m->p, i) ? NULL : w->block + m->layout[w->rank].scratch_offset,
    };
    bind_state(w, i, work);
    call->kind = op->kind == PP_F && is_kept(b, op->stage, g, op->split) ? PP_CALL_KEEP
                                                                         : CALLS[op->kind].kind;
    call->run = pp_stage_calls[call->kind];
    if (CALLS[op->kind].bind)
        CALLS[op->kind].bind(b, w, op, g, work);
}

/* The first F of a list clears the tokens of experts. */
static void bind_first_forward(const struct pp_machine *m, const struct pp_worker *w)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    int i = m->p->begin[w->rank];

    while (i < m->p->begin[w->rank + 1] && m->p->kind[i] != PP_F)
        i++;
    if (layout->expert_bytes == 0 || i == m->p->begin[w->rank + 1])
        return;
    struct pp_bound_call *call = &m->calls[pp_row(w, i)];
    call->cleared[0] = (struct pp_cleared){w->block + layout->loss_offset + layout->loss_bytes,
                                           layout->expert_bytes};
}

/* If the host updates while the step goes on, gradients on the device stay until the next step's
 * first backward of their chunk. */
static bool do_gradients_stay(const struct pp_machine *m)
{
    return pp_update_is_early(m) && !pp_state_is_away(&m->p->state.spec, PP_STATE_GRADS);
}

static void bind_first_backward(const struct pp_machine *m, const struct pp_worker *w, int place)
{
    const struct pp_program *p = m->p;
    const struct pp_chunk *chunk = &w->chunks[place];
    const struct pp_state *state = &chunk->state;
    int i = p->begin[w->rank];

    while (i < p->begin[w->rank + 1] && !((p->kind[i] == PP_B || p->kind[i] == PP_W) &&
                                          p->pipe[i] * m->stages + p->stage[i] == place))
        i++;
    if (!chunk->worker || i == p->begin[w->rank + 1])
        return;
    m->calls[pp_row(w, i)].cleared[1] =
        (struct pp_cleared){state->fixed ? (void *)state->fixed : state->sum,
                            pp_state_bytes(chunk->stage, m->options.kernels, state->fixed != NULL,
                                           m->cuts[place % m->stages])
                                .gradients};
}

static void bind_worker(const struct binder *b, struct pp_worker *w)
{
    const struct pp_program *p = b->p;

    for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++) {
        const struct pp_op op = pp_program_op(p, i);
        struct pp_bound_call *call = &b->m->calls[pp_row(w, i)];

        if (op.kind == PP_F || (op.kind == PP_COPY && op.purpose == PP_FOR_UP))
            note(p, b->holder, i);
        if (op.kind == PP_U)
            w->chunks[op.pipe * p->stages + op.stage].updated =
                pp_worker_whole(w, PP_WHOLE_PARAMS, i);
        if (!CALLS[op.kind].is_call)
            continue;
        call->count = op.granules;
        call->works = PP_ARRAY(b->m->arena, struct pp_stage_work, op.granules);
        for (int k = 0; k < op.granules; k++)
            bind_work(b, w, i, op.mb + k, call, &call->works[k]);
        if (!b->m->wholes->is_first[i])
            continue;
        call->cleared[0] = (struct pp_cleared){pp_worker_whole(w, PP_WHOLE_GRADS, i),
                                               pp_whole_grads_bytes(b->m, op.stage)};
    }
}

void pp_bind_calls(struct pp_machine *m)
{
    struct binder b = {.m = m, .p = m->p};

    note_all(&b);
    m->calls = PP_ARRAY(m->arena, struct pp_bound_call, pp_rows(m));
    b.loss_at = PP_ARRAY(m->arena, size_t, m->p->ranks);
    for (int k = 0; k < m->worker_count; k++) {
        b.loss_at[m->workers[k].rank] = 0;
        bind_worker(&b, &m->workers[k]);
        bind_first_forward(m, &m->workers[k]);
        for (int place = 0; do_gradients_stay(m) && place < m->places; place++)
            bind_first_backward(m, &m->workers[k], place);
    }
}
