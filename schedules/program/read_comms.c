/* schedules/program/read_comms.c — files that post messages or collectives but never wait for what
 * they receive, as PyTorch's compute_comms format does. Its runtime waits for a RECV (or an
 * UNSHARD) before the computation that needs it. It waits for a SEND (or a gradient sum) at the end
 * of the list, or since 2.15 where the list says so. */
#include "schedules/program/freeze.h"
#include "schedules/program/map64.h"

static bool is_need(int kind)
{
    return pp_op_is_recv(kind) || kind == PP_AG;
}

static bool lacks_waits(const struct pp_orders *lists)
{
    bool has_posts = false, has_needs = false, has_waits = false;

    for (int r = 0; r < lists->ranks; r++)
        for (int at = 0; at < lists->count[r]; at++) {
            const struct pp_op *op = &lists->ops[r][at];
            if (op->kind == PP_WAIT && is_need(op->aux))
                return false;
            has_waits |= op->kind == PP_WAIT;
            has_needs |= is_need(op->kind);
            has_posts |= pp_op_is_posted(op->kind);
        }
    return has_waits ? has_needs : has_posts;
}

/* What a computation needs: its message by (kind, stage, micro-batch, split), its weights by
 * (stage, pipeline, bucket). The same key for the RECV or AG that provides it. */
static uint64_t need_key(int kind, const struct pp_op *op, int part)
{
    const uint64_t name = (uint64_t)kind << 56 | (uint64_t)part << 47 | (uint64_t)op->stage << 31;

    return name | (kind == PP_AG ? (uint64_t)op->pipe : (uint32_t)op->mb);
}

struct rewrite { /* one list being copied with waits */
    const struct pp_op *from;
    struct pp_op *ops;
    int32_t *line, *column;
    const int32_t *from_line, *from_column;
    int count;
    struct pp_map64 open; /* RECVs and AGs posted and not waited for: position in `from`, or -1 */
    struct pp_map64 said; /* what the list itself waits for */
};

static void copy_op(struct rewrite *w, int at)
{
    w->ops[w->count] = w->from[at];
    w->line[w->count] = w->from_line[at];
    w->column[w->count++] = w->from_column[at];
}

static void add_wait(struct rewrite *w, int target, int at)
{
    struct pp_op op = pp_op_wait(w->from[target]);

    op.slot = -1;
    w->ops[w->count] = op;
    w->line[w->count] = w->from_line[at];
    w->column[w->count++] = w->from_column[at];
}

/* False where nothing provides it. */
static bool wait_for(struct rewrite *w, int kind, int part, int at)
{
    int32_t *target = pp_map64_find(&w->open, need_key(kind, &w->from[at], part));

    if (target && *target >= 0) {
        add_wait(w, *target, at);
        *target = -1;
    }
    return target != NULL;
}

static void wait_for_needs(struct rewrite *w, int at)
{
    const int kind = w->from[at].kind, split = w->from[at].split;

    if (!pp_op_is_compute(kind))
        return;
    for (int bucket = 0; wait_for(w, PP_AG, bucket, at); bucket++)
        ;
    if (kind == PP_F)
        wait_for(w, PP_RECV_F, split, at);
    if (kind == PP_B || kind == PP_I)
        wait_for(w, PP_RECV_B, split, at);
}

static void rewrite_list(struct rewrite *w, int count)
{
    for (int at = 0; at < count; at++) {
        const struct pp_op *op = &w->from[at];
        if (op->aux != PP_FUSED_SECOND || !pp_op_is_compute(op->kind))
            wait_for_needs(w, at);
        if (op->aux == PP_FUSED_FIRST && op->kind == PP_F)
            wait_for_needs(w, at + 1); /* the pair starts together */
        copy_op(w, at);
        if (op->kind == PP_WAIT)
            *pp_map64_at(&w->said, need_key(op->aux, op, op->split), at) = at;
        if (is_need(op->kind))
            *pp_map64_at(&w->open, need_key(op->kind, op, op->split), at) = at;
    }
    for (int at = 0; at < count; at++) {
        const struct pp_op *op = &w->from[at];
        const int kind = op->kind;
        if (!pp_op_is_posted(kind) || pp_map64_find(&w->said, need_key(kind, op, op->split)))
            continue;
        if (is_need(kind)) {
            int32_t *target = pp_map64_find(&w->open, need_key(kind, op, op->split));
            if (!target || *target != at)
                continue;
            *target = -1;
        }
        add_wait(w, at, at);
    }
}

void pp_reading_add_waits(struct pp_reading *reading)
{
    struct pp_arena *scratch = reading->scratch;
    struct pp_orders *lists = reading->lists;

    if (!lacks_waits(lists))
        return;
    for (int r = 0; r < lists->ranks; r++) {
        int room = lists->count[r];
        for (int at = 0; at < lists->count[r]; at++)
            room += pp_op_is_posted(lists->ops[r][at].kind);
        struct rewrite w = {.from = lists->ops[r],
                            .ops = pp_arena_alloc_raw(scratch, (size_t)room * sizeof(struct pp_op)),
                            .line = pp_arena_alloc_raw(scratch, (size_t)room * sizeof(int32_t)),
                            .column = pp_arena_alloc_raw(scratch, (size_t)room * sizeof(int32_t)),
                            .from_line = reading->line[r],
                            .from_column = reading->column[r],
                            .open = pp_map64_create(scratch, lists->count[r]),
                            .said = pp_map64_create(scratch, lists->count[r])};
        rewrite_list(&w, lists->count[r]);
        lists->ops[r] = w.ops;
        lists->count[r] = lists->capacity[r] = w.count;
        reading->line[r] = w.line;
        reading->column[r] = w.column;
    }
}
