/* Resolves --tp, --dp, --gpus and --cp: words of pipesim for the devices of a layout.
 * --calibrate-tp and --calibrate-ep: groups of the steps that --calibrate-on measures. */
#include "exec/resolve/parts.h"

#include <string.h>

static enum pp_status uneven(const struct pp_exec_wish *wish, long long each, struct pp_error *err)
{
    const long long below = wish->gpus / each * each;

    pp_error_set(err, PP_EINVAL,
                 "%s is not a multiple of tp %d * pp %d = %lld; nearest: ", wish->given.gpus.typed,
                 wish->tp, wish->np, each);
    if (below)
        pp_error_append(err, "%lld or ", below);
    return pp_error_append(err, "%lld", below + each);
}

/* --gpus and all of its factors are given. */
static enum pp_status contradiction(const struct pp_exec_wish *wish, long long each,
                                    struct pp_error *err)
{
    pp_error_set(
        err, PP_EINVAL, "%s contradicts tp %d * pp %d * dp %d = %lld; nearest: --gpus %lld",
        wish->given.gpus.typed, wish->tp, wish->np, wish->dp, each * wish->dp, each * wish->dp);
    return wish->gpus % each ? PP_EINVAL
                             : pp_error_append(err, ", or --dp %lld", wish->gpus / each);
}

enum pp_status pp_exec_degrees(const struct pp_exec_wish *wish, struct pp_exec_config *config,
                               struct pp_error *err)
{
    const long long each = (long long)wish->tp * wish->np;

    config->tp = wish->tp;
    config->replicas = wish->dp ? wish->dp : 1;
    if (wish->cp > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s is only simulated: here no sample is divided among devices; "
                            "nearest: --cp 1",
                            wish->given.cp.typed);
    if (!wish->given.gpus.count)
        return PP_OK;
    if (!wish->given.np.count)
        return pp_error_set(err, PP_EINVAL,
                            "%s: it is tp * pp * dp, so give --pp, too; nearest: --pp %d",
                            wish->given.gpus.typed, PP_EXEC_USUAL_RANKS);
    if (wish->dp && wish->gpus != each * wish->dp)
        return contradiction(wish, each, err);
    if (wish->gpus % each)
        return uneven(wish, each, err);
    config->replicas = (int)(wish->gpus / each);
    return PP_OK;
}

/* ---- groups of calibrating steps ------------------------------------------------------------- */

/* Profiles time layers in one thread: see exec/predict/profile.h. */
static enum pp_status check(const struct pp_exec_wish *wish, const struct pp_given *given,
                            const struct pp_exec_config *config, struct pp_error *err)
{
    const struct pp_exec_refusal rows[] = {
        {!wish->calibrate_on, "it is the layout of another schedule; give --calibrate-on, too"},
        {config->clock != PP_CLOCK_VIRTUAL, "layers are profiled by CPU time; use --clock virtual"},
        {!config->backend->is_immediate, "layers are profiled on the CPU; use --backend cpu"},
        {config->transport->is_apart, "layers are profiled in one process; use --transport local"},
    };

    return pp_exec_refuse(given->typed, rows, PP_COUNT(rows), err);
}

enum pp_status pp_exec_measured(const struct pp_exec_wish *wish,
                                const struct pp_exec_config *config,
                                struct pp_exec_config *measured, struct pp_error *err)
{
    const struct pp_given *given =
        wish->given.calibrate_tp.count ? &wish->given.calibrate_tp : &wish->given.calibrate_ep;
    struct pp_exec_wish as = *wish;

    *measured = *config;
    if (!given->count)
        return PP_OK;
    PP_TRY(check(wish, given, config, err));
    if (wish->given.calibrate_tp.count) {
        as.tp = measured->tp = wish->calibrate_tp;
        as.etp = 0;
        as.given.tp = wish->given.calibrate_tp;
    }
    if (wish->given.calibrate_ep.count) {
        as.ep = wish->calibrate_ep;
        as.given.ep = wish->given.calibrate_ep;
    }
    if (pp_exec_ep(&as, measured, err) == PP_OK && pp_exec_tp(&as, measured, err) == PP_OK)
        return PP_OK;
    return strstr(err->message, given->typed) ? err->status
                                              : pp_error_prefix(err, "%s: ", given->typed);
}

bool pp_exec_is_profiled(const struct pp_exec_config *a, const struct pp_exec_config *b)
{
    return a->tp != b->tp || a->etp != b->etp || a->expert_replicas != b->expert_replicas ||
           a->is_sequence_parallel != b->is_sequence_parallel;
}
