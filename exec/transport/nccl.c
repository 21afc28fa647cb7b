/* Messages and sums as operations of NCCL. Each process issues them to its own device where its
 * list posts them. No frame is sent for a message: the device waits for the other side, and the
 * checks of the program ensure one order on both.
 *
 * A channel of a replica is a channel of NCCL, on the stream of its messages. All collectives of
 * the same processes have one group (nccl_sums.c). */
#include "exec/transport/gpu.h"

#include <string.h>

/* ---- plan ------------------------------------------------------------------------------------ */

/* Communicators of a program, and this process's part in each sum. */

static void plan_channels(struct pp_machine *m, struct pp_nccl_group *groups, int count)
{
    for (int c = 0; c < count; c++) {
        const struct pp_channel *from = &m->p->channels[c / m->replicas % m->p->channel_count];
        const struct pp_tcp_ends ends = pp_tcp_ends(m, c);
        int *members = PP_ARRAY(m->arena, int, 2);

        members[0] = ends.source;
        members[1] = ends.dest;
        groups[c] = (struct pp_nccl_group){
            .name = pp_arena_printf(m->arena, "%d>%d %c%d", ends.source, ends.dest,
                                    from->kind == PP_SEND_F ? 'F' : 'B', from->pipe),
            .members = members,
            .count = 2};
    }
}

/* Returns the group of a sum of a collective, maybe a new one; -1: it has one process. */
static int group_of(struct pp_machine *m, struct pp_nccl_run *run, struct pp_nccl_group *groups,
                    int collective, const struct pp_sum *sum)
{
    const struct pp_machine_collective *c = &m->collectives[collective];
    const struct pp_collective *from = &m->p->collectives[collective % m->p->collective_count];

    if (c->row_count <= 1)
        return -1;
    if (sum->group || sum != &c->sum)
        return pp_nccl_find_group(m, collective, sum, run, groups);
    if (c->stream_of != collective && !m->collectives[c->stream_of].sum.group)
        return run->sums[c->stream_of].group;
    groups[run->plan.group_count] = (struct pp_nccl_group){
        .name = from->tied ? "the tied matrix" : pp_arena_printf(m->arena, "stage %d", from->stage),
        .members = c->members,
        .count = c->row_count};
    return run->plan.group_count++;
}

/* All processes plan all groups in the same order. */
static void plan_sums(struct pp_machine *m, struct pp_nccl_run *run, struct pp_nccl_group *groups)
{
    run->sums = PP_ARRAY(m->arena, struct nccl_sum, m->collective_count + 1);
    for (int c = 0; c < m->collective_count; c++) {
        struct nccl_sum *to = &run->sums[c];

        for (const struct pp_sum *sum = &m->collectives[c].sum; sum != NULL; sum = sum->next) {
            *to =
                pp_nccl_plan_sum(&m->collectives[c], sum, groups, group_of(m, run, groups, c, sum));
            to->next = sum->next ? PP_NEW(m->arena, struct nccl_sum) : NULL;
            to = to->next;
        }
    }
}

static void plan_all(struct pp_machine *m, struct pp_nccl_run *run)
{
    const struct pp_gpu_run *above = pp_gpu_of(m);
    const int channels =
        above->messages == &pp_carrier_nccl ? m->p->channel_count * m->replicas * m->tp : 0;
    struct pp_nccl_group *groups =
        PP_ARRAY(m->arena, struct pp_nccl_group,
                 channels + m->collective_count + pp_nccl_most_groups(m) + 2 * m->worker_count + 1);

    run->plan.groups = groups;
    run->plan.channel_count = channels;
    plan_channels(m, groups, channels);
    if (above->sums != &pp_carrier_nccl)
        return;
    plan_sums(m, run, groups + channels);
    pp_nccl_plan_groups(m, run, groups + channels);
}

/* Groups of copies that gather, that update, and that sum between groups; likewise of experts. */
enum { MOST_OF_CHUNK = 3, MOST_OF_EXPERTS = 3 };

int pp_nccl_communicators(const struct pp_machine *m, bool has_messages)
{
    const int rank = m->workers[m->options.meeting.index].rank;
    int count = 1 + (m->tp > 1) + (m->ep > 1);

    for (int c = 0; c < m->p->channel_count && has_messages; c++)
        count += m->p->channels[c].source == rank || m->p->channels[c].dest == rank;
    for (int place = 0; place < m->places; place++)
        if (m->layout[rank].state_offset[place] != SIZE_MAX)
            count += (m->options.batch->sharers > 0 ? MOST_OF_CHUNK : 1) +
                     (m->ep > 1 ? MOST_OF_EXPERTS : 0);
    return count;
}

/* A waiting message is a kernel of NCCL. It shares no multiprocessor with other kernels. */
int pp_nccl_held_multiprocessors(const struct pp_machine *m)
{
    int most = 0;

    for (int rank = 0; rank < m->p->ranks; rank++) {
        int channels = 0;

        for (int c = 0; c < m->p->channel_count; c++)
            channels += m->p->channels[c].source == rank || m->p->channels[c].dest == rank;
        most = channels > most ? channels : most;
    }
    return most * PP_NCCL_CHANNEL_CTAS;
}

/* ---- beginning ------------------------------------------------------------------------------- */

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

enum { UNASKED_TIMEOUT_S = 600 };

static enum pp_status nccl_open(struct pp_machine *m, struct pp_error *err)
{
    struct pp_gpu_run *above = pp_gpu_of(m);
    struct pp_nccl_run *run = PP_NEW(m->arena, struct pp_nccl_run);
    const double timeout_s = m->options.timeout_s;

    run->plan = (struct pp_nccl_plan){.process = m->options.meeting.index,
                                      .processes = m->worker_count,
                                      .timeout_s = timeout_s > 0 ? timeout_s : UNASKED_TIMEOUT_S,
                                      .spread = spread,
                                      .closure = m};
    plan_all(m, run);
    PP_TRY(pp_nccl_open_groups(m, run, err));
    PP_TRY(m->options.nccl->open(m->arena, m->device, &run->plan, above->places, &run->nccl, err));
    above->nccl = run;
    return PP_OK;
}

/* ---- messages -------------------------------------------------------------------------------- */

static void run_message(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_machine_message *message = argument;
    struct pp_machine *m = message->machine;
    const bool is_send = !pp_is_elsewhere(m, &m->workers[pp_tcp_ends(m, message->channel).source]);
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
    pp_device_fail_if(m, m->options.nccl->issue(pp_gpu_of(m)->nccl->nccl, &operation, stream, &err),
                      &err);
}

const struct pp_carrier pp_carrier_nccl = {
    .open = nccl_open, .message = run_message, .sum = pp_nccl_sum_run};
