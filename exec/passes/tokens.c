/* Tokens of a generating program: ids that the first stage reads, and those that the last makes. */
#include "core/hash.h"
#include "exec/host/futex.h"
#include "exec/passes/passes.h"

#include <string.h>

void pp_tokens_feed(const struct pp_kernels *k, void *stream, void *argument)
{
    const struct pp_fed *fed = argument;

    for (int i = 0; i < fed->count; i++)
        k->copy(stream, fed->bytes, fed->from[i], fed->to + (size_t)i * fed->bytes);
}

/* ---- reports --------------------------------------------------------------------------------- */

size_t pp_tokens_bytes(const struct pp_machine *m, const struct pp_made *made)
{
    return (size_t)made->count *
           (sizeof(int32_t) + (m->options.generation->hashes_logits ? sizeof(uint64_t) : 0));
}

bool pp_tokens_take(struct pp_machine *m, const struct pp_made *made, const char *report)
{
    const struct pp_generation *of = &m->options.generation->of;
    struct pp_generating *g = m->generating;
    const int replica = made->worker->replica, vocab = made->stage->net->vocab,
              group = replica * of->groups + made->first / (of->batch / of->groups);
    const char *hashes = report + sizeof(int32_t) * (size_t)made->count;

    for (int i = 0; i < made->count; i++) {
        const size_t at = (size_t)(replica * of->batch + made->first + i) * (size_t)of->passes +
                          (size_t)made->pass;
        memcpy(&g->tokens[at], report + sizeof(int32_t) * (size_t)i, sizeof(int32_t));
        if (g->tokens[at] < 0 || g->tokens[at] >= vocab)
            return false;
        if (g->hashes)
            memcpy(&g->hashes[at], hashes + sizeof(uint64_t) * (size_t)i, sizeof(uint64_t));
    }
    atomic_fetch_add(&g->made[made->pass * m->replicas * of->groups + group], made->count);
    pp_futex_change(&g->changes);
    return true;
}

/* The first device of a group reports for all. */
static void report(struct pp_made *made)
{
    struct pp_worker *w = made->worker;
    struct pp_machine *m = w->machine;
    const size_t ids_bytes = sizeof(int32_t) * (size_t)made->count;
    char *bytes = (char *)made->chooser->ids;

    if (w->tp_index > 0)
        return;
    if (m->options.generation->hashes_logits)
        memcpy(bytes + ids_bytes, made->chooser->hashes, sizeof(uint64_t) * (size_t)made->count);
    if (pp_machine_is_member(m))
        m->remote->made(w, made, bytes);
    else
        pp_tokens_take(m, made, bytes);
}

/* ---- choices --------------------------------------------------------------------------------- */

static bool is_word(const struct pp_made *made, int sequence, int position, int32_t id)
{
    const int vocab = made->stage->net->vocab;
    struct pp_machine *m = made->worker->machine;
    struct pp_error err = {0};

    if (id >= 0 && id < vocab)
        return true;
    if (id < 0)
        pp_error_set(&err, PP_EFAIL, PP_LOGITS_FAULT, sequence, position);
    else
        pp_error_set(&err, PP_EFAIL,
                     "rank %d, pass %d: token %d was chosen, the model has %d words",
                     made->worker->rank, made->pass, id, vocab);
    pp_machine_fail(m, &err);
    return false;
}

uint64_t pp_hash_of_logits(const double *logits, int words)
{
    return pp_hash(PP_HASH_OF_NOTHING, logits, sizeof(*logits) * (size_t)words);
}

static void choose_row(struct pp_made *made, const char *logits, int row)
{
    const struct pp_machine *m = made->worker->machine;
    const struct pp_machine_generation *g = m->options.generation;
    const struct pp_chooser *c = made->chooser;
    const int vocab = made->stage->net->vocab,
              sequence = made->worker->replica * g->of.batch + made->first + row,
              position = g->of.prompt_tokens + made->pass;

    pp_stage_read_logits(made->stage, logits, row, c->row);
    if (g->hashes_logits)
        c->hashes[row] = pp_hash_of_logits(c->row, vocab);
    const int32_t id = (g->choose ? g->choose : pp_choose_largest)(g->choose_closure, sequence,
                                                                   position, c->row, vocab);
    c->ids[row] = is_word(made, sequence, position, id) ? id : 0;
}

static void choose(struct pp_made *made, const char *logits)
{
    for (int row = 0; row < made->count; row++)
        choose_row(made, logits, row);
}

static void choose_on_host(void *made)
{
    choose(made, ((struct pp_made *)made)->chooser->logits);
    report(made);
}

void pp_tokens_make(const struct pp_kernels *k, void *stream, void *argument)
{
    struct pp_made *made = argument;
    const struct pp_machine *m = made->worker->machine;
    struct pp_chooser *c = made->chooser;
    const size_t bytes = sizeof(int32_t) * (size_t)made->count;

    if (!atomic_load(&m->generating->is_under_way))
        return;
    if (!c->logits) {
        choose(made, made->logits);
        memcpy(made->ids, c->ids, bytes);
        report(made);
        return;
    }
    k->copy(stream, pp_stage_logits_bytes(made->stage), made->logits, c->logits);
    m->backend->call_host(stream, -1, choose_on_host, made);
    k->copy(stream, bytes, c->ids, made->ids);
}
