/* A worker's data as bytes of a frame: samples of a step, figures at a barrier, times, state. */
#include "exec/tcp/tcp.h"

#include <stdlib.h>
#include <string.h>

/* One walk for all: it copies out of memory, or into it, or only counts. */
struct packer {
    char *at;
    size_t bytes;
    bool is_out;
    struct figures { /* of the last barrier */
        int status, sum_status;
        bool has_gradients;
    } figures;
};

static void pack(struct packer *packer, void *memory, size_t bytes)
{
    if (packer->at && packer->is_out)
        memcpy(packer->at + packer->bytes, memory, bytes);
    else if (packer->at)
        memcpy(memory, packer->at + packer->bytes, bytes);
    packer->bytes += bytes;
}

/* ---- samples of a step ----------------------------------------------------------------------- */

/* Returns the tokens of a replica's samples. */
static size_t replica_tokens(const struct pp_machine *m)
{
    const struct pp_batch *batch = m->options.batch;

    return (size_t)batch->micro_batches * (size_t)batch->mbs * (size_t)pp_sample_tokens(m);
}

/* A first stage needs the input of its replica, a last one the targets. */
static void find_ends(const struct pp_worker *w, bool *has_first, bool *has_last)
{
    *has_first = *has_last = false;
    for (int place = 0; place < w->machine->places; place++) {
        const struct pp_chunk *chunk = &w->chunks[place];

        *has_first |= chunk->worker && chunk->stage->shape.has_embedding;
        *has_last |=
            chunk->worker && chunk->stage->shape.has_head && !w->machine->options.generation;
    }
}

static void walk_samples(struct packer *packer, struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;
    const size_t tokens = replica_tokens(m), first = (size_t)w->replica * tokens;
    bool has_first, has_last;

    find_ends(w, &has_first, &has_last);
    if (has_first)
        pack(packer, m->ids + first, sizeof(*m->ids) * tokens);
    if (has_last)
        pack(packer, m->targets + first, sizeof(*m->targets) * tokens);
}

/* Targets of an encoder are -1 where they do not count. */
static bool are_tokens(const struct pp_worker *w, const char *payload, uint64_t bytes)
{
    const struct pp_net *net = w->machine->options.stages[0]->net;
    bool has_first, has_last;

    find_ends(w, &has_first, &has_last);
    const uint64_t ids_bytes = has_first ? sizeof(int32_t) * replica_tokens(w->machine) : 0;
    for (uint64_t at = 0; at < bytes; at += sizeof(int32_t)) {
        const int least = net->is_encoder && at >= ids_bytes ? -1 : 0;
        int32_t token;

        memcpy(&token, payload + at, sizeof(token));
        if (token < least || token >= net->vocab)
            return false;
    }
    return true;
}

bool pp_tcp_take_samples(struct pp_worker *w, char *payload, uint64_t bytes)
{
    if (!are_tokens(w, payload, bytes))
        return false;
    walk_samples(&(struct packer){.at = payload}, w);
    return true;
}

/* ---- figures of the last barrier ------------------------------------------------------------- */

/* Walks the gradients in the staging buffer. */
static void walk_gradients(struct packer *packer, const struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;

    for (int place = 0; place < m->places; place++) {
        const struct pp_chunk *chunk = &w->chunks[place];

        if (!chunk->worker)
            continue;
        const struct pp_state state = chunk->staged;
        pack(packer, state.fixed ? (void *)state.fixed : state.sum,
             pp_state_bytes(chunk->stage, m->options.kernels, m->options.recipe->is_exact,
                            m->cuts[place % m->stages])
                 .gradients);
    }
}

static void pack_squares(void *packer, void *memory, size_t bytes)
{
    pack(packer, memory, bytes);
}

static void walk_part(struct packer *packer, const struct pp_worker *w, int place,
                      enum pp_state_part part)
{
    const struct pp_stage *stage = w->machine->options.stages[pp_squares_number(w, place, part)];
    const struct pp_range share = pp_state_share(&w->chunks[place].state, part);
    double *blocks = pp_squares_at(w, place, part);

    if (packer->at && packer->is_out)
        pp_squares_fold(stage, share, blocks);
    pp_squares_move(stage, share, blocks, pack_squares, packer);
}

/* No other worker has these blocks, so they need no sum and no lock. */
static void walk_squares(struct packer *packer, const struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;

    for (int place = 0; place < m->places; place++) {
        const struct pp_chunk *chunk = &w->chunks[place];

        for (int part = 0; part < PP_STATE_PARTS; part++)
            if (chunk->owns_squares[part])
                walk_part(packer, w, place, (enum pp_state_part)part);
    }
}

static void walk_figures(struct packer *packer, struct pp_worker *w)
{
    struct figures *figures = &packer->figures;

    pack(packer, &figures->status, sizeof(figures->status));
    pack(packer, &figures->sum_status, sizeof(figures->sum_status));
    walk_squares(packer, w);
    pack(packer, w->figures.on_host, w->figures.bytes);
    if (figures->has_gradients)
        walk_gradients(packer, w);
}

/* Without memory the step fails. */
static bool open_states(struct pp_worker *w)
{
    struct pp_error err = {0};

    return pp_machine_try(w->machine, pp_states_open(w, &err), &err);
}

static bool is_status(int status)
{
    return status >= PP_FIXED_OK && status <= PP_FIXED_OVERFLOW;
}

