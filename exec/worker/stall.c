/* Describes a standstill: the waiting workers and those that they wait for, which the static
 * schedule tells. Workers continue meanwhile, so each place is read once. */
#include "core/process/process.h"
#include "exec/worker/worker.h"

#include <math.h>

enum { TOLD = 6 }; /* waiting workers that are named */

static int at_of(const struct pp_worker *w)
{
    return atomic_load_explicit(&w->at, memory_order_relaxed);
}

static bool is_done(const struct pp_worker *w, int at)
{
    return at >= w->machine->p->begin[w->rank + 1];
}

static void name_worker(const struct pp_worker *w, struct pp_error *err)
{
    pp_error_append(err, "rank %d", w->rank);
    if (w->machine->replicas > 1)
        pp_error_append(err, " of replica %d", w->replica);
    if (w->machine->tp > 1)
        pp_error_append(err, ", device %d of its tensor-parallel group", w->tp_index);
}

/* "rank 1 at op 12 of 40, 1F3, after 1RECV_F3" */
static void tell_place(const struct pp_worker *w, int at, struct pp_error *err)
{
    const struct pp_program *p = w->machine->p;
    const int first = p->begin[w->rank], count = p->begin[w->rank + 1] - first;
    char text[PP_OP_TEXT_BYTES];

    name_worker(w, err);
    if (pp_is_elsewhere(w->machine, w) && at <= first) {
        pp_error_append(err, " (no op of this step is known)");
        return;
    }
    if (at < first) {
        pp_error_append(err, " before its first op");
        return;
    }
    if (at < first + count) {
        pp_program_print_op(p, at, text);
        pp_error_append(err, " at op %d of %d, %s", at - first, count, text);
        if (p->passes > 0)
            pp_error_append(err, " of pass %d", p->stage[at] / w->machine->stages);
    }
    if (at > first) {
        pp_program_print_op(p, at - 1, text);
        pp_error_append(err, "%s %s", at < first + count ? ", after" : " after its last op,", text);
    }
}

void pp_stall_instruction(const struct pp_worker *w, struct pp_error *err)
{
    tell_place(w, at_of(w), err);
}

/* ---- causes ---------------------------------------------------------------------------------- */

static const struct pp_worker *tell_message(const struct pp_worker *w, int target,
                                            struct pp_error *err)
{
    const struct pp_machine *m = w->machine;
    const struct pp_program *p = m->p;
    const struct pp_channel *c =
        &p->channels[pp_message_at(w, target)->channel / m->replicas % p->channel_count];
    const bool is_recv = pp_op_is_recv(p->kind[target]);
    const bool is_forward = p->kind[target] == PP_RECV_F || p->kind[target] == PP_SEND_F;

    pp_error_append(err, "waits for message %d of channel rank %d -> rank %d (%s)",
                    p->arg[target] - c->first, c->source, c->dest,
                    is_forward ? "forward" : "backward");
    return pp_worker_at(m, is_recv ? c->source : c->dest, w->replica, w->tp_index);
}

/* Returns the first member that has not arrived; NULL = none. */
static const struct pp_worker *tell_sum(const struct pp_worker *w, int target, struct pp_error *err)
{
    const struct pp_machine *m = w->machine;
    const struct pp_machine_collective *c = &m->collectives[pp_collective_of(w, target)];

    pp_error_append(err, "waits for the sum %d", m->p->arg[target]);
    for (int k = 0; k < c->row_count; k++)
        if (at_of(&m->workers[c->members[k]]) <= pp_instruction_at(m, c->rows[k]))
            return &m->workers[c->members[k]];
    return NULL;
}

static const struct pp_worker *tell_barrier(const struct pp_worker *w, int barrier,
                                            struct pp_error *err)
{
    const struct pp_machine *m = w->machine;

    pp_error_append(err, "waits for all ranks");
    for (int k = 0; k < m->worker_count; k++)
        if (at_of(&m->workers[k]) < pp_instruction_at(m, m->workers[k].barrier_row[barrier]))
            return &m->workers[k];
    return NULL;
}

static int barriers_before(const struct pp_program *p, int rank, int i)
{
    int count = 0;

    for (int k = p->begin[rank]; k < i; k++)
        count += p->kind[k] == PP_BAR;
    return count;
}

static bool is_meeting(const struct pp_worker *w)
{
    return atomic_load_explicit(&w->is_meeting, memory_order_relaxed);
}

static bool is_waiting(const struct pp_worker *w, int at)
{
    const struct pp_program *p = w->machine->p;
    const int kind = is_done(w, at) || at < p->begin[w->rank] ? PP_F : p->kind[at];

    return kind == PP_WAIT || kind == PP_BAR || is_meeting(w);
}

/* True if the process is silent. Its last report is old: the worker may not wait any more. */
static bool is_silent(const struct pp_worker *w, struct pp_error *how)
{
    const struct pp_transport *transport = w->machine->transport;

    return transport->tell_silent && transport->tell_silent(w, how);
}

/* Returns the first worker of the group that does not wait for the others; NULL = all do. */
static const struct pp_worker *tell_group(const struct pp_worker *w, struct pp_error *err)
{
    const struct pp_machine *m = w->machine;

    pp_error_append(err, "waits for %s%s%s", m->tp > 1 ? "its tensor-parallel group" : "",
                    m->tp > 1 && m->ep > 1 ? " and " : "",
                    m->ep > 1 ? "the replicas that share its experts" : "");
    for (int k = 0; k < pp_group_size(m); k++) {
        struct pp_error how = {0};

        if (!is_meeting(pp_group_peer(w, k)) || is_silent(pp_group_peer(w, k), &how))
            return pp_group_peer(w, k);
    }
    return NULL;
}

