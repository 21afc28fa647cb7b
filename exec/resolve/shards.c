/* Sharded state: what the program of a run cuts, and whether it can be executed. */
#include "exec/resolve/parts.h"

/* Begins the message with the option as typed, or with the program file. */
static enum pp_status refuse(const struct pp_exec_wish *wish, const struct pp_exec_plan *plan,
                             struct pp_error *err)
{
    return wish->given.zero.count ? pp_error_prefix(err, "%s: ", wish->given.zero.typed)
                                  : pp_error_prefix(err, "--schedule %s: ", plan->subject.name);
}

/* Copies in several pipelines use a stage at different times (docs/executor.md, "Shards"). */
static enum pp_status check_pipelines(const struct pp_exec_plan *plan, struct pp_error *err)
{
    if (plan->program->pipelines < 2)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s holds each stage on several ranks, which use it at different times: "
                        "only its optimizer state can be cut; nearest: --zero 1",
                        plan->subject.name);
}

/* Shares of the embedding and of the head are on different replicas, and no sum joins them. */
static enum pp_status check_tied(const struct pp_exec_config *config,
                                 const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_program *p = plan->program;

    if (!config->net.is_tied || p->stages < 2 || pp_program_has_tied(p))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s holds embedding and head of %s on one rank, which share a matrix: its "
                        "gradient is added up there whole; nearest: --zero 1, or a model whose "
                        "head has its own",
                        plan->subject.name, config->net.name);
}

static enum pp_status check_stream(const struct pp_exec_config *config, struct pp_error *err)
{
    return !config->has_weight_stream
               ? PP_OK
               : pp_error_set(err, PP_EINVAL,
                              "its scatters wait for every weight gradient; nearest: "
                              "--weight-grad-stream off, --zero 1");
}

enum pp_status pp_exec_check_shards(const struct pp_exec_wish *wish,
                                    const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                    struct pp_error *err)
{
    const struct pp_state_spec *spec = &plan->program->state.spec;

    plan->zero = pp_state_is_gathered(spec) ? 3
                 : pp_state_has_parts(spec) ? 2
                                            : pp_program_has_kind(plan->program, PP_RS);
    if (plan->zero < 2)
        return PP_OK;
    if (check_pipelines(plan, err) != PP_OK || check_tied(config, plan, err) != PP_OK ||
        check_stream(config, err) != PP_OK)
        return refuse(wish, plan, err);
    return PP_OK;
}
