/* Whether two traces are of one program: by its hash, else by what their events tell. */
#include "traces/about.h"
#include "traces/compare/parts.h"

#include <inttypes.h>
#include <string.h>

enum pp_status pp_compare_check_shape(const struct pp_trace *p, const struct pp_trace *q,
                                      struct pp_error *err)
{
    if (p->ranks != q->ranks)
        return pp_error_set(err, PP_EINVAL,
                            "%s has %d ranks, %s has %d; --allow-different compares what both have",
                            p->program, p->ranks, q->program, q->ranks);
    if (p->replicas != q->replicas && p->replicas != 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s has %d replicas, %s has %d; a prediction has as many or 1 that "
                            "stands for all; --allow-different compares what both have",
                            p->program, p->replicas, q->program, q->replicas);
    return PP_OK;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The place of updates depends on a barrier before them. */
static const struct pp_trace_event *next_compute(const struct pp_trace_event **at,
                                                 const struct pp_trace_event *end)
{
    while (*at < end && ((*at)->stream != PP_STREAM_COMPUTE || (*at)->kind == PP_U))
        ++*at;
    return *at < end ? (*at)++ : NULL;
}

const struct pp_trace_event *pp_compare_moved(const struct pp_trace_event *p, int p_count,
                                              const struct pp_trace_event *q, int q_count)
{
    const struct pp_trace_event *const p_end = p + p_count, *const q_end = q + q_count;

    for (;;) {
        const struct pp_trace_event *a = next_compute(&p, p_end), *b = next_compute(&q, q_end);
        if (!a || !b || strcmp(a->cell, b->cell) != 0)
            return b;
    }
}

/* ---- verdict --------------------------------------------------------------------------------- */

/* Files may lack waits that took no time; a real run names its options. */
static bool has_barrier(const struct pp_trace *trace)
{
    for (int i = 0; trace->about && i + 1 < trace->about->option_count; i++)
        if (strcmp(trace->about->options[i], "--update-barrier") == 0)
            return strcmp(trace->about->options[i + 1], "on") == 0;
    for (int i = 0; i < trace->count; i++)
        if (trace->events[i].kind == PP_BAR)
            return true;
    return false;
}

/* Options that decide whether a program has ops of a kind, and which. */
static const char *const DECIDING[PP_OP_KINDS] = {
    [PP_F] = "--vp, --micro-batches and --gather",
    [PP_B] = "--vp, --micro-batches and --gather",
    [PP_AG] = "--zero, --shard, --gather and --gather-buffers",
    [PP_RS] = "--zero, --shard, --gather and --gather-buffers",
    [PP_AR] = "--zero and --shard",
    [PP_R] = "--recompute",
};

/* Returns why the programs differ, and options that may make them equal. */
static const char *reason(struct pp_arena *arena, const struct pp_comparison *c,
                          const struct pp_trace_event *moved)
{
    const struct pp_trace *p = c->predicted.trace, *q = c->measured.trace;
    const int64_t odd = c->missing.count + c->extra.count;
    const struct pp_compare_event *first =
        c->missing.count > 0 ? &c->missing.first[0] : &c->extra.first[0];

    if (odd > 0)
        return pp_arena_printf(
            arena, "%" PRId64 " op%s not in both, such as %s of rank %d, which is only in %s%s%s",
            odd, odd == 1 ? " is" : "s are", first->cell, first->rank,
            c->missing.count > 0 ? p->program : q->program, DECIDING[first->kind] ? "; see " : "",
            DECIDING[first->kind] ? DECIDING[first->kind] : "");
    if (moved)
        return pp_arena_printf(arena,
                               "their ops have another order on rank %d, from %s on; where an "
                               "order follows durations, let both run the file of pipesim program "
                               "--compute -o FILE.csv",
                               moved->rank, moved->cell);
    return "they have the same ops, but wait elsewhere; see --update-barrier, --post, "
           "--recv-slots and --gather";
}

enum pp_status pp_compare_check_program(struct pp_arena *arena, struct pp_comparison *c,
                                        const struct pp_trace_event *moved, bool allows_different,
                                        struct pp_error *err)
{
    const struct pp_trace *p = c->predicted.trace, *q = c->measured.trace;
    const bool has_same_ops = c->missing.count + c->extra.count == 0 && !moved;

    if (c->is_same_program || c->is_partial)
        return PP_OK;
    c->measured_has_barrier = has_barrier(q);
    c->differs_by_barrier = has_same_ops && has_barrier(p) != c->measured_has_barrier;
    if (c->differs_by_barrier || allows_different)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%s is of program %016" PRIx64 ", %s of program %016" PRIx64
                        ": %s; --allow-different compares what both have",
                        p->program, p->program_hash, q->program, q->program_hash,
                        reason(arena, c, moved));
}
