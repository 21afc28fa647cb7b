/* Questions that the caller of process 0 asks the callers of all, between steps. */
#include "exec/host/futex.h"
#include "exec/tcp/tcp.h"

#include <stdlib.h>
#include <string.h>

static enum pp_status answer(const struct pp_machine *m, const struct pp_question *question,
                             void *at, struct pp_error *err)
{
    return m->options.answer(m->options.answer_closure, m, question, at, err);
}

/* ---- process 0 ------------------------------------------------------------------------------- */

/* Takes the question; answers that come later than its failure still have their place. */
static enum pp_status open_question(struct pp_tcp *t, const struct pp_question *question,
                                    struct pp_error *err)
{
    struct pp_tcp_asked *a = &t->asked_all;
    const size_t bytes = question->answer_bytes * (size_t)t->processes + 1;

    if (t->m->has_failed)
        return pp_error_set(err, t->m->error.status, "%s", t->m->error.message);
    free(a->bytes);
    a->bytes = calloc(bytes, 1);
    if (!a->bytes)
        return pp_error_set(err, PP_EFAIL, "no memory for the answers of all processes");
    a->question = *question;
    a->failed = a->failures = 0;
    return PP_OK;
}

/* "rank 1 of replica 0 (process 2 at 127.0.0.1): ..." */
static enum pp_status failure(const struct pp_tcp *t, struct pp_error *err)
{
    const struct pp_tcp_asked *a = &t->asked_all;
    const struct pp_worker *w = &t->m->workers[a->failed - t->first_owner];

    *err = a->error;
    pp_error_prefix(err, "(process %d at %s): ", a->failed, t->names[a->failed]);
    if (t->m->replicas > 1)
        pp_error_prefix(err, "of replica %d ", w->replica);
    pp_error_prefix(err, "rank %d ", w->rank);
    if (a->failures > 1)
        pp_error_append(err, "\n  and %d more processes cannot", a->failures - 1);
    return err->status;
}

enum pp_status pp_tcp_ask(struct pp_arena *arena, const struct pp_machine *m,
                          const struct pp_question *question, struct pp_answers *answers,
                          struct pp_error *err)
{
    const struct pp_frame frame = {
        .kind = PP_FRAME_ASK, .id = (int32_t)question->answer_bytes, .bytes = question->bytes};
    struct pp_tcp *t = pp_tcp_of(m);
    struct pp_error gone = {0};

    PP_TRY(open_question(t, question, err));
    pp_tcp_expect(t, PP_FRAME_ANSWER, PP_TCP_ALL_NODES);
    pp_tcp_tell_all(t, &frame, question->at);
    const enum pp_status own = answer(m, question, t->asked_all.bytes, err);
    if (pp_tcp_await(t, t->processes - 1, &gone) != PP_OK) {
        *err = gone;
        return gone.status;
    }
    if (own != PP_OK || t->asked_all.failed > 0)
        return own != PP_OK ? own : failure(t, err);
    const size_t bytes = question->answer_bytes * (size_t)t->processes;
    *answers = (struct pp_answers){pp_arena_alloc_raw(arena, bytes + 1), t->processes};
    memcpy(answers->at, t->asked_all.bytes, bytes);
    return PP_OK;
}

static void note_failure(struct pp_tcp_asked *asked, const struct pp_arrival *a)
{
    a->payload[a->frame->bytes - 1] = '\0';
    if (asked->failures++ > 0 && asked->failed < a->process)
        return;
    asked->failed = a->process;
    asked->error = (struct pp_error){0};
    pp_error_set(&asked->error, a->frame->flags == PP_EINVAL ? PP_EINVAL : PP_EFAIL, "%s",
                 a->payload);
}

bool pp_tcp_take_answer(struct pp_tcp *t, const struct pp_arrival *a)
{
    struct pp_tcp_asked *asked = &t->asked_all;

    if (!pp_tcp_is_answer(t, a))
        return false;
    if (a->frame->flags != PP_OK)
        note_failure(asked, a);
    else if (a->payload)
        memcpy(asked->bytes + (size_t)a->process * a->frame->bytes, a->payload, a->frame->bytes);
    pp_tcp_count_answer(t);
    return true;
}

/* ---- all others ------------------------------------------------------------------------------ */

bool pp_tcp_take_ask(struct pp_tcp *t, const struct pp_arrival *a)
{
    struct pp_tcp_asked *asked = &t->asked_all;

    if (atomic_load(&asked->is_open) || !t->m->options.answer)
        return false;
    free(asked->bytes);
    asked->bytes = malloc(a->frame->bytes);
    if (!asked->bytes) {
        pp_tcp_fail_memory(t);
        return true;
    }
    memcpy(asked->bytes, a->payload, a->frame->bytes);
    asked->question = (struct pp_question){
        .at = asked->bytes, .bytes = a->frame->bytes, .answer_bytes = (size_t)a->frame->id};
    atomic_store(&asked->is_open, true);
    pp_futex_change(&t->changes);
    return true;
}

/* The next question may come as soon as this one is answered. */
void pp_tcp_answer(struct pp_tcp *t)
{
    struct pp_tcp_asked *asked = &t->asked_all;
    const size_t bytes = asked->question.answer_bytes;
    char *at = calloc(bytes + 1, 1);
    struct pp_error err = {0};
    const enum pp_status status = at ? answer(t->m, &asked->question, at, &err)
                                     : pp_error_set(&err, PP_EFAIL, "no memory for an answer");
    const struct pp_frame frame = {.kind = PP_FRAME_ANSWER,
                                   .flags = status,
                                   .bytes = status == PP_OK ? bytes : strlen(err.message) + 1};

    atomic_store(&asked->is_open, false);
    if (status == PP_OK) {
        pp_tcp_send_owned(t, 0, &frame, at);
        return;
    }
    pp_tcp_send_copy(t, 0, &frame, err.message);
    free(at);
}
