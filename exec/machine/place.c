/* Memory of workers before the first step: blocks on the device or the host, and memory that device
 * and host share. It is checked before any of it is taken. */
#include "exec/backend/poison.h"
#include "exec/host/host.h"
#include "exec/machine/parts.h"

/* Rough bytes of lists and times: of each row and, in the trace, for each kept step. */
static double bookkeeping_bytes(const struct pp_machine *m)
{
    enum {
        ROW_BYTES = sizeof(struct pp_bound_call) + sizeof(struct pp_stage_work),
        EVENT_BYTES = 256
    };

    return (double)m->size * m->replicas * (ROW_BYTES + EVENT_BYTES * (double)(m->kept + 1));
}

/* True if this process conducts the steps, and reads the states of all workers. */
static bool is_conductor(const struct pp_machine *m)
{
    return m->options.meeting.count <= 1 || m->options.meeting.index == 0;
}

/* Host bytes next to a worker's block that last: losses, and states and frames of gradients if
 * they are read. */
static double copy_bytes(const struct pp_machine *m, const struct pp_worker *w)
{
    const struct pp_rank_layout *l = &m->layout[w->rank];
    const bool is_elsewhere = pp_is_elsewhere(m, w), reads = m->options.reads_states;
    double bytes = 0;

    if (is_elsewhere && !is_conductor(m))
        return 0;
    if (is_elsewhere || m->backend->is_apart)
        bytes += (double)l->loss_bytes + (reads ? (double)l->state_bytes : 0);
    return bytes + (m->remote && reads ? (double)l->grads_bytes : 0);
}

/* Host bytes that a worker needs for a moment: its states until they are on the device. A poisoned
 * block is here whole, while its touched bytes are counted. */
static double moment_bytes(const struct pp_machine *m, const struct pp_worker *w)
{
    const struct pp_rank_layout *l = &m->layout[w->rank];

    if (pp_is_elsewhere(m, w) || !m->backend->is_apart)
        return 0;
    return m->options.is_poisoned    ? (double)l->block_bytes
           : m->options.reads_states ? 0
                                     : (double)l->state_bytes;
}

/* Lowest worker with a stage: over tcp, it adds the gradients of all. */
static int sums_at(const struct pp_machine *m, int stage)
{
    int lowest = m->p->ranks;

    for (int pipe = 0; pipe < m->p->pipelines; pipe++)
        if (pp_program_rank_of(m->p, pipe, stage) < lowest)
            lowest = pp_program_rank_of(m->p, pipe, stage);
    return lowest;
}

/* Host bytes for parts of sums that a worker sends over tcp to a process on this host. */
static double parts_bytes(const struct pp_machine *m, const struct pp_worker *w)
{
    const struct pp_kernels *k = m->options.kernels;
    double bytes = 0;

    for (int place = 0; m->transport->send && place < m->places; place++) {
        const int stage = place % m->stages, owner = sums_at(m, stage);
        const struct pp_state_bytes state =
            pp_state_bytes(m->options.stages[stage], k, m->options.recipe->is_exact, 1);

        if (pp_program_rank_of(m->p, place / m->stages, stage) == w->rank && w->index != owner &&
            (m->own_worker == owner || m->own_worker == m->worker_count))
            bytes += (double)(state.gradients + (m->copies[stage] > 1 ? state.weights : 0));
    }
    return bytes;
}

/* Host bytes next to blocks: copies, parts, and what is counted as reserved on the host. */
static double copies_bytes(const struct pp_machine *m)
{
    double sum_bytes = m->backend->is_apart ? (double)m->options.reserved_staging_bytes : 0,
           largest_bytes = 0;

    for (int k = 0; k < m->worker_count; k++) {
        const double moment = moment_bytes(m, &m->workers[k]);

        sum_bytes += copy_bytes(m, &m->workers[k]) + parts_bytes(m, &m->workers[k]);
        largest_bytes = moment > largest_bytes ? moment : largest_bytes;
    }
    return sum_bytes + largest_bytes;
}

/* Checks the host's memory, if the device has its own. */
static enum pp_status check_host(const struct pp_machine *m, struct pp_error *err)
{
    const double mib = 1024.0 * 1024.0, available_bytes = (double)pp_host_available_bytes(),
                 lists_bytes = bookkeeping_bytes(m), copied_bytes = copies_bytes(m);

    if (m->backend->available_bytes == NULL || lists_bytes + copied_bytes <= available_bytes)
        return PP_OK;
    return pp_error_set(
        err, PP_EFAIL,
        "the host needs %.0f MiB and has %.0f MiB free: copies of what the device "
        "holds %.0f, lists and times %.0f; --no-check leaves out some of the copies, "
        "or lower --dp, --layers or --hidden",
        (lists_bytes + copied_bytes) / mib, available_bytes / mib, copied_bytes / mib,
        lists_bytes / mib);
}

/* Memory of the device that is allocated after the blocks, though not by a machine. */
static double libraries_bytes(const struct pp_machine *m)
{
    const int communicators = m->transport->communicators ? m->transport->communicators(m) : 0;

    return m->backend->reserve_bytes ? (double)m->backend->reserve_bytes(m->device, communicators)
                                     : 0;
}

static enum pp_status check_memory(const struct pp_machine *m, struct pp_error *err)
{
    const bool is_host = m->backend->available_bytes == NULL;
    const double available_bytes = is_host ? (double)pp_host_available_bytes()
                                           : (double)m->backend->available_bytes(m->device),
                 mib = 1024.0 * 1024.0, lists_bytes = is_host ? bookkeeping_bytes(m) : 0,
                 copied_bytes = is_host ? copies_bytes(m) : 0,
                 reserved_bytes = (double)m->options.reserved_bytes,
                 later_bytes = libraries_bytes(m);
    double needed_bytes = lists_bytes + copied_bytes + reserved_bytes + later_bytes;

