/* Work that a device may capture as graphs. Slots are assigned once, so an op does the same to the
 * same memory in every step. Ops of a worker that use the same buffers share a graph. Graph ids on
 * a worker's stream, with i for an instruction's place in its list of n:
 *
 *   i        the first of all ops that do the same
 *   n + i    op i with timing events for probes, which belong to it alone
 *   2 n      the work of the last BAR; next come segments of groups (segment.c) */
#include "core/hash.h"
#include "core/map64.h"
#include "exec/machine/parts.h"

#include <string.h>

/* ---- the same work --------------------------------------------------------------------------- */

static bool is_same_work(const struct pp_stage_work *a, const struct pp_stage_work *b)
{
    return a->stage == b->stage && a->weights == b->weights &&
           a->grads.is_exact == b->grads.is_exact && a->grads.sum == b->grads.sum &&
           a->grads.fixed == b->grads.fixed && a->grads.scratch == b->grads.scratch &&
           a->grads.status == b->grads.status && a->split == b->split &&
           memcmp(a->kept, b->kept, sizeof(void *) * (size_t)(a->split + 1)) == 0 &&
           memcmp(a->saved, b->saved, sizeof(void *) * (size_t)(a->split + 1)) == 0 &&
           a->in == b->in && a->out == b->out && a->grad_in == b->grad_in &&
           a->grad_out == b->grad_out && a->ids == b->ids && a->targets == b->targets &&
           a->loss_scale == b->loss_scale && a->loss == b->loss && a->scratch == b->scratch &&
           a->expert_tokens == b->expert_tokens;
}

static bool is_same(const struct pp_bound_call *a, const struct pp_bound_call *b)
{
    if (a->run != b->run || a->count != b->count || a->cleared[0].memory != b->cleared[0].memory ||
        a->cleared[1].memory != b->cleared[1].memory)
        return false;
    for (int g = 0; g < a->count; g++)
        if (!is_same_work(&a->works[g], &b->works[g]))
            return false;
    return true;
}

static uint64_t hash_of(const struct pp_bound_call *call)
{
    uint64_t hash = pp_hash(PP_HASH_OF_NOTHING, &call->run, sizeof call->run);

    for (int g = 0; g < call->count; g++) {
        const struct pp_stage_work *w = &call->works[g];
        const void *const some[] = {w->stage, w->kept[w->split], w->saved[w->split], w->in,
                                    w->out,   w->grad_in,        w->grad_out,        w->ids,
                                    w->loss};

        hash = pp_hash(hash, some, sizeof some);
    }
    return hash;
}

/* Two works of one hash that differ do not share: only the first one of a hash is found. */
static void find_same(struct pp_machine *m, const struct pp_worker *w)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const int begin = m->p->begin[w->rank], length = pp_list_length(w);
    struct pp_map64 first_of = pp_map64_create(scratch, length); /* [hash] place in the list */

    for (int i = begin; i < begin + length; i++) {
        const struct pp_bound_call *call = &m->calls[pp_row(w, i)];
        const int own = i - begin;
        const bool may_share = call->count > 0 && !m->generating;
        const int first = may_share ? *pp_map64_at(&first_of, hash_of(call) / 2, own) : own;

        m->same_as[pp_row(w, i)] = is_same(call, &m->calls[pp_row(w, begin + first)]) ? first : own;
    }
}

void pp_bind_same(struct pp_machine *m)
{
    m->same_as = PP_ARRAY(m->arena, int32_t, pp_rows(m));
    for (int k = 0; k < m->worker_count; k++)
        find_same(m, &m->workers[k]);
}

/* ---- capture --------------------------------------------------------------------------------- */

static void capture_list(const struct pp_machine *m, const struct pp_worker *w)
{
    const struct pp_program *p = m->p;

    for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++) {
        const int32_t row = pp_row(w, i);
        const int id = pp_graph_id(w, i);
        const bool has_timings = id >= pp_list_length(w);

        if (m->calls[row].segment_count > 0) {
            pp_segments_capture(m, w, i);
            continue;
        }
        if (!pp_op_is_compute(p->kind[i]) || (!has_timings && id != pp_place_of(w, i)))
            continue;
        const struct pp_worker_launch launch = pp_launch_of(w, i);
        m->backend->capture(m->device, pp_stream_of(w, i), id, has_timings ? m->launch_of[row] : -1,
                            launch.work, launch.argument);
    }
    if (!m->generating) /* it has no gradients, so no norm */
        m->backend->capture(m->device, w->index, pp_bar_graph_id(w), -1, pp_squares_run, (void *)w);
}

