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
        {config->has_weight_stream,
         "its groups have one compute stream; leave out --weight-grad-stream"},
    };

    return pp_exec_refuse(wish->given.ep.typed, rows, PP_COUNT(rows), err);
}

/* Devices of a rank's replicas, if `etp` of them share an expert. */
static int64_t devices_of(const struct pp_exec_config *config, int etp)
{
    return (int64_t)config->tp / etp * config->replicas;
}

static bool divides(const struct pp_exec_config *config, int etp, int ep)
{
    return config->net.experts % ep == 0 && devices_of(config, etp) % ep == 0;
}

/* --etp; else tp, or its largest divisor that leaves enough devices for --ep. */
static int expert_tp(const struct pp_exec_wish *wish, const struct pp_exec_config *config)
{
    for (int etp = wish->etp ? 0 : config->tp; etp >= 1; etp--)
        if (config->tp % etp == 0 && divides(config, etp, wish->ep))
            return etp;
    return wish->etp ? wish->etp : config->tp;
}

/* 1 always divides them. */
static enum pp_status check_degree(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config, struct pp_error *err)
{
    const int etp = config->etp, count = config->net.experts;
    int below = config->ep < count ? config->ep : count, above = config->ep + 1;

    if (divides(config, etp, config->ep))
        return PP_OK;
    while (!divides(config, etp, below))
        below--;
    while (above <= count && !divides(config, etp, above))
        above++;
    pp_error_set(err, PP_EINVAL,
                 "%s must divide the %d experts of %s and tp / etp * dp = %lld; nearest: --ep %d",
                 wish->given.ep.typed, count, config->net.name, (long long)devices_of(config, etp),
                 below);
    return above <= count ? pp_error_append(err, " or %d", above) : PP_EINVAL;
}

static enum pp_status check_expert_tp(const struct pp_exec_wish *wish,
                                      const struct pp_exec_config *config, struct pp_error *err)
{
    int below = config->etp < config->tp ? config->etp : config->tp;

    if (config->tp % config->etp == 0)
        return PP_OK;
    while (config->tp % below)
        below--;
    return pp_error_set(err, PP_EINVAL, "%s does not divide tp %d; nearest: --etp %d",
                        wish->given.etp.typed, config->tp, below);
}

enum pp_status pp_exec_ep(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                          struct pp_error *err)
{
    const struct pp_given *given = wish->ep > 1 ? &wish->given.ep : &wish->given.etp;

    config->ep = wish->ep;
    config->etp = config->tp;
    if (config->net.experts == 0)
        return !given->count ? PP_OK
                             : pp_error_set(err, PP_EINVAL, "%s: %s has no experts; give --experts",
                                            given->typed, config->net.name);
    config->etp = expert_tp(wish, config);
    PP_TRY(check_expert_tp(wish, config, err));
    PP_TRY(check_degree(wish, config, err));
    if (config->etp < config->tp)
        return pp_error_set(err, PP_EINVAL,
                            "%s: whole experts on devices of --tp %d are not done yet; nearest: "
                            "--etp %d, and a divisor of %d as --ep",
                            given->typed, config->tp, config->tp, config->replicas);
    return config->ep == 1 ? PP_OK : check_parts(wish, config, err);
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
