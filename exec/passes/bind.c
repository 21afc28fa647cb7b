/* Binds the Fs of a generating program: see exec/machine/generate.h.
 *
 *   input    buffer of the RECV that brings it, or the place of the stage before on this rank. Ids
 *            of a later pass may come in several messages: they are put together first
 *   output   buffer of the SEND that takes it, or the own place. The head's output is tokens; those
 *            of the last pass have a place of their own
 *   cache    of the stage of the model; its sequences are those of the op
 *
 * An F of pass 0 is a call for each piece. One of a later pass is one call with a whole group. */
#include "exec/passes/passes.h"
#include "exec/program/none.h"

/* Instructions by cell, of all ranks. */
struct binder {
    struct pp_machine *m;
    const struct pp_program *p;
    int32_t *recv, *send; /* [cell] 1 + instruction, 0 = none */
    int model;            /* stages of the model */
    int rows;             /* sequences of a granule */
};

/* A call of an op. */
struct call {
    const struct pp_worker *w;
    int instruction, number, stage, granule, granules;
};

static int pass_of(const struct binder *b, const struct call *c)
{
    return c->stage / b->model;
}

static void note_messages(struct binder *b)
{
    const struct pp_program *p = b->p;
    const size_t cells = pp_cell_of(p, p->stages, 0, 0);

    b->recv = PP_ARRAY(b->m->arena, int32_t, cells + 1);
    b->send = PP_ARRAY(b->m->arena, int32_t, cells + 1);
    for (int i = 0; i < pp_program_size(p); i++) {
        int32_t *at = p->kind[i] == PP_RECV_F ? b->recv : p->kind[i] == PP_SEND_F ? b->send : NULL;

        for (int g = p->mb[i]; at && g < p->mb[i] + p->granule_count[i]; g++)
            at[pp_cell_of(p, p->stage[i], g, 0)] = i + 1;
    }
}

/* Address of a granule in the buffer of a message. */
static char *in_message(const struct binder *b, const struct pp_worker *w, const int32_t *messages,
                        int stage, int granule)
{
    const int i = messages[pp_cell_of(b->p, stage, granule, 0)] - 1;

    return i < 0 ? NULL
                 : (char *)pp_worker_buffer(w, i) +
                       (size_t)(granule - b->p->mb[i]) *
                           pp_message_pitch(b->p, b->m->options.stages, i);
}

/* Address of a granule that stage v has handed to the next one on this rank; NULL: that is not on
 * this rank. */
static char *output_of(const struct binder *b, const struct pp_worker *w, int v, int granule)
{
    const struct pp_generating_layout *g = &b->m->layout[w->rank].generating;
    const size_t offset = g->output_offset[v % b->model];

    return v + 1 == b->p->stages || offset == SIZE_MAX
               ? NULL
               : w->block + offset +
                     (size_t)granule * pp_output_pitch(b->p, b->m->options.stages, v);
}

static char *input_of(const struct binder *b, const struct call *c, int granule)
{
    char *received = in_message(b, c->w, b->recv, c->stage, granule);

    return received || c->stage == 0 ? received : output_of(b, c->w, c->stage - 1, granule);
}

/* ---- ids ------------------------------------------------------------------------------------- */

static const int32_t *prompts_of(const struct binder *b, const struct call *c)
{
    const struct pp_generation *of = &b->m->options.generation->of;
    const int64_t sequence = (int64_t)c->w->replica * of->batch + (int64_t)c->granule * b->rows;

    return b->m->ids + sequence * of->prompt_tokens;
}

/* Ids of a later pass: where they come, or where they are put together. */
static const int32_t *bind_ids(const struct binder *b, const struct call *c,
                               struct pp_bound_call *call)
{
    const size_t bytes = sizeof(int32_t) * (size_t)b->rows;
    char *first = input_of(b, c, c->granule);
    bool is_together = true;

    for (int k = 1; k < c->granules; k++)
        is_together &= input_of(b, c, c->granule + k) == first + (size_t)k * bytes;
    if (is_together)
        return (const int32_t *)(const void *)first;
    char *to = c->w->block + b->m->layout[c->w->rank].generating.fed_offset;
    const char **from = PP_ARRAY(b->m->arena, const char *, c->granules);
    for (int k = 0; k < c->granules; k++)
        from[k] = input_of(b, c, c->granule + k);
    call->before = pp_tokens_feed;
    call->fed = PP_NEW(b->m->arena, struct pp_fed);
    *call->fed = (struct pp_fed){from, to, c->granules, bytes};
    return (const int32_t *)(const void *)to;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void bind_made(const struct binder *b, const struct call *c, char *out,
                      const struct pp_stage_work *work, struct pp_made *made)
{
    const struct pp_generating_layout *g = &b->m->layout[c->w->rank].generating;

    *made = (struct pp_made){.worker = (struct pp_worker *)(uintptr_t)c->w,
                             .stage = work->stage,
                             .instruction = c->instruction,
                             .number = c->number,
                             .pass = pass_of(b, c),
                             .first = c->granule * b->rows,
                             .count = c->granules * b->rows,
                             .logits = work->logits,
                             .ids = out ? out : c->w->block + g->chosen_offset,
                             .chooser = c->w->chooser};
}

/* ---- calls ----------------------------------------------------------------------------------- */

static char *cache_of(const struct binder *b, const struct call *c, const struct pp_stage *stage)
{
    const struct pp_rank_layout *layout = &b->m->layout[c->w->rank];

    return c->w->block + layout->generating.cache_offset[c->stage % b->model] +
           (size_t)(c->granule * b->rows) * pp_stage_sequence_bytes(stage);
}

static void bind_work(const struct binder *b, const struct call *c, struct pp_bound_call *call,
                      struct pp_stage_work *work)
{
    static void *const nothing[1] = {NULL};
    const struct pp_machine *m = b->m;
    const struct pp_generation *of = &m->options.generation->of;
    const struct pp_rank_layout *layout = &m->layout[c->w->rank];
    const struct pp_stage *stage = pp_program_stage_at(c->w, c->stage);
    const int pass = pass_of(b, c);
    char *out = in_message(b, c->w, b->send, c->stage, c->granule);

