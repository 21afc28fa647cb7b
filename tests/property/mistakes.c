#include "mistakes.h"

#include "lists.h"

/* An instruction of the rank that is like it; -1 when there is none. */
static int draw_like(uint64_t *random, const struct pp_orders *o, int rank,
                     bool (*is_like)(const struct pp_op *op, const struct pp_op *other),
                     const struct pp_op *other)
{
    int found = -1, count = 0;

    for (int i = 0; i < o->count[rank]; i++)
        if (is_like(&o->ops[rank][i], other) && list_draw(random, ++count) == 0)
            found = i;
    return found;
}

static bool is_in_channel(const struct pp_op *op, const struct pp_op *other)
{
    return op->kind == other->kind && op->peer == other->peer && op->pipe == other->pipe &&
           op != other;
}

static bool is_of_kind(const struct pp_op *op, const struct pp_op *other)
{
    return op->kind == other->kind;
}

static bool is_recv(const struct pp_op *op, const struct pp_op *other)
{
    (void)other;
    return pp_op_is_recv(op->kind);
}

static bool is_send(const struct pp_op *op, const struct pp_op *other)
{
    (void)other;
    return pp_op_is_send(op->kind);
}

static bool is_slot(const struct pp_op *op, const struct pp_op *other)
{
    (void)other;
    return op->slot >= 0;
}

static bool has_other_slot(const struct pp_op *op, const struct pp_op *other)
{
    return op->kind == other->kind && op->slot != other->slot;
}

static bool swap_in_channel(uint64_t *random, struct pp_orders *o, int rank,
                            bool (*is_end)(const struct pp_op *op, const struct pp_op *other))
{
    const int a = draw_like(random, o, rank, is_end, NULL),
              b = a < 0 ? -1 : draw_like(random, o, rank, is_in_channel, &o->ops[rank][a]);

    if (b < 0)
        return false;
    list_swap(o, rank, a, b);
    return true;
}

static bool swap_recvs(uint64_t *random, struct pp_orders *o, int rank)
{
    return swap_in_channel(random, o, rank, is_recv);
}

static bool swap_sends(uint64_t *random, struct pp_orders *o, int rank)
{
    return swap_in_channel(random, o, rank, is_send);
}

static bool drop(uint64_t *random, struct pp_orders *o, int rank, int kind)
{
    const struct pp_op like = {.kind = (uint8_t)kind};
    const int at = draw_like(random, o, rank, is_of_kind, &like);

    if (at < 0)
        return false;
    list_cut(o, rank, at);
    return true;
}

static bool drop_weight_gradient(uint64_t *random, struct pp_orders *o, int rank)
{
    return drop(random, o, rank, PP_W);
}

static bool drop_wait(uint64_t *random, struct pp_orders *o, int rank)
{
    return drop(random, o, rank, PP_WAIT);
}

/* By one to four places, but not between the two ops of an overlapped pair. */
static bool delay_wait(uint64_t *random, struct pp_orders *o, int rank)
{
    const struct pp_op like = {.kind = PP_WAIT};
    const int at = draw_like(random, o, rank, is_of_kind, &like), after = o->count[rank] - 1 - at;
    struct pp_op *ops = o->ops[rank];

    if (at < 0 || after == 0)
        return false;
    const int to = at + 1 + list_draw(random, after < 4 ? after : 4);
    const struct pp_op op = ops[at];
    if (pp_op_is_compute(ops[to].kind) && ops[to].aux == PP_FUSED_FIRST)
        return false;
    memmove(&ops[at], &ops[at + 1], sizeof(op) * (size_t)(to - at));
    ops[to] = op;
    return true;
}

/* Of those that the rank uses for the same kind of tensor: one that is still read, or was read. */
static bool change_slot(uint64_t *random, struct pp_orders *o, int rank)
{
    const int at = draw_like(random, o, rank, is_slot, NULL),
              other = at < 0 ? -1 : draw_like(random, o, rank, has_other_slot, &o->ops[rank][at]);

    if (other < 0)
        return false;
    o->ops[rank][at].slot = o->ops[rank][other].slot;
    return true;
}

static const struct {
    const char *name;
    bool (*make)(uint64_t *random, struct pp_orders *lists, int rank);
} table[MISTAKES] = {
    {"two RECVs of a channel change places", swap_recvs},
    {"two SENDs of a channel change places", swap_sends},
    {"a W is missing", drop_weight_gradient},
    {"a WAIT is missing", drop_wait},
    {"a WAIT comes later", delay_wait},
    {"another slot", change_slot},
};

const char *mistake_name(int mistake)
{
    return table[mistake].name;
}

bool make_mistake(int mistake, uint64_t *random, struct pp_orders *lists)
{
    return table[mistake].make(random, lists, list_draw(random, lists->ranks));
}
