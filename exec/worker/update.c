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

/* The host's part, of which some may be in a file. */
static void step_host(const struct pp_kernels *k, const struct pp_chunk *chunk)
{
    if (chunk->worker->machine->layout[chunk->worker->rank].bucket.elements > 0)
        pp_update_run_file(k, chunk);
    else
        step(k, NULL, chunk, &chunk->by_host);
}

void pp_update_run_host(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_chunk *chunk = argument;
    const struct pp_machine *m = chunk->worker->machine;

    (void)k;
    (void)stream;
    if (!m->has_failed)
        step_host(host_kernels(m), chunk);
}

void pp_update_run(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_chunk *chunk = argument;
    const struct pp_machine *m = chunk->worker->machine;
    const struct pp_state_spec *spec = &m->p->state.spec;
    const struct pp_state updated = pp_chunk_updated(chunk);

    if (m->has_failed)
        return;
    if (!spec->is_cpu_update)
        pp_state_update(k, stream, chunk->stage, &updated, m->options.recipe, m->adamw);
    else if (pp_update_is_early(m))
        step(k, stream, chunk, &updated);
    else if (k->is_immediate)
        step_host(k, chunk);
    if (spec->is_cpu_update && !pp_update_is_early(m) && !pp_state_is_away(spec, PP_STATE_GRADS))
        pp_state_clear_gradients(k, stream, &chunk->state);
}

void pp_update_run_first(const struct pp_worker *w, pp_stream_id stream, int i)
{
    const struct pp_machine *m = w->machine;
    const struct pp_program *p = m->p;

    if (p->kind[i] == PP_U && p->state.spec.is_cpu_update && !pp_update_is_early(m) &&
        !m->options.kernels->is_immediate)
        m->backend->host(m->device, stream, pp_update_run_host,
                         &w->chunks[p->pipe[i] * m->stages + p->stage[i]]);
}
