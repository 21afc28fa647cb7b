/* Legal frames: their sender, worker and number of bytes. Received times, ids and sizes become
 * indices and sizes here, so each frame is checked against this table before it is used. */
#include "exec/passes/passes.h"
#include "exec/tcp/tcp.h"

enum way { ANY_WAY, FROM_FIRST, TO_FIRST };

typedef bool (*is_place_fn)(const struct pp_tcp *t, int process, const struct pp_frame *f);
typedef uint64_t (*bytes_fn)(const struct pp_tcp *t, const struct pp_frame *f);

/* ---- workers and ids ------------------------------------------------------------------------- */

static bool is_senders(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    return pp_tcp_owner(t, f->worker) == process;
}

static bool is_step(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    (void)t;
    (void)process;
    return f->id >= 0 && f->id < INT32_MAX;
}

static bool is_begin(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    return is_step(t, process, f) && pp_tcp_is_here(t, f->worker);
}

/* An instruction of the rank, or the end of its list. */
static bool is_at(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    const int *begin = t->m->p->begin, rank = t->m->workers[f->worker].rank;

    return is_senders(t, process, f) && f->id >= begin[rank] && f->id <= begin[rank + 1];
}

static bool is_progress(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    return is_at(t, process, f) && f->ps >= 0 && f->ps <= INT32_MAX;
}

static const struct pp_bound_call *made_by(const struct pp_tcp *t, const struct pp_frame *f)
{
    return &t->m->calls[pp_row(&t->m->workers[f->worker], f->id)];
}

/* The first device of a group tells its tokens once. */
static bool is_made(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    const struct pp_worker *w = &t->m->workers[f->worker];

    return t->m->generating && is_at(t, process, f) && f->id < t->m->p->begin[w->rank + 1] &&
           w->tp_index == 0 && made_by(t, f)->made && f->flags >= 0 &&
           f->flags < made_by(t, f)->count;
}

static bool is_post(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    const struct pp_program *p = t->m->p;
    const struct pp_worker *w = &t->m->workers[f->worker];

    return is_at(t, process, f) && f->id < p->begin[w->rank + 1] &&
           (pp_op_is_send(p->kind[f->id]) || pp_op_is_recv(p->kind[f->id])) &&
           pp_tcp_is_here(t, pp_worker_at(t->m, p->peer[f->id], w->replica, w->tp_index)->index) &&
           (f->header.kind == PP_SEND_F || f->header.kind == PP_SEND_B);
}

static bool is_message(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    const struct pp_machine *m = t->m;

    if (f->id < 0 || f->id >= m->p->message_count * m->replicas * m->tp)
        return false;
    const struct pp_tcp_ends ends = pp_tcp_ends(m, m->messages[f->id].channel);
    return f->worker == ends.source && pp_tcp_owner(t, ends.source) == process &&
           pp_tcp_is_here(t, ends.dest);
}

static bool is_barrier(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    (void)process;
    return f->id >= 0 && f->id < t->m->barrier_count;
}

static bool is_arrival(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    return is_barrier(t, process, f) && is_senders(t, process, f);
}

/* True if this host's clock plus the offset is a legal time. */
static bool is_offset(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    int64_t there_ps;

    (void)t;
    (void)process;
    return !__builtin_add_overflow(pp_wall_ps(), f->ps, &there_ps) && pp_tcp_is_time(there_ps);
}

/* Process 0 sends others the states of their own workers; they send it theirs. */
static bool is_state(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    return process == 0 ? pp_tcp_is_here(t, f->worker)
                        : t->process == 0 && is_senders(t, process, f);
}

static bool is_question(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    (void)t;
    (void)process;
    return f->id >= 0 && f->id <= PP_TCP_ASK_BYTES;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static uint64_t message_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    return t->m->messages[f->id].bytes;
}

static uint64_t made_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    return pp_tokens_bytes(t->m, &made_by(t, f)->made[f->flags]);
}

static bool is_last_barrier(const struct pp_tcp *t, const struct pp_frame *f)
{
    return f->id == t->m->barrier_count - 1;
}

static uint64_t figures_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    return is_last_barrier(t, f) ? pp_tcp_worker_bytes(t, f) : 0;
}

static uint64_t verdict_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    return is_last_barrier(t, f) ? PP_TCP_VERDICT * sizeof(double) : 0;
}

/* Length of any text that an error can hold, with its end. */
static uint64_t text_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    const size_t most = sizeof(t->m->error.message);

    return f->bytes < 1 ? 1 : f->bytes > most ? most : f->bytes;
}

static uint64_t question_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    (void)t;
    return f->bytes < 1 ? 1 : f->bytes > PP_TCP_ASK_BYTES ? PP_TCP_ASK_BYTES : f->bytes;
}

static uint64_t answer_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    return f->flags == PP_OK ? t->asked_all.question.answer_bytes : text_bytes(t, f);
}

