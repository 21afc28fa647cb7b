/* Backend, device mode, clock, transport and kernels of a run. */
#include "exec/cuda/module.h"
#include "exec/resolve/parts.h"
#include "exec/transport/transports.h"

#include <stdio.h>

/* In the order of the choices of --backend; NULL = from a module, which is loaded for it. */
static const struct pp_backend *const BACKENDS[] = {&pp_backend_cpu, NULL, &pp_backend_fake};

/* In the order of the choices of --transport. */
static const struct pp_transport *const TRANSPORTS[] = {
    &pp_transport_local, &pp_transport_shm, &pp_transport_tcp,
    &pp_transport_nccl,  &pp_transport_ipc, &pp_transport_ipc_nccl};

static enum pp_status find_backend(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                   struct pp_error *err)
{
    config->backend = BACKENDS[wish->backend];
    if (config->backend)
        return PP_OK;
    PP_TRY(pp_cuda_load(&config->cuda, err));
    config->backend = config->cuda->backend;
    config->nccl = config->cuda->nccl;
    config->ipc = config->cuda->ipc;
    return PP_OK;
}

static enum pp_clock_kind clock_of(const struct pp_exec_wish *wish, enum pp_clock_kind usual)
{
    return wish->given.clock.count ? (enum pp_clock_kind)wish->clock : usual;
}

static enum pp_status choose_graphs(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                    struct pp_error *err)
{
    enum { ON, OFF };

    if (!config->cuda && wish->given.cuda_graphs.count)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect with --backend %s: graphs are those of CUDA",
                            wish->given.cuda_graphs.typed, config->backend->name);
    config->uses_graphs = config->cuda && wish->cuda_graphs == ON;
    return PP_OK;
}

/* Concurrent ops slow each other down: their durations have a meaning only on the wall clock. */
enum pp_status pp_exec_device(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                              struct pp_error *err)
{
    const enum pp_device_mode mode = (enum pp_device_mode)wish->device_mode;

    PP_TRY(find_backend(wish, config, err));
    if (!config->cuda && wish->given.device_mode.count)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect with --backend %s: it says how ranks share a GPU",
                            wish->given.device_mode.typed, config->backend->name);
    PP_TRY(choose_graphs(wish, config, err));
    config->mode = mode;
    config->clock = clock_of(wish, mode == PP_DEVICE_SERIAL ? PP_CLOCK_VIRTUAL : PP_CLOCK_WALL);
    return PP_OK;
}

/* Each rank of a replica is a group of --tp processes. */
static enum pp_status take_ranks(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                 struct pp_error *err)
{
    const int count = config->meeting.count, tp = wish->tp, each = config->replicas * tp;
    char of_tp[32] = "";

    if (tp > 1)
        snprintf(of_tp, sizeof(of_tp), " and --tp %d", tp);
    if (count % each != 0)
        return pp_error_set(err, PP_EINVAL,
                            "the launcher has started %d processes (%s), which --dp %d%s %s not "
                            "divide",
                            count, config->meeting.source, config->replicas, of_tp,
                            tp > 1 ? "do" : "does");
    if (config->ranks == 0)
        config->ranks = count / each;
    if (config->ranks * each == count)
        return PP_OK;
    if (tp > 1)
        snprintf(of_tp, sizeof(of_tp), " of %d devices", tp);
    return pp_error_set(err, PP_EINVAL,
                        "the launcher has started %d processes (%s), the layout has %d ranks%s in "
                        "%d replica%s: leave out --np, or start as many",
                        count, config->meeting.source, config->ranks, of_tp, config->replicas,
                        config->replicas == 1 ? "" : "s");
}

/* Device memory is accessible to threads of its process, to processes that map it, and to NCCL. */
static enum pp_status check_memory(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config, struct pp_error *err)
{
    const bool is_apart = config->transport->is_apart;

    if (config->transport == &pp_transport_local || (config->backend->is_immediate && !is_apart) ||
        (config->cuda && is_apart))
        return PP_OK;
    if (is_apart)
        return pp_error_set(
            err, PP_EINVAL,
            "%s: it moves data between GPUs; give --backend cuda, or --transport tcp",
            wish->given.transport.typed);
    return pp_error_set(
        err, PP_EINVAL, "%s: backend %s runs all ranks in one process; use --transport %s%s",
        wish->given.transport.typed, config->backend->name, pp_transport_local.name,
        config->cuda ? ", or ipc (on one host) or nccl for a process for each" : "");
}