    out = out ? out : output_of(b, c->w, c->stage, c->granule);
    *work = (struct pp_stage_work){.stage = stage,
                                   .weights = c->w->chunks[c->stage % b->model].state.weights,
                                   .kept = nothing,
                                   .saved = nothing,
                                   .scratch = c->w->block + layout->scratch_offset,
                                   .position = pass == 0 ? 0 : of->prompt_tokens + pass - 1,
                                   .cache = cache_of(b, c, stage)};
    if (stage->shape.has_embedding)
        work->ids = pass == 0 ? prompts_of(b, c) : bind_ids(b, c, call);
    else
        work->in = input_of(b, c, c->granule);
    if (!stage->shape.has_head) {
        work->out = out;
        return;
    }
    work->logits = c->w->block + layout->generating.logits_offset;
    bind_made(b, c, out, work, &call->made[c->number]);
}

static void bind_op(const struct binder *b, const struct pp_worker *w, int i)
{
    const struct pp_op op = pp_program_op(b->p, i);
    const bool is_prompt = op.stage < b->model;
    struct pp_bound_call *call = &b->m->calls[pp_row(w, i)];

    call->count = is_prompt ? op.granules : 1;
    call->kind = PP_CALL_FORWARD;
    call->run = pp_stage_calls[call->kind];
    call->works = PP_ARRAY(b->m->arena, struct pp_stage_work, call->count);
    if (pp_program_stage_at(w, op.stage)->shape.has_head) {
        call->after = pp_tokens_make;
        call->made = PP_ARRAY(b->m->arena, struct pp_made, call->count);
    }
    for (int k = 0; k < call->count; k++) {
        const struct call c = {w, i, k, op.stage, op.mb + k, is_prompt ? 1 : op.granules};
        bind_work(b, &c, call, &call->works[k]);
    }
}

/* Scratch of a worker's choices. The host sees logits of a device that runs calls of the host in a
 * copy. */
static enum pp_status make_chooser(struct pp_machine *m, struct pp_worker *w, struct pp_error *err)
{
    const struct pp_program *p = m->p;
    const int stages[2] = {m->stages - 1, p->stages - 1};
    const size_t rows = (size_t)m->options.batch->mbs,
                 report_bytes = sizeof(int32_t) + sizeof(uint64_t);
    struct pp_chooser *c = PP_NEW(m->arena, struct pp_chooser);
    size_t bytes = 0;
    void *memory;

    w->chooser = c;
    c->row = PP_ARRAY(m->arena, double, m->options.stages[0]->net->vocab);
    c->ids = pp_arena_alloc(m->arena, rows * report_bytes);
    c->hashes = PP_ARRAY(m->arena, uint64_t, rows);
    for (int k = 0; k < 2; k++) {
        const size_t logits_bytes = pp_stage_logits_bytes(pp_program_stage_at(w, stages[k]));
        bytes = logits_bytes > bytes ? logits_bytes : bytes;
    }
    if (!m->backend->call_host || pp_is_elsewhere(m, w) || p->rank_of[m->stages - 1] != w->rank)
        return PP_OK;
    PP_TRY(m->backend->alloc_host(m->device, bytes, &memory, err));
    c->logits = memory;
    PP_TRY(m->backend->alloc_host(m->device, rows * report_bytes, &memory, err));
    c->ids = memory;
    return PP_OK;
}

enum pp_status pp_bind_passes(struct pp_machine *m, struct pp_error *err)
{
    const struct pp_program *p = m->p;
    struct binder b = {
        .m = m, .p = p, .model = m->stages, .rows = m->options.stages[0]->shape.rows};

    note_messages(&b);
    m->calls = PP_ARRAY(m->arena, struct pp_bound_call, pp_rows(m));
    for (int k = 0; k < m->worker_count; k++) {
        struct pp_worker *w = &m->workers[k];

        PP_TRY(make_chooser(m, w, err));
        for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++)
            if (p->kind[i] == PP_F)
                bind_op(&b, w, i);
    }
    return PP_OK;
}
