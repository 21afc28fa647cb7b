/* Resumes a training from a checkpoint, and writes checkpoints of it. */
#include "exec/train/parts.h"

/* Collects the states of all copies, and of the reference if there is one. */
static enum pp_status parts_of(struct pp_arena *arena, const struct pp_training *training,
                               const struct pp_machine *machine,
                               const struct pp_reference *reference,
                               struct pp_checkpoint_parts *parts, struct pp_error *err)
{
    const struct pp_program *p = training->machine.program;
    const int replicas = training->machine.batch->replicas;
    struct pp_state state;

    *parts = (struct pp_checkpoint_parts){
        .whole = pp_stage_whole(arena, &training->net, 1, 1, training->machine.kernels),
        .kernels = training->machine.kernels,
        .part =
            PP_ARRAY(arena, struct pp_checkpoint_part, replicas * p->pipelines * p->stages + 1)};

    for (int replica = 0; replica < replicas; replica++)
        for (int pipe = 0; pipe < p->pipelines; pipe++)
            for (int stage = 0; stage < p->stages; stage++) {
                PP_TRY(pp_machine_state(machine, replica, pipe, stage, &state, err));
                parts->part[parts->count++] =
                    (struct pp_checkpoint_part){training->machine.stages[stage], state};
            }
    if (reference)
        parts->part[parts->count++] = (struct pp_checkpoint_part){pp_reference_stage(reference),
                                                                  *pp_reference_state(reference)};
    return PP_OK;
}

enum pp_status pp_train_resume(const struct pp_training *training, const struct pp_machine *machine,
                               const struct pp_reference *reference, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_checkpoint_parts parts;

    if (!training->resumed)
        return PP_OK;
    PP_TRY(parts_of(scratch, training, machine, reference, &parts, err));
    PP_TRY(pp_checkpoint_load(training->resumed, &parts, err));
    PP_TRY(pp_machine_changed(machine, err));
    return reference ? pp_reference_changed(reference, err) : PP_OK;
}

static bool is_due(const struct pp_training *t, int done)
{
    return done == t->steps || (t->checkpoint_every > 0 && done % t->checkpoint_every == 0);
}

/* Copies have equal weights; moments may be in any of them. A full disk does not end the
 * training. */
void pp_train_save(struct pp_arena *arena, const struct pp_training *training,
                   const struct pp_machine *machine, int done, struct pp_training_result *result)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_error *err = &result->checkpoint_error;
    struct pp_checkpoint_parts parts;
    const char *path;

    if (!training->folder || !is_due(training, done))
        return;
    struct pp_manifest manifest = *training->manifest;
    manifest.step = done;
    *err = (struct pp_error){0};
    err->status = parts_of(scratch, training, machine, NULL, &parts, err);
    if (err->status == PP_OK)
        err->status = pp_checkpoint_write(scratch, training->folder, &manifest, &parts, &path, err);
    if (err->status == PP_OK) {
        result->checkpoint = pp_arena_strdup(arena, path);
        result->checkpoints++;
    } else if (training->on_unwritten) {
        training->on_unwritten(training->closure, err);
    }
}
