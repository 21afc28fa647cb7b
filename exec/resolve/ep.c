/* Resolves --ep and --etp: devices that share experts. Names what cannot be combined with it.
 * Resolves the loss of balance of experts, too. */
#include "exec/resolve/parts.h"
#include "exec/resolve/planned.h"

static enum pp_status check_parts(const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_exec_refusal rows[] = {
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

/* Is true if each set of a group's devices has experts of its own, also divided evenly. */
static bool is_executed(const struct pp_exec_config *config, int etp, int ep)
{
    return config->tp % etp == 0 && config->net.expert_ffn % etp == 0 && divides(config, etp, ep) &&
           ep % (config->tp / etp) == 0;
}

/* --etp; else tp, or its largest divisor that leaves enough devices for --ep. */
static int expert_tp(const struct pp_exec_wish *wish, const struct pp_exec_config *config)
{
    for (int etp = wish->etp ? 0 : config->tp; etp >= 1; etp--)
        if (config->tp % etp == 0 && divides(config, etp, wish->ep))
            return etp;
    return wish->etp ? wish->etp : config->tp;
}

/* Least number of replicas, at least those that there are, whose devices --ep divides. */
static int replicas_for(const struct pp_exec_config *config)
{
    int dp = config->replicas;

    while ((int64_t)config->tp / config->etp * dp % config->ep)
        dp++;
    return dp;
}

static enum pp_status check_degree(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config, struct pp_error *err)
{
    const int etp = config->etp, count = config->net.experts;
    int below = config->ep < count ? config->ep : count, above = config->ep + 1;

    if (divides(config, etp, config->ep))
        return PP_OK;
    while (!divides(config, etp, below)) /* 1 always does */
        below--;
    while (above <= count && !divides(config, etp, above))
        above++;
    pp_error_set(err, PP_EINVAL,
                 "%s must divide the %d experts of %s and tp / etp * dp = %lld; nearest: %s %d",
                 wish->given.ep.typed, count, config->net.name, (long long)devices_of(config, etp),
                 wish->given.ep.spelled, below);
    if (above <= count)
        pp_error_append(err, " or %d", above);
    return count % config->ep ? PP_EINVAL
                              : pp_error_append(err, ", or --dp %d", replicas_for(config));
}

/* Appends what is executed: as many groups of experts as sets, the nearest --etp, or the usual one.
 */
static enum pp_status append_nearest(const struct pp_exec_wish *wish,
                                     const struct pp_exec_config *config, struct pp_error *err)
{
    const int tp = config->tp, from = config->etp < tp ? config->etp : tp, sets = tp / from;

    if (tp % config->etp == 0 && is_executed(config, from, sets))
        return pp_error_append(err, "; nearest: %s %d, or leave out --etp", wish->given.ep.spelled,
                               sets);
    for (int apart = 0; apart < tp; apart++)
        for (int etp = from - apart; etp <= from + apart; etp += apart > 0 ? 2 * apart : 1)
            if (etp >= 1 && is_executed(config, etp, config->ep))
                return pp_error_append(err, "; nearest: --etp %d", etp);
    return pp_error_append(err, "; leave out --etp");
}

static enum pp_status check_expert_tp(const struct pp_exec_wish *wish,
                                      const struct pp_exec_config *config, struct pp_error *err)
{
    const int tp = config->tp, etp = config->etp, sets = tp / etp;

    if (tp % etp != 0)
        pp_error_set(err, PP_EINVAL, "--etp %d does not divide tp %d", etp, tp);
    else if (etp < tp && config->net.expert_ffn % etp != 0)
        pp_error_set(err, PP_EINVAL, "--etp %d does not divide the %d elements of an expert of %s",
                     etp, config->net.expert_ffn, config->net.name);
    else if (config->ep % sets != 0)
        pp_error_set(err, PP_EINVAL,
                     "--etp %d: a rank has %d sets of %d worker%s, and --ep %d does not give each "
                     "set other experts",
                     etp, sets, etp, etp == 1 ? "" : "s", config->ep);
    else
        return PP_OK;
    return append_nearest(wish, config, err);
}

enum pp_status pp_exec_ep(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                          struct pp_error *err)
{
    const struct pp_given *given = wish->ep > 1 ? &wish->given.ep : &wish->given.etp;

    config->ep = wish->ep;
    config->etp = config->tp;
    config->expert_replicas = 1;
    if (config->net.experts == 0)
        return !given->count ? PP_OK
                             : pp_error_set(err, PP_EINVAL, "%s: %s has no experts; give --experts",
                                            given->typed, config->net.name);
    config->etp = expert_tp(wish, config);
    if (config->tp % config->etp == 0)
        PP_TRY(check_degree(wish, config, err));
    PP_TRY(check_expert_tp(wish, config, err));
    config->expert_replicas = config->ep / (config->tp / config->etp);
    return config->expert_replicas == 1 ? PP_OK : check_parts(wish, config, err);
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
