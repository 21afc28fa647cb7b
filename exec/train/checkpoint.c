/* Resumes a training from a checkpoint, and writes checkpoints of it. Each process writes its own
 * part, if all see the folder; else the first one writes all. */
#define _GNU_SOURCE /* realpath */
#include "exec/machine/transport.h"
#include "exec/train/parts.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- parts ----------------------------------------------------------------------------------- */

enum reach { OF_THIS_PROCESS, OF_ALL };

/* No parts, but the model that they are of. */
static struct pp_checkpoint_parts no_parts(struct pp_arena *arena,
                                           const struct pp_training *training)
{
    return (struct pp_checkpoint_parts){
        .whole = pp_stage_whole(arena, &training->net, 1, 1, training->machine.kernels),
        .kernels = training->machine.kernels};
}

/* Lists all copies of all stages, in one order for all processes: with their states, or with those
 * of this process. */
static enum pp_status parts_of(struct pp_arena *arena, const struct pp_training *training,
                               const struct pp_machine *machine, enum reach reach,
                               struct pp_checkpoint_parts *parts, struct pp_error *err)
{
    const struct pp_program *p = training->machine.program;
    const int places = p->pipelines * p->stages, count = training->machine.batch->replicas * places;

    *parts = no_parts(arena, training);
    parts->part = PP_ARRAY(arena, struct pp_checkpoint_part, count + 1);
    parts->count = count;
    PP_TRY(reach == OF_ALL ? pp_machine_fetch(machine, err) : pp_machine_fetch_here(machine, err));
    for (int i = 0; i < count; i++) {
        const int replica = i / places, pipe = i % places / p->stages, stage = i % p->stages;
        struct pp_checkpoint_part *part = &parts->part[i];

        part->stage = training->machine.stages[stage];
        if (reach == OF_ALL)
            PP_TRY(pp_machine_state(machine, replica, pipe, stage, &part->state, err));
        else
            part->is_elsewhere =
                !pp_machine_state_here(machine, replica, pipe, stage, &part->state);
    }
    return PP_OK;
}

static void add_reference(struct pp_checkpoint_parts *parts, const struct pp_reference *reference)
{
    if (reference)
        parts->part[parts->count++] = (struct pp_checkpoint_part){
            .stage = pp_reference_stage(reference), .state = *pp_reference_state(reference)};
}

/* ---- questions ------------------------------------------------------------------------------- */

enum what { SEES, WRITES, WHAT_COUNT };
enum { PATH_BYTES = 4096 };
struct question {
    int32_t what;
    char path[PATH_BYTES]; /* of a folder, absolute */
};

static enum pp_status answer_sees(const struct pp_keeper *keeper, const struct pp_machine *machine,
                                  const char *path, void *answer, struct pp_error *err)
{
    struct stat info;
    const int32_t sees = stat(path, &info) == 0 && S_ISDIR(info.st_mode);

    (void)keeper;
    (void)machine;
    (void)err;
    memcpy(answer, &sees, sizeof(sees));
    return PP_OK;
}

static enum pp_status answer_writes(const struct pp_keeper *keeper,
                                    const struct pp_machine *machine, const char *path,
                                    void *answer, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_checkpoint_parts parts;

    PP_TRY(parts_of(scratch, keeper->training, machine, OF_THIS_PROCESS, &parts, err));
    return pp_checkpoint_write_parts(path, &parts, answer, err);
}

static size_t flag_bytes(const struct pp_keeper *keeper)
{
    (void)keeper;
    return sizeof(int32_t);
}

static size_t sums_bytes(const struct pp_keeper *keeper)
{
    return sizeof(struct pp_checkpoint_sum) * (size_t)(keeper->training->net.layers + 2);
}

static const struct {
    enum pp_status (*answer)(const struct pp_keeper *keeper, const struct pp_machine *machine,
                             const char *path, void *answer, struct pp_error *err);
    size_t (*bytes)(const struct pp_keeper *keeper); /* of an answer */
} QUESTIONS[WHAT_COUNT] = {
    [SEES] = {answer_sees, flag_bytes},
    [WRITES] = {answer_writes, sums_bytes},
};

