/* Processes on one host that map each other's GPU memory. They meet and are conducted as over tcp,
 * but messages and sums are operations of their own streams, ordered by flags.
 *
 * The receiver copies. The sender sets a flag when its bytes are there, and waits for a second
 * flag, set when they have been copied. The receiver, once its buffer is free, waits for the first
 * flag, copies, and sets the second. So a message is rendezvous and no host waits for it. The bytes
 * were written on the sender's GPU before the flag.
 *
 * A sum has an owner. It waits for all members, adds the same vectors in the same order as threads
 * of one process would, and tells all members. So the bits are those of threads. A flag counts its
 * uses on both sides from the start of the run, not by steps. */
#include "exec/transport/ipc.h"

/* ---- plan ------------------------------------------------------------------------------------ */

static void plan_channel(const struct pp_machine *m, struct pp_ipc_run *run, int c)
{
    const struct pp_tcp_ends ends = pp_tcp_ends(m, c);
    struct ipc_channel *channel = &run->channels[c];
    const bool is_send = pp_ipc_own(m) == ends.source;

    *channel = (struct ipc_channel){
        .peer = is_send ? ends.dest : ends.source, .flag = run->flag_count, .is_send = is_send};
    run->flag_count += IPC_CHANNEL_FLAGS;
    if (is_send || pp_ipc_own(m) == ends.dest)
        run->is_peer[channel->peer] = true;
}

static void plan_sum(const struct pp_machine *m, struct pp_ipc_run *run, int c)
{
    const struct pp_machine_collective *collective = &m->collectives[c];
    struct ipc_sum *sum = &run->sums[c];

    *sum = (struct ipc_sum){.all = collective->sum,
                            .owner = collective->sum.owner[0],
                            .own = -1,
                            .flag = run->flag_count};
    run->flag_count += 1 + collective->row_count;
    for (int k = 0; k < collective->row_count; k++)
        if (collective->members[k] == pp_ipc_own(m))
            sum->own = k;
    for (int k = 0; k < collective->row_count && sum->own >= 0; k++)
        if (sum->owner == pp_ipc_own(m) || collective->members[k] == sum->owner)
            run->is_peer[collective->members[k]] = true;
}

static void plan_group(const struct pp_machine *m, struct pp_ipc_run *run)
{
    const struct pp_worker *own = &m->workers[pp_ipc_own(m)];

    run->group_flag = run->flag_count;
    run->flag_count += PP_IPC_SETS * pp_group_size(m);
    for (int t = 0; t < pp_group_size(m); t++)
        run->is_peer[pp_group_peer(own, t)->index] = true;
}

/* Plans channels, sums and the group, and finds peers. */
static void ipc_plan(struct pp_machine *m, struct pp_ipc_run *run)
{
    const struct pp_gpu_run *above = pp_gpu_of(m);
    const int channels = m->p->channel_count * m->replicas * m->tp;

    run->is_peer = PP_ARRAY(m->arena, bool, m->worker_count);
    run->blocks = PP_ARRAY(m->arena, void *, m->worker_count);
    run->channels = PP_ARRAY(m->arena, struct ipc_channel, channels + 1);
    run->sums = PP_ARRAY(m->arena, struct ipc_sum, m->collective_count + 1);
    for (int c = 0; c < channels && above->messages == &pp_carrier_ipc; c++)
        plan_channel(m, run, c);
    for (int c = 0; c < m->collective_count && above->sums == &pp_carrier_ipc; c++)
        plan_sum(m, run, c);
    if (m->ep > 1 || (m->tp > 1 && above->sums == &pp_carrier_ipc))
        plan_group(m, run);
    run->is_peer[pp_ipc_own(m)] = false;
}

/* ---- mapped addresses ------------------------------------------------------------------------ */

char *pp_ipc_seen(const struct pp_machine *m, const struct pp_ipc_run *run, int worker, void *at)
{
    const size_t offset = (size_t)((char *)at - m->workers[worker].block);

    return worker == pp_ipc_own(m) ? at : (char *)run->blocks[worker] + offset;
}

static void bind_copies(struct pp_machine *m, const struct pp_ipc_run *run, struct pp_sum *all)
{
    char **at = PP_ARRAY(m->arena, char *, all->copies);
    struct pp_own *own = PP_ARRAY(m->arena, struct pp_own, all->copies);

    for (int c = 0; c < all->copies; c++) {
        at[c] = pp_ipc_seen(m, run, all->owner[c], all->at[c]);
        if (all->own)
            own[c] = (struct pp_own){pp_ipc_seen(m, run, all->owner[c], all->own[c].at),
                                     all->own[c].has, all->own[c].is_blank};
    }
    all->at = at;
    all->own = all->own ? own : NULL;
}

