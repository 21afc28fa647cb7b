/* Work after a step: the loss of other data, and a row of the log. */
#include "exec/train/parts.h"

#include <math.h>

static bool is_due(const struct pp_training *t, int done)
{
    return t->valid && (done == t->steps || done % t->valid_every == 0);
}

enum pp_status pp_train_validate(const struct pp_training *t, struct pp_machine *machine,
                                 struct pp_reference *reference, int k,
                                 struct pp_training_result *result, struct pp_error *err)
{
    double sum = 0, loss, reference_loss;

    result->valid_losses[k] = (double)NAN;
    if (!is_due(t, t->first_step + k + 1))
        return PP_OK;
    pp_machine_probes(machine, false);
    pp_machine_on_gradients(machine, NULL, NULL);
    for (int pass = 0; pass < t->valid_steps; pass++) {
        PP_TRY(pp_machine_forward(machine, t->valid, pass, &loss, err));
        sum += loss;
        if (!reference || t->check != PP_CHECK_ALL) /* its weights are older */
            continue;
        PP_TRY(pp_reference_forward(reference, t->valid, pass, &reference_loss, err));
        result->is_loss_equal &= loss == reference_loss;
    }
    result->valid_losses[k] = sum / t->valid_steps;
    return PP_OK;
}

/* A full disk does not end the training. */
void pp_train_log(const struct pp_training *t, int k, struct pp_training_result *result)
{
    const int step = t->first_step + k;
    const struct pp_log_row row = {
        .step = step + 1,
        .loss = result->losses[k],
        .valid_loss = result->valid_losses[k],
        .grad_norm = result->grad_norms[k],
        .rate = pp_recipe_rate(t->machine.recipe, step),
        .elapsed_s = result->elapsed_s[k],
        .tokens = (int64_t)pp_batch_samples(t->machine.batch) * t->net.seq,
    };

    struct pp_error error = {0};

    if (!t->log || pp_log_add(t->log, &row, &error) == PP_OK || result->missing_rows++ > 0)
        return;
    result->log_error = error;
    if (t->on_unwritten)
        t->on_unwritten(t->closure, "row of the log", &error);
}