/* A question has no payload; the answer has a time. */
static uint64_t ping_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    (void)f;
    return t->process == 0 ? sizeof(int64_t) : 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct rule {
    const char *name;
    enum way way;
    is_place_fn is_place; /* NULL: any worker and id */
    bytes_fn bytes;       /* NULL: none */
    bool is_any_time;     /* ps is of another host's clock */
    bool is_transfer;     /* only if messages and sums are frames */
} RULES[PP_FRAME_KINDS] = {
    [PP_FRAME_STEP] = {"step", FROM_FIRST, is_begin, pp_tcp_worker_bytes},
    [PP_FRAME_READY] = {"ready", TO_FIRST, NULL, NULL},
    [PP_FRAME_GO] = {"go", FROM_FIRST, is_step, NULL},
    [PP_FRAME_POST] = {"post", ANY_WAY, is_post, NULL, .is_transfer = true},
    [PP_FRAME_DATA] = {"data", ANY_WAY, is_message, message_bytes, .is_transfer = true},
    [PP_FRAME_PART] = {"part", ANY_WAY, pp_tcp_is_sum, pp_tcp_sum_bytes, .is_transfer = true},
    [PP_FRAME_SUM] = {"sum", ANY_WAY, pp_tcp_is_sum, pp_tcp_sum_bytes, .is_transfer = true},
    [PP_FRAME_ARRIVED] = {"arrived", TO_FIRST, is_arrival, figures_bytes},
    [PP_FRAME_RELEASE] = {"release", FROM_FIRST, is_barrier, verdict_bytes},
    [PP_FRAME_END] = {"end", TO_FIRST, is_senders, pp_tcp_worker_bytes},
    [PP_FRAME_AT] = {"at", TO_FIRST, is_progress, NULL},
    [PP_FRAME_FETCH] = {"fetch", FROM_FIRST, NULL, NULL},
    [PP_FRAME_STATE] = {"state", ANY_WAY, is_state, pp_tcp_state_bytes},
    [PP_FRAME_FAIL] = {"fail", ANY_WAY, NULL, text_bytes},
    [PP_FRAME_PING] = {"ping", ANY_WAY, NULL, ping_bytes, true},
    [PP_FRAME_OFFSET] = {"offset", FROM_FIRST, is_offset, NULL, true},
    [PP_FRAME_LEAVE] = {"leave", FROM_FIRST, NULL, NULL},
    [PP_FRAME_LEFT] = {"left", TO_FIRST, NULL, NULL},
    [PP_FRAME_QUIT] = {"quit", FROM_FIRST, NULL, NULL},
    [PP_FRAME_ALIVE] = {"alive", ANY_WAY, NULL, NULL},
    [PP_FRAME_ASK] = {"ask", FROM_FIRST, is_question, question_bytes},
    [PP_FRAME_ANSWER] = {"answer", TO_FIRST, NULL, answer_bytes},
    [PP_FRAME_MADE] = {"made", TO_FIRST, is_made, made_bytes},
    [PP_FRAME_GROUP] = {"group", ANY_WAY, pp_tcp_is_group, pp_tcp_group_bytes},
};

static bool is_way(const struct pp_tcp *t, int process, enum way way)
{
    return way == FROM_FIRST ? process == 0 : way == TO_FIRST ? t->process == 0 : true;
}

uint64_t pp_tcp_bytes(const struct pp_tcp *t, const struct pp_frame *f)
{
    return RULES[f->kind].bytes ? RULES[f->kind].bytes(t, f) : 0;
}

bool pp_tcp_is_placed(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    const struct rule *rule = f->kind < PP_FRAME_KINDS ? &RULES[f->kind] : NULL;

    return rule && is_way(t, process, rule->way) && (!rule->is_transfer || t->m->transport->send) &&
           f->worker >= 0 && f->worker < t->m->worker_count &&
           (rule->is_any_time || pp_tcp_is_time(f->ps)) &&
           (!rule->is_place || rule->is_place(t, process, f));
}

bool pp_tcp_is_legal(const struct pp_tcp *t, int process, const struct pp_frame *f)
{
    return pp_tcp_is_placed(t, process, f) && f->bytes == pp_tcp_bytes(t, f);
}

void pp_tcp_refuse(struct pp_tcp *t, int process, const struct pp_frame *f)
{
    struct pp_error err = {0};

    pp_error_set(&err, PP_EFAIL,
                 "process %d at %s has sent what it may not send here now: frame \"%s\" (kind %u), "
                 "worker %d, id %d, %llu bytes; is it of another version?",
                 process, t->names[process], f->kind < PP_FRAME_KINDS ? RULES[f->kind].name : "?",
                 f->kind, f->worker, f->id, (unsigned long long)f->bytes);
    pp_machine_fail(t->m, &err);
}
