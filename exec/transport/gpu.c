/* Processes with a GPU each, or several that share one. They meet and are conducted as over tcp.
 * Messages and sums go from GPU to GPU, both by NCCL, both by CUDA IPC, or messages by IPC and sums
 * by NCCL. */
#include "exec/transport/gpu.h"
#include "exec/transport/transports.h"

static const struct pp_transport *const WAYS[PP_WAYS] = {
    [PP_WAY_NCCL] = &pp_transport_nccl,
    [PP_WAY_IPC] = &pp_transport_ipc,
    [PP_WAY_IPC_NCCL] = &pp_transport_ipc_nccl,
};

/* ---- the beginning --------------------------------------------------------------------------- */

static enum pp_status gpu_met(struct pp_machine *m, struct pp_error *err)
{
    struct pp_gpu_run *run = PP_NEW(m->arena, struct pp_gpu_run);

    run->ways = WAYS;
    pp_tcp_of(m)->above = run;
    pp_device_join_sums(m);
    PP_TRY(pp_gpu_find_way(m, err));
    if (run->messages == &pp_carrier_ipc)
        PP_TRY(pp_gpu_open_ipc(m, err));
    if (run->messages == &pp_carrier_nccl) {
        m->left_free = pp_nccl_held_multiprocessors(m);
        m->options.nccl->leave_free(m->device, m->left_free);
    }
    PP_TRY(pp_machine_warm_up(m, err));
    return run->sums == &pp_carrier_nccl ? pp_carrier_nccl.open(m, err) : PP_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

static enum pp_status gpu_leave(struct pp_machine *m, struct pp_error *err)
{
    return pp_ipc_is_mapped(m) ? pp_ipc_leave(m, err) : PP_OK;
}

/* Ends operations under way, which wait for others. */
static void gpu_failed(struct pp_machine *m)
{
    const struct pp_gpu_run *run = pp_gpu_of(m);

    pp_tcp_failed(m);
    if (run && run->ipc)
        pp_ipc_give_up(m);
    if (run && run->nccl)
        m->options.nccl->give_up(run->nccl->nccl);
}

/* NCCL fails a moment before the connection of a dead process ends, which names the process. */
static enum pp_status gpu_check(struct pp_machine *m, struct pp_error *err)
{
    enum { FAILED_LOOKS = 25 };
    struct pp_gpu_run *run = pp_gpu_of(m);

    PP_TRY(pp_tcp_check(m, err));
    if (!run || !run->nccl || m->has_failed ||
        m->options.nccl->look(run->nccl->nccl, err) == PP_OK || ++run->failed_looks < FAILED_LOOKS)
        return PP_OK;
    return pp_error_prefix(err, "step %d: ", m->step + 1);
}

/* All processes unmap before any frees memory that others have mapped. NCCL closes after all have
 * been told that there are no more steps. */
static void gpu_stop(struct pp_machine *m)
{
    const struct pp_gpu_run *run = pp_gpu_of(m);
    struct pp_error ignored;

    if (pp_ipc_is_mapped(m) && !m->has_failed && pp_machine_process(m) == 0 &&
        pp_tcp_leave(m, &ignored) == PP_OK)
        pp_ipc_leave(m, &ignored);
    pp_tcp_stop(m);
    if (pp_ipc_is_mapped(m))
        pp_ipc_give_up(m);
    if (run && run->nccl &&
        (m->has_failed || m->options.nccl->close(run->nccl->nccl, &ignored) != PP_OK))
        m->options.nccl->give_up(run->nccl->nccl);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int communicators(const struct pp_machine *m)
{
    const bool has_messages = m->transport == &pp_transport_nccl || m->options.may_choose_transport;

    return m->transport == &pp_transport_ipc ? 0 : pp_nccl_communicators(m, has_messages);
}

/* ---- messages and sums ----------------------------------------------------------------------- */

static void gpu_posted(struct pp_worker *w, int i, const struct pp_header *header)
{
    (void)header;
    pp_device_issue_message(w, i, pp_gpu_of(w->machine)->messages->message);
}

static void gpu_summed(struct pp_worker *w, int i)
{
    pp_device_issue_sum(w, i, pp_gpu_of(w->machine)->sums->sum);
}

#define TRANSPORT(id, text, how, maps, group_meet, group_exchange, group_bytes)                    \
    const struct pp_transport pp_transport_##id = {                                                \
        .name = text,                                                                              \
        .means = how,                                                                              \
        .remote = &pp_tcp_remote,                                                                  \
        .posted = gpu_posted,                                                                      \
        .summed = gpu_summed,                                                                      \
        .meet = group_meet,                                                                        \
        .exchange = group_exchange,                                                                \
        .room_bytes = group_bytes,                                                                 \
        .failed = gpu_failed,                                                                      \
        .is_apart = true,                                                                          \
        .is_mapped = maps,                                                                         \
        .start = pp_tcp_start,                                                                     \
        .met = gpu_met,                                                                            \
        .leave = gpu_leave,                                                                        \
        .check = gpu_check,                                                                        \
        .tell_silent = pp_tcp_tell_silent,                                                         \
        .kill = pp_tcp_kill,                                                                       \
        .stop = gpu_stop,                                                                          \
        .communicators = communicators,                                                            \
    };
TRANSPORT(nccl, "nccl", "by NCCL", false, NULL, pp_nccl_exchange, pp_nccl_room_bytes)
TRANSPORT(ipc, "ipc", "by CUDA IPC", true, pp_ipc_meet, pp_ipc_exchange, NULL)
TRANSPORT(ipc_nccl, "ipc+nccl", "by CUDA IPC, sums by NCCL", true, pp_ipc_meet_for_rows,
          pp_ipc_exchange_rows, pp_nccl_room_bytes)