    for (int k = 0; k < m->worker_count; k++)
        if (m->own_worker == m->worker_count || !pp_is_elsewhere(m, &m->workers[k]))
            needed_bytes += (double)m->layout[m->workers[k].rank].block_bytes;
    if (needed_bytes <= available_bytes)
        return PP_OK;
    pp_error_set(
        err, PP_EFAIL,
        "the run needs %.0f MiB in all, this %s has %.0f MiB free; lists, times and copies "
        "%.0f, libraries and graphs %.0f, reference of the check %.0f (--no-check), and rank by "
        "rank (%d replica%s of "
        "each), in MiB: weights, gradients, optimizer, activations, other",
        needed_bytes / mib, is_host ? "machine" : "device", available_bytes / mib,
        (lists_bytes + copied_bytes) / mib, later_bytes / mib, reserved_bytes / mib, m->replicas,
        m->replicas > 1 ? "s" : "");
    for (int r = 0; r < m->p->ranks && r < 16; r++) {
        const struct pp_rank_layout *l = &m->layout[r];
        pp_error_append(err, "\n  rank %d: %.0f, %.0f, %.0f, %.0f, %.0f", r,
                        (double)l->params_bytes / mib, (double)l->grads_bytes / mib,
                        (double)l->optimizer_bytes / mib, (double)l->activations_bytes / mib,
                        (double)(l->buffers_bytes + l->other_bytes) / mib);
    }
    return pp_error_append(err, "\n  lower --dp, --layers, --hidden, --mbs, --seq or "
                                "--micro-batches");
}

/* Copies of a stage are numbered as its sums add them up. */
static struct pp_state state_at(const struct pp_machine *m, int replica, int place, char *at)
{
    const int copies = m->copies[place % m->stages],
              copy = copies > 1 ? replica * m->p->pipelines + place / m->stages : 0;

    return pp_state_at(m->options.stages[place % m->stages], m->options.kernels,
                       m->options.recipe->is_exact, copy, copies, at);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void place_chunks(struct pp_machine *m, struct pp_worker *w)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];

    w->squares = (double *)(void *)(w->block + layout->scratch_offset);
    w->chunks = PP_ARRAY(m->arena, struct pp_chunk, m->places);
    for (int place = 0; place < m->places; place++) {
        struct pp_chunk *chunk = &w->chunks[place];

        if (layout->state_offset[place] == SIZE_MAX)
            continue;
        chunk->worker = w;
        chunk->stage = m->options.stages[place % m->stages];
        chunk->state = state_at(m, w->replica, place, w->block + layout->state_offset[place]);
        chunk->owns_squares = m->copies[place % m->stages] > 1 ||
                              (w->replica == 0 && place < m->stages); /* pipeline 0 */
    }
}

static enum pp_status place_here(struct pp_machine *m, struct pp_worker *w, struct pp_error *err)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    void *block, *states;

    PP_TRY(m->backend->alloc(m->device, layout->block_bytes, &block, err));
    states = m->backend->is_apart ? pp_host_reserve(m->arena, layout->state_bytes) : block;
    if (!states)
        return pp_states_refuse(m, "addresses", w, layout->state_bytes, err);
    w->block = block;
    w->staging = (struct pp_staging){m->backend, m->device, block, states, layout->state_bytes};
    w->losses = pp_block_staging(m, m->arena, w, layout->loss_offset, layout->loss_bytes);
    place_chunks(m, w);
    return pp_states_draw(w, err);
}

/* Addresses of what another process has. The one that conducts has memory for its losses. */
static enum pp_status place_elsewhere(struct pp_machine *m, struct pp_worker *w,
                                      struct pp_error *err)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];

    w->block = pp_host_reserve(m->arena, layout->block_bytes);
    if (!w->block)
        return pp_states_refuse(m, "addresses", w, layout->block_bytes, err);
    w->staging = pp_staging_itself(w->block, layout->state_bytes);
    w->losses = pp_staging_itself(
        is_conductor(m) ? pp_arena_alloc(m->arena, layout->loss_bytes) : NULL, layout->loss_bytes);
    place_chunks(m, w);
    return PP_OK;
}

/* Allocates memory that device and host both see. */
static enum pp_status place_shared(struct pp_machine *m, struct pp_error *err)
{
    const size_t token_bytes = (size_t)pp_batch_samples(m->options.batch) *
                               (size_t)m->options.stages[0]->net->seq * sizeof(int32_t),
                 statuses = (size_t)(m->worker_count + m->p->collective_count +
                                     m->replicas * m->p->pipelines);
    void *shared[5];
    const size_t bytes[5] = {token_bytes, token_bytes, sizeof(int) * statuses,
                             sizeof(double) * (size_t)m->square_count, sizeof(*m->adamw)};

    for (int k = 0; k < 5; k++)
        PP_TRY(m->backend->alloc_shared(m->device, bytes[k], &shared[k], err));
    m->ids = shared[0];
    m->targets = shared[1];
    m->statuses = shared[2];
    m->squares = shared[3];
    m->adamw = shared[4];
    for (int k = 0; k < m->worker_count; k++)
        m->workers[k].status = &m->statuses[k];
    return PP_OK;
}

enum pp_status pp_place_memory(struct pp_machine *m, struct pp_error *err)
{
    PP_TRY(check_memory(m, err));
    PP_TRY(check_host(m, err));
    PP_TRY(place_shared(m, err));
    for (int k = 0; k < m->worker_count; k++)
        PP_TRY((pp_is_elsewhere(m, &m->workers[k]) ? place_elsewhere
                                                   : place_here)(m, &m->workers[k], err));
    return PP_OK;
}
