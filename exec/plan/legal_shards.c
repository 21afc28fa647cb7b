/* Whether the sharded state of a program can be executed. */
#include "exec/plan/parts.h"
#include "exec/transport/transports.h"

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
    if (plan->zero > 1 && (pp_exec_check_meshes(spec, err) != PP_OK ||
                           check_units(plan, err) != PP_OK || check_pipelines(plan, err) != PP_OK))
        return refuse(wish, plan, err);
    return PP_OK;
}
