#include "mutants.h"

#include "lists.h"

static int draw(const struct mutation *t, int below)
{
    return list_draw(t->random, below);
}

static void paste(struct pp_arena *arena, struct pp_orders *o, int rank, int at, struct pp_op op)
{
    pp_orders_add(arena, o, rank, op);
    memmove(&o->ops[rank][at + 1], &o->ops[rank][at],
            sizeof(op) * (size_t)(o->count[rank] - at - 1));
    o->ops[rank][at] = op;
}

static void drop(struct mutation *t, struct pp_orders *o, int rank)
{
    list_cut(o, rank, draw(t, o->count[rank]));
}

static void duplicate(struct mutation *t, struct pp_orders *o, int rank)
{
    const struct pp_op op = o->ops[rank][draw(t, o->count[rank])];

    paste(t->arena, o, rank, draw(t, o->count[rank] + 1), op);
}

static void swap_neighbours(struct mutation *t, struct pp_orders *o, int rank)
{
    const int at = draw(t, o->count[rank] - 1);

    if (o->count[rank] > 1)
        list_swap(o, rank, at, at + 1);
}

static void swap_any(struct mutation *t, struct pp_orders *o, int rank)
{
    list_swap(o, rank, draw(t, o->count[rank]), draw(t, o->count[rank]));
}

static void move_within(struct mutation *t, struct pp_orders *o, int rank)
{
    const struct pp_op op = list_cut(o, rank, draw(t, o->count[rank]));

    paste(t->arena, o, rank, draw(t, o->count[rank] + 1), op);
}

static void move_near(struct mutation *t, struct pp_orders *o, int rank)
{
    const int from = draw(t, o->count[rank]);
    const struct pp_op op = list_cut(o, rank, from);
    int to = from + draw(t, 7) - 3;

    to = to < 0 ? 0 : to > o->count[rank] ? o->count[rank] : to;
    paste(t->arena, o, rank, to, op);
}

static void move_away(struct mutation *t, struct pp_orders *o, int rank)
{
    const int other = draw(t, o->ranks);
    const struct pp_op op = list_cut(o, rank, draw(t, o->count[rank]));

    paste(t->arena, o, other, draw(t, o->count[other] + 1), op);
}

/* Two moves on different ranks: what one of them breaks the other may mend. */
static void move_two(struct mutation *t, struct pp_orders *o, int rank)
{
    move_near(t, o, rank);
    rank = draw(t, o->ranks);
    if (o->count[rank])
        move_near(t, o, rank);
}

static void fuse(struct mutation *t, struct pp_orders *o, int rank)
{
    for (int i = 0; i + 1 < o->count[rank]; i++) {
        struct pp_op *op = &o->ops[rank][i];
        if (op[0].kind == PP_F && op[1].kind == PP_B && !op[0].aux && !op[1].aux && draw(t, 2)) {
            op[0].aux = PP_FUSED_FIRST;
            op[1].aux = PP_FUSED_SECOND;
        }
    }
}

static bool is_second(const struct pp_op *op)
{
    return pp_op_is_compute(op->kind) && op->aux == PP_FUSED_SECOND;
}

void mutant_cut_backward(struct mutation *t, struct pp_orders *o, int rank)
{
    for (int i = 0; i < o->count[rank]; i++)
        if (o->ops[rank][i].kind == PP_B && !o->ops[rank][i].aux && draw(t, 2)) {
            struct pp_op weight = o->ops[rank][i];
            o->ops[rank][i].kind = PP_I;
            weight.kind = PP_W;
            const int after = o->count[rank] - i;
            int at = i + 1 + draw(t, after);
            at += at < o->count[rank] && is_second(&o->ops[rank][at]); /* not between a pair */
            paste(t->arena, o, rank, at, weight);
        }
}

void mutant_recompute(struct mutation *t, struct pp_orders *o, int rank)
{
    for (int i = 0; i < o->count[rank]; i++)
        if ((o->ops[rank][i].kind == PP_B || o->ops[rank][i].kind == PP_I) &&
            !o->ops[rank][i].aux && draw(t, 2)) {
            struct pp_op op = o->ops[rank][i];
            op.kind = PP_R;
            paste(t->arena, o, rank, i++, op);
        }
}

