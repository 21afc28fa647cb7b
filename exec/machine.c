#include "exec/interpreter.h"

#include "exec/host.h"
#include "exec/machine_parts.h"

#include <assert.h>
#include <string.h>

/* ---- failure --------------------------------------------------------------------------------*/

/* Nobody waits for whoever has the flag: it may have been killed. */
void pp_machine_fail(struct pp_machine *m, const struct pp_error *err)
{
    if (!atomic_flag_test_and_set(&m->is_reported)) {
        m->error = *err;
        m->has_failed = true;
        if (m->remote)
            m->remote->failed(m);
    }
    m->backend->cancel(m->device);
}

/* ---- memory ---------------------------------------------------------------------------------*/

/* Lists and times: about what a row takes in the machine and, for each kept step, in the trace. */
static double bookkeeping_bytes(const struct pp_machine *m)
{
    enum { ROW_BYTES = sizeof(struct pp_bound) + sizeof(struct pp_stage_work), EVENT_BYTES = 256 };
    const double kept = m->options.kept_steps > 0 ? m->options.kept_steps : 1;

    return (double)m->size * m->replicas * (ROW_BYTES + EVENT_BYTES * kept);
}

static enum pp_status check_memory(const struct pp_machine *m, struct pp_error *err)
{
    const bool is_host = m->backend->available_bytes == NULL;
    const double available_bytes = is_host ? (double)pp_host_available_bytes()
                                           : (double)m->backend->available_bytes(m->device),
                 mib = 1024.0 * 1024.0, lists_bytes = is_host ? bookkeeping_bytes(m) : 0,
                 reserved_bytes = (double)m->options.reserved_bytes;
    double needed_bytes = lists_bytes + reserved_bytes;

    for (int r = 0; r < m->p->ranks; r++)
        needed_bytes += (double)m->layout[r].block_bytes * m->replicas;
    if (needed_bytes <= available_bytes)
        return PP_OK;
    pp_error_set(
        err, PP_EFAIL,
        "the run needs %.0f MiB in all, this %s has %.0f MiB free; lists and times "
        "%.0f, reference of the check %.0f (--no-check), and rank by rank (%d replica%s of "
        "each), in MiB: weights, gradients, optimizer, activations, other",
        needed_bytes / mib, is_host ? "machine" : "device", available_bytes / mib, lists_bytes / mib, reserved_bytes / mib,
        m->replicas, m->replicas > 1 ? "s" : "");
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

/* Copies of a stage are counted as its sums add them up. */
static struct pp_state state_at(const struct pp_machine *m, int replica, int place, char *at)
{
    const int copies = m->copies[place % m->stages],
              copy = copies > 1 ? replica * m->p->pipelines + place / m->stages : 0;

    return pp_state_at(m->options.stages[place % m->stages], m->options.kernels,
                       m->options.recipe->is_exact, copy, copies, at);
}

/* A launcher has started its process: memory is there for what is told of it, and is not touched
 * before. */
static bool is_elsewhere(const struct pp_machine *m, const struct pp_worker *w)
{
    return m->options.meeting.count > 1 && m->options.meeting.index != w->index;
}

static enum pp_status poison(const struct pp_machine *m, const struct pp_worker *w,
                             struct pp_error *err)
{
    struct pp_arena *scratch PP_ARENA_AUTO = pp_arena_create();
    const struct pp_mirror all = pp_mirror_make(scratch, m->backend, m->device, w->block,
                                                m->layout[w->rank].block_bytes);

    pp_memory_poison(all.here, all.bytes);
    return pp_mirror_push(&all, err);
}

static void place_chunks(struct pp_machine *m, struct pp_worker *w)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];

    w->scratch =
        (struct pp_state_scratch){.tensor = w->block + layout->tensor_offset,
                                  .blocks = (double *)(void *)(w->block + layout->scratch_offset)};
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
            pp_state_shifted(&chunk->state, w->mirror.there, w->mirror.here);
        pp_state_init(chunk->stage, m->options.kernels, m->options.recipe->seed, &state,
                      m->copies[place % m->stages]);
    }
}

static enum pp_status place_worker(struct pp_machine *m, struct pp_worker *w, struct pp_error *err)
{
    const struct pp_rank_layout *layout = &m->layout[w->rank];
    void *block;

