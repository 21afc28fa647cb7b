/* Work of updates: on the device, and on the processors of the host. */
#include "exec/worker/worker.h"

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
    if (updated->weights == chunk->updated && updated->master)
        k->zero(stream, (size_t)chunk->stage->elements * k->element_bytes, chunk->updated);
}

void pp_update_run(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_chunk *chunk = argument;
    const struct pp_machine *m = chunk->worker->machine;
    const struct pp_state_spec *spec = &m->p->state.spec;
    const struct pp_state updated = pp_chunk_updated(chunk);

    if (m->has_failed)
        return;
    clear_buffer(k, stream, chunk, &updated);
    if (!spec->is_cpu_update)
        pp_state_update(k, stream, chunk->stage, &updated, m->options.recipe, m->adamw);
    else if (pp_update_is_early(m))
        step(k, stream, chunk, &updated);
    else
        pp_update_run_host(k, stream, argument);
    if (spec->is_cpu_update && !pp_update_is_early(m) && !pp_state_is_away(spec, PP_STATE_GRADS))
        pp_state_clear_gradients(k, stream, &chunk->state);
}
