/* Homes of parameters, gradients and optimizer state: options, then meshes of the replicas. */
#include "sim/resolve/resolve.h"

#include "sim/config/tiers.h"
#include "sim/config/usable.h"

#include <string.h>

/* Chooses between --zero and --shard: flags win over a preset's, two flags contradict. */
static enum pp_status choose_shards(const struct pp_wish *wish, const char **shard,
                                    struct pp_error *err)
{
    const struct pp_given *zero = &wish->given.zero;

    *shard = wish->shard;
    if (!zero->count || !wish->shard)
        return PP_OK;
    if (zero->origin == wish->given.shard.origin)
        return pp_error_set(err, PP_EINVAL,
                            "--zero %s and --shard %s exclude each other: both say how state is "
                            "cut",
                            zero->text, wish->shard);
    if (zero->origin == PP_FROM_FLAG)
        *shard = NULL;
    return PP_OK;
}

/* Sets what the --peers of a node lend, over links that --link-bw may have changed. */
static void take_peers(const struct pp_wish *wish, struct pp_config *config)
{
    struct pp_cluster linked = config->cluster;

    linked.intra.bytes_per_s *= config->costs.intra_factor;
    config->cluster.tiers[PP_TIER_PEER] =
        pp_peers_memory(&linked, wish->peers, pp_state_usable(&config->wanted, PP_TIER_DEVICE));
}

enum pp_status pp_resolve_wishes(const struct pp_wish *wish, struct pp_config *config,
                                 struct pp_error *err)
{
    const char *shard, *secondary = wish->secondary;
    struct pp_state_spec *wanted = &config->wanted;

    PP_TRY(choose_shards(wish, &shard, err));
    *wanted = (struct pp_state_spec){0};
    config->wanted_zero = shard ? -1 : wish->zero;
    if (!wish->given.zero.count && !shard)
        config->origin.chosen |= PP_CHOSE_ZERO;
    if (shard && pp_state_parse(shard, wanted->shard, err) != PP_OK)
        return pp_error_prefix(err, "--shard %s: ", shard);
    if (secondary && pp_mesh_parse(secondary, &wanted->secondary, err) != PP_OK)
        return pp_error_prefix(err, "--secondary: ");
    PP_TRY(pp_cache_take(wish, wanted, err));
    wanted->buffers = wish->gather_buffers;
    PP_TRY(pp_usable_resolve(wish, config->costs.framework, wanted, err));
    take_peers(wish, config);
    return pp_tiers_resolve(wish, &config->cluster, wanted, err);
}

static struct pp_mesh replicas_of(struct pp_arena *arena, const struct pp_config *config)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    const struct pp_cost_inputs inputs = pp_config_costs(config, pp_config_ranks(arena, config));
    const struct pp_mesh mesh = pp_cost_replicas(&inputs);

    pp_arena_release(arena, mark);
    return mesh;
}

/* Divides a mesh by a number of pipelines: nodes first, whose devices then have one pipeline. */
static struct pp_mesh of_pipeline(struct pp_mesh mesh, int pipelines)
{
    for (int left = pipelines; left > 1; left /= 2) {
        int *axis = mesh.nodes % 2 == 0 ? &mesh.nodes : &mesh.in_node;
        *axis = *axis > 1 ? *axis / 2 : 1;
    }
    return mesh;
}

/* Pipelines use a stage at different times. So ZeRO 2 and 3 cut over the replicas of each. */
static void take_pipelines(struct pp_config *config)
{
    for (int class = 0; class < PP_STATE_SHARDED && config->wanted_zero > 1; class ++)
        if (pp_mesh_size(config->state.shard[class]) > 1)
            config->state.shard[class] =
                of_pipeline(config->state.shard[class], config->shape.pipelines);
}

/* Returns a stage that a rank holds in two pipelines; -1 if there is none. */
static int find_twice(struct pp_arena *arena, const struct pp_config *config)
{
    const int stages = pp_shape_stages(&config->shape);
    const uint16_t *rank_of = pp_config_ranks(arena, config);

    for (int place = stages; place < config->shape.pipelines * stages; place++)
        for (int other = place % stages; other < place; other += stages)
            if (rank_of[place] == rank_of[other])
                return place % stages;
    return -1;
}

/* Copies that gather together are replicas of one pipeline. */
static enum pp_status check_pipelines(struct pp_arena *arena, const struct pp_config *config,
                                      struct pp_error *err)
{
    const int cut = pp_state_cut(&config->state, PP_STATE_GRADS),
              replicas = pp_mesh_size(config->state.replicas) / config->shape.pipelines,
              twice = find_twice(arena, config);

    if (twice >= 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s holds stage %d twice on a rank: only its optimizer state can be "
                            "cut; nearest: --zero 1, or an even number of ranks",
                            config->schedule_name, twice);
    if (replicas > 1 && replicas % cut == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s uses a stage at different times in its pipelines, so gradients are cut "
                        "over replicas of one pipeline, which has %d; give --dp %d, or --zero 1",
                        config->schedule_name, replicas, cut > 1 ? cut : 2);
}

/* Refuses sharded gradients or parameters if ranks use a stage at different times, or with several
 * versions: they cannot be gathered together, or told apart. */