enum pp_status pp_exec_transport(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                 struct pp_error *err)
{
    const bool is_given = wish->given.transport.count;
    const struct pp_transport *given = TRANSPORTS[wish->transport];
    struct pp_meeting meeting = {.count = 1};

    if (!is_given || given->remote)
        PP_TRY(pp_meeting_find(wish->rendezvous, &meeting, err));
    else if (wish->rendezvous)
        return pp_error_set(err, PP_EINVAL,
                            "%s: with --transport %s one process starts all ranks; use --transport "
                            "tcp or nccl",
                            wish->given.rendezvous.typed, given->name);
    config->meeting = meeting;
    if (meeting.count <= 1)
        pp_meeting_doubt(is_given && !given->remote ? wish->given.transport.typed : NULL,
                         config->doubt, sizeof(config->doubt));
    else
        pp_meeting_danger(&meeting, config->doubt, sizeof(config->doubt));
    const bool has_gpu_each = !is_given && meeting.count <= 1 && config->cuda &&
                              !config->doubt[0] && pp_exec_has_gpu_each(wish, config);
    config->transport = is_given || (meeting.count <= 1 && !has_gpu_each) ? given
                        : config->cuda                                    ? &pp_transport_ipc_nccl
                                                                          : &pp_transport_tcp;
    config->may_choose_transport = !is_given && config->transport->is_apart;
    PP_TRY(check_memory(wish, config, err));
    if (config->transport->is_apart)
        PP_TRY(pp_exec_device_alone(wish, config, err));
    return meeting.count > 1 ? take_ranks(wish, config, err) : PP_OK;
}

enum pp_status pp_exec_weight_stream(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                     struct pp_error *err)
{
    const char *typed = wish->given.weight_grad_stream.typed;

    config->has_weight_stream = wish->weight_grad_stream == 1;
    if (!config->has_weight_stream)
        return PP_OK;
    if (config->backend->is_immediate)
        return pp_error_set(
            err, PP_EINVAL,
            "%s: with --backend %s a rank computes on one thread; use --backend cuda "
            "with --device-mode streams or partition",
            typed, config->backend->name);
    if (config->cuda && config->mode == PP_DEVICE_SERIAL)
        return pp_error_set(err, PP_EINVAL,
                            "%s: with --device-mode serial one op runs at a time; use streams or "
                            "partition",
                            typed);
    return PP_OK;
}

/* A send waits for its receiver on its own stream, where no other work may wait. A rank runs one op
 * at a time anyway, so `serial` only chooses the clock. */
enum pp_status pp_exec_device_alone(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                                    struct pp_error *err)
{
    const bool is_serial = config->mode == PP_DEVICE_SERIAL && wish->given.device_mode.count;

    if (config->mode == PP_DEVICE_PARTITION)
        return pp_error_set(err, PP_EINVAL,
                            "%s: the parts of a GPU belong to one process, and with --transport "
                            "%s each rank is one; leave it out, or use --transport local",
                            wish->given.device_mode.typed, config->transport->name);
    config->mode = PP_DEVICE_STREAMS;
    config->clock = clock_of(wish, is_serial ? PP_CLOCK_VIRTUAL : PP_CLOCK_WALL);
    if (!config->transport->is_mapped)
        return config->nccl->check(err);
    const enum pp_status status = config->ipc->check(err);
    return status != PP_OK && config->may_choose_transport ? config->nccl->check(err) : status;
}

enum pp_status pp_exec_kernels(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                               struct pp_error *err)
{
    enum { FP32, DOUBLE, BF16, PRECISIONS };
    static const char *const NAMES[PRECISIONS] = {"fp32", "double", "bf16"};
    const int precision = wish->precision;
    const struct pp_cuda_module *cuda = config->cuda;
    const struct pp_kernels *const kernels[PRECISIONS] = {
        [FP32] = cuda ? cuda->fp32 : NULL,
        [DOUBLE] = cuda ? NULL : &pp_kernels_reference,
        [BF16] = cuda ? cuda->bf16 : &pp_kernels_bf16};

    config->precision = NAMES[precision];
    config->kernels =
        precision == FP32 && !cuda ? pp_kernels_fp32(config->recipe.is_exact) : kernels[precision];
    if (!config->kernels)
        return pp_error_set(err, PP_EINVAL,
                            "--precision %s: backend cuda does not have it, backend cpu does",
                            config->precision);
    return PP_OK;
}
