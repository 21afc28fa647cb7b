/* Creates and destroys a machine: binds everything to workers and memory before the first step. */
#include "core/process/pool.h"
#include "exec/copy/copy.h"
#include "exec/machine/parts.h"
#include "exec/passes/passes.h"
#include "exec/program/check.h"

#include <assert.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

static void place_columns(struct pp_machine *m)
{
    const size_t rows = pp_rows(m),
                 cells = rows * ((size_t)m->kept + 1); /* one slot for what is not kept */

    m->start_ps = PP_ARRAY(m->arena, int64_t, cells);
    m->end_ps = PP_ARRAY(m->arena, int64_t, cells);
    m->posted_ps = PP_ARRAY(m->arena, int64_t, cells);
    m->matched_ps = PP_ARRAY(m->arena, int64_t, cells);
    m->duration_ps = PP_ARRAY(m->arena, int64_t, cells);
    m->nominal_ps = m->options.slow ? PP_ARRAY(m->arena, int64_t, cells) : m->duration_ps;
    if (pp_group_size(m) > 1 && !pp_is_virtual(m))
        for (int among = 0; among < PP_AMONG; among++)
            m->exchanged_ps[among] = PP_ARRAY(m->arena, int64_t, cells);
    m->step_begin_ps = PP_ARRAY(m->arena, int64_t, m->kept);
    m->step_end_ps = PP_ARRAY(m->arena, int64_t, m->kept);
    m->launch_of = PP_ARRAY(m->arena, int32_t, rows + 1);
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
                w->barrier_row[count++] = pp_row(w, i);
        if (k == 0)
            m->barrier_count = count;
        if ((count == 0 && !m->options.generation) || count != m->barrier_count)
            return pp_error_set(err, PP_EPROGRAM,
                                "rank %d meets the others %d times (BAR) in a step, rank 0 %d "
                                "times: expected the same number, at least once before the first U",
                                w->rank, count, m->barrier_count);
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

/* ---- creation -------------------------------------------------------------------------------- */

static void place_squares(struct pp_machine *m)
{
    const int count = m->options.generation ? 0 : pp_group_size(m) * m->stages;

    m->squares_of = PP_ARRAY(m->arena, int64_t, count);
    m->square_parts = PP_ARRAY(m->arena, struct pp_squares_part, m->ep);
    for (int stage = 0; stage < count; stage++) {
        m->squares_of[stage] = m->square_count;
        m->square_count += pp_squares_blocks(m->options.stages[stage]);
    }
    m->layer_squares = PP_ARRAY(m->arena, double, m->options.stages[0]->net->layers + 2);
    m->expert_tokens =
        PP_ARRAY(m->arena, double, pp_net_expert_tokens(m->options.stages[0]->net) + 1);
}

static void take_options(struct pp_machine *m, const struct pp_machine_options *options)
{
    pp_wall_ps(); /* sets the origin of time for all processes */
    m->options = *options;
    m->p = options->program;
    m->program_hash = pp_program_hash(m->p);
    m->backend = options->backend;
    m->transport = options->transport;
    m->remote = m->transport->remote;
    m->kept = options->kept_steps > 0 ? options->kept_steps : 1;
    m->size = pp_program_size(m->p);
    m->replicas = options->batch->replicas;
    m->tp = options->tp > 1 ? options->tp : 1;
    m->ep = options->ep > 1 ? options->ep : 1;
    m->worker_count = m->p->ranks * m->replicas * m->tp;
    m->collective_count = m->p->collective_count * m->tp;
    m->own_worker = options->meeting.count > 1              ? options->meeting.index
                    : m->remote && !m->backend->is_deferred ? m->worker_count
                                                            : -1;
    pp_tokens_place(m);
    m->read = PP_NEW(m->arena, struct pp_machine_read);
    m->read->fetched_at = -1;
    m->stages = options->generation ? pp_program_model_stages(m->p) : m->p->stages;
    m->places = m->p->pipelines * m->stages;
    assert(!m->p->weight_stream || !m->backend->is_immediate);
    /* rows and events are 32-bit; memory and threads run out long before */
    assert(((int64_t)m->size + m->p->message_count + m->p->channel_count) * m->replicas * m->tp <
           INT32_MAX / 2);
    m->cuts = pp_memory_cuts(m->arena, m->p, options->stages, options->batch);
    m->wholes = pp_wholes_find(m->arena, m->p, options->stages, m->cuts);
    m->away = pp_away_find(m->arena, m->p);
    m->layout = pp_memory_layout(m->arena, m->p, options->stages, options->kernels,
                                 options->recipe->is_exact, m->cuts, m->wholes, m->away);
    m->has_copies = pp_program_has_kind(m->p, PP_COPY) || pp_program_has_kind(m->p, PP_MOVE);
    place_squares(m);
    m->workers = PP_ARRAY(m->arena, struct pp_worker, m->worker_count);
    for (int k = 0; k < m->worker_count; k++)
        m->workers[k] = (struct pp_worker){.machine = m,
                                           .rank = k % m->p->ranks,
                                           .replica = k / m->p->ranks / m->tp,
                                           .tp_index = k / m->p->ranks % m->tp,
                                           .index = k};
    for (int k = 0; k < m->worker_count; k++)
        memcpy(m->workers[k].budget.most_bytes, options->tiers.most_bytes,
               sizeof(options->tiers.most_bytes));
}

static void start_locks(struct pp_machine *m)
{
    const int cores = m->options.cores > 0 ? m->options.cores : pp_pool_cores();
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    if (m->transport->is_shared)
        pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&m->collectives_mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    sem_init(&m->cores, m->transport->is_shared, (unsigned)cores);
    atomic_flag_clear(&m->is_reported);
    m->crew_size = pp_crew_size(m, cores);
    m->may_spin = m->worker_count / m->crew_size <= cores;
    m->has_cores = pp_is_virtual(m) && m->backend->is_immediate && !m->may_spin &&
                   m->crew_size == pp_group_size(m);
}

static enum pp_status open_device(struct pp_machine *m, struct pp_error *err)
{
    const int messages = m->p->message_count * m->replicas * m->tp;

    m->first_release = (int)pp_rows(m) + messages + m->collective_count;
    m->conductor =
        m->worker_count + m->p->channel_count * m->replicas * m->tp + m->collective_count;
    m->weights = m->conductor + 1;
    m->first_copies = m->weights + (m->p->weight_stream ? m->worker_count : 0);
    m->first_copied = m->first_release + m->barrier_count + pp_group_events(m);
    const struct pp_device_options options = {
        .kernels = m->options.kernels,
        .streams = m->first_copies + pp_copy_streams(m),
        .events = m->first_copied + pp_copy_events(m),
        .workers = m->worker_count,
        .weights = m->p->weight_stream ? m->weights : 0,
        .worker = m->options.meeting.count > 1 ? m->options.meeting.index : -1,
        .place = m->options.meeting.local_index,
        .seed = m->options.seed,
        .mode = m->options.mode,
        .is_mapped = m->transport->is_mapped,
        .uses_graphs = m->options.uses_graphs,
        .is_shared = m->transport->is_shared,
    };
    return m->backend->open(m->arena, &options, &m->device, err);
}

static enum pp_status check(const struct pp_machine *m, struct pp_error *err)
{
    const struct pp_stage *first = m->options.stages[0];

    return m->options.generation
               ? pp_check_generating(m->p, err)
               : pp_check_program(m->p, first->net->is_tied,
                                  pp_stage_is_partly_again(&first->shape), m->replicas, err);
}

static enum pp_status bind_calls(struct pp_machine *m, struct pp_error *err)
{
    if (m->options.generation)
        return pp_bind_passes(m, err);
    pp_bind_calls(m);
    return PP_OK;
}

static enum pp_status build(struct pp_machine *m, struct pp_error *err)
{
    PP_TRY(bind_barriers(m, err));
    PP_TRY(check(m, err));
    PP_TRY(open_device(m, err));
    pp_inbox_make(m);
    PP_TRY(pp_place_memory(m, err));
    place_columns(m);
    m->class_of = pp_slot_classes(m->arena, m->p);
    PP_TRY(bind_calls(m, err));
    pp_bind_groups(m);
    pp_bind_same(m);
    pp_bind_messages(m);
    pp_bind_sums(m);
    PP_TRY(pp_copies_bind(m, err));
    return pp_workers_start(m, err);
}

struct pp_machine_way pp_machine_way(const struct pp_machine *m)
{
    return (struct pp_machine_way){m->transport, m->transport_note, m->left_free, m->gpus};
}

static void destroy_arena(void *arena)
{
    pp_arena_destroy(arena);
}

/* Memory that all workers see, with the lifetime of the caller's arena. */
static struct pp_arena *arena_of(struct pp_arena *arena, const struct pp_machine_options *options)
{
    if (!options->transport->is_shared)
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
