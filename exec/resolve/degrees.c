/* Resolves --tp, --dp, --gpus and --cp: words of pipesim for the devices of a layout. */
#include "exec/resolve/parts.h"

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