/* Appends what the worker waits for. Returns the worker that it waits for; NULL = none. */
static const struct pp_worker *tell_wait(const struct pp_worker *w, int at, struct pp_error *err)
{
    const struct pp_program *p = w->machine->p;

    if (is_meeting(w))
        return tell_group(w, err);
    if (p->kind[at] == PP_BAR)
        return tell_barrier(w, barriers_before(p, w->rank, at), err);
    const int target = p->begin[w->rank] + p->arg[at];
    return pp_op_is_collective(p->kind[target]) ? tell_sum(w, target, err)
                                                : tell_message(w, target, err);
}

void pp_stall_waiters(const struct pp_machine *m, const struct pp_worker *dead,
                      struct pp_error *err)
{
    for (int k = 0, told = 0; k < m->worker_count && told < TOLD; k++) {
        const struct pp_worker *w = &m->workers[k];
        const int at = at_of(w);
        struct pp_error how = {0};

        if (w == dead || !is_waiting(w, at) || is_silent(w, &how))
            continue;
        pp_error_append(err, "\n  ");
        tell_place(w, at, err);
        pp_error_append(err, ": ");
        const struct pp_worker *peer = tell_wait(w, at, err);
        told++;
        if (!peer)
            continue;
        pp_error_append(err, "; ");
        pp_stall_instruction(peer, err);
    }
}

enum pp_status pp_stall_ended(const struct pp_worker *w, const siginfo_t *info,
                              struct pp_error *err)
{
    pp_error_set(err, PP_EFAIL, "step %d: ", w->machine->step + 1);
    pp_stall_instruction(w, err);
    pp_error_append(err, ": its process %d ", (int)info->si_pid);
    pp_process_tell_end(info, err);
    pp_stall_waiters(w->machine, w, err);
    return PP_EFAIL;
}

static bool is_over(const struct pp_worker *w, int i)
{
    return pp_op_kinds[w->machine->p->kind[i]].stream == PP_STREAM_CONTROL ||
           !isnan(pp_span_of(w, i).end_s);
}

static void tell_op(const struct pp_worker *w, int i, struct pp_error *err)
{
    const struct pp_program *p = w->machine->p;
    char text[PP_OP_TEXT_BYTES];

    pp_program_print_op(p, i, text);
    pp_error_append(err, "\n  not over: %s of ", text);
    name_worker(w, err);
    if (pp_op_is_send(p->kind[i]) || pp_op_is_recv(p->kind[i])) {
        pp_error_append(err, ", which ");
        tell_message(w, i, err);
    }
}

/* Appends unfinished messages and sums of a worker before its first unfinished op, else that op. */
static void tell_unfinished(const struct pp_worker *w, struct pp_error *err)
{
    const struct pp_program *p = w->machine->p;
    const int end = at_of(w);
    int told = 0, i = p->begin[w->rank];

    for (; i < end && told < TOLD && (is_over(w, i) || !pp_op_is_compute(p->kind[i])); i++)
        if (!is_over(w, i)) {
            tell_op(w, i, err);
            told++;
        }
    if (told == 0 && i < end)
        tell_op(w, i, err);
}

/* Appends the device, if all workers have issued their lists up to a BAR or the end. */
static void tell_device(const struct pp_machine *m, struct pp_error *err)
{
    for (int k = 0; k < m->worker_count; k++) {
        const struct pp_worker *w = &m->workers[k];
        const int at = at_of(w);

        if (!is_done(w, at) && m->p->kind[at] != PP_BAR)
            return;
    }
    pp_error_append(
        err,
        "\n  stuck: backend %s, in work that it was given: it hangs, or an op takes longer than "
        "--timeout",
        m->backend->name);
    /* a device that waits for others answers; one that hangs may not */
    for (int k = 0; k < m->worker_count && m->remote; k++)
        if (!pp_is_elsewhere(m, &m->workers[k]))
            tell_unfinished(&m->workers[k], err);
}

/* Names workers that are stuck: those of silent processes, or others that do not wait. Returns how
 * many there are. */
static int tell_stuck(const struct pp_machine *m, bool are_silent, struct pp_error *err)
{
    int count = 0;

    for (int k = 0; k < m->worker_count; k++) {
        const struct pp_worker *w = &m->workers[k];
        const int at = at_of(w);
        struct pp_error how = {0};
        const bool has_gone = is_silent(w, &how);

        if (has_gone != are_silent || (!has_gone && (is_waiting(w, at) || is_done(w, at))) ||
            count++ >= TOLD)
            continue;
        pp_error_append(err, "\n  stuck: ");
        tell_place(w, at, err);
        if (has_gone)
            pp_error_append(err, ": %s", how.message);
    }
    return count;
}

/* The others wait for workers that do not wait themselves. */
void pp_stall_describe(const struct pp_machine *m, double idle_s, struct pp_error *err)
{
    pp_error_set(err, PP_EFAIL, "step %d: no rank has made progress for %.1f s (--timeout)",
                 m->step + 1, idle_s);
    const int silent = tell_stuck(m, true, err);
    tell_stuck(m, false, err);
    if (!m->backend->is_immediate && silent == 0)
        tell_device(m, err);
    pp_stall_waiters(m, NULL, err);
}