enum pp_status pp_train_answer(void *closure, const struct pp_machine *machine,
                               const struct pp_question *asked, void *answer, struct pp_error *err)
{
    const struct pp_keeper *keeper = closure;
    struct question q = {.what = WHAT_COUNT};

    if (asked->bytes <= sizeof(q))
        memcpy(&q, asked->at, asked->bytes);
    if (q.what < 0 || q.what >= WHAT_COUNT ||
        asked->answer_bytes != QUESTIONS[q.what].bytes(keeper))
        return pp_error_set(err, PP_EFAIL, "process 0 asks what this version does not know");
    q.path[PATH_BYTES - 1] = '\0';
    return QUESTIONS[q.what].answer(keeper, machine, q.path, answer, err);
}

/* Other processes may have been started elsewhere. */
static const char *path_for_all(struct pp_arena *arena, const struct pp_keeper *keeper,
                                const char *path)
{
    const bool are_others = keeper->training->machine.transport->remote;
    char *absolute = are_others ? realpath(path, NULL) : NULL;
    const char *text = absolute ? pp_arena_strdup(arena, absolute) : path;

    free(absolute);
    return text;
}

static enum pp_status ask(struct pp_arena *arena, const struct pp_keeper *keeper,
                          const struct pp_machine *machine, enum what what, const char *path,
                          struct pp_answers *answers, struct pp_error *err)
{
    struct question *q = PP_NEW(arena, struct question);

    path = path_for_all(arena, keeper, path);
    const struct pp_question question = {q, offsetof(struct question, path) + strlen(path) + 1,
                                         QUESTIONS[what].bytes(keeper)};
    q->what = what;
    if (strlen(path) >= PATH_BYTES)
        return pp_error_set(err, PP_EFAIL, "%s: the path is too long for other processes", path);
    memcpy(q->path, path, strlen(path) + 1);
    return pp_machine_ask(arena, machine, &question, answers, err);
}

/* Returns 1 + the first process that answers no; 0 = none. */
static int first_no(const struct pp_answers *answers)
{
    for (int process = 0; process < answers->count; process++) {
        int32_t flag;

        memcpy(&flag, answers->at + sizeof(flag) * (size_t)process, sizeof(flag));
        if (!flag)
            return 1 + process;
    }
    return 0;
}

/* ---- resumed --------------------------------------------------------------------------------- */

enum pp_status pp_train_resume(const struct pp_keeper *keeper, const struct pp_machine *machine,
                               struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_training *training = keeper->training;
    struct pp_checkpoint_parts parts;

    if (!training->resumed)
        return PP_OK;
    PP_TRY(parts_of(scratch, training, machine, OF_ALL, &parts, err));
    add_reference(&parts, keeper->reference);
    PP_TRY(pp_checkpoint_load(training->resumed, &parts, err));
    PP_TRY(pp_machine_changed(machine, err));
    return keeper->reference ? pp_reference_changed(keeper->reference, err) : PP_OK;
}

/* ---- written --------------------------------------------------------------------------------- */

/* Processes see each other's folders if they see one of a name that was never there before. */
enum pp_status pp_train_look(struct pp_keeper *keeper, const struct pp_machine *machine,
                             struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const struct pp_checkpoint_folder *folder = keeper->training->folder;
    struct pp_answers answers;

    if (!folder || !keeper->training->machine.transport->remote)
        return PP_OK;
    const char *probe = pp_checkpoint_probe(scratch, folder->path, folder->fd);
    if (!probe)
        return PP_OK; /* no checkpoint can be written there, which the first one says */
    const enum pp_status status = ask(scratch, keeper, machine, SEES, probe, &answers, err);
    pp_checkpoint_sweep(folder->fd);
    if (status == PP_OK)
        keeper->blind = first_no(&answers);
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

    PP_TRY(ask(w->arena, w->keeper, w->machine, WRITES, path, &answers, err));
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
    struct writing writing = {arena, keeper, machine};
    struct pp_checkpoint_parts parts = no_parts(arena, training);
    const struct pp_checkpoint_writers writers = {
        .parts = &parts, .write = keeper->blind ? NULL : write_all, .closure = &writing};
    struct pp_manifest manifest = *training->manifest;

    manifest.step = done;
    if (keeper->blind)
        PP_TRY(parts_of(arena, training, machine, OF_ALL, &parts, err));
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
        training->on_unwritten(training->closure, err);
    }
}
