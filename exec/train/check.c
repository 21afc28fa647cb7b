/* Checks of a training run: gradients and weights against those of a reference. */
#include "exec/train/parts.h"

enum pp_status pp_train_compare(const struct pp_train_run *run, enum pp_vector what,
                                struct pp_difference *difference, struct pp_error *err)
{
    const struct pp_machine_options *m = &run->training->machine;
    const int stages = m->program->stages, places = m->program->pipelines * stages,
              tp = m->tp > 1 ? m->tp : 1, ep = m->ep > 1 ? m->ep : 1;

    for (int k = 0; k < m->batch->replicas * tp * places; k++) {
        const int place = k % places, t = k / places % tp, stage = place % stages,
                  replica = k / places / tp, part = t * ep + replica % ep;
        struct pp_state state;

        PP_TRY(pp_machine_state_of(run->machine, replica, t, place / stages, stage, &state, err));
        pp_reference_compare(run->reference, m->stages[part * stages + stage], &state, what,
                             difference);
    }
    return PP_OK;
}

bool pp_train_is_checked(const struct pp_train_run *run, int step)
{
    return run->reference &&
           (step == run->training->first_step || run->training->check == PP_CHECK_ALL);
}

void pp_train_on_gradients(void *closure, const struct pp_machine *machine, int step)
{
    struct pp_train_run *run = closure;
    struct pp_error none; /* gradients are here already */

    (void)machine;
    (void)step;
    (void)pp_train_compare(run, PP_VECTOR_GRADIENTS, &run->result->gradients, &none);
}

struct pp_stage_share pp_train_share(const struct pp_machine_options *options)
{
    const struct pp_stage_shape *shape = &options->stages[0]->shape;

    return (struct pp_stage_share){
        .tp = options->tp, .etp = shape->etp, .is_sequence_parallel = shape->is_sequence_parallel};
}

enum pp_status pp_train_begin_check(struct pp_train_run *run, struct pp_error *err)
{
    const struct pp_training *t = run->training;

    if (t->check == PP_CHECK_NONE)
        return PP_OK;
    run->result->is_checked = run->result->is_loss_equal = true;
    const struct pp_place place = {
        .backend = t->machine.backend,
        .mode = t->machine.mode,
        .share = pp_train_share(&t->machine),
        .parts = t->machine.program->ranks * t->machine.batch->replicas,
        .left_free = pp_machine_way(run->machine).left_free,
        .place = t->machine.meeting.local_index,
        .timeout_s = t->machine.timeout_s,
        .on_stuck = t->machine.on_stuck,
        .stuck_closure = t->machine.stuck_closure,
    };
    return pp_reference_create(run->arena, &t->net, t->machine.kernels, &place, t->machine.batch,
                               t->machine.recipe, &run->reference, err);
}
