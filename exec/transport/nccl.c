/* Processes with a GPU each, or several that share one. They meet and are conducted as over tcp,
 * but messages and sums are operations of NCCL. Each process issues them to its own device where
 * its list posts them. No frame is sent for a message: the device waits for the other side, and the
 * checks of the program ensure one order on both.
 *
 * A channel of a replica is a channel of NCCL, on the stream of its messages. All collectives of
 * the same processes have one group (nccl_sums.c). */
#include "exec/transport/nccl.h"
#include "exec/transport/transports.h"

#include <string.h>

/* ---- plan ------------------------------------------------------------------------------------ */

/* Channels and groups of a program, and this process's part in each sum. */

static void plan_channels(struct pp_machine *m, struct pp_nccl_plan *plan)
{
    struct pp_nccl_channel *channels =
        PP_ARRAY(m->arena, struct pp_nccl_channel, m->p->channel_count * m->replicas + 1);

    for (int c = 0; c < m->p->channel_count; c++)
        for (int replica = 0; replica < m->replicas; replica++) {
            const struct pp_channel *from = &m->p->channels[c];

            channels[c * m->replicas + replica] =
                (struct pp_nccl_channel){.source = pp_worker_at(m, from->source, replica)->index,
                                         .dest = pp_worker_at(m, from->dest, replica)->index,
                                         .pipe = from->pipe,
                                         .kind = from->kind == PP_SEND_F ? 'F' : 'B'};
        }
    plan->channels = channels;
    plan->channel_count = m->p->channel_count * m->replicas;
}

/* Returns the group of a collective, maybe a new one; -1: it has one process. */
static int group_of(struct pp_machine *m, struct pp_nccl_run *run, struct pp_nccl_group *groups,
                    int collective)
{
    const struct pp_machine_collective *c = &m->collectives[collective];
    const struct pp_collective *from = &m->p->collectives[collective];

    if (c->row_count <= 1)
        return -1;
    if (c->stream_of != collective)
        return run->sums[c->stream_of].group;
    groups[run->plan.group_count] = (struct pp_nccl_group){
        .name = from->tied ? "the tied matrix" : pp_arena_printf(m->arena, "stage %d", from->stage),
        .members = c->members,
        .count = c->row_count};
    return run->plan.group_count++;
}

static void plan_sums(struct pp_machine *m, struct pp_nccl_run *run)
{
    struct pp_nccl_group *groups =
        PP_ARRAY(m->arena, struct pp_nccl_group, m->p->collective_count + 1);

    run->sums = PP_ARRAY(m->arena, struct nccl_sum, m->p->collective_count + 1);
    for (int c = 0; c < m->p->collective_count; c++)
        run->sums[c] = pp_nccl_plan_sum(m, c, group_of(m, run, groups, c));
    run->plan.groups = groups;
}

/* One for each channel of this process's worker. Sums have at most one for each of its chunks, and
 * one for the tied matrix. */
static int nccl_communicators(const struct pp_machine *m)
{
    const int rank = m->workers[m->options.meeting.index].rank;
    int count = 1;

    for (int c = 0; c < m->p->channel_count; c++)
        count += m->p->channels[c].source == rank || m->p->channels[c].dest == rank;
    for (int place = 0; place < m->places; place++)
        count += m->layout[rank].state_offset[place] != SIZE_MAX;
    return count;
}

enum { UNASKED_TIMEOUT_S = 600, FAILED_LOOKS = 25 };

/* ---- beginning and end ----------------------------------------------------------------------- */

static enum pp_status spread(void *closure, struct pp_nccl_id *ids, int count, struct pp_error *err)
{
    struct pp_machine *m = closure;
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const size_t bytes = sizeof(*ids) * (size_t)count;
    char *all = pp_arena_alloc_raw(scratch, bytes * (size_t)pp_tcp_of(m)->processes + 1);

    PP_TRY(pp_tcp_gather(pp_tcp_of(m), ids, bytes, all, err));
    for (int i = 0; i < count; i++)
        memcpy(&ids[i], all + bytes * (size_t)ids[i].owner + sizeof(*ids) * (size_t)i,
               sizeof(*ids));
    return PP_OK;
}

