/* Groups whose devices map each other's memory. At a meeting each tells all others by a flag that
 * it has come, and its stream waits for theirs. Then a kernel reads the parts of all. A part stays
 * until the next meeting. So the bits are those of threads, and no host waits.
 *
 * Where NCCL carries sums, rows of experts go this way all the same. The device knows how many rows
 * there are, so it reads no others. */
#include "exec/transport/ipc.h"

static enum pp_status meet(struct pp_worker *w, void *stream, struct pp_error *err)
{
    const struct pp_machine *m = w->machine;
    struct pp_ipc_run *run = pp_gpu_of(m)->ipc;
    const int own = pp_group_index(w),
              set = run->group_flag + (int)(run->group_meetings % PP_IPC_SETS) * pp_group_size(m);
    const uint32_t uses = (uint32_t)(run->group_meetings++ / PP_IPC_SETS + 1);

    for (int t = 0; t < pp_group_size(m); t++)
        if (t != own)
            PP_TRY(pp_ipc_tell(m, pp_group_peer(w, t)->index, set + own, uses, stream, err));
    for (int t = 0; t < pp_group_size(m); t++)
        if (t != own)
            PP_TRY(pp_ipc_await(m, set + t, uses, stream, err));
    return PP_OK;
}

void pp_ipc_meet(const struct pp_kernels *k, void *stream, void *worker)
{
    struct pp_worker *w = worker;
    struct pp_error err = {0};

    (void)k;
    pp_device_fail_if(w->machine, meet(w, stream, &err), &err);
}

void pp_ipc_exchange(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_worker_exchange *x = argument;
    const struct pp_machine *m = x->worker->machine;
    const int members = pp_group_members(m, x->of);
    const void *from[PP_GROUP_MEMBERS];

    for (int member = 0; member < members; member++) {
        const struct pp_worker *w =
            pp_group_peer(x->worker, pp_group_of_member(x->worker, x->of, member));
        from[member] =
            pp_ipc_seen(m, pp_gpu_of(m)->ipc, w->index, (void *)(uintptr_t)x->from[member]);
    }
    pp_group_exchange_run(k, stream, x->of, members, from);
}

void pp_ipc_meet_for_rows(const struct pp_kernels *k, void *stream, void *worker)
{
    if (((const struct pp_worker *)worker)->machine->ep > 1)
        pp_ipc_meet(k, stream, worker);
}

void pp_ipc_exchange_rows(const struct pp_kernels *k, void *stream, void *exchange)
{
    const struct pp_worker_exchange *x = exchange;

    if (pp_group_exchange_among(x->of) == PP_AMONG_EP)
        pp_ipc_exchange(k, stream, exchange);
    else
        pp_nccl_exchange(k, stream, exchange);
}
