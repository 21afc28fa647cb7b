/* Sharded state: what the program of a run cuts, by its options. */
#include "exec/plan/parts.h"
#include "exec/resolve/planned.h"
#include "schedules/build/build.h"

static int zero_of(const struct pp_state_spec *spec)
{
    return pp_state_cut(spec, PP_STATE_PARAMS) > 1      ? 3
           : pp_state_cut(spec, PP_STATE_GRADS) > 1     ? 2
           : pp_state_cut(spec, PP_STATE_OPTIMIZER) > 1 ? 1
                                                        : 0;
}

/* Is true if chunks have parameters or gradients on the device only around their uses. */
static bool has_visits(const struct pp_state_spec *spec)
{
    return zero_of(spec) > 1 || pp_state_is_fetched(spec) || pp_state_is_away(spec, PP_STATE_GRADS);
}

/* Finds an option without effect, and what gives it one; else NULL. */
static const char *find_idle(const struct pp_exec_wish *wish, const struct pp_state_spec *spec,
                             const char **help)
{
    const bool is_alone = pp_mesh_size(spec->replicas) < 2;
    const struct {
        const struct pp_given *given;
        bool is_idle;
        const char *help;
    } options[] = {
        {&wish->given.grad_sync, is_alone, "with one replica of each stage; give --dp 2"},
        {&wish->given.zero, is_alone && wish->zero > 0,
         "with one replica of each stage; give --dp 2"},
        {&wish->given.gather, !pp_state_is_fetched(spec) && wish->zero < 3,
         "without sharded parameters; give --zero 3, or --offload p=host"},
        {&wish->given.gather_buffers, !has_visits(spec) && wish->zero < 2,
         "without sharded gradients or parameters; give --zero 2 or 3"},
    };

    for (size_t i = 0; i < PP_COUNT(options); i++)
        if (options[i].given->count && options[i].is_idle) {
            *help = options[i].help;
            return options[i].given->typed;
        }
    return NULL;
}

enum pp_status pp_exec_check_meshes(const struct pp_state_spec *spec, struct pp_error *err)
{
    const int params = pp_state_cut(spec, PP_STATE_PARAMS),
              grads = pp_state_cut(spec, PP_STATE_GRADS);

    if (params == 1 || params == grads)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "p over %d and g over %d copies is only simulated; nearest: g over %d",
                        params, grads, params);
}

/* Copies that gather together are replicas of one pipeline. */
static enum pp_status check_groups(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_error *err)
{
    const int sharers = plan->batch.sharers > 1 ? plan->batch.sharers : 2;
    const struct pp_given *given = wish->shard ? &wish->given.shard : &wish->given.zero;

    if (config->replicas % sharers == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s: gradients and parameters are cut over replicas of one pipeline, in "
                        "groups of %d, but it has %d; nearest: --dp %d, or --zero 1",
                        given->typed, sharers, config->replicas, sharers);
}

/* A state that is used in visits is cut over the replicas of each of several pipelines. */
static enum pp_status take_pipelines(const struct pp_exec_wish *wish,
                                     const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                     const struct pp_build *build, struct pp_error *err)
{
    const struct pp_program *file = plan->subject.file;
    const bool is_stated =
        file && (pp_state_is_gathered(&file->state.spec) || pp_state_has_parts(&file->state.spec));

    if (build->given->pipelines < 2 || (wish->zero < 2 && !is_stated))
        return PP_OK;
    plan->batch.sharers = config->replicas;
    return is_stated ? PP_OK : check_groups(wish, config, plan, err);
}

static enum pp_status take_meshes(const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                  struct pp_state_spec *spec, struct pp_error *err)
{
    if (wish->given.zero.count)
        return pp_error_set(err, PP_EINVAL,
                            "%s and %s exclude each other: both say how state is cut",
                            wish->given.zero.typed, wish->given.shard.typed);
    if (pp_state_parse(wish->shard, spec->shard, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", wish->given.shard.typed);
    for (int c = 0; c < PP_STATE_SHARDED && pp_mesh_size(spec->replicas) < 2; c++)
        if (pp_mesh_size(spec->shard[c]) > 1)
            return pp_error_set(err, PP_EINVAL,
                                "%s has no effect with one replica of each stage; give --dp 2",
                                wish->given.shard.typed);
    if (pp_state_complete(spec, err) != PP_OK)
        return pp_error_prefix(err, "%s ", wish->given.shard.spelled);
    if (pp_exec_check_meshes(spec, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", wish->given.shard.typed);
    plan->batch.sharers = pp_state_cut(spec, PP_STATE_OPTIMIZER);
    return zero_of(spec) > 1 ? check_groups(wish, config, plan, err) : PP_OK;
}

enum pp_status pp_exec_take_shards(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                   struct pp_build *build, struct pp_error *err)
{
    const struct pp_program *file = plan->subject.file;
    const bool is_gathered = file && pp_state_is_gathered(&file->state.spec);
    const char *help;

    pp_build_take_zero(build, is_gathered ? 3 : wish->zero, config->replicas);
    PP_TRY(wish->shard ? take_meshes(wish, config, plan, &build->state, err)
                       : take_pipelines(wish, config, plan, build, err));
    PP_TRY(pp_exec_take_tiers(wish, config, build, err));
    build->state.buffers = wish->gather_buffers;
    const char *idle = plan->subject.is_listed ? NULL : find_idle(wish, &build->state, &help);
    if (idle)
        return pp_error_set(err, PP_EINVAL, "%s has no effect %s", idle, help);
    if (wish->gather == PP_GATHER_LAYER && plan->unit)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect with --unit, whose durations are those of whole "
                            "chunks",
                            wish->given.gather.typed);
    build->state.gather =
        pp_state_is_fetched(&build->state) ? (enum pp_gather)wish->gather : PP_GATHER_CHUNK;
    return PP_OK;
}
