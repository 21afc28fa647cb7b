/* Greedy list scheduling: a free rank starts the ready op with the lowest key. */
#include "schedules/search/greedy.h"

#include "core/heap.h"
#include "schedules/order/order.h"

struct item {
    int64_t order; /* a key or a time */
    int kind, stage, mb;
    bool is_end; /* an event: the op ends; else its input arrives */
};

static inline bool is_before(struct item a, struct item b)
{
    return a.order < b.order;
}

PP_HEAP(item_heap, struct item, 2, is_before)

struct play {
    struct pp_arena *arena;
    const struct pp_greedy *greedy;
    struct pp_orders *out;
    int64_t *duration[2], *wire[2]; /* [stage]: durations of F and B, transfer of its output */
    struct item_heap events;
    struct item_heap *ready; /* [rank] */
    bool *is_busy, *is_touched;
    int *touched, touched_count; /* ranks that may start an op now */
};

/* Saturates for absurd costs: the order stays legal, and the evaluator reports the overflow. */
static int64_t later(int64_t time, int64_t duration)
{
    return duration > INT64_MAX - time ? INT64_MAX : time + duration;
}

static int direction_of(int kind)
{
    return kind == PP_F ? PP_DIR_F : PP_DIR_B;
}

/* Returns the next stage in a direction; -1 or S beyond the ends. */
static int next_stage(int direction, int stage)
{
    return direction == PP_DIR_F ? stage + 1 : stage - 1;
}

static void fill_costs(struct play *p)
{
    const struct pp_greedy *greedy = p->greedy;
    const int stages = pp_shape_stages(greedy->shape);

    for (int direction = 0; direction < 2; direction++) {
        p->duration[direction] = PP_ARRAY(p->arena, int64_t, stages);
        p->wire[direction] = PP_ARRAY(p->arena, int64_t, stages);
        for (int stage = 0; stage < stages; stage++) {
            const int next = next_stage(direction, stage), rank = greedy->rank_of[stage];
            const struct pp_slot slot = {.stage = (uint16_t)stage};
            struct pp_op op = pp_compute_op(direction == PP_DIR_F ? PP_F : PP_B, slot, 0, 0);

            p->duration[direction][stage] =
                greedy->costs ? pp_costs_op(greedy->costs, &op, NULL).ps : 1 + direction;
            if (!greedy->costs || next < 0 || next >= stages || greedy->rank_of[next] == rank)
                continue;
            op.kind = direction == PP_DIR_F ? PP_SEND_F : PP_SEND_B;
            op.peer = greedy->rank_of[next];
            p->wire[direction][stage] = pp_costs_p2p(greedy->costs, &op, rank).ps;
        }
    }
}

static void touch(struct play *p, int rank)
{
    if (!p->is_touched[rank])
        p->touched[p->touched_count++] = rank;
    p->is_touched[rank] = true;
}

static void make_ready(struct play *p, int kind, int stage, int mb)
{
    const struct pp_greedy *greedy = p->greedy;
    const int rank = greedy->rank_of[stage];

    item_heap_push(
        p->arena, &p->ready[rank],
        (struct item){greedy->key(greedy->shape, kind, stage, mb), kind, stage, mb, false});
    touch(p, rank);
}

/* Ends an op: its rank is free, and its output is sent. */
static void end(struct play *p, const struct item *op)
{
    const int direction = direction_of(op->kind), last = pp_shape_stages(p->greedy->shape) - 1;
    const int next = next_stage(direction, op->stage), rank = p->greedy->rank_of[op->stage];
    const int64_t wire = p->wire[direction][op->stage];

    p->is_busy[rank] = false;
    touch(p, rank);
    if (next < 0)
        return;
    if (next > last)
        make_ready(p, PP_B, last, op->mb);
    else if (wire == 0)
        make_ready(p, op->kind, next, op->mb);
    else
        item_heap_push(p->arena, &p->events,
                       (struct item){later(op->order, wire), op->kind, next, op->mb, false});
}

static void start(struct play *p, int rank, int64_t now)
{
    if (p->is_busy[rank] || p->ready[rank].count == 0)
        return;
    struct item op = item_heap_pop(&p->ready[rank]);
    const struct pp_slot slot = {.stage = (uint16_t)op.stage};

    pp_orders_add(p->arena, p->out, rank, pp_compute_op(op.kind, slot, op.mb, 0));
    op.order = later(now, p->duration[direction_of(op.kind)][op.stage]);
    op.is_end = true;
    p->is_busy[rank] = true;
    item_heap_push(p->arena, &p->events, op);
}

static void start_touched(struct play *p, int64_t now)
{
    for (int i = 0; i < p->touched_count; i++) {
        p->is_touched[p->touched[i]] = false;
        start(p, p->touched[i], now);
    }
    p->touched_count = 0;
}

void pp_greedy_play(struct pp_arena *arena, const struct pp_greedy *greedy, struct pp_orders *out)
{
    const struct pp_shape *shape = greedy->shape;
    struct play p = {.arena = arena,
                     .greedy = greedy,
                     .out = out,
                     .ready = PP_ARRAY(arena, struct item_heap, shape->ranks),
                     .is_busy = PP_ARRAY(arena, bool, shape->ranks),
                     .is_touched = PP_ARRAY(arena, bool, shape->ranks),
                     .touched = PP_ARRAY(arena, int, shape->ranks)};

    fill_costs(&p);
    for (int rank = 0; rank < shape->ranks; rank++)
        pp_orders_reserve(arena, out, rank, 2 * shape->chunks * shape->micro_batches);
    for (int mb = 0; mb < shape->micro_batches; mb++)
        make_ready(&p, PP_F, 0, mb);
    start_touched(&p, 0);
    while (p.events.count > 0) {
        const int64_t now = p.events.data[0].order;
        while (p.events.count > 0 && p.events.data[0].order == now) {
            const struct item event = item_heap_pop(&p.events);
            if (event.is_end)
                end(&p, &event);
            else
                make_ready(&p, event.kind, event.stage, event.mb);
        }
        start_touched(&p, now);
    }
}
