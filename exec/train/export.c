/* Writes the trained weights for the hub. The first process fetches all states, and takes each
 * number from the first copy that has it. */
#include "exec/train/parts.h"

#include "kernels/numbers.h"

/* Parts of one model, all of them here. */
static enum pp_status fetch(void *closure, const struct pp_param *tensor, struct pp_range range,
                            float *values, struct pp_error *err)
{
    const struct pp_checkpoint_parts *parts = closure;
    const size_t bytes = parts->kernels->gradient_bytes;
    int64_t done = range.from;

    for (int part = 0; done < range.until;) {
        const struct pp_param *param = pp_checkpoint_find(parts, tensor->id, &part);
        if (!param)
            return pp_error_set(err, PP_EFAIL, "no process has all of %s in layer %d", tensor->name,
                                tensor->layer);
        const struct pp_range held = pp_checkpoint_range(parts, part - 1, param, 0);
        if (held.from > done || held.until <= done)
            continue;
        const int64_t until = held.until < range.until ? held.until : range.until;
        const void *vector = pp_checkpoint_vector(parts, part - 1, param, 0);
        for (int64_t i = done; i < until; i++)
            values[i - range.from] = (float)pp_number_get(vector, bytes, i - held.from);
        done = until;
    }
    return PP_OK;
}

static enum pp_status write(const struct pp_training *training, const struct pp_machine *machine,
                            struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_checkpoint_parts parts;

    PP_TRY(pp_train_parts(scratch, training, machine, true, &parts, err));
    return pp_hub_export_write(scratch, training->export, fetch, &parts, err);
}

void pp_train_export(const struct pp_training *training, const struct pp_machine *machine,
                     struct pp_training_result *result)
{
    struct pp_error *err = &result->export_error;

    *err = (struct pp_error){0};
    if (training->export)
        err->status = write(training, machine, err);
}
