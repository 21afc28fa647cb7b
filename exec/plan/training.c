/* The training run of a plan. */
#include "exec/plan/plan.h"

/* Returns the number of steps whose times are kept: all judged ones, fewer of immense programs. */
static int kept_steps(const struct pp_exec_plan *plan)
{
    enum { MOST = 64, FEWEST = 4, ROWS = 1 << 22 };
    const int64_t rows = (int64_t)pp_program_size(plan->program) * plan->batch.replicas,
                  kept = ROWS / rows;

    return kept > MOST ? MOST : kept < FEWEST ? FEWEST : (int)kept;
}

struct pp_training pp_exec_training(const struct pp_exec_wish *wish,
                                    const struct pp_exec_config *config,
                                    const struct pp_exec_plan *plan)
{
    const bool is_checked = !wish->no_check;
    struct pp_text text = config->text;

    text.order.step_samples = pp_batch_samples(&plan->batch);
    return (struct pp_training){
        .machine = {.program = plan->program,
                    .stages = plan->stages,
                    .tp = config->tp,
                    .ep = config->expert_replicas,
                    .batch = &plan->batch,
                    .recipe = &config->recipe,
                    .kernels = config->kernels,
                    .backend = config->backend,
                    .transport = config->transport,
                    .tiers = config->tiers,
                    .nccl = config->nccl,
                    .ipc = config->ipc,
                    .may_choose_transport = config->may_choose_transport,
                    .timeout_s = config->timeout_s,
                    .inject = config->inject,
                    .meeting = config->meeting,
                    .words = config->words,
                    .costs = plan->costs,
                    .clock = config->clock,
                    .mode = config->mode,
                    .uses_graphs = config->uses_graphs,
                    .has_durations = plan->unit != NULL,
                    .slow = plan->slow,
                    .cores = config->cores,
                    .kept_steps = kept_steps(plan),
                    .is_poisoned = is_checked,
                    .seed = config->recipe.seed},
        .plain_costs = plan->plain_costs,
        .schedule = plan->subject.schedule,
        .net = config->net,
        .text = text,
        .first_step = config->first_step,
        .steps = config->steps,
        .resumed = config->resumed,
        .warmup = config->warmup,
        .check = !is_checked   ? PP_CHECK_NONE
                 : wish->check ? PP_CHECK_ALL
                               : PP_CHECK_FIRST,
    };
}
