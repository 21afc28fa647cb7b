/* Questions of the first process about the state on disk, and the answers of all: each reads and
 * writes its own part. */
#define _GNU_SOURCE /* realpath */
#include "core/hash.h"
#include "exec/train/parts.h"
#include "exec/worker/transport.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- parts ----------------------------------------------------------------------------------- */

struct pp_checkpoint_parts pp_train_no_parts(struct pp_arena *arena,
                                             const struct pp_training *training)
{
    return (struct pp_checkpoint_parts){
        .whole = pp_stage_whole(arena, &training->net, 1, 1, training->machine.kernels),
        .kernels = training->machine.kernels};
}

enum pp_status pp_train_parts(struct pp_arena *arena, const struct pp_training *training,
                              const struct pp_machine *machine, bool are_all_here,
                              struct pp_checkpoint_parts *parts, struct pp_error *err)
{
    const struct pp_machine_options *m = &training->machine;
    const struct pp_program *p = m->program;
    const int places = p->pipelines * p->stages, tp = m->tp > 1 ? m->tp : 1,
              ep = m->ep > 1 ? m->ep : 1, count = m->batch->replicas * tp * places;

    *parts = pp_train_no_parts(arena, training);
    parts->part = PP_ARRAY(arena, struct pp_checkpoint_part, count + tp);
    parts->count = count;
    for (int i = 0; i < count; i++) {
        const int replica = i / places / tp, t = i / places % tp, pipe = i % places / p->stages,
                  stage = i % p->stages;
        struct pp_checkpoint_part *part = &parts->part[i];

        part->stage = m->stages[(t * ep + replica % ep) * p->stages + stage];
        if (are_all_here)
            PP_TRY(pp_machine_state_of(machine, replica, t, pipe, stage, &part->state, err));
        else
            part->is_elsewhere = !pp_machine_state_here(machine, replica, t, pipe, stage,
                                                        &part->state, &part->reach);
    }
    return PP_OK;
}

void pp_train_add_reference(struct pp_checkpoint_parts *parts, const struct pp_reference *reference)
{
    for (int t = 0; reference && t < pp_reference_devices(reference); t++)
        parts->part[parts->count++] = (struct pp_checkpoint_part){
            .stage = pp_reference_stage(reference, t), .state = *pp_reference_state(reference, t)};
}

/* ---- questions ------------------------------------------------------------------------------- */

enum { PATH_BYTES = 4096 };
struct question {
    int32_t what;
    uint64_t manifest;     /* hash of that of the checkpoint to resume */
    char path[PATH_BYTES]; /* of a folder, absolute; "" = none */
};

static uint64_t hash_of(struct pp_arena *arena, const struct pp_manifest *manifest)
{
    size_t length;
    const char *text = pp_manifest_print(arena, manifest, &length);

    return pp_hash(PP_HASH_OF_NOTHING, text, length);
}

/* A question to this process. */
struct asked {
    struct pp_arena *scratch;
    struct pp_keeper *keeper;
    const struct pp_machine *machine;
    const struct question *question;
};

static enum pp_status parts_here(const struct asked *a, struct pp_checkpoint_parts *parts,
                                 struct pp_error *err)
{
    PP_TRY(pp_train_parts(a->scratch, a->keeper->training, a->machine, false, parts, err));
    parts->process = pp_machine_process(a->machine);
    return PP_OK;
}

static enum pp_status answer_sees(const struct asked *a, void *answer, struct pp_error *err)
{
    struct stat info;

    (void)err;
    *(char *)answer = stat(a->question->path, &info) == 0 && S_ISDIR(info.st_mode);
    return PP_OK;
}

static enum pp_status answer_writes(const struct asked *a, void *answer, struct pp_error *err)
{
    struct pp_checkpoint_parts parts;

    (void)answer;
    if (a->keeper->copy) /* of a checkpoint that another process could not write */
        pp_checkpoint_copy_end(&a->keeper->copy, NULL, err);
    PP_TRY(parts_here(a, &parts, err));
    return pp_checkpoint_copy_begin(a->question->path, &parts, a->question->what == PP_TRAIN_COPIES,
                                    &a->keeper->copy, err);
}

static enum pp_status answer_wrote(const struct asked *a, void *answer, struct pp_error *err)
{
    return pp_checkpoint_copy_end(&a->keeper->copy, answer, err);
}

/* It may be another folder than that of process 0, with the same checkpoint. */
static enum pp_status answer_has(const struct asked *a, void *answer, struct pp_error *err)
{
    const struct pp_checkpoint *resumed = a->keeper->training->resumed;
    struct pp_checkpoint_parts parts;

    PP_TRY(parts_here(a, &parts, err));
    *(char *)answer = resumed && hash_of(a->scratch, &resumed->manifest) == a->question->manifest &&
                      pp_checkpoint_has_files(resumed, &parts);
    return PP_OK;
}

static enum pp_status answer_reads(const struct asked *a, void *answer, struct pp_error *err)
{
    const struct pp_keeper *keeper = a->keeper;
    struct pp_checkpoint_parts parts;