/* A barrier on every rank, and sometimes one more. */
static void barriers(struct mutation *t, struct pp_orders *o, int rank)
{
    const struct pp_op bar = {.kind = PP_BAR, .mb = -1, .arg = -1, .slot = -1};
    const bool is_whole = draw(t, 4) > 0;

    if (t->head->level == PP_LEVEL_COMPUTE)
        return;
    for (int times = 0; times < 2; times++)
        for (int r = 0; r < o->ranks; r++)
            if (is_whole || r != rank)
                paste(t->arena, o, r, draw(t, 3) ? o->count[r] : draw(t, o->count[r] + 1), bar);
}

static bool has_slot(const struct pp_op *op)
{
    return op->kind == PP_F || op->kind == PP_R || pp_op_is_send(op->kind) ||
           pp_op_is_recv(op->kind) || (op->kind == PP_COPY && op->purpose == PP_FOR_UP);
}

static void renumber_slots(struct mutation *t, struct pp_orders *o, int rank)
{
    int next[PP_OP_KINDS] = {0};
    const int slots = 1 + draw(t, 5);

    for (int i = 0; i < o->count[rank]; i++) {
        struct pp_op *op = &o->ops[rank][i];
        if (has_slot(op))
            op->slot = next[op->kind]++ % slots;
    }
}

static void change_slot(struct mutation *t, struct pp_orders *o, int rank)
{
    struct pp_op *op = &o->ops[rank][draw(t, o->count[rank])];

    if (has_slot(op))
        op->slot = draw(t, 3);
}

/* Of a collective or its WAIT. */
static void change_bucket(struct mutation *t, struct pp_orders *o, int rank)
{
    int at = draw(t, o->count[rank]);

    for (int i = 0; i < o->count[rank]; i++, at = (at + 1) % o->count[rank]) {
        struct pp_op *op = &o->ops[rank][at];
        const bool is_wait = op->kind == PP_WAIT;
        if (!pp_op_has_buckets(is_wait ? op->aux : op->kind) ||
            (is_wait ? op->peer != 0 : op->aux == PP_TIED))
            continue;
        op->granules = (uint8_t)(draw(t, 2) ? op->granules : draw(t, 3) ? 2 : 0);
        op->split = (uint8_t)(op->granules ? draw(t, op->granules) : 0);
        return;
    }
}

/* All collectives or copies with the purpose of one, and their WAITs. */
static void drop_purpose(struct mutation *t, struct pp_orders *o, int rank)
{
    const struct pp_op *op = &o->ops[rank][draw(t, o->count[rank])];
    const int kind = op->kind == PP_WAIT ? op->aux : op->kind, purpose = op->purpose;

    if (!pp_op_has_purpose(kind))
        return;
    for (int r = 0; r < o->ranks; r++)
        for (int i = o->count[r] - 1; i >= 0; i--) {
            op = &o->ops[r][i];
            if ((op->kind == PP_WAIT ? op->aux : op->kind) == kind && op->purpose == purpose)
                list_cut(o, r, i);
        }
}

/* All collectives of visits and parts become those of a step. */
static void forget_purposes(struct mutation *t, struct pp_orders *o, int rank)
{
    const int purpose = 1 + draw(t, PP_PURPOSES - 1);

    (void)rank;
    for (int r = 0; r < o->ranks; r++)
        for (int i = 0; i < o->count[r]; i++) {
            struct pp_op *op = &o->ops[r][i];
            if (op->purpose == purpose &&
                pp_op_has_buckets(op->kind == PP_WAIT ? op->aux : op->kind))
                op->purpose = PP_FOR_STEP;
        }
}

const struct mutant mutants[MUTANTS] = {
    {"drop", drop, 4},
    {"duplicate", duplicate, 3},
    {"swap neighbours", swap_neighbours, 8},
    {"swap any two", swap_any, 3},
    {"move on the rank", move_within, 4},
    {"move a little", move_near, 6},
    {"move two", move_two, 8},
    {"move to another rank", move_away, 2},
    {"fuse", fuse, 3},
    {"backward as I and W", mutant_cut_backward, 2},
    {"recompute", mutant_recompute, 1},
    {"barriers", barriers, 2},
    {"other slots", renumber_slots, 3},
    {"another slot", change_slot, 3},
    {"another bucket", change_bucket, 3},
    {"a purpose left out", drop_purpose, 2},
    {"a purpose forgotten", forget_purposes, 2},
};
