/* Resumes a training from a checkpoint, and writes checkpoints of it. Each process reads and writes
 * its own part, if all see the folder; else the first one reads and writes all. */
#include "exec/train/parts.h"
#include "exec/worker/transport.h"

#include <string.h>

static bool is_alone(const struct pp_keeper *keeper)
{
    return !keeper->training->machine.transport->remote;
}

/* Finds the first process that answers no, of all. */
static enum pp_status find_blind(struct pp_arena *arena, const struct pp_keeper *keeper,
                                 const struct pp_machine *machine, enum pp_train_question what,
                                 const char *path, int *blind, struct pp_error *err)
{
    struct pp_answers answers;

    PP_TRY(pp_train_ask(arena, keeper, machine, what, path, &answers, err));
    *blind = pp_train_first_no(&answers, keeper);
    return PP_OK;
}

/* ---- resumed --------------------------------------------------------------------------------- */

static enum pp_status read_all(struct pp_arena *arena, const struct pp_keeper *keeper,
                               const struct pp_machine *machine, struct pp_error *err)
{
    struct pp_checkpoint_parts parts;

    PP_TRY(pp_train_parts(arena, keeper->training, machine, true, &parts, err));
    pp_train_add_reference(&parts, keeper->reference);
    PP_TRY(pp_checkpoint_load(keeper->training->resumed, &parts, err));
    PP_TRY(pp_machine_changed(machine, err));
    return keeper->reference ? pp_reference_changed(keeper->reference, err) : PP_OK;
}

enum pp_status pp_train_resume(struct pp_keeper *keeper, const struct pp_machine *machine,
                               struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_answers answers;

    if (!keeper->training->resumed)
        return PP_OK;
    if (!is_alone(keeper))
        PP_TRY(find_blind(scratch, keeper, machine, PP_TRAIN_HAS, "", &keeper->blind[PP_RESUMED],
                          err));
    return keeper->blind[PP_RESUMED]
               ? read_all(scratch, keeper, machine, err)
               : pp_train_ask(scratch, keeper, machine, PP_TRAIN_READS, "", &answers, err);
}

/* ---- written --------------------------------------------------------------------------------- */

/* Processes see one folder if they see in it one of a name that was never there before. */
static enum pp_status look_at(struct pp_keeper *keeper, const struct pp_machine *machine,
                              const char *path, int fd, enum pp_train_folder which,
                              struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const char *probe = pp_checkpoint_probe(scratch, path, fd);

    if (!probe)
        return PP_OK; /* nothing can be written there, which the first process will say */
    const enum pp_status status =
        find_blind(scratch, keeper, machine, PP_TRAIN_SEES, probe, &keeper->blind[which], err);
    pp_checkpoint_sweep(fd);
    return status;
}

enum pp_status pp_train_look(struct pp_keeper *keeper, const struct pp_machine *machine,
                             struct pp_error *err)
{
    const struct pp_checkpoint_folder *folder = keeper->training->folder;
    const struct pp_hub_export *export = keeper->training->export;

    if (is_alone(keeper))
        return PP_OK;
    if (folder)
        PP_TRY(look_at(keeper, machine, folder->path, folder->fd, PP_WRITTEN, err));
    return export ? look_at(keeper, machine, export->folder->partial, export->folder->fd, PP_SAVED,
                            err)
                  : PP_OK;
}

static enum pp_status begin(struct pp_keeper *keeper, const struct pp_machine *machine, int done,
                            bool in_background, struct pp_error *err)
{
    const struct pp_training *training = keeper->training;
    struct pp_arena *arena = pp_arena_create();
    struct pp_manifest manifest = *training->manifest;
    struct pp_checkpoint_parts all;
    struct pp_answers answers;

    manifest.step = done;
    keeper->layers = pp_train_no_parts(arena, training);
    enum pp_status status = pp_checkpoint_begin(arena, training->folder, &manifest, &keeper->layers,
                                                &keeper->draft, err);
    if (status != PP_OK) {
        pp_arena_destroy(arena);
        keeper->draft.arena = NULL;
        return status;
    }
    if (!keeper->blind[PP_WRITTEN]) {
        PP_TRY(pp_train_ask(arena, keeper, machine,
                            in_background ? PP_TRAIN_COPIES : PP_TRAIN_WRITES, keeper->draft.path,
                            &answers, err));
        keeper->draft.writers = answers.count;
        return PP_OK;
    }
    PP_TRY(pp_train_parts(arena, training, machine, true, &all, err));
    return pp_checkpoint_copy_begin(keeper->draft.path, &all, in_background, &keeper->copy, err);
}

static bool is_gone(const void *machine, int process)
{
    return pp_machine_is_gone(machine, process);
}

