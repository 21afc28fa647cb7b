/* Checks of a training run: gradients and weights against those of a reference. */
#include "exec/train/parts.h"

enum pp_status pp_train_compare(const struct pp_train_run *run,
                                const struct pp_reference *reference, enum pp_vector what,
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
        pp_reference_compare(reference, m->stages[part * stages + stage], &state, what, difference);
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
    struct pp_training_result *r = run->result;
    struct pp_error none; /* gradients are here already */

    (void)machine;
    (void)pp_train_compare(run, run->reference, PP_VECTOR_GRADIENTS, &r->gradients, &none);
    if (run->plain && step == run->training->first_step)
        (void)pp_train_compare(run, run->plain, PP_VECTOR_GRADIENTS, &r->gap, &none);
}

struct pp_stage_share pp_train_share(const struct pp_machine_options *options)
{
    const struct pp_stage_shape *shape = &options->stages[0]->shape;

    return (struct pp_stage_share){.tp = options->tp,
                                   .etp = shape->etp,
                                   .act_bits = shape->act_bits,
                                   .is_sequence_parallel = shape->is_sequence_parallel};
}

enum pp_status pp_train_begin_check(struct pp_train_run *run, struct pp_error *err)
{
    const struct pp_training *t = run->training;

    if (t->check == PP_CHECK_NONE)
        return PP_OK;
    run->result->is_checked = run->result->is_loss_equal = true;
    struct pp_place place = {
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
    PP_TRY(pp_reference_create(run->arena, &t->net, t->machine.kernels, &place, t->machine.batch,
                               t->machine.recipe, &run->reference, err));
    if (place.share.act_bits == 0)
        return PP_OK;
    place.share.act_bits = 0;
    return pp_reference_create(run->arena, &t->net, t->machine.kernels, &place, t->machine.batch,
                               t->machine.recipe, &run->plain, err);
}

void pp_train_reserve(const struct pp_training *training, struct pp_machine_options *options)
{
    struct pp_stage_share share = pp_train_share(options);
    const int references = share.act_bits > 0 ? 2 : 1;

    for (int k = 0; k < references; k++) {
        size_t bytes, staging_bytes;

        pp_reference_bytes(&training->net, options->kernels, options->batch, share,
                           options->recipe->is_exact, &bytes, &staging_bytes);
        options->reserved_bytes += bytes;
        options->reserved_staging_bytes += staging_bytes;
        share.act_bits = 0;
    }
}

/* ---- few bits -------------------------------------------------------------------------------- */

enum pp_status pp_train_reference_step(struct pp_train_run *run, int step, struct pp_error *err)
{
    const struct pp_text *text = &run->training->text;

    PP_TRY(pp_reference_step(run->reference, text, step, &run->reference_loss, err));
    if (!run->plain)
        return PP_OK;
    return pp_reference_step(run->plain, text, step,
                             &run->result->plain_losses[step - run->training->first_step], err);
}

enum pp_status pp_train_reference_update(struct pp_train_run *run, int step, struct pp_error *err)
{
    PP_TRY(pp_reference_update(run->reference, step, err));
    return run->plain ? pp_reference_update(run->plain, step, err) : PP_OK;
}
