/* Sharded state: what the program of a run cuts, and whether it can be executed. */
#include "exec/resolve/parts.h"
#include "exec/transport/transports.h"
#include "schedules/build/build.h"

/* ---- options --------------------------------------------------------------------------------- */

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

/* Gradients that are cut more finely than gathered parameters would be scattered twice. */
static enum pp_status check_meshes(const struct pp_state_spec *spec, struct pp_error *err)
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
    if (check_meshes(spec, err) != PP_OK)
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

/* ---- programs -------------------------------------------------------------------------------- */

/* Begins the message with the option as typed, or with the program file. */
static enum pp_status refuse(const struct pp_exec_wish *wish, const struct pp_exec_plan *plan,
                             struct pp_error *err)
{
    const struct pp_given *given = wish->shard ? &wish->given.shard : &wish->given.zero;

    return given->count ? pp_error_prefix(err, "%s: ", given->typed)
                        : pp_error_prefix(err, "--schedule %s: ", plan->subject.name);
}

/* Ops of a complete program file are those on chunks. */
static enum pp_status check_units(const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_program *p = plan->program;

    for (int stage = 0; plan->zero > 2 && stage < p->stages; stage++)
        if (p->state.units[stage] > 1)
            return pp_error_set(err, PP_EINVAL,
                                "%s gathers stage %d in %d units, and its ops are whole stages; "
                                "nearest: 1, or --gather layer and the file of 'pipesim program "
                                "--compute'",
                                plan->subject.name, stage, p->state.units[stage]);
    return PP_OK;
}

/* Returns the second place of a stage that a rank holds in two pipelines; -1 = none. */
static int find_twice(const struct pp_program *p)
{
    for (int place = p->stages; place < p->pipelines * p->stages; place++)
        for (int other = place % p->stages; other < place; other += p->stages)
            if (p->rank_of[place] == p->rank_of[other])
                return place;
    return -1;
}

/* Both copies on a rank would fill one buffer of gradients at different times. */
static enum pp_status check_pipelines(const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_program *p = plan->program;
    const int twice = find_twice(p);

    if (twice < 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s holds stage %d twice on rank %d: only its optimizer state can be cut; "
                        "nearest: --zero 1, or an even number of ranks",
                        plan->subject.name, twice % p->stages, p->rank_of[twice]);
}

/* Returns an update of parameters that no load brings; -1 = none. */
static int find_unloaded(struct pp_arena *scratch, const struct pp_program *p)
{
    bool *is_there = PP_ARRAY(scratch, bool, p->pipelines * p->stages);

    for (int i = 0; i < pp_program_size(p); i++) {
        const int place = p->pipe[i] * p->stages + p->stage[i];

        if (p->kind[i] == PP_U && !is_there[place])
            return i;
        if (p->kind[i] == PP_DROP || (p->kind[i] == PP_MOVE && pp_move_is_load(p->purpose[i])))
            is_there[place] = p->kind[i] == PP_MOVE;
    }
    return -1;
}

/* Checks loads of parameters: a list loads one copy of a stage, and in fp32 it is loaded for its
 * update, too. */
static enum pp_status check_loads(const struct pp_exec_config *config,
                                  const struct pp_exec_plan *plan, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_program *p = plan->program;
    const int twice = find_twice(p), update = find_unloaded(scratch, p);
    char text[PP_OP_TEXT_BYTES];

    if (!pp_state_is_away(&p->state.spec, PP_STATE_PARAMS))
        return PP_OK;
    if (twice >= 0)
        return pp_error_set(err, PP_EINVAL,
                            "--schedule %s: rank %d holds stage %d twice, and one load would serve "
                            "both copies of its parameters; nearest: an even number of ranks, or "
                            "parameters on the device",
                            plan->subject.name, p->rank_of[twice], twice % p->stages);
    if (update < 0 || !pp_state_moves(&p->state.spec, PP_FOR_HOME) ||
        config->kernels->element_bytes != config->kernels->gradient_bytes)
        return PP_OK;
    pp_program_print_op(p, update, text);
    return pp_error_set(err, PP_EINVAL,
                        "%s: no MOVE loads parameters for %s, and here they have no other copy; "
                        "nearest: --precision bf16, or %s",
                        plan->subject.name, text,
                        plan->zero > 0 ? "no --zero" : "the file of 'pipesim program --compute'");
}

