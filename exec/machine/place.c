/* Memory of workers before the first step: blocks with the initial weights, on the device or the
 * host, and memory that device and host share. */
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

    return (double)m->size * m->replicas * (ROW_BYTES + EVENT_BYTES * (double)m->kept);
}

/* Staging bytes on the host, if device memory is apart: states and losses of this process's
 * workers, whole blocks of others. If poisoned, one more block, to count touched bytes. */
static double staging_bytes(const struct pp_machine *m)
{
    double sum_bytes = (double)m->options.reserved_staging_bytes, largest_bytes = 0;

    if (!m->backend->is_apart)
        return 0;
    for (int k = 0; k < m->worker_count; k++) {
        const struct pp_rank_layout *l = &m->layout[m->workers[k].rank];
        const double block_bytes = (double)l->block_bytes;
        const bool is_elsewhere = pp_is_elsewhere(m, &m->workers[k]);

        sum_bytes += is_elsewhere ? block_bytes : (double)(l->state_bytes + l->loss_bytes);
        if (m->options.is_poisoned && !is_elsewhere && block_bytes > largest_bytes)
            largest_bytes = block_bytes;
    }
    return sum_bytes + largest_bytes;
}

/* Checks the host's memory, if the device has its own. */
static enum pp_status check_host(const struct pp_machine *m, struct pp_error *err)
{
    const double mib = 1024.0 * 1024.0, available_bytes = (double)pp_host_available_bytes(),
                 lists_bytes = bookkeeping_bytes(m), copies_bytes = staging_bytes(m);

    if (m->backend->available_bytes == NULL || lists_bytes + copies_bytes <= available_bytes)
        return PP_OK;
    return pp_error_set(
        err, PP_EFAIL,
        "the host needs %.0f MiB and has %.0f MiB free: copies of what the device "
        "holds %.0f, lists and times %.0f; --no-check leaves out some of the copies, "
        "or lower --dp, --layers or --hidden",
        (lists_bytes + copies_bytes) / mib, available_bytes / mib, copies_bytes / mib,
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
                 copies_bytes = is_host ? staging_bytes(m) : 0,
                 reserved_bytes = (double)m->options.reserved_bytes,
                 later_bytes = libraries_bytes(m);
    double needed_bytes = lists_bytes + copies_bytes + reserved_bytes + later_bytes;

    for (int k = 0; k < m->worker_count; k++)
        if (is_host || !pp_is_elsewhere(m, &m->workers[k]))
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
        (lists_bytes + copies_bytes) / mib, later_bytes / mib, reserved_bytes / mib, m->replicas,
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

struct pp_staging pp_block_staging(const struct pp_machine *m, struct pp_arena *arena,
                                   const struct pp_worker *w, size_t offset, size_t bytes)
{
    return pp_is_elsewhere(m, w)
               ? pp_staging_itself(w->block + offset, bytes)
               : pp_staging_make(arena, m->backend, m->device, w->block + offset, bytes);
}

static enum pp_status poison(const struct pp_machine *m, const struct pp_worker *w,
                             struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_staging all =
        pp_block_staging(m, scratch, w, 0, m->layout[w->rank].block_bytes);

    pp_memory_poison(all.on_host, all.bytes);
    return pp_staging_push(&all, err);
}

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
        if (m->options.meeting.count > 1 && m->options.meeting.index != 0)
            continue;
        const struct pp_state state =
            pp_state_shifted(&chunk->state, w->staging.on_device, w->staging.on_host);
        pp_state_init(chunk->stage, m->options.kernels, m->options.recipe->seed, &state,
                      m->copies[place % m->stages]);
    }
}

/* The block of a worker elsewhere is host memory, filled with what arrives from there. */
static enum pp_status take_block(const struct pp_machine *m, struct pp_worker *w,
                                 struct pp_error *err)
{
    const size_t bytes = m->layout[w->rank].block_bytes;
    void *block;

    if (m->backend->is_apart && pp_is_elsewhere(m, w))
        block = pp_arena_alloc_raw(m->arena, bytes + 64);
    else
        PP_TRY(m->backend->alloc(m->device, bytes, &block, err));
    w->block = block;
    return PP_OK;
}

static enum pp_status place_worker(struct pp_machine *m, struct pp_worker *w, struct pp_error *err)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];

    PP_TRY(take_block(m, w, err));
    w->staging = pp_block_staging(m, m->arena, w, 0, layout->state_bytes);
    w->losses = pp_block_staging(m, m->arena, w, layout->loss_offset, layout->loss_bytes);
    if (m->options.is_poisoned && !pp_is_elsewhere(m, w)) {
        PP_TRY(poison(m, w, err));
        PP_TRY(pp_staging_fetch(&w->staging, err));
    }
    place_chunks(m, w);
    return pp_staging_push(&w->staging, err);
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
        PP_TRY(place_worker(m, &m->workers[k], err));
    return PP_OK;
}

enum pp_status pp_states_fetch(const struct pp_machine *m, struct pp_error *err)
{
    for (int k = 0; k < m->worker_count; k++)
        PP_TRY(pp_staging_fetch(&m->workers[k].staging, err));
    m->read->fetched_at = m->steps_done;
    return PP_OK;
}

enum pp_status pp_machine_changed(const struct pp_machine *m, struct pp_error *err)
{
    for (int k = 0; k < m->worker_count; k++)
        PP_TRY(pp_staging_push(&m->workers[k].staging, err));
    return PP_OK;
}
