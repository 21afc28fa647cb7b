/* --peers: idle devices of a node, which lend their memory to those that a run uses. */
#include "sim/resolve/resolve.h"

/* Refuses an option of peers where a run leaves no device of a node idle. */
static enum pp_status refuse_full(const struct pp_given *given, const struct pp_cluster *c,
                                  struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "%s: the run uses all GPUs of a node, %d of %s, so none is idle",
                 given->typed, c->gpus_per_node, c->name);
    pp_error_append(err, "; nearest: ");
    if (c->gpus_per_node > 1)
        pp_error_append(err, "--gpus %d --peers %d, or ", c->gpus_per_node / 2,
                        c->gpus_per_node - c->gpus_per_node / 2);
    return pp_error_append(err, "--offload p=host");
}

enum pp_status pp_resolve_peers(const struct pp_wish *wish, const struct pp_config *config,
                                int gpus, struct pp_error *err)
{
    const struct pp_given *given = &wish->given.peers;
    const struct pp_cluster *c = &config->cluster;
    const bool is_used = pp_state_has_home(&config->wanted, PP_TIER_PEER);
    const int idle = pp_peers_idle(c, gpus);

    if (!is_used && given->count)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect: nothing is in the memory of idle GPUs; nearest: "
                            "--offload p=peer",
                            given->typed);
    if (!is_used || (wish->peers > 0 && wish->peers <= idle))
        return PP_OK;
    if (idle == 0)
        return refuse_full(given->count ? given : &wish->given.offload, c, err);
    if (wish->peers == 0) {
        pp_error_set(err, PP_EINVAL,
                     "%s: --peers says how many idle GPUs of a node lend their memory; nearest: "
                     "--peers 1",
                     wish->given.offload.typed);
        return idle > 1 ? pp_error_append(err, " to --peers %d", idle) : PP_EINVAL;
    }
    return pp_error_set(err, PP_EINVAL,
                        "%s: %d of the %d GPUs of a node of %s are idle; nearest: --peers %d",
                        given->typed, idle, c->gpus_per_node, c->name, idle);
}