    PP_TRY(m->backend->alloc(m->device, layout->block_bytes, &block, err));
    w->block = block;
    w->mirror = pp_mirror_make(m->arena, m->backend, m->device, block, layout->state_bytes);
    w->losses = pp_mirror_make(m->arena, m->backend, m->device, w->block + layout->loss_offset,
                               layout->loss_bytes);
    if (m->options.is_poisoned && !is_elsewhere(m, w)) {
        PP_TRY(poison(m, w, err));
        PP_TRY(pp_mirror_fetch(&w->mirror, err));
    }
    place_chunks(m, w);
    return pp_mirror_push(&w->mirror, err);
}

/* What device and host both see. */
static enum pp_status place_shared(struct pp_machine *m, struct pp_error *err)
{
    const size_t token_bytes = (size_t)pp_batch_samples(m->options.batch) *
                               (size_t)m->options.stages[0]->net->seq * sizeof(int32_t),
                 statuses = (size_t)(m->worker_count + m->p->collective_count +
                                     m->replicas * m->p->pipelines);
    void *shared[5];
    const size_t bytes[5] = {token_bytes, token_bytes, sizeof(int) * statuses,
                             sizeof(double) * (size_t)m->square_count, sizeof(double)};

    for (int k = 0; k < 5; k++)
        PP_TRY(m->backend->alloc_shared(m->device, bytes[k], &shared[k], err));
    m->ids = shared[0];
    m->targets = shared[1];
    m->statuses = shared[2];
    m->squares = shared[3];
    m->grad_scale = shared[4];
    for (int k = 0; k < m->worker_count; k++)
        m->workers[k].status = &m->statuses[k];
    return PP_OK;
}

static void place_columns(struct pp_machine *m)
{
    const size_t rows = (size_t)m->size * (size_t)m->replicas;

    m->kept = m->options.kept_steps > 0 ? m->options.kept_steps : 1;
    m->start_ps = PP_ARRAY(m->arena, int64_t, rows * (size_t)m->kept);
    m->end_ps = PP_ARRAY(m->arena, int64_t, rows * (size_t)m->kept);
    m->posted_ps = PP_ARRAY(m->arena, int64_t, rows * (size_t)m->kept);
    m->matched_ps = PP_ARRAY(m->arena, int64_t, rows * (size_t)m->kept);
    m->duration_ps = PP_ARRAY(m->arena, int64_t, rows * (size_t)m->kept);
    m->nominal_ps =
        m->options.slow ? PP_ARRAY(m->arena, int64_t, rows * (size_t)m->kept) : m->duration_ps;
    m->step_begin_ps = PP_ARRAY(m->arena, int64_t, m->kept);
    m->step_end_ps = PP_ARRAY(m->arena, int64_t, m->kept);
    m->launch_of = PP_ARRAY(m->arena, int32_t, rows + 1);
    m->read = PP_NEW(m->arena, struct pp_machine_read);
}

static enum pp_status bind_barriers(struct pp_machine *m, struct pp_error *err)
{
    const struct pp_program *p = m->p;

    for (int k = 0; k < m->worker_count; k++) {
        struct pp_worker *w = &m->workers[k];
        int count = 0;

        w->barrier_row = PP_ARRAY(m->arena, int32_t, p->begin[w->rank + 1] - p->begin[w->rank] + 1);
        for (int i = p->begin[w->rank]; i < p->begin[w->rank + 1]; i++)
            if (p->kind[i] == PP_BAR)
                w->barrier_row[count++] = (int32_t)pp_row(m, i, w->replica);
        if (k > 0 && count == m->barrier_count && count > 0)
            continue;
        if (count == 0 || k > 0)
            return pp_error_set(err, PP_EPROGRAM,
                                "rank %d meets the others %d times (BAR) in a step, rank 0 %d "
                                "times: expected the same number, at least once before the first U",
                                w->rank, count, k ? m->barrier_count : count);
        m->barrier_count = count;
    }
    m->arrived_ps = PP_ARRAY(m->arena, int64_t, m->barrier_count * m->worker_count);
    m->released_ps = PP_ARRAY(m->arena, int64_t, m->barrier_count);
    return PP_OK;
}

void pp_machine_destroy(struct pp_machine *m)
{
    if (!m)
        return;
    pp_workers_end(m);
    m->backend->close(m->device);
    sem_destroy(&m->cores);
    pthread_mutex_destroy(&m->collectives_mutex);
}

/* ---- creation -------------------------------------------------------------------------------*/