static enum pp_status check_schedule(struct pp_arena *arena, const struct pp_config *config,
                                     struct pp_error *err)
{
    const char *name = config->schedule_name;

    if (config->shape.pipelines > 1 &&
        (config->wanted_zero > 1 || pp_state_cut(&config->state, PP_STATE_GRADS) > 1))
        PP_TRY(check_pipelines(arena, config, err));
    if (pp_state_cut(&config->state, PP_STATE_GRADS) == 1)
        return PP_OK;
    if (config->schedule && config->schedule->is_continuous)
        return pp_error_set(err, PP_EINVAL,
                            "%s keeps several versions of its weights: only its optimizer state "
                            "can be cut; nearest: --zero 1",
                            name);
    return PP_OK;
}

/* Refuses several versions, and a second copy, of offloaded parameters; and offloaded gradients
 * that are summed for one update while others are made. */
static enum pp_status check_homes(const struct pp_config *config, struct pp_error *err)
{
    const enum pp_tier home = config->state.home[PP_STATE_PARAMS],
                       grads = config->state.home[PP_STATE_GRADS];

    if (grads != PP_TIER_DEVICE && config->schedule && config->schedule->is_continuous)
        return pp_error_set(err, PP_EINVAL,
                            "--offload g=%s: %s updates its weights while others of its gradients "
                            "add up; nearest: --offload os=%s",
                            pp_tier_rows[grads].name, config->schedule_name,
                            pp_tier_rows[grads].name);
    if (home == PP_TIER_DEVICE)
        return PP_OK;
    if (config->state.secondary.in_node)
        return pp_error_set(err, PP_EINVAL,
                            "--secondary keeps on the device what --offload p=%s takes from it; "
                            "leave out one of them",
                            pp_tier_rows[home].name);
    if (config->schedule && config->schedule->is_continuous)
        return pp_error_set(err, PP_EINVAL,
                            "--offload p=%s: %s updates its weights while it uses several versions "
                            "of them; nearest: --offload os=%s",
                            pp_tier_rows[home].name, config->schedule_name,
                            pp_tier_rows[home].name);
    return PP_OK;
}

/* Refuses ring flows over part of the replicas: simulated rings run over all of them. */
static enum pp_status check_flows(const struct pp_config *config, struct pp_error *err)
{
    const int zero = pp_state_zero(&config->state);

    if (!config->engine_options.eval.ring_flows || zero == 0 || zero == 1)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--collectives flows passes sums around rings of all replicas of a stage: "
                        "state is whole, or the optimizer state cut over all of them; nearest: "
                        "--zero 0, --zero 1");
}

/* The least ZeRO stage that has the scatters and gathers of the program. */
static int least_zero(const struct pp_program *p)
{
    bool is_shared = false;

    for (int i = 0; i < pp_program_size(p); i++)
        is_shared |= p->kind[i] == PP_RS || p->kind[i] == PP_AG;
    return !is_shared                             ? 0
           : pp_state_is_gathered(&p->state.spec) ? 3
           : pp_state_has_parts(&p->state.spec)   ? 2
                                                  : 1;
}

/* Takes the ZeRO stage of a program file, which its collectives show. */
static enum pp_status take_file(struct pp_config *config, struct pp_error *err)
{
    const int least = config->file_program ? least_zero(config->file_program) : 0;

    if (least == 0 || config->wanted_zero < 0 || config->wanted_zero >= least)
        return PP_OK;
    if (!(config->origin.chosen & PP_CHOSE_ZERO))
        return pp_error_set(err, PP_EINVAL,
                            "--zero %d: %s shares state out among its copies as ZeRO %d does; "
                            "leave it out, or 'pipesim program --compute' prints programs without",
                            config->wanted_zero, config->schedule_name, least);
    config->wanted_zero = least;
    config->origin.chosen &= ~(unsigned)PP_CHOSE_ZERO;
    return PP_OK;
}

/* Returns the buffers of gathers that the framework has: two if it gathers during compute. */
static int buffers_of(const struct pp_framework *f, const struct pp_state_spec *state)
{
    const bool is_network = state->shard[PP_STATE_PARAMS].nodes > 1;

    return f->has_gather_overlap || (f->has_gather_ahead && is_network) ? 2 : 1;
}

enum pp_status pp_resolve_shards(struct pp_arena *arena, struct pp_config *config,
                                 struct pp_error *err)
{
    const struct pp_mesh replicas = replicas_of(arena, config);

    PP_TRY(take_file(config, err));
    config->state = config->wanted;
    config->state.replicas = replicas;
    if (config->wanted_zero >= 0)
        config->state = pp_state_with_zero(&config->state, config->wanted_zero);
    if (config->shape.pipelines > 1)
        take_pipelines(config);
    if (pp_state_complete(&config->state, err) != PP_OK)
        return strncmp(err->message, "--", 2) ? pp_error_prefix(err, "--shard ") : err->status;
    if (config->state.buffers == 0)
        config->state.buffers = buffers_of(config->costs.framework, &config->state);
    PP_TRY(check_flows(config, err));
    PP_TRY(check_homes(config, err));
    PP_TRY(check_schedule(arena, config, err));
    return pp_cache_settle(arena, config, err);
}
