/* Resolves --tp, after --ep: devices that share each block. Names what cannot be combined with it.
 */
#include "exec/resolve/parts.h"
#include "exec/resolve/planned.h"

static enum pp_status check_parts(const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_exec_refusal rows[] = {
        {config->has_weight_stream, "its groups have one compute stream; leave out "
                                    "--weight-grad-stream"},
    };

    return pp_exec_refuse(wish->given.tp.typed, rows, PP_COUNT(rows), err);
}

static enum pp_status check_split(const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_exec_refusal rows[] = {
        {config->tp == 1, "no group adds up results; give --tp 2"},
        {config->is_sequence_parallel,
         "each device adds up its own share of the tokens; nearest: --sequence-parallel off"},
    };

    return wish->tp_split > 1
               ? pp_exec_refuse(wish->given.tp_split.typed, rows, PP_COUNT(rows), err)
               : PP_OK;
}

enum pp_status pp_exec_tp(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                          struct pp_error *err)
{
    config->is_sequence_parallel = config->tp > 1 && wish->sequence_parallel == 0;
    config->tp_split = wish->tp_split;
    PP_TRY(check_split(wish, config, err));
    if (config->tp == 1)
        return PP_OK;
    PP_TRY(pp_net_check_tp(&config->net, config->tp, config->etp, err));
    return check_parts(wish, config, err);
}

/* Returns the number of parts next to `from`, upwards or downwards, that cut the rows evenly. */
static int next_parts(int64_t rows, int unit, int from, int step)
{
    enum { MOST = 16 };

    while (from >= 1 && from <= MOST && rows % (from * unit) != 0)
        from += step;
    return from <= MOST ? from : 0;
}

enum pp_status pp_exec_check_row_parts(const struct pp_exec_wish *wish,
                                       const struct pp_exec_config *config,
                                       const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_shape *shape = &plan->selection.shape;
    const int unit = config->kernels->element_bytes < sizeof(float) ? 2 : 1;
    const int64_t rows =
        (int64_t)plan->batch.mbs / shape->granules * config->net.seq / shape->splits;

    if (config->tp_split == 1 || rows % (config->tp_split * unit) == 0)
        return PP_OK;
    const int above = next_parts(rows, unit, config->tp_split, 1);
    pp_error_set(err, PP_EINVAL, "%s does not divide the rows of a forward, %lld%s; nearest: %d",
                 wish->given.tp_split.typed, (long long)rows, unit > 1 ? ", in even numbers" : "",
                 next_parts(rows, unit, config->tp_split, -1));
    return above ? pp_error_append(err, " or %d", above) : PP_EINVAL;
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