static void place_squares(struct pp_machine *m)
{
    m->squares_of = PP_ARRAY(m->arena, int64_t, m->stages);
    for (int stage = 0; stage < m->stages; stage++) {
        m->squares_of[stage] = m->square_count;
        m->square_count += pp_squares_blocks(m->options.stages[stage]);
    }
    m->layer_squares = PP_ARRAY(m->arena, double, m->options.stages[0]->net->layers + 2);
}

static void take_options(struct pp_machine *m, const struct pp_machine_options *options)
{
    pp_wall_ps(); /* from now on, for all processes */
    m->options = *options;
    m->p = options->program;
    m->program_hash = pp_program_hash(m->p);
    m->backend = options->backend;
    m->transport = options->transport ? options->transport : &pp_transport_local;
    m->remote = m->transport->remote;
    m->size = pp_program_size(m->p);
    m->replicas = options->batch->replicas;
    m->worker_count = m->p->ranks * m->replicas;
    m->stages = m->p->stages;
    m->places = m->p->pipelines * m->stages;
    /* rows and events are 32-bit; memory and threads end long before */
    assert(((int64_t)m->size + m->p->message_count + m->p->channel_count) * m->replicas <
           INT32_MAX / 2);
    m->layout = pp_memory_layout(m->arena, m->p, options->stages, options->kernels,
                                 options->recipe->is_exact, m->replicas);
    m->copies = pp_memory_copies(m->arena, m->p, m->replicas);
    place_squares(m);
    m->workers = PP_ARRAY(m->arena, struct pp_worker, m->worker_count);
    for (int k = 0; k < m->worker_count; k++)
        m->workers[k] = (struct pp_worker){
            .machine = m, .rank = k % m->p->ranks, .replica = k / m->p->ranks, .index = k};
}

static void start_locks(struct pp_machine *m)
{
    const int cores = m->options.cores > 0 ? m->options.cores : pp_host_cores();
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    if (m->transport->is_shared)
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&m->collectives_mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    sem_init(&m->cores, m->transport->is_shared, (unsigned)cores);
    atomic_flag_clear(&m->is_reported);
    m->has_cores = pp_is_virtual(m) && m->backend->is_immediate && m->worker_count > cores;
}

static enum pp_status open_device(struct pp_machine *m, struct pp_error *err)
{
    const int messages = m->p->message_count * m->replicas;

    m->first_release = m->size * m->replicas + messages + m->p->collective_count;
    m->conductor =
        m->worker_count + m->p->channel_count * m->replicas + m->p->collective_count;
    const struct pp_device_options options = {
        .kernels = m->options.kernels,
        .streams = m->conductor + 1,
        .events = m->first_release + m->barrier_count,
        .workers = m->worker_count,
        .seed = m->options.seed,
        .is_serial = m->options.is_serial,
        .is_shared = m->transport->is_shared,
    };
    return m->backend->open(m->arena, &options, &m->device, err);
}

static enum pp_status build(struct pp_machine *m, struct pp_error *err)
{
    PP_TRY(pp_slots_check(m->p, err));
    PP_TRY(bind_barriers(m, err));
    PP_TRY(pp_check_program(&m->options, err));
    PP_TRY(open_device(m, err));
    PP_TRY(check_memory(m, err));
    PP_TRY(place_shared(m, err));
    for (int k = 0; k < m->worker_count; k++)
        PP_TRY(place_worker(m, &m->workers[k], err));
    place_columns(m);
    pp_bind_calls(m);
    pp_bind_messages(m, pp_slot_classes(m->arena, m->p));
    pp_bind_sums(m);
    return pp_workers_start(m, err);
}

static void destroy_arena(void *arena)
{
    pp_arena_destroy(arena);
}

/* All that workers write lies where all of them see it, for as long as the caller's. */
static struct pp_arena *arena_of(struct pp_arena *arena, const struct pp_machine_options *options)
{
    if (!options->transport || !options->transport->is_shared)
        return arena;
    struct pp_arena *shared = pp_arena_create_shared();
    pp_arena_defer(arena, destroy_arena, shared);
    return shared;
}

enum pp_status pp_machine_create(struct pp_arena *arena, const struct pp_machine_options *options,
                                 struct pp_machine **machine, struct pp_error *err)
{
    struct pp_arena *own = arena_of(arena, options);
    struct pp_machine *m = PP_NEW(own, struct pp_machine);

    m->arena = own;
    take_options(m, options);
    start_locks(m);
    const enum pp_status status = build(m, err);
    if (status != PP_OK) {
        pp_machine_destroy(m);
        return status;
    }
    *machine = m;
    return PP_OK;
}