/* The next step has failed: each process leaves its sums in the folder of the draft. */
static enum pp_status await_left(struct pp_keeper *keeper, const struct pp_machine *machine,
                                 struct pp_checkpoint_sum *sums, struct pp_error *err)
{
    const struct pp_checkpoint_others others = {is_gone, machine,
                                                keeper->training->machine.timeout_s};

    PP_TRY(pp_checkpoint_copy_end(&keeper->copy, sums, err));
    return pp_checkpoint_await_sums(&keeper->draft, &others, sums, err) == PP_OK
               ? PP_OK
               : pp_error_prefix(err, "the next step has failed, and ");
}

/* Waits until all have written their parts, and adds up their sums. */
static enum pp_status await(struct pp_keeper *keeper, const struct pp_machine *machine,
                            struct pp_checkpoint_sum *sums, struct pp_error *err)
{
    const int layers = keeper->training->net.layers + 2;
    struct pp_answers answers;

    if (keeper->blind[PP_WRITTEN] || is_alone(keeper))
        return pp_checkpoint_copy_end(&keeper->copy, sums, err);
    if (keeper->has_failed)
        return await_left(keeper, machine, sums, err);
    PP_TRY(pp_train_ask(keeper->draft.arena, keeper, machine, PP_TRAIN_WROTE, "", &answers, err));
    for (int k = 0; k < answers.count * layers; k++) {
        struct pp_checkpoint_sum sum;

        memcpy(&sum,
               pp_train_answer_at(&answers, keeper, k / layers) +
                   sizeof(sum) * (size_t)(k % layers),
               sizeof(sum));
        sums[k % layers].bytes += sum.bytes;
        sums[k % layers].crc ^= sum.crc;
    }
    return PP_OK;
}

/* Copies have equal weights; moments may be in any of them. A full disk does not end the
 * training. */
static void conclude(struct pp_arena *arena, struct pp_keeper *keeper,
                     const struct pp_machine *machine, struct pp_training_result *result,
                     enum pp_status status)
{
    const struct pp_training *training = keeper->training;
    struct pp_error *err = &result->checkpoint_error;
    struct pp_arena *own = keeper->draft.arena;
    const size_t copied_bytes = pp_checkpoint_copy_bytes(keeper->copy);
    const char *path;

    if (own && status == PP_OK) {
        struct pp_checkpoint_sum *sums =
            PP_ARRAY(own, struct pp_checkpoint_sum, training->net.layers + 2);
        status = await(keeper, machine, sums, err);
        if (status == PP_OK)
            status = pp_checkpoint_end(&keeper->draft, sums, &path, err);
        else
            pp_checkpoint_abandon(&keeper->draft);
    } else if (own) {
        pp_checkpoint_abandon(&keeper->draft);
    }
    err->status = status;
    if (status == PP_OK) {
        result->checkpoint = pp_arena_strdup(arena, path);
        result->checkpoints++;
        if (copied_bytes > result->checkpoint_copy_bytes)
            result->checkpoint_copy_bytes = copied_bytes;
    } else if (training->on_unwritten) {
        training->on_unwritten(training->closure, "checkpoint", err);
    }
    keeper->draft.arena = NULL;
    pp_arena_destroy(own);
}

static bool is_due(const struct pp_training *t, int done)
{
    return done == t->steps || (t->checkpoint_every > 0 && done % t->checkpoint_every == 0);
}

void pp_train_save(struct pp_arena *arena, struct pp_keeper *keeper,
                   const struct pp_machine *machine, int done, struct pp_training_result *result)
{
    const struct pp_training *training = keeper->training;
    const bool in_background = !training->checkpoint_sync && done < training->steps;

    if (!training->folder)
        return;
    if (keeper->draft.arena)
        conclude(arena, keeper, machine, result, PP_OK);
    if (!is_due(training, done))
        return;
    result->checkpoint_error = (struct pp_error){0};
    const enum pp_status status =
        begin(keeper, machine, done, in_background, &result->checkpoint_error);
    if (status != PP_OK || !in_background)
        conclude(arena, keeper, machine, result, status);
}

void pp_train_leave(struct pp_arena *arena, struct pp_keeper *keeper,
                    const struct pp_machine *machine, struct pp_training_result *result)
{
    struct pp_error ignored = {0};

    keeper->has_failed = true;
    if (keeper->draft.arena && keeper->copy)
        conclude(arena, keeper, machine, result, PP_OK);
    if (keeper->copy)
        pp_checkpoint_copy_end(&keeper->copy, NULL, &ignored);
    if (keeper->draft.arena) {
        pp_checkpoint_abandon(&keeper->draft);
        pp_arena_destroy(keeper->draft.arena);
        keeper->draft.arena = NULL;
    }
}
