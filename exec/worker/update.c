/* Work of updates: on the device, and on the processors of the host. */
#include "exec/worker/worker.h"

#include "exec/host/host.h"

/* Kernels that update memory of the host: the same, or those of its processors for the same types.
 */
static const struct pp_kernels *host_kernels(const struct pp_machine *m)
{
    const struct pp_kernels *k = m->options.kernels;

    return k->is_immediate                                     ? k
           : k->element_bytes == pp_kernels_bf16.element_bytes ? &pp_kernels_bf16
                                                               : pp_kernels_fp32(false);
}

static void step(const struct pp_kernels *k, void *stream, const struct pp_chunk *chunk,
                 const struct pp_state *state)
{
    const struct pp_machine *m = chunk->worker->machine;

    pp_state_step(k, stream, chunk->stage, state, m->options.recipe, m->adamw);
}

/* With the processors of the host: its part, of which some may be in a file. */
static void update_here(void *argument)
{
    const struct pp_chunk *chunk = argument;
    const struct pp_worker *w = chunk->worker;
    const struct pp_kernels *k = host_kernels(w->machine);

    if (w->machine->has_failed)
        return;
    if (w->machine->layout[w->rank].bucket.elements > 0)
        pp_update_run_file(k, chunk);
    else
        step(k, NULL, chunk, &chunk->by_host);
}

void pp_update_run_host(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_chunk *chunk = argument;

    if (k->is_immediate)
        update_here(argument);
    else
        chunk->worker->machine->backend->call_host(stream, -1, update_here, argument);
}

/* Zeroes a buffer before an update that only writes there: between tensors it has what another
 * chunk has left. */
static void clear_buffer(const struct pp_kernels *k, void *stream, const struct pp_chunk *chunk,
                         const struct pp_state *updated)
{
    if (updated->weights == chunk->updated && updated->master && !chunk->is_cleared_before)
        k->zero(stream, (size_t)chunk->stage->elements * k->element_bytes, chunk->updated);
}

/* Updates a part of the share on the device, and counts the time. */
static void step_part(const struct pp_kernels *k, void *stream, struct pp_chunk *chunk,
                      struct pp_state part)
{
    const int64_t before_ns = pp_host_thread_ns();

    part.weights = chunk->updated ? chunk->updated : part.weights;
    step(k, stream, chunk, &part);
    chunk->update_ns += pp_host_thread_ns() - before_ns;
}

/* The first bucket has come, and the last one goes, by copies of the list. */
static void run_buckets(const struct pp_kernels *k, void *stream, struct pp_chunk *chunk)
{
    const struct pp_machine *m = chunk->worker->machine;

    chunk->update_ns = 0;
    for (int b = 0; b < chunk->bucket_count && !m->has_failed; b++) {
        struct pp_chunk_bucket *bucket = &chunk->buckets[b];

        if (b > 0)
            bucket->fetch.run(k, stream, &bucket->fetch);
        if (m->has_failed)
            return;
        step_part(k, stream, chunk, bucket->state);
        if (b < chunk->bucket_count - 1)
            bucket->store.run(k, stream, &bucket->store);
    }
    step_part(k, stream, chunk, chunk->by_device);
}

static void run_whole(const struct pp_kernels *k, void *stream, struct pp_chunk *chunk,
                      const struct pp_state *updated)
{
    const struct pp_machine *m = chunk->worker->machine;

    if (!m->p->state.spec.is_cpu_update)
        pp_state_update(k, stream, chunk->stage, updated, m->options.recipe, m->adamw);
    else if (pp_update_is_early(m))
        step(k, stream, chunk, updated);
    else
        pp_update_run_host(k, stream, chunk);
}

void pp_update_run(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_chunk *chunk = argument;
    const struct pp_machine *m = chunk->worker->machine;
    const struct pp_state_spec *spec = &m->p->state.spec;
    const struct pp_state updated = pp_chunk_updated(chunk);

    if (m->has_failed)
        return;
    clear_buffer(k, stream, chunk, &updated);
    if (pp_update_is_streamed(m))
        run_buckets(k, stream, chunk);
    else
        run_whole(k, stream, chunk, &updated);
    if (pp_state_is_away(spec, PP_STATE_OPTIMIZER) && !pp_update_is_early(m) &&
        !pp_state_is_away(spec, PP_STATE_GRADS))
        pp_state_clear_gradients(k, stream, &chunk->state);
}

int64_t pp_update_ps(const struct pp_worker *w, int i, int64_t measured_ps)
{
    const struct pp_machine *m = w->machine;
    const struct pp_chunk *chunk = &w->chunks[m->p->pipe[i] * m->stages + m->p->stage[i]];

    if (m->p->kind[i] != PP_U || !pp_update_is_streamed(m) || !m->options.kernels->is_immediate)
        return measured_ps;
    return (pp_group_size(m) > 1 ? measured_ps : 1000 * chunk->update_ns) +
           m->options.costs->op[PP_U][m->p->stage[i]].copy_ps;
}