bool pp_tcp_take_figures(struct pp_worker *w, bool has_gradients, char *payload)
{
    struct packer in = {.at = payload, .figures = {.has_gradients = has_gradients}};
    const struct figures *figures = &in.figures;

    if (has_gradients && !open_states(w))
        return true;
    walk_figures(&in, w);
    if (!is_status(figures->status) || !is_status(figures->sum_status))
        return false;
    *w->status = figures->status;
    w->sum_status = figures->sum_status;
    return true;
}

/* ---- times of a step ------------------------------------------------------------------------- */

static void walk_times(struct packer *packer, struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;

    pack(packer, &w->clock_ps, sizeof(w->clock_ps));
    pack(packer, &w->inside_ns, sizeof(w->inside_ns));
    pack(packer, &w->cpu_ns, sizeof(w->cpu_ns));
    pack(packer, &w->fallbacks, sizeof(w->fallbacks));
    for (int i = m->p->begin[w->rank]; i < m->p->begin[w->rank + 1]; i++) {
        struct pp_bound_call *call = &m->calls[pp_row(w, i)];
        const size_t at = pp_cell_at(w, i);

        pack(packer, &m->start_ps[at], sizeof(int64_t));
        pack(packer, &m->end_ps[at], sizeof(int64_t));
        pack(packer, &m->posted_ps[at], sizeof(int64_t));
        pack(packer, &m->matched_ps[at], sizeof(int64_t));
        pack(packer, &m->duration_ps[at], sizeof(int64_t));
        pack(packer, &m->nominal_ps[at], sizeof(int64_t));
        for (int among = 0; among < PP_AMONG && m->exchanged_ps[among]; among++)
            pack(packer, &m->exchanged_ps[among][at], sizeof(int64_t));
        if (call->count > 0)
            pack(packer, call->probe.s, sizeof(call->probe.s));
    }
}

static bool are_times(const struct pp_worker *w)
{
    const struct pp_machine *m = w->machine;
    const int64_t *const columns[] = {m->start_ps,
                                      m->end_ps,
                                      m->posted_ps,
                                      m->matched_ps,
                                      m->duration_ps,
                                      m->nominal_ps,
                                      m->exchanged_ps[PP_AMONG_TP],
                                      m->exchanged_ps[PP_AMONG_EP]};
    bool are =
        pp_tcp_is_time(w->clock_ps) && pp_tcp_is_time(w->inside_ns) && pp_tcp_is_time(w->cpu_ns);

    for (int i = m->p->begin[w->rank]; i < m->p->begin[w->rank + 1]; i++)
        for (size_t c = 0; c < PP_COUNT(columns); c++)
            are &= !columns[c] || pp_tcp_is_time(columns[c][pp_cell_at(w, i)]);
    return are;
}

static bool are_fallbacks(struct pp_fallbacks *f)
{
    f->first[sizeof(f->first) - 1] = f->attention[sizeof(f->attention) - 1] = '\0';
    return f->own >= 0 && f->finished >= 0 && f->refused >= 0 && f->own <= f->gemms &&
           f->finished <= f->gemms && pp_tcp_is_time(f->gemms) && pp_tcp_is_time(f->refused);
}

bool pp_tcp_take_times(struct pp_worker *w, char *payload)
{
    walk_times(&(struct packer){.at = payload}, w);
    return are_times(w) && are_fallbacks(&w->fallbacks);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void (*const WALKS[PP_FRAME_KINDS])(struct packer *packer, struct pp_worker *w) = {
    [PP_FRAME_STEP] = walk_samples,
    [PP_FRAME_ARRIVED] = walk_figures,
    [PP_FRAME_END] = walk_times,
};

uint64_t pp_tcp_worker_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    struct packer counter = {.figures = {.has_gradients = t->m->wants_gradients}};

    WALKS[f->kind](&counter, &t->m->workers[f->worker]);
    return counter.bytes;
}

void pp_tcp_send_worker(struct pp_tcp *t, int process, struct pp_frame frame)
{
    struct pp_machine *m = t->m;
    struct pp_worker *w = &m->workers[frame.worker];
    const bool has_figures = frame.kind == PP_FRAME_ARRIVED;
    struct pp_error err = {0};

    if ((has_figures && !pp_machine_try(m, pp_staging_fetch(&w->figures, &err), &err)) ||
        (has_figures && t->m->wants_gradients &&
         !pp_machine_try(m, pp_states_fetch_gradients(m, &err), &err)))
        return;
    frame.bytes = pp_tcp_worker_bytes(t, &frame);
    struct packer out = {.at = malloc(frame.bytes + 1),
                         .is_out = true,
                         .figures = {*w->status, pp_sums_status(m), t->m->wants_gradients}};
    if (out.at)
        WALKS[frame.kind](&out, w);
    pp_tcp_send_owned(t, process, &frame, out.at);
}

/* ---- states: sent from where they are, read to where they belong ----------------------------- */

uint64_t pp_tcp_state_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    return f->flags & PP_TCP_HAS_STATES ? t->m->workers[f->worker].staging.bytes : 0;
}

char *pp_tcp_state_place(const struct pp_tcp *t, const struct pp_frame *f)
{
    struct pp_worker *w = &t->m->workers[f->worker];

    return open_states(w) ? w->staging.on_host : NULL;
}

void pp_tcp_send_state(struct pp_tcp *t, int process, struct pp_frame frame)
{
    frame.kind = PP_FRAME_STATE;
    frame.bytes = pp_tcp_state_bytes(t, &frame);
    pp_tcp_send(t, process, &frame, t->m->workers[frame.worker].staging.on_host, NULL, NULL);
}
