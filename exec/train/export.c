/* Writes the trained weights for the hub. Each process writes its own, if all see the folder; else
 * the first process fetches all states. */
#include "exec/train/parts.h"

/* Has all parts written, and adds up their bytes. */
static enum pp_status gather(struct pp_arena *arena, struct pp_keeper *keeper,
                             const struct pp_machine *machine, int64_t *bytes, struct pp_error *err)
{
    const struct pp_hub_export *export = keeper->training->export;
    struct pp_checkpoint_parts parts;
    struct pp_answers answers;

    if (!keeper->blind[PP_SAVED]) {
        PP_TRY(pp_train_ask(arena, keeper, machine, PP_TRAIN_SAVES, export->folder->partial,
                            &answers, err));
        *bytes = pp_train_total(&answers, keeper);
        return PP_OK;
    }
    PP_TRY(pp_train_parts(arena, keeper->training, machine, true, &parts, err));
    return pp_train_export_parts(export, export->folder->partial, &parts, bytes, err);
}

static enum pp_status write(struct pp_keeper *keeper, const struct pp_machine *machine,
                            struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_hub_export *export = keeper->training->export;
    const struct pp_hub_draft draft = pp_hub_draft_of(scratch, export, export->folder->partial);
    const int64_t wanted = pp_hub_trained_bytes(export->layout);
    int64_t bytes = 0;

    PP_TRY(pp_hub_draft_begin(&draft, err));
    PP_TRY(gather(scratch, keeper, machine, &bytes, err));
    if (bytes != wanted)
        return pp_error_set(err, PP_EFAIL,
                            "%s: %lld bytes of weights were written, not %lld: did each process "
                            "begin with the same --model?",
                            export->folder->partial, (long long)bytes, (long long)wanted);
    return pp_hub_draft_end(&draft, err);
}

void pp_train_export(struct pp_keeper *keeper, const struct pp_machine *machine,
                     struct pp_training_result *result)
{
    struct pp_error *err = &result->export_error;

    *err = (struct pp_error){0};
    if (keeper->training->export)
        err->status = write(keeper, machine, err);
}
