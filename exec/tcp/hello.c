/* How a process introduces itself, and how another one tells that it runs something else. */
#include "core/hash.h"
#include "exec/tcp/door.h"
#include "exec/worker/transport.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- settings that all processes share ------------------------------------------------------- */

static uint64_t of_numbers(const double *numbers, size_t count)
{
    return pp_hash(PP_HASH_OF_NOTHING, numbers, sizeof(*numbers) * count);
}
#define OF(...)                                                                                    \
    of_numbers((const double[]){__VA_ARGS__},                                                      \
               sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static uint64_t of_model(const struct pp_machine *m)
{
    const struct pp_net *n = m->options.stages[0]->net;

    return OF(n->layers, n->hidden, n->heads, n->kv_heads, n->ffn, n->vocab, n->seq,
              n->has_positions, n->is_gated, n->is_tied, n->is_rms, n->activation, n->is_parallel,
              n->has_qk_norm, n->norm_epsilon, n->embedding_scale, n->rotary.dim, n->rotary.theta,
              n->rotary.factor);
}

static uint64_t of_batch(const struct pp_machine *m)
{
    const struct pp_batch *b = m->options.batch;

    return OF(b->replicas, b->micro_batches, b->mbs, b->granules, b->splits);
}

static uint64_t of_recipe(const struct pp_machine *m)
{
    const struct pp_recipe *r = m->options.recipe;

    return OF((double)r->seed, r->is_exact, r->rate, r->end_rate, r->warmup_steps, r->steps,
              r->beta1, r->beta2, r->epsilon, r->decay, r->clip, m->options.is_resumed);
}

static uint64_t of_place(const struct pp_machine *m)
{
    const char *words[] = {m->options.transport->name, m->options.backend->name};
    uint64_t hash = OF((double)m->options.kernels->element_bytes, m->options.may_choose_transport);

    for (size_t i = 0; i < PP_COUNT(words); i++)
        hash = pp_hash(hash, words[i], strlen(words[i]) + 1);
    return hash;
}

/* Hash of wires, speeds and given durations: every process times its own rank. */
static uint64_t of_clock(const struct pp_machine *m)
{
    const struct pp_machine_options *o = &m->options;
    const struct pp_costs *costs = o->costs;
    const size_t stages = (size_t)costs->stages, links = (size_t)costs->links,
                 ranks = (size_t)costs->ranks;
    uint64_t hash = OF(o->clock, o->has_durations);

    hash = pp_hash(hash, costs->alpha_ps, sizeof(*costs->alpha_ps) * links);
    hash = pp_hash(hash, costs->s_per_byte, sizeof(*costs->s_per_byte) * links);
    if (costs->link)
        hash = pp_hash(hash, costs->link, ranks * ranks);
    if (o->slow)
        hash = pp_hash(hash, o->slow, sizeof(*o->slow) * ranks * (size_t)o->batch->replicas);
    for (int kind = 0; kind < PP_OP_KINDS && o->has_durations; kind++)
        for (size_t s = 0; costs->op[kind] && s < stages; s++)
            hash = pp_hash(hash, &costs->op[kind][s].ps, sizeof(costs->op[kind][s].ps));
    return hash;
}

static const struct {
    uint64_t (*of)(const struct pp_machine *m);
    const char *name, *hint; /* if the options do not tell */
} ALIKE[PP_ALIKES] = {
    {of_model, "model", ": give all the same options (--model, --layers, --seq, ...)"},
    {of_batch, "batch", ": give all the same options (--micro-batches, --mbs, --dp, ...)"},
    {of_recipe, "recipe",
     ": give all the same options (--seed, --steps, --lr, --clip, --exact-grad, --resume, ...)"},
    {of_place, "machine", ": give all the same options (--backend, --transport, --precision)"},
    {of_clock, "clock", ": give all the same options (--clock, --link, --link-bw, --slow, --unit)"},
};

/* ---- hello ----------------------------------------------------------------------------------- */

enum { TOLD = 4 }; /* options of a process that are named */

struct pp_hello pp_tcp_hello(const struct pp_tcp *t)
{
    struct pp_hello hello = {.magic = PP_HELLO_MAGIC,
                             .frame_bytes = sizeof(struct pp_frame),
                             .token = t->token,
                             .process = t->process,
                             .processes = t->processes,
                             .program_hash = t->m->program_hash,
                             .pid = getpid()};

    for (int i = 0; i < PP_ALIKES; i++)
        hello.alike[i] = ALIKE[i].of(t->m);
    if (t->m->options.words)
        snprintf(hello.words, sizeof(hello.words), "%s", t->m->options.words);
    if (t->process >= t->first_owner)
        hello.drawn = t->m->workers[t->process - t->first_owner].drawn;
    return hello;
}

/* Appends the lines of `words` that `others` lacks, at most TOLD. Returns how many it lacks. */
static int tell_words(const char *words, const char *others, struct pp_error *err)
{
    int count = 0;

    for (size_t length; (length = strcspn(words, "\n")) > 0;
         words += length + (words[length] != 0)) {
        const char *same = others;

        while (*same && (strncmp(same, words, length) != 0 || strcspn(same, "\n") != length))
            same += strcspn(same, "\n") + (same[strcspn(same, "\n")] != 0);
        if (!*same && count++ < TOLD)
            pp_error_append(err, "%s%.*s", count > 1 ? " " : "", (int)length, words);
    }
    if (count > TOLD)
        pp_error_append(err, " ...");
    return count;
}

/* Appends the options that differ; `hint` if none does. */
static enum pp_status tell_difference(const struct pp_hello *own, const struct pp_hello *h,
                                      const char *hint, struct pp_error *err)
{
    struct pp_error theirs = {0}, ours = {0};
    const int there = tell_words(h->words, own->words, &theirs),
              here = tell_words(own->words, h->words, &ours);

    if (there > 0 && here > 0)
        pp_error_append(err, ": process %d has %s, process %d has %s", h->process, theirs.message,
                        own->process, ours.message);
    else if (there + here > 0)
        pp_error_append(err, ": process %d has %s, process %d has not",
                        there ? h->process : own->process, there ? theirs.message : ours.message,
                        there ? own->process : h->process);
    return pp_error_append(err, "%s", there + here > 0 ? "; give all the same options" : hint);
}

static enum pp_status check_alike(const struct pp_hello *own, const struct pp_hello *h,
                                  struct pp_error *err)
{
    if (h->program_hash != own->program_hash) {
        pp_error_set(err, PP_EFAIL, "process %d runs another program than process %d", h->process,
                     own->process);
        return tell_difference(own, h, ": give all the same schedule and layout, and equal files",
                               err);
    }
    for (int i = 0; i < PP_ALIKES; i++) {
        if (h->alike[i] == own->alike[i])
            continue;
        pp_error_set(err, PP_EFAIL,
                     "process %d runs the same program with another %s than process %d", h->process,
                     ALIKE[i].name, own->process);
        return tell_difference(own, h, ALIKE[i].hint, err);
    }
    return PP_OK;
}

/* Process 0 draws the first weights of each tensor of the other process again. */
static enum pp_status check_drawn(const struct pp_tcp *t, const struct pp_hello *h,
                                  struct pp_error *err)
{
    const struct pp_worker *w = &t->m->workers[h->process - t->first_owner];

    if (t->process > 0 || t->m->options.is_resumed || h->drawn == pp_states_drawn(w))
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "process %d has drawn other initial weights for rank %d than process 0 "
                        "would draw: their C libraries or processors compute other numbers; run "
                        "the same system on all hosts, or --resume a checkpoint",
                        h->process, w->rank);
}

enum pp_status pp_tcp_check_hello(const struct pp_tcp *t, const struct pp_hello *own,
                                  const struct pp_hello *h, struct pp_error *err)
{
    if (h->frame_bytes != own->frame_bytes)
        return pp_error_set(err, PP_EFAIL, "a caller is no pipeexec of this version");
    if (h->processes != own->processes)
        return pp_error_set(
            err, PP_EFAIL,
            "process %d says that it is one of %d processes, process %d one of %d (%s)", h->process,
            h->processes, own->process, own->processes, t->m->options.meeting.source);
    if (h->process <= 0 || h->process >= t->processes)
        return pp_error_set(err, PP_EFAIL, "a caller says that it is process %d of %d", h->process,
                            t->processes);
    if (t->links[h->process].fd >= 0)
        return pp_error_set(err, PP_EFAIL, "two processes say that they are process %d of %d (%s)",
                            h->process, t->processes, t->m->options.meeting.source);
    PP_TRY(check_alike(own, h, err));
    return check_drawn(t, h, err);
}
