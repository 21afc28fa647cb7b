/* Figures of other memory tiers: as measured, and as layout and costs predict them. */
#include "exec/train/parts.h"

static enum pp_status read_here(struct pp_train_run *run, bool are_here[], struct pp_error *err)
{
    for (int rank = 0; rank < run->training->machine.program->ranks; rank++)
        PP_TRY(pp_copy_figures(run->machine, rank, 0, &run->result->tiers[rank], &are_here[rank],
                               err));
    return PP_OK;
}

/* Brings the figures of other processes. */
static enum pp_status read_others(struct pp_train_run *run, struct pp_error *err)
{
    struct pp_answers answers;

    PP_TRY(
        pp_train_ask(run->arena, &run->keeper, run->machine, PP_TRAIN_COPIED, "", &answers, err));
    for (int process = 0; process < answers.count; process++) {
        const struct pp_rank_tiers *t = pp_train_rank_tiers(&answers, &run->keeper, process);

        if (t->rank >= 0 && t->rank < run->training->machine.program->ranks)
            run->result->tiers[t->rank] = t->figures;
    }
    return PP_OK;
}

static void predict(const struct pp_train_run *run)
{
    const struct pp_machine_options *m = &run->training->machine;
    const struct pp_rank_layout *layout = pp_machine_layout(run->machine);

    for (int rank = 0; rank < m->program->ranks; rank++) {
        struct pp_tier_figures *figures = &run->result->predicted_tiers[rank];

        for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++)
            for (int c = 0; c < PP_STATE_CLASSES; c++)
                figures->written_bytes[tier] += layout[rank].away_bytes[tier][c];
        pp_copied_of_rank(m->program, m->costs, rank, figures->copied);
    }
}

enum pp_status pp_train_read_tiers(struct pp_train_run *run, struct pp_error *err)
{
    const struct pp_program *p = run->training->machine.program;
    bool *are_here = PP_ARRAY(run->arena, bool, p->ranks), are_all_here = true;

    if (!pp_state_is_offloaded(&p->state.spec))
        return PP_OK;
    run->result->tiers = PP_ARRAY(run->arena, struct pp_tier_figures, p->ranks);
    run->result->predicted_tiers = PP_ARRAY(run->arena, struct pp_tier_figures, p->ranks);
    predict(run);
    PP_TRY(read_here(run, are_here, err));
    for (int rank = 0; rank < p->ranks; rank++)
        are_all_here &= are_here[rank];
    return are_all_here ? PP_OK : read_others(run, err);
}
