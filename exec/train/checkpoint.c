/* Resumes a training from a checkpoint, and writes checkpoints of it. Each process reads and writes
 * its own part, if all see the folder; else the first one reads and writes all. */
#include "exec/machine/transport.h"
#include "exec/train/parts.h"

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
enum pp_status pp_train_look(struct pp_keeper *keeper, const struct pp_machine *machine,
                             struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_checkpoint_folder *folder = keeper->training->folder;

    if (!folder || is_alone(keeper))
        return PP_OK;
    const char *probe = pp_checkpoint_probe(scratch, folder->path, folder->fd);
    if (!probe)
        return PP_OK; /* no checkpoint can be written there, which the first one will say */
    const enum pp_status status =
        find_blind(scratch, keeper, machine, PP_TRAIN_SEES, probe, &keeper->blind[PP_WRITTEN], err);
    pp_checkpoint_sweep(folder->fd);
    return status;
}

struct writing {
    struct pp_arena *arena;
    const struct pp_keeper *keeper;
    const struct pp_machine *machine;
};

static enum pp_status write_all(void *closure, const char *path, struct pp_checkpoint_sum *sums,
                                struct pp_error *err)
{
    const struct writing *w = closure;
    const int layers = w->keeper->training->net.layers + 2;
    struct pp_answers answers;

    PP_TRY(pp_train_ask(w->arena, w->keeper, w->machine, PP_TRAIN_WRITES, path, &answers, err));
    for (int k = 0; k < answers.count * layers; k++) {
        struct pp_checkpoint_sum sum;

        memcpy(&sum, answers.at + sizeof(sum) * (size_t)k, sizeof(sum));
        sums[k % layers].bytes += sum.bytes;
        sums[k % layers].crc ^= sum.crc;
    }
    return PP_OK;
}

static enum pp_status save(struct pp_arena *arena, const struct pp_keeper *keeper,
                           const struct pp_machine *machine, int done, const char **path,
                           struct pp_error *err)
{
    const struct pp_training *training = keeper->training;
    const bool is_blind = keeper->blind[PP_WRITTEN];
    struct writing writing = {arena, keeper, machine};
    struct pp_checkpoint_parts parts = pp_train_no_parts(arena, training);
    const struct pp_checkpoint_writers writers = {
        .parts = &parts, .write = is_blind ? NULL : write_all, .closure = &writing};
    struct pp_manifest manifest = *training->manifest;

    manifest.step = done;
    if (is_blind)
        PP_TRY(pp_train_parts(arena, training, machine, true, &parts, err));
    return pp_checkpoint_write(arena, training->folder, &manifest, &writers, path, err);
}

static bool is_due(const struct pp_training *t, int done)
{
    return done == t->steps || (t->checkpoint_every > 0 && done % t->checkpoint_every == 0);
}

/* Copies have equal weights; moments may be in any of them. A full disk does not end the
 * training. */
void pp_train_save(struct pp_arena *arena, const struct pp_keeper *keeper,
                   const struct pp_machine *machine, int done, struct pp_training_result *result)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_training *training = keeper->training;
    struct pp_error *err = &result->checkpoint_error;
    const char *path;

    if (!training->folder || !is_due(training, done))
        return;
    *err = (struct pp_error){0};
    err->status = save(scratch, keeper, machine, done, &path, err);
    if (err->status == PP_OK) {
        result->checkpoint = pp_arena_strdup(arena, path);
        result->checkpoints++;
    } else if (training->on_unwritten) {
        training->on_unwritten(training->closure, "checkpoint", err);
    }
}
