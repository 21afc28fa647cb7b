/* Warm caches for the virtual clock. Ranks that share a core's caches evict each other's operands,
 * unlike ranks on devices of their own. So the operands of an op are read before its time begins,
 * and its time does not depend on the number of ranks. */
#include "exec/host/host.h"
#include "exec/machine/parts.h"

/* A victim cache keeps a line that has been read repeatedly. Operands beyond the share of a last
 * cache would evict each other. */
enum { LINE_BYTES = 64, PASSES = 3, MOST_RANGES = 64, MOST_BYTES = 16 << 20 };

struct operands {
    struct {
        const void *memory;
        size_t bytes;
    } range[MOST_RANGES];
    int count;
    size_t bytes;
};

static void add(struct operands *o, const void *memory, size_t bytes)
{
    if (!memory || o->count == MOST_RANGES)
        return;
    o->range[o->count].memory = memory;
    o->range[o->count++].bytes = bytes;
    o->bytes += bytes;
}

static void add_work(struct operands *o, const struct pp_kernels *k, const struct pp_stage_work *w,
                     bool has_gradients)
{
    const struct pp_stage *stage = w->stage;
    const size_t elements = (size_t)stage->elements;

    add(o, w->weights, elements * k->element_bytes);
    for (int split = 0; split <= w->split; split++) {
        add(o, w->kept[split], stage->kept_bytes);
        add(o, w->saved[split], stage->saved_bytes);
    }
    if (has_gradients) {
        add(o, w->grads.sum, elements * k->gradient_bytes);
        add(o, w->grads.fixed, elements * sizeof(int64_t));
    }
    add(o, w->in, stage->boundary_bytes);
    add(o, w->out, stage->boundary_bytes);
    add(o, w->grad_in, stage->boundary_bytes);
    add(o, w->grad_out, stage->boundary_bytes);
    add(o, w->scratch, stage->scratch_bytes);
    if (pp_stage_generates(&stage->shape)) {
        add(o, w->cache, pp_stage_cache_bytes(stage, stage->shape.rows));
        add(o, w->logits, pp_stage_logits_bytes(stage));
    }
}

/* Ranges may be empty, with an end before their begin. */
static size_t elements_of(struct pp_range range)
{
    return range.until > range.from ? (size_t)(range.until - range.from) : 0;
}

static void add_share(struct operands *o, const struct pp_kernels *k, const struct pp_state *s,
                      enum pp_state_part part)
{
    const struct pp_range share = pp_state_share(s, part), summed = pp_state_summed(s, part);
    void *const vectors[] = {s->master, s->m, s->v};

    if (elements_of(share) > 0)
        add(o, pp_state_weight(s, k, share.from), elements_of(share) * k->element_bytes);
    for (size_t v = 0; elements_of(share) > 0 && v < PP_COUNT(vectors); v++)
        add(o, pp_state_in_share(s, k, vectors[v], share.from),
            elements_of(share) * k->gradient_bytes);
    if (elements_of(summed) > 0)
        add(o, pp_state_gradient(s, k, summed.from),
            elements_of(summed) * (s->fixed ? sizeof(int64_t) : k->gradient_bytes));
}

static void add_op(struct operands *o, const struct pp_worker *w, int i)
{
    const struct pp_machine *m = w->machine;
    const struct pp_bound_call *call = &m->calls[pp_row(w, i)];
    const int kind = m->p->kind[i];
    const struct pp_state state = pp_chunk_updated(&w->chunks[pp_chunk_of(m, i)]);

    /* An update that reads buckets from a file finds none in the cache. */
    const bool is_read = kind == PP_U && m->layout[w->rank].bucket.elements == 0;

    for (int part = 0; part < PP_STATE_PARTS && is_read; part++)
        add_share(o, m->options.kernels, &state, (enum pp_state_part)part);
    for (int g = 0; g < call->count; g++)
        add_work(o, m->options.kernels, &call->works[g], kind != PP_F && kind != PP_R);
}

static void read_all(const struct operands *o)
{
    for (int pass = 0; pass < PASSES; pass++)
        for (int k = 0; k < o->count; k++) {
            const volatile char *line = o->range[k].memory;
            for (size_t at = 0; at < o->range[k].bytes; at += LINE_BYTES)
                (void)line[at];
        }
}

void pp_work_warm(const struct pp_kernels *kernels, const struct pp_stage_work *work,
                  bool has_gradients)
{
    struct operands operands = {.count = 0};

    add_work(&operands, kernels, work, has_gradients);
    if (operands.bytes <= MOST_BYTES)
        read_all(&operands);
}

void pp_worker_warm(struct pp_worker *w, int i, bool is_fused)
{
    const struct pp_machine *m = w->machine;
    struct operands operands = {.count = 0};

    if (!pp_is_virtual(m) || m->options.has_durations || !m->backend->is_immediate || m->is_forward)
        return;
    const int64_t before_ns = pp_host_thread_ns();
    add_op(&operands, w, i);
    if (is_fused)
        add_op(&operands, w, i + 1);
    if (operands.bytes <= MOST_BYTES)
        read_all(&operands);
    w->warm_ns += pp_host_thread_ns() - before_ns;
}