/* Finds all copies of a sum of this process, once the memory of peers is mapped. */
static void bind_sum(struct pp_machine *m, const struct pp_ipc_run *run, struct pp_sum *all)
{
    bind_copies(m, run, all);
    for (; all->next != NULL; all = all->next) {
        struct pp_sum *next = PP_NEW(m->arena, struct pp_sum);

        *next = *all->next;
        bind_copies(m, run, next);
        all->next = next;
    }
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* Memory that a process shows to the others, if it can. */
struct card {
    bool is_there;
    struct pp_ipc_card memory;
};

static enum pp_status map_peers(struct pp_machine *m, struct pp_ipc_run *run,
                                const struct card *cards, struct pp_error *err)
{
    for (int k = 0; k < m->worker_count; k++)
        if (!cards[k].is_there)
            return pp_error_set(err, PP_EFAIL, "process %d at %s cannot share memory of its GPU", k,
                                pp_tcp_of(m)->names[k]);
    for (int k = 0; k < m->worker_count; k++)
        if (run->is_peer[k])
            PP_TRY(m->options.ipc->map(run->ipc, k, &cards[k].memory, &run->blocks[k], err));
    for (int c = 0; c < m->collective_count && pp_gpu_of(m)->sums == &pp_carrier_ipc; c++)
        if (run->sums[c].owner == pp_ipc_own(m))
            bind_sum(m, run, &run->sums[c].all);
    return PP_OK;
}

static enum pp_status ipc_open(struct pp_machine *m, struct pp_error *err)
{
    struct pp_ipc_run *run = PP_NEW(m->arena, struct pp_ipc_run);
    struct card *all = PP_ARRAY(m->arena, struct card, pp_tcp_of(m)->processes), own = {0};

    ipc_plan(m, run);
    const enum pp_status status =
        m->options.ipc->show(m->arena, m->device, m->workers[pp_ipc_own(m)].block, run->flag_count,
                             m->worker_count, &run->ipc, &own.memory, err);
    if (status == PP_OK)
        pp_gpu_of(m)->ipc = run;
    own.is_there = status == PP_OK;
    PP_TRY(pp_tcp_gather(pp_tcp_of(m), &own, sizeof(own), (char *)all, err));
    return status == PP_OK ? map_peers(m, run, all, err) : status;
}

/* ---- end ------------------------------------------------------------------------------------- */

enum pp_status pp_ipc_leave(const struct pp_machine *m, struct pp_error *err)
{
    struct pp_ipc_run *run = pp_gpu_of(m)->ipc;

    PP_TRY(m->options.ipc->unmap(run->ipc, err));
    run->has_left = true;
    return PP_OK;
}

bool pp_ipc_is_mapped(const struct pp_machine *m)
{
    const struct pp_gpu_run *run = pp_gpu_of(m);

    return run && run->ipc && !run->ipc->has_left;
}

void pp_ipc_give_up(const struct pp_machine *m)
{
    m->options.ipc->give_up(pp_gpu_of(m)->ipc->ipc);
}

/* ---- messages -------------------------------------------------------------------------------- */

enum pp_status pp_ipc_tell(const struct pp_machine *m, int peer, int flag, uint32_t value,
                           void *stream, struct pp_error *err)
{
    return m->options.ipc->tell(pp_gpu_of(m)->ipc->ipc, peer, flag, value, stream, err);
}

enum pp_status pp_ipc_await(const struct pp_machine *m, int flag, uint32_t value, void *stream,
                            struct pp_error *err)
{
    return m->options.ipc->await(pp_gpu_of(m)->ipc->ipc, flag, value, stream, err);
}

static enum pp_status send(const struct pp_machine *m, const struct ipc_channel *channel,
                           void *stream, struct pp_error *err)
{
    PP_TRY(pp_ipc_tell(m, channel->peer, channel->flag + IPC_THERE, channel->uses, stream, err));
    return pp_ipc_await(m, channel->flag + IPC_TAKEN, channel->uses, stream, err);
}

static enum pp_status receive(const struct pp_kernels *k, const struct pp_machine_message *message,
                              const struct ipc_channel *channel, void *stream, struct pp_error *err)
{
    const struct pp_machine *m = message->machine;

    PP_TRY(pp_ipc_await(m, channel->flag + IPC_THERE, channel->uses, stream, err));
    k->copy(stream, message->bytes,
            pp_ipc_seen(m, pp_gpu_of(m)->ipc, channel->peer, message->send.buffer),
            message->recv.buffer);
    return pp_ipc_tell(m, channel->peer, channel->flag + IPC_TAKEN, channel->uses, stream, err);
}

static void run_message(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_machine_message *message = argument;
    struct ipc_channel *channel = &pp_gpu_of(message->machine)->ipc->channels[message->channel];
    struct pp_error err = {0};

    channel->uses++;
    pp_device_fail_if(message->machine,
                      channel->is_send ? send(message->machine, channel, stream, &err)
                                       : receive(k, message, channel, stream, &err),
                      &err);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static enum pp_status take_part(const struct pp_machine *m, const struct ipc_sum *n, void *stream,
                                struct pp_error *err)
{
    PP_TRY(pp_ipc_tell(m, n->owner, n->flag + 1 + n->own, n->uses, stream, err));
    return pp_ipc_await(m, n->flag, n->uses, stream, err);
}

static enum pp_status own_sum(const struct pp_kernels *k, const struct pp_machine_collective *c,
                              struct ipc_sum *n, void *stream, struct pp_error *err)
{
    for (int member = 0; member < c->row_count; member++)
        if (member != n->own)
            PP_TRY(pp_ipc_await(c->machine, n->flag + 1 + member, n->uses, stream, err));
    pp_sum_run(k, stream, &n->all);
    for (int member = 0; member < c->row_count; member++)
        if (member != n->own)
            PP_TRY(pp_ipc_tell(c->machine, c->members[member], n->flag, n->uses, stream, err));
    return PP_OK;
}

static void run_sum(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_machine_collective *c = argument;
    struct pp_machine *m = c->machine;
    struct ipc_sum *n = &pp_gpu_of(m)->ipc->sums[c - m->collectives];
    struct pp_error err = {0};

    n->uses++;
    pp_device_fail_if(m,
                      n->owner == pp_ipc_own(m) ? own_sum(k, c, n, stream, &err)
                                                : take_part(m, n, stream, &err),
                      &err);
}

const struct pp_carrier pp_carrier_ipc = {.open = ipc_open, .message = run_message, .sum = run_sum};
