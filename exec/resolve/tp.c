/* Resolves --tp, after --ep: devices that share each block. Names what cannot be combined with it.
 */
#include "exec/resolve/parts.h"

static enum pp_status check_parts(const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_exec_refusal rows[] = {
        {config->has_weight_stream, "its groups have one compute stream; leave out "
                                    "--weight-grad-stream"},
    };

    return pp_exec_refuse(wish->given.tp.typed, rows, PP_COUNT(rows), err);
}

enum pp_status pp_exec_tp(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                          struct pp_error *err)
{
    config->is_sequence_parallel = config->tp > 1 && wish->sequence_parallel == 0;
    if (config->tp == 1)
        return PP_OK;
    PP_TRY(pp_net_check_tp(&config->net, config->tp, config->etp, err));
    return check_parts(wish, config, err);
}

enum pp_status pp_exec_check_token_shares(const struct pp_exec_config *config,
                                          const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_shape *shape = &plan->selection.shape;
    const int tokens = config->net.seq / shape->splits, mbs = plan->batch.mbs,
              unit = config->tp * (config->kernels->element_bytes < sizeof(float) ? 2 : 1);
    int64_t rows = mbs / shape->granules;

    if (!config->is_sequence_parallel || rows * tokens % unit == 0)
        return PP_OK;
    while (rows * tokens % unit != 0)
        rows++;
    return pp_error_set(err, PP_EINVAL,
                        "--sequence-parallel on: a forward takes %lld tokens, and %d workers share "
                        "them%s; nearest: --mbs %lld, or change --seq %d",
                        (long long)(mbs / shape->granules) * tokens, config->tp,
                        unit > config->tp ? " in even numbers" : "",
                        (long long)rows * shape->granules, config->net.seq);
}
