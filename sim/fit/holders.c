/* Tensors that fill the fullest rank of a run that does not fit. */
#include "sim/fit/parts.h"

#include <stdlib.h>

static int by_bytes(const void *a, const void *b)
{
    const struct pp_holder *x = a, *y = b;

    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

struct holders {
    struct pp_arena *arena;
    struct pp_holder *list;
    int count, capacity;
};

static void hold(struct holders *h, const char *what, int stage, double bytes)
{
    if (bytes > 0)
        *PP_PUSH(h->arena, h->list, h->count, h->capacity) = (struct pp_holder){what, stage, bytes};
}

/* Copies of a stage on a rank, one for each of its pipelines. */
static int copies_of(const struct pp_program *p, int rank, int stage)
{
    int copies = 0;

    for (int pipe = 0; pipe < p->pipelines; pipe++)
        copies += pp_program_rank_of(p, pipe, stage) == rank;
    return copies;
}

void pp_oom_hold(struct pp_arena *arena, const struct pp_result *r, struct pp_oom *oom)
{
    const struct pp_rank_memory *m = &r->memory[r->peak_rank];
    struct holders h = {.arena = arena};
    const double *saved =
        pp_memory_saved_by_stage(arena, r->program, r->costs, r->peak_rank, m->peak_at);
    double params_bytes = 0;

    for (int s = 0; s < r->program->stages; s++) {
        const struct pp_stage_memory *stage = &r->costs->memory[s];
        const int copies = copies_of(r->program, r->peak_rank, s);
        hold(&h, "params", s, copies * stage->params_bytes);
        hold(&h, "grads", s, copies * stage->grads_bytes);
        hold(&h, "optimizer", s, copies * stage->optimizer_bytes);
        hold(&h, "activations", s, saved[s]);
        params_bytes += copies * stage->params_bytes;
    }
    if (m->params_bytes > params_bytes * (1 + 1e-9))
        hold(&h, "further weight versions", -1, m->params_bytes - params_bytes);
    hold(&h, "cache of keys and values", -1, m->kv_bytes);
    hold(&h, "buffers", -1, m->buffers_bytes);
    hold(&h, "context and fragments", -1, m->other_bytes);
    qsort(h.list, (size_t)h.count, sizeof *h.list, by_bytes);
    oom->holders = h.list;
    oom->holder_count = h.count;
}
