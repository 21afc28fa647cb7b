/* Resolves --ep: replicas that share experts. Names what cannot be combined with it. Resolves the
 * loss of balance of experts, too. */
#include "exec/resolve/parts.h"
#include "exec/transport/transports.h"

static enum pp_status check_parts(const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_exec_refusal rows[] = {
        {config->transport->remote && !config->transport->came,
         config->cuda
             ? "replicas exchange rows in one process; use --transport local"
             : "replicas exchange rows in shared memory; use --transport local, shm or tcp"},
        {config->transport->remote && config->tp > 1,
         "devices of --tp exchange rows in shared memory; use --transport local or shm"},
        {config->has_weight_stream,
         "its groups have one compute stream; leave out --weight-grad-stream"},
    };

    return pp_exec_refuse(wish->given.ep.typed, rows, PP_COUNT(rows), err);
}

static bool divides(const struct pp_exec_config *config, int ep)
{
    return config->net.experts % ep == 0 && config->replicas % ep == 0;
}

/* 1 always divides them. */
static enum pp_status check_degree(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config, struct pp_error *err)
{
    int below = config->ep;

    if (config->net.experts == 0)
        return pp_error_set(err, PP_EINVAL, "%s: %s has no experts; give --experts",
                            wish->given.ep.typed, config->net.name);
    if (divides(config, config->ep))
        return PP_OK;
    while (!divides(config, below))
        below--;
    return pp_error_set(err, PP_EINVAL,
                        "%s must divide the %d experts of %s and the %d replica%s (--dp); nearest: "
                        "--ep %d",
                        wish->given.ep.typed, config->net.experts, config->net.name,
                        config->replicas, config->replicas == 1 ? "" : "s", below);
}

enum pp_status pp_exec_ep(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                          struct pp_error *err)
{
    config->ep = wish->ep;
    if (config->ep == 1)
        return PP_OK;
    PP_TRY(check_degree(wish, config, err));
    return check_parts(wish, config, err);
}

/* ---- loss of balance ------------------------------------------------------------------------- */

enum pp_status pp_exec_balance(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                               struct pp_error *err)
{
    const struct pp_given *given = &wish->given.balance_loss;

    if (!given->count)
        return PP_OK;
    if (config->net.experts == 0)
        return pp_error_set(err, PP_EINVAL, "%s: %s has no experts; give --experts", given->typed,
                            config->net.name);
    config->model.experts.balance_loss = config->net.balance_loss = wish->balance_loss;
    return PP_OK;
}

enum pp_status pp_exec_check_balance(const struct pp_exec_config *config,
                                     const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_program *p = plan->program;

    if (!(config->net.balance_loss > 0) || p->splits * p->granules == 1)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--balance-loss %g: a loss of balance is that of a whole micro-batch, and "
                        "the schedule cuts it into %d %s; nearest: --balance-loss 0, or a schedule "
                        "that does not",
                        config->net.balance_loss, p->splits > 1 ? p->splits : p->granules,
                        p->splits > 1 ? "sequence splits" : "halves");
}