static enum pp_status nccl_met(struct pp_machine *m, struct pp_error *err)
{
    struct pp_nccl_run *run = PP_NEW(m->arena, struct pp_nccl_run);
    struct pp_nccl_place own,
        *places = PP_ARRAY(m->arena, struct pp_nccl_place, pp_tcp_of(m)->processes);
    const double timeout_s = m->options.timeout_s;

    pp_tcp_of(m)->above = run;
    run->calls = m->options.nccl;
    pp_device_join_sums(m);
    run->plan = (struct pp_nccl_plan){.process = m->options.meeting.index,
                                      .processes = m->worker_count,
                                      .timeout_s = timeout_s > 0 ? timeout_s : UNASKED_TIMEOUT_S,
                                      .spread = spread,
                                      .closure = m};
    plan_channels(m, &run->plan);
    plan_sums(m, run);
    PP_TRY(run->calls->place(m->device, &own, err));
    PP_TRY(pp_tcp_gather(pp_tcp_of(m), &own, sizeof own, (char *)places, err));
    PP_TRY(pp_machine_warm_up(m, err));
    struct pp_nccl *nccl;
    PP_TRY(run->calls->open(m->arena, m->device, &run->plan, places, &nccl, err));
    run->nccl = nccl;
    return PP_OK;
}

/* Closes NCCL after all processes have been told that there are no more steps. */
static void nccl_stop(struct pp_machine *m)
{
    const struct pp_nccl_run *run = pp_tcp_above(m);
    struct pp_error ignored;

    pp_tcp_stop(m);
    if (run && run->nccl && (m->has_failed || run->calls->close(run->nccl, &ignored) != PP_OK))
        run->calls->give_up(run->nccl);
}

/* NCCL fails a moment before the connection of a dead process ends, which names the process. */
static enum pp_status nccl_check(struct pp_machine *m, struct pp_error *err)
{
    struct pp_nccl_run *run = pp_tcp_above(m);

    PP_TRY(pp_tcp_check(m, err));
    if (!run || !run->nccl || m->has_failed || run->calls->look(run->nccl, err) == PP_OK ||
        ++run->failed_looks < FAILED_LOOKS)
        return PP_OK;
    return pp_error_prefix(err, "step %d: ", m->step + 1);
}

/* Ends operations under way, which wait for others. */
static void nccl_failed(struct pp_machine *m)
{
    const struct pp_nccl_run *run = pp_tcp_above(m);

    pp_tcp_failed(m);
    if (run && run->nccl)
        run->calls->give_up(run->nccl);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void run_message(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_machine_message *message = argument;
    struct pp_machine *m = message->machine;
    const struct pp_nccl_run *run = pp_tcp_above(m);
    const bool is_send = !pp_is_elsewhere(m, &m->workers[pp_tcp_ends(m, message).source]);
    const struct pp_nccl_operation operation = {
        .kind = is_send ? PP_NCCL_SEND : PP_NCCL_RECV,
        .on = message->channel,
        .type = PP_NCCL_BYTES,
        .pieces =
            &(struct pp_nccl_piece){.at = is_send ? message->send.buffer : message->recv.buffer,
                                    .count = message->bytes},
        .count = 1};
    struct pp_error err = {0};

    (void)k;
    pp_device_fail_if(m, run->calls->issue(run->nccl, &operation, stream, &err), &err);
}

static void nccl_posted(struct pp_worker *w, int i, const struct pp_header *header)
{
    (void)header;
    pp_device_issue_message(w, i, run_message);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void nccl_summed(struct pp_worker *w, int i)
{
    const struct pp_nccl_run *run = pp_tcp_above(w->machine);

    pp_device_issue_sum(w, i, pp_nccl_sum_run, &run->sums[w->machine->p->arg[i]]);
}

const struct pp_transport pp_transport_nccl = {
    .name = "nccl",
    .summary = "processes with a GPU each, or that share one, by NCCL",
    .worker = "process",
    .workers = "processes",
    .means = "by NCCL",
    .remote = &pp_tcp_remote,
    .posted = nccl_posted,
    .summed = nccl_summed,
    .failed = nccl_failed,
    .is_apart = true,
    .communicators = nccl_communicators,
    .start = pp_tcp_start,
    .met = nccl_met,
    .check = nccl_check,
    .kill = pp_tcp_kill,
    .stop = nccl_stop,
};
