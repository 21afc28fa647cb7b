/* Sharded state: what the program of a run cuts, and whether it can be executed. */
#include "exec/resolve/parts.h"
#include "schedules/build/build.h"

/* ---- options --------------------------------------------------------------------------------- */

/* Finds an option without effect, and what gives it one; else NULL. */
static const char *find_idle(const struct pp_exec_wish *wish, int copies, const char **help)
{
    const struct {
        const struct pp_given *given;
        bool is_idle;
        const char *help;
    } options[] = {
        {&wish->given.grad_sync, copies < 2, "with one replica of each stage; give --dp 2"},
        {&wish->given.zero, copies < 2 && wish->zero > 0,
         "with one replica of each stage; give --dp 2"},
        {&wish->given.gather, wish->zero < 3, "without sharded parameters; give --zero 3"},
        {&wish->given.gather_buffers, wish->zero < 2,
         "without sharded gradients or parameters; give --zero 2 or 3"},
    };

    for (size_t i = 0; i < PP_COUNT(options); i++)
        if (options[i].given->count && options[i].is_idle) {
            *help = options[i].help;
            return options[i].given->typed;
        }
    return NULL;
}

enum pp_status pp_exec_take_shards(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_build *build,
                                   struct pp_error *err)
{
    const struct pp_program *file = plan->subject.file;
    const bool is_gathered = file && pp_state_is_gathered(&file->state.spec);
    const char *help;

    pp_build_take_zero(build, is_gathered ? 3 : wish->zero, config->replicas);
    build->state.buffers = wish->gather_buffers;
    const char *idle =
        plan->subject.is_listed ? NULL : find_idle(wish, pp_build_copies(build), &help);
    if (idle)
        return pp_error_set(err, PP_EINVAL, "%s has no effect %s", idle, help);
    if (wish->gather == PP_GATHER_LAYER)
        return pp_error_set(err, PP_EINVAL,
                            "%s is only simulated: an op here uses its whole chunk; nearest: "
                            "--gather chunk",
                            wish->given.gather.typed);
    return PP_OK;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Begins the message with the option as typed, or with the program file. */
static enum pp_status refuse(const struct pp_exec_wish *wish, const struct pp_exec_plan *plan,
                             struct pp_error *err)
{
    return wish->given.zero.count ? pp_error_prefix(err, "%s: ", wish->given.zero.typed)
                                  : pp_error_prefix(err, "--schedule %s: ", plan->subject.name);
}

/* An op of a program file may gather layers one by one. */
static enum pp_status check_units(const struct pp_exec_plan *plan, struct pp_error *err)
{
    const struct pp_program *p = plan->program;

    for (int stage = 0; plan->zero > 2 && stage < p->stages; stage++)
        if (p->state.units[stage] > 1)
            return pp_error_set(err, PP_EINVAL,
                                "%s gathers stage %d in %d units, which is only simulated: an op "
                                "here uses its whole chunk; nearest: 1",
                                plan->subject.name, stage, p->state.units[stage]);
    return PP_OK;
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
    if (check_units(plan, err) != PP_OK || check_pipelines(plan, err) != PP_OK ||
        check_tied(config, plan, err) != PP_OK || check_stream(config, err) != PP_OK)
        return refuse(wish, plan, err);
    return PP_OK;
}
