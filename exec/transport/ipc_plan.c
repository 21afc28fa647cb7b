/* Which flags messages and sums have, and what of theirs lies with whom. */
#include "exec/transport/ipc.h"

static int own_process(const struct pp_machine *m)
{
    return m->options.meeting.index;
}

/* ---- messages -------------------------------------------------------------------------------*/

static void plan_channel(const struct pp_machine *m, struct pp_ipc_run *run, int c, int replica)
{
    const struct pp_channel *ends = &m->p->channels[c];
    const int source = pp_worker_at(m, ends->source, replica)->index,
              dest = pp_worker_at(m, ends->dest, replica)->index, own = own_process(m);
    struct ipc_channel *channel = &run->channels[c * m->replicas + replica];

    *channel = (struct ipc_channel){.peer = own == source ? dest : source,
                                    .flag = run->flag_count,
                                    .is_send = own == source,
                                    .is_here = own == source || own == dest};
    run->flag_count += IPC_CHANNEL_FLAGS;
    if (channel->is_here)
        run->is_peer[channel->peer] = true;
}

static void plan_messages(struct pp_machine *m, struct pp_ipc_run *run)
{
    const int count = m->p->message_count * m->replicas;

    run->messages = PP_ARRAY(m->arena, struct ipc_message, count + 1);
    for (int k = 0; k < count; k++)
        run->messages[k] = (struct ipc_message){
            .m = m, .message = &m->messages[k], .channel = &run->channels[m->messages[k].channel]};
}

/* ---- sums -----------------------------------------------------------------------------------*/

static void plan_sum(struct pp_machine *m, struct pp_ipc_run *run, int c)
{
    const struct pp_machine_collective *collective = &m->collectives[c];
    struct ipc_sum *sum = &run->sums[c];

    *sum = (struct ipc_sum){.m = m,
                            .collective = collective,
                            .all = collective->sum,
                            .owner = collective->sum.owner[0],
                            .own = -1,
                            .flag = run->flag_count};
    run->flag_count += 1 + collective->row_count;
    for (int k = 0; k < collective->row_count; k++)
        if (collective->members[k] == own_process(m))
            sum->own = k;
    for (int k = 0; k < collective->row_count && sum->own >= 0; k++)
        if (sum->owner == own_process(m) || collective->members[k] == sum->owner)
            run->is_peer[collective->members[k]] = true;
}

void pp_ipc_plan(struct pp_machine *m, struct pp_ipc_run *run)
{
    run->is_peer = PP_ARRAY(m->arena, bool, m->worker_count);
    run->blocks = PP_ARRAY(m->arena, void *, m->worker_count);
    run->channels = PP_ARRAY(m->arena, struct ipc_channel, m->p->channel_count * m->replicas + 1);
    run->sums = PP_ARRAY(m->arena, struct ipc_sum, m->p->collective_count + 1);
    for (int c = 0; c < m->p->channel_count; c++)
        for (int replica = 0; replica < m->replicas; replica++)
            plan_channel(m, run, c, replica);
    plan_messages(m, run);
    for (int c = 0; c < m->p->collective_count; c++)
        plan_sum(m, run, c);
    run->is_peer[own_process(m)] = false;
}

/* ---- where it is seen -----------------------------------------------------------------------*/

/* Blocks are laid out alike in all processes, each of which has a place for those of others. */
static char *seen_here(const struct pp_machine *m, const struct pp_ipc_run *run, int worker,
                       void *at)
{
    const size_t offset = (size_t)((char *)at - m->workers[worker].block);

    return worker == own_process(m) ? at : (char *)run->blocks[worker] + offset;
}

static void bind_sum(struct pp_machine *m, const struct pp_ipc_run *run, struct ipc_sum *sum)
{
    char **at = PP_ARRAY(m->arena, char *, sum->all.copies);

    for (int c = 0; c < sum->all.copies; c++)
        at[c] = seen_here(m, run, sum->all.owner[c], sum->all.at[c]);
    sum->all.at = at;
}

void pp_ipc_bind(struct pp_machine *m, struct pp_ipc_run *run)
{
    for (int k = 0; k < m->p->message_count * m->replicas; k++) {
        struct ipc_message *message = &run->messages[k];

        if (message->channel->is_here && !message->channel->is_send)
            message->from =
                seen_here(m, run, message->channel->peer, message->message->send.buffer);
    }
    for (int c = 0; c < m->p->collective_count; c++)
        if (run->sums[c].owner == own_process(m))
            bind_sum(m, run, &run->sums[c]);
}