void pp_machine_graphs(struct pp_arena *arena, const struct pp_machine *m,
                       struct pp_graph_stats *stats)
{
    *stats = (struct pp_graph_stats){0};
    if (!m->backend->graph_stats || !m->options.uses_graphs)
        return;
    m->backend->graph_stats(m->device, stats);
    if (stats->why_not) /* the device frees its text */
        stats->why_not = pp_arena_strdup(arena, stats->why_not);
}

void pp_machine_capture(struct pp_machine *m)
{
    if (!m->options.uses_graphs || !m->backend->capture || m->has_graphs[m->has_probes])
        return;
    m->has_graphs[m->has_probes] = true;
    for (int k = 0; k < m->worker_count; k++)
        if (!pp_is_elsewhere(m, &m->workers[k]))
            capture_list(m, &m->workers[k]);
}

/* ---- warming up ------------------------------------------------------------------------------ */

/* Every kind of op runs once before any step. On a GPU the first launch may load a kernel, choose
 * an algorithm or wait for an idle device. The device may wait for a process that waits for this
 * launch. Inputs are zeros; lasting state is restored. */
static bool is_first_of_kind(const struct pp_program *p, int begin, int i)
{
    for (int k = begin; k < i; k++)
        if (pp_program_is_alike(p, k, i))
            return false;
    return true;
}

/* Kernels of sums and of the norm, which no op runs. Unaligned vectors have kernels of their own,
 * so sums run at an even and at an odd element. These are zero, for nothing may overflow. */
static void try_sum(const struct pp_kernels *k, void *stream, const struct pp_sum *sum)
{
    enum { ELEMENTS = 2 };

    k->zero(stream, ELEMENTS * sum->element_bytes, sum->at[0]);
    for (int64_t i = 0; i < ELEMENTS; i++) {
        pp_sum_add(k, stream, sum, 0, 0, (struct pp_range){i, i + 1});
        if (sum->is_exact)
            k->fixed_fits(stream, 1, (const int64_t *)(const void *)sum->at[0] + i, 1, sum->status);
    }
}

static void try_sums(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_worker *w = argument;
    struct pp_machine *m = w->machine;

    for (int place = 0; place < m->places; place++) {
        const struct pp_chunk *chunk = &w->chunks[place];
        if (!chunk->worker || chunk->stage->elements == 0 || m->generating)
            continue;
        char *first = pp_complete_gradients(chunk);
        try_sum(k, stream,
                &(struct pp_sum){.is_exact = chunk->state.fixed != NULL,
                                 .element_bytes = chunk->state.fixed ? sizeof(*chunk->state.fixed)
                                                                     : (size_t)k->gradient_bytes,
                                 .at = &first,
                                 .status = w->status});
        const struct pp_state state = pp_state_with(&chunk->state, first);
        pp_state_squares(k, stream, chunk->stage, &state, w->squares,
                         pp_squares_at(w, place, PP_OF_ALL));
    }
}

/* Memory of an op may hold numbers of another stage, which are no places of rows. */
static void clear_inputs(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_bound_call *call = argument;

    for (int g = 0; g < call->count; g++) {
        const struct pp_stage_work *work = &call->works[g];

        for (int split = 0; split <= work->split; split++) {
            if (work->kept[split])
                k->zero(stream, work->stage->kept_bytes, work->kept[split]);
            if (work->saved[split])
                k->zero(stream, work->stage->saved_bytes, work->saved[split]);
        }
    }
}

static void try_kind(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    struct pp_bound_call *call = &m->calls[pp_row(w, i)];

    m->backend->launch(m->device, w->index, clear_inputs, call);
    if (call->segment_count > 0)
        pp_segments_try(w, i);
    else
        pp_worker_issue(w, i);
}

static void try_kinds(struct pp_worker *w)
{
    const struct pp_program *p = w->machine->p;
    const int begin = p->begin[w->rank];

    for (int i = begin; i < p->begin[w->rank + 1]; i++)
        if (pp_op_is_compute(p->kind[i]) && is_first_of_kind(p, begin, i))
            try_kind(w, i);
    w->machine->backend->launch(w->machine->device, w->index, try_sums, w);
}

enum pp_status pp_machine_warm_up(struct pp_machine *m, struct pp_error *err)
{
    PP_TRY(pp_states_fetch(m, err));
    m->backend->begin(m->device);
    for (int k = 0; k < m->worker_count; k++)
        if (!pp_is_elsewhere(m, &m->workers[k]))
            try_kinds(&m->workers[k]);
    PP_TRY(m->backend->finish(m->device, err));
    PP_TRY(pp_states_push(m, err));
    pp_states_close(m);
    return PP_OK;
}