/* Shares of the embedding and of the head are on different replicas. No pass adds a sum to a file
 * that has sums of its own. */
static enum pp_status check_tied(const struct pp_exec_config *config,
                                 const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_program *p = plan->program;

    if (!config->net.is_tied || p->stages < 2 || pp_program_has_tied(p))
        return PP_OK;
    return pp_error_set(
        err, PP_EINVAL,
        "%s holds embedding and head of %s on one rank, which share a matrix: (0;%d)AR is missing, "
        "which sums its gradients; nearest: add it, or give a program without sums, as 'pipesim "
        "program --compute' prints it",
        plan->subject.name, config->net.name, p->stages - 1);
}

/* A group of copies has each expert as often, or at most once. */
static enum pp_status check_experts(const struct pp_exec_config *config,
                                    const struct pp_exec_plan *plan, struct pp_error *err)
{
    const int ep = config->expert_replicas,
              cuts[] = {plan->batch.sharers,
                        pp_state_cut(&plan->program->state.spec, PP_STATE_PARAMS)};

    for (size_t i = 0; i < PP_COUNT(cuts); i++)
        if (cuts[i] > ep && cuts[i] % ep != 0)
            return pp_error_set(err, PP_EINVAL,
                                "state is cut over groups of %d copies, and %d replicas share "
                                "experts: the latter must divide the former; nearest: --ep 1, or "
                                "groups of %d",
                                cuts[i], ep, ep);
    return PP_OK;
}

bool pp_exec_has_groups(const struct pp_exec_config *config, const struct pp_exec_plan *plan)
{
    const struct pp_state_spec *spec = &plan->program->state.spec;
    const int sharers = plan->batch.sharers;

    return sharers > 1 && (sharers < config->replicas * plan->program->pipelines ||
                           (pp_state_is_gathered(spec) && pp_state_is_spread(spec)));
}

/* A process has one communicator for its copies of a stage. */
static enum pp_status check_nccl(const struct pp_exec_config *config,
                                 const struct pp_exec_plan *plan, struct pp_error *err)
{
    const int twice = find_twice(plan->program);

    if (!pp_exec_has_groups(config, plan) || twice < 0 ||
        (config->transport != &pp_transport_nccl && config->transport != &pp_transport_ipc_nccl))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--transport %s: a process holds stage %d twice, in groups of copies that "
                        "differ; nearest: --transport ipc, or all %d copies",
                        config->transport->name, twice % plan->program->stages,
                        config->replicas * plan->program->pipelines);
}

enum pp_status pp_exec_check_shards(const struct pp_exec_wish *wish,
                                    const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                    struct pp_error *err)
{
    const struct pp_state_spec *spec = &plan->program->state.spec;

    plan->zero = pp_state_is_gathered(spec) ? 3
                 : pp_state_has_parts(spec) ? 2
                                            : pp_program_has_kind(plan->program, PP_RS);
    PP_TRY(check_loads(config, plan, err));
    if (check_experts(config, plan, err) != PP_OK)
        return refuse(wish, plan, err);
    if ((plan->zero > 1 || pp_exec_has_groups(config, plan)) &&
        (check_tied(config, plan, err) != PP_OK || check_nccl(config, plan, err) != PP_OK))
        return refuse(wish, plan, err);
    if (plan->zero > 1 && (check_meshes(spec, err) != PP_OK || check_units(plan, err) != PP_OK ||
                           check_pipelines(plan, err) != PP_OK))
        return refuse(wish, plan, err);
    return PP_OK;
}
