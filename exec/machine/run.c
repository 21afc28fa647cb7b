/* Runs a worker's list. Each function runs one instruction; false = a worker has failed. */
#include "exec/copy/copy.h"
#include "exec/host/host.h"
#include "exec/machine/parts.h"
#include "schedules/evaluate/perturb.h"

#include <string.h>
#include <time.h>

static void read_wall(struct pp_worker *w)
{
    if (!pp_is_virtual(w->machine))
        w->clock_ps = pp_now_ps(w->machine);
}

/* ---- compute --------------------------------------------------------------------------------- */

static void sleep_ps(int64_t ps)
{
    const int64_t ns = ps / 1000;
    struct timespec left = {ns / 1000000000, ns % 1000000000};

    while (ps > 0 && nanosleep(&left, &left) != 0) {
    }
}

/* Ends an op that began at start_ps and took spent_ps, slowed down to the device's speed. */
static void end_compute(struct pp_worker *w, int i, int64_t start_ps, int64_t spent_ps)
{
    struct pp_machine *m = w->machine;
    const size_t at = pp_cell_at(w, i);
    const int64_t nominal_ps = m->options.has_durations ? pp_given_ps(m, i)
                               : pp_is_virtual(m)       ? spent_ps
                                                        : pp_now_ps(m) - start_ps,
                  slowed_ps = pp_slowed_ps(nominal_ps, pp_speed(m, w->rank, w->replica));

    m->nominal_ps[at] = nominal_ps;
    if (pp_is_virtual(m)) {
        w->clock_ps = start_ps + slowed_ps;
    } else {
        sleep_ps(slowed_ps - nominal_ps);
        w->clock_ps = pp_now_ps(m);
    }
    m->start_ps[at] = start_ps;
    m->end_ps[at] = w->clock_ps;
    m->duration_ps[at] = w->clock_ps - start_ps;
}

/* Runs an op, or both of a fused pair, on one of the cores. */
static void run_alone(struct pp_worker *w, int i, bool is_fused)
{
    struct pp_machine *m = w->machine;

    pp_core_take(m);
    pp_worker_warm(w, i, is_fused);
    read_wall(w);
    const int64_t start_ps = w->clock_ps, before_ns = pp_machine_now_ns(m);
    pp_worker_issue(w, i);
    if (is_fused)
        pp_worker_issue(w, i + 1);
    const int64_t spent_ns = pp_machine_now_ns(m) - before_ns;
    pp_core_give(m);
    w->inside_ns += spent_ns;
    end_compute(w, i, start_ps, pp_update_ps(w, i, spent_ns * 1000));
}

static bool run_together(struct pp_worker *w, int i, bool is_fused)
{
    const int64_t start_ps = w->clock_ps;

    w->spent_ps = 0;
    memset(w->exchanged_ps, 0, sizeof(w->exchanged_ps));
    if (!pp_group_run(w, i) || (is_fused && !pp_group_run(w, i + 1)))
        return false;
    end_compute(w, i, start_ps, pp_update_ps(w, i, w->spent_ps));
    for (int among = 0; among < PP_AMONG && w->machine->exchanged_ps[among]; among++)
        w->machine->exchanged_ps[among][pp_cell_at(w, i)] = w->exchanged_ps[among];
    return true;
}

/* The second op of a fused pair has run with the first. */
static bool run_compute(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    const bool is_fused = m->p->aux[i] == PP_FUSED_FIRST && pp_worker_has(w, i + 1);

    if (m->p->aux[i] == PP_FUSED_SECOND && pp_worker_has(w, i - 1))
        return true;
    if (!pp_worker_order(w, i))
        return false;
    if (pp_group_size(m) == 1)
        run_alone(w, i, is_fused);
    else if (!run_together(w, i, is_fused))
        return false;
    if (is_fused) {
        const int64_t start_ps = m->start_ps[pp_cell_at(w, i)];
        const size_t second = pp_cell_at(w, i + 1);
        m->start_ps[second] = start_ps;
        m->end_ps[second] = w->clock_ps;
    }
    return true;
}

/* ---- other streams --------------------------------------------------------------------------- */

static bool run_collective(struct pp_worker *w, int i)
{
    if (!pp_worker_order(w, i))
        return false;
    pp_collective_post(w, i);
    return true;
}

static bool run_move(struct pp_worker *w, int i)
{
    return pp_worker_order(w, i) && pp_copy_post(w, i);
}

static bool run_wait(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    const int target = m->p->begin[w->rank] + m->p->arg[i];
    const size_t at = pp_cell_at(w, i);

    m->start_ps[at] = w->clock_ps;
    if (!(pp_op_is_collective(m->p->kind[target]) ? pp_collective_wait(w, target)
          : pp_op_is_move(m->p->kind[target])     ? pp_copy_wait(w, target)
                                                  : pp_message_wait(w, target)))
        return false;
    const int64_t end_ps = m->end_ps[pp_cell_at(w, target)];
    w->clock_ps = pp_is_virtual(m) ? pp_later_ps(w->clock_ps, end_ps) : pp_now_ps(m);
    m->end_ps[at] = w->clock_ps;
    return true;
}

/* Gathers that are posted later may take the buffer. */
static bool run_drop(struct pp_worker *w, int i)
{
    struct pp_machine *m = w->machine;
    const size_t at = pp_cell_at(w, i);

    m->start_ps[at] = m->end_ps[at] = w->clock_ps;
    return true;
}

static bool run_control(struct pp_worker *w, int i)
{
    const int kind = w->machine->p->kind[i];

    return kind == PP_WAIT   ? run_wait(w, i)
           : kind == PP_DROP ? run_drop(w, i)
                             : pp_barrier_meet(w, i);
}

static bool (*const RUN[])(struct pp_worker *w, int i) = {
    [PP_STREAM_COMPUTE] = run_compute,   [PP_STREAM_CHANNEL] = pp_message_post,
    [PP_STREAM_REDUCE] = run_collective, [PP_STREAM_COPY] = run_move,
    [PP_STREAM_CONTROL] = run_control,
};

/* Instruction before which a fault is injected, -1 = none. */
static int fault_at(const struct pp_worker *w)
{
    const struct pp_inject *inject = &w->machine->options.inject;

    return inject->kind && !w->machine->is_forward && inject->rank == w->rank &&
                   inject->replica == w->replica && inject->tp_index == w->tp_index &&
                   inject->step == w->machine->step + 1
               ? w->machine->p->begin[w->rank] + inject->op
               : -1;
}

void pp_worker_run(struct pp_worker *w)
{
    struct pp_machine *m = w->machine;
    const int64_t before_ns = pp_host_thread_ns();

    atomic_fetch_add(&m->walking, 1);
    w->clock_ps = m->begin_ps;
    w->inside_ns = w->warm_ns = 0;
    w->launches[false] = w->launches[true] = w->barriers = w->meets = *w->status = 0;
    const int fault = fault_at(w);
    atomic_store_explicit(&w->at, m->p->begin[w->rank], memory_order_relaxed);
    for (int i = m->p->begin[w->rank]; i < m->p->begin[w->rank + 1]; i++) {
        if (i == fault && !m->options.inject.kind->run(w))
            break;
        if (!pp_worker_has(w, i))
            continue;
        read_wall(w);
        if (!RUN[pp_op_kinds[m->p->kind[i]].stream](w, i))
            break;
        atomic_store_explicit(&w->at, i + 1, memory_order_relaxed);
    }
    read_wall(w);
    w->cpu_ns = pp_host_thread_ns() - before_ns - w->warm_ns;
    atomic_fetch_sub(&m->walking, 1);
}
