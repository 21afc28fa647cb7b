/* What a process states about itself before it takes part, and the comparison with another one. */
#include "exec/tcp/hello.h"

#include "core/hash.h"
#include "exec/machine/transport.h"

#include <string.h>

/* ---- what has to be alike --------------------------------------------------------------------*/

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
              n->has_positions, n->is_gated, n->is_tied, n->is_rms);
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
              r->beta1, r->beta2, r->epsilon, r->decay, r->clip);
}

static uint64_t of_place(const struct pp_machine *m)
{
    const char *words[] = {m->options.transport->name, m->options.backend->name};
    uint64_t hash = OF((double)m->options.kernels->element_bytes);

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        hash = pp_hash(hash, words[i], strlen(words[i]) + 1);
    return hash;
}

/* Wires, devices of another speed and given durations: every process tells the time of its rank. */
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
    const char *name, *options;
} ALIKE[PP_ALIKES] = {
    [PP_ALIKE_MODEL] = {of_model, "model", "--model, --layers, --seq, ..."},
    [PP_ALIKE_BATCH] = {of_batch, "batch", "--micro-batches, --mbs, --dp, ..."},
    [PP_ALIKE_RECIPE] = {of_recipe, "recipe", "--seed, --steps, --lr, --clip, --exact-grad, ..."},
    [PP_ALIKE_PLACE] = {of_place, "machine", "--backend, --transport, --precision"},
    [PP_ALIKE_CLOCK] = {of_clock, "clock", "--clock, --link, --link-bw, --slow, --unit"},
};

/* ---- hello -----------------------------------------------------------------------------------*/

struct pp_hello pp_tcp_hello(const struct pp_tcp *t)
{
    struct pp_hello hello = {.magic = PP_HELLO_MAGIC,
                             .frame_bytes = sizeof(struct pp_frame),
                             .token = t->token,
                             .node = t->node,
                             .nodes = t->nodes,
                             .program_hash = t->m->program_hash};

    for (int i = 0; i < PP_ALIKES; i++)
        hello.alike[i] = ALIKE[i].of(t->m);
    return hello;
}

static enum pp_status check_alike(const struct pp_hello *own, const struct pp_hello *h,
                                  struct pp_error *err)
{
    for (int i = 0; i < PP_ALIKES; i++)
        if (h->alike[i] != own->alike[i])
            return pp_error_set(err, PP_EFAIL,
                                "process %d runs the same program with another %s than process %d: "
                                "give all the same options (%s)",
                                h->node, ALIKE[i].name, own->node, ALIKE[i].options);
    return PP_OK;
}

enum pp_status pp_tcp_check_hello(const struct pp_tcp *t, const struct pp_hello *own,
                                  const struct pp_hello *h, struct pp_error *err)
{
    if (h->frame_bytes != own->frame_bytes)
        return pp_error_set(err, PP_EFAIL, "a caller is no pipeexec of this version");
    if (h->nodes != own->nodes)
        return pp_error_set(
            err, PP_EFAIL,
            "process %d says that it is one of %d processes, process %d one of %d (%s)", h->node,
            h->nodes, own->node, own->nodes, t->m->options.meeting.source);
    if (h->node <= 0 || h->node >= t->nodes)
        return pp_error_set(err, PP_EFAIL, "a caller says that it is process %d of %d", h->node,
                            t->nodes);
    if (t->links[h->node].fd >= 0)
        return pp_error_set(err, PP_EFAIL, "two processes say that they are process %d of %d (%s)",
                            h->node, t->nodes, t->m->options.meeting.source);
    if (h->program_hash != own->program_hash)
        return pp_error_set(
            err, PP_EFAIL,
            "process %d runs program %016llx, process %d runs %016llx: give all the "
            "same schedule and layout",
            h->node, (unsigned long long)h->program_hash, own->node,
            (unsigned long long)own->program_hash);
    return check_alike(own, h, err);
}
