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

/* Reads a part of the share of gradients that live in a file into the host's room for them. */
static enum pp_status read_part(const struct pp_chunk *chunk, enum pp_state_part part,
                                struct pp_error *err)
{
    const struct pp_worker *w = chunk->worker;
    const struct pp_kernels *k = w->machine->options.kernels;
    const struct pp_range share = pp_state_share(&chunk->by_host, part);
    const size_t each = chunk->state.fixed ? sizeof(int64_t) : k->gradient_bytes;

    if (share.from >= share.until)
        return PP_OK;
    const char *there = pp_state_gradient(&chunk->state, k, share.from);
    return pp_tier_file_read(w->file, (size_t)(there - w->file_at),
                             (size_t)(share.until - share.from) * each,
                             pp_state_gradient(&chunk->by_host, k, share.from), err);
}

static bool read_gradients(const struct pp_chunk *chunk)
{
    struct pp_machine *m = chunk->worker->machine;
    struct pp_error err = {0};
    enum pp_status status = PP_OK;

    if (m->p->state.spec.home[PP_STATE_GRADS] != PP_TIER_NVME)
        return true;
    for (int part = 0; part < PP_STATE_PARTS && status == PP_OK; part++)
        status = read_part(chunk, (enum pp_state_part)part, &err);
    if (status != PP_OK)
        pp_error_prefix(&err, "step %d, update of stage %d: ", m->step + 1,
                        (int)(chunk - chunk->worker->chunks) % m->stages);
    return pp_machine_try(m, status, &err);
}

static void step(const struct pp_kernels *k, void *stream, const struct pp_chunk *chunk,
                 const struct pp_state *state)
{
    const struct pp_machine *m = chunk->worker->machine;

    pp_state_step(k, stream, chunk->stage, state, m->options.recipe, m->adamw);
}

void pp_update_run_host(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_chunk *chunk = argument;
    const struct pp_machine *m = chunk->worker->machine;

    (void)k;
    (void)stream;
    if (!m->has_failed && read_gradients(chunk))
        step(host_kernels(m), NULL, chunk, &chunk->by_host);
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
    else if (pp_update_is_early(m) || (k->is_immediate && read_gradients(chunk)))
        step(k, stream, chunk, &updated);
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