    (void)answer;
    PP_TRY(parts_here(a, &parts, err));
    pp_train_add_reference(&parts, keeper->reference);
    PP_TRY(pp_checkpoint_load(keeper->training->resumed, &parts, err));
    return keeper->reference ? pp_reference_changed(keeper->reference, err) : PP_OK;
}

static enum pp_status answer_saves(const struct asked *a, void *answer, struct pp_error *err)
{
    const struct pp_hub_export *export = a->keeper->training->export;
    struct pp_checkpoint_parts parts;
    int64_t bytes = 0;

    if (!export)
        return pp_error_set(err, PP_EFAIL, "it has begun without --save");
    PP_TRY(parts_here(a, &parts, err));
    PP_TRY(pp_train_export_parts(export, a->question->path, &parts, &bytes, err));
    memcpy(answer, &bytes, sizeof(bytes));
    return PP_OK;
}

/* Answers for the worker of this process, if it is in the first replica. */
static enum pp_status answer_copied(const struct asked *a, void *answer, struct pp_error *err)
{
    const struct pp_machine_options *m = &a->keeper->training->machine;
    struct pp_rank_tiers tiers = {.rank = -1};
    bool is_here = false;

    for (int rank = 0; rank < m->program->ranks && !is_here; rank++) {
        PP_TRY(pp_copy_figures(a->machine, rank, 0, &tiers.figures, &is_here, err));
        tiers.rank = is_here ? rank : -1;
    }
    memcpy(answer, &tiers, sizeof(tiers));
    return PP_OK;
}

static enum pp_status (*const ANSWERS[PP_TRAIN_QUESTIONS])(const struct asked *asked, void *answer,
                                                           struct pp_error *err) = {
    [PP_TRAIN_SEES] = answer_sees,     [PP_TRAIN_WRITES] = answer_writes,
    [PP_TRAIN_COPIES] = answer_writes, [PP_TRAIN_WROTE] = answer_wrote,
    [PP_TRAIN_HAS] = answer_has,       [PP_TRAIN_READS] = answer_reads,
    [PP_TRAIN_SAVES] = answer_saves,   [PP_TRAIN_COPIED] = answer_copied,
};

/* Room for any answer. */
static size_t answer_bytes(const struct pp_keeper *keeper)
{
    const size_t sums =
        sizeof(struct pp_checkpoint_sum) * (size_t)(keeper->training->net.layers + 2);

    return sums > sizeof(struct pp_rank_tiers) ? sums : sizeof(struct pp_rank_tiers);
}

enum pp_status pp_train_answer(void *keeper, const struct pp_machine *machine,
                               const struct pp_question *asked, void *answer, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct question q = {.what = PP_TRAIN_QUESTIONS};

    if (asked->bytes <= sizeof(q))
        memcpy(&q, asked->at, asked->bytes);
    if (q.what < 0 || q.what >= PP_TRAIN_QUESTIONS || asked->answer_bytes != answer_bytes(keeper))
        return pp_error_set(err, PP_EFAIL, "process 0 asks what this version does not know");
    q.path[PATH_BYTES - 1] = '\0';
    return ANSWERS[q.what](&(struct asked){scratch, keeper, machine, &q}, answer, err);
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

enum pp_status pp_train_ask(struct pp_arena *arena, const struct pp_keeper *keeper,
                            const struct pp_machine *machine, enum pp_train_question what,
                            const char *path, struct pp_answers *answers, struct pp_error *err)
{
    const struct pp_checkpoint *resumed = keeper->training->resumed;
    struct question *q = PP_NEW(arena, struct question);

    path = path_for_all(arena, keeper, path);
    const struct pp_question question = {q, offsetof(struct question, path) + strlen(path) + 1,
                                         answer_bytes(keeper)};
    q->what = what;
    q->manifest = resumed ? hash_of(arena, &resumed->manifest) : 0;
    if (strlen(path) >= PATH_BYTES)
        return pp_error_set(err, PP_EFAIL, "%s: the path is too long for other processes", path);
    memcpy(q->path, path, strlen(path) + 1);
    return pp_machine_ask(arena, machine, &question, answers, err);
}

const char *pp_train_answer_at(const struct pp_answers *answers, const struct pp_keeper *keeper,
                               int process)
{
    return answers->at + (size_t)process * answer_bytes(keeper);
}

int pp_train_first_no(const struct pp_answers *answers, const struct pp_keeper *keeper)
{
    for (int process = 0; process < answers->count; process++)
        if (!*pp_train_answer_at(answers, keeper, process))
            return 1 + process;
    return 0;
}

const struct pp_rank_tiers *pp_train_rank_tiers(const struct pp_answers *answers,
                                                const struct pp_keeper *keeper, int process)
{
    return (const void *)pp_train_answer_at(answers, keeper, process);
}

int64_t pp_train_total(const struct pp_answers *answers, const struct pp_keeper *keeper)
{
    int64_t total = 0, one;

    for (int process = 0; process < answers->count; process++) {
        memcpy(&one, pp_train_answer_at(answers, keeper, process), sizeof(one));
        total += one;
    }
    return total;
}
