#include "races.h"

#include <assert.h>
#include <string.h>

/* Nodes: instructions, then the transfer of each message, the sum of each collective, and the end
 * of each barrier. Objects: every slot of every kind of message on every rank, then the gradients
 * of every stage of every pipeline. */
struct access {
    int object, node;
    bool is_write;
};
struct races {
    struct pp_arena *arena;
    const struct pp_program *p;
    int size, nodes, words, slots;
    uint64_t *before; /* [node * words + ...]: nodes that end before this one starts */
    struct access *accesses;
    int access_count, access_capacity;
};

static int transfer(const struct races *r, int message)
{
    return r->size + message;
}

static int sum(const struct races *r, int collective)
{
    return transfer(r, r->p->message_count) + collective;
}

static int meeting(const struct races *r, int barrier)
{
    return sum(r, r->p->collective_count) + barrier;
}

static bool is_before(const struct races *r, int a, int b)
{
    return r->before[(size_t)b * (size_t)r->words + (size_t)a / 64] >> (a % 64) & 1;
}

/* b starts after a and all that is before it. True when that is new. */
static bool order(struct races *r, int a, int b)
{
    uint64_t *to = &r->before[(size_t)b * (size_t)r->words];
    const uint64_t *from = &r->before[(size_t)a * (size_t)r->words];
    const bool is_new = !is_before(r, a, b);
    uint64_t added = 0;

    to[a / 64] |= (uint64_t)1 << (a % 64);
    for (int w = 0; w < r->words; w++) {
        added |= from[w] & ~to[w];
        to[w] |= from[w];
    }
    return is_new || added;
}

/* What the post of instruction i starts: a transfer or a sum. */
static int posted(const struct races *r, int i)
{
    return pp_op_is_collective(r->p->kind[i]) ? sum(r, r->p->arg[i]) : transfer(r, r->p->arg[i]);
}

static bool order_rank(struct races *r, int rank)
{
    const struct pp_program *p = r->p;
    bool changed = false;

    for (int i = p->begin[rank], barrier = 0; i < p->begin[rank + 1]; i++) {
        changed |= i > p->begin[rank] && order(r, i - 1, i);
        if (pp_op_is_posted(p->kind[i]))
            changed |= order(r, i, posted(r, i));
        else if (p->kind[i] == PP_WAIT)
            changed |= order(r, posted(r, p->begin[rank] + p->arg[i]), i);
        if (p->kind[i] != PP_BAR)
            continue;
        changed |= order(r, i, meeting(r, barrier));
        changed |= i + 1 < p->begin[rank + 1] && order(r, meeting(r, barrier), i + 1);
        barrier++;
    }
    return changed;
}

static bool order_channels(struct races *r)
{
    bool changed = false;

    for (int c = 0; c < r->p->channel_count; c++)
        for (int k = 1; k < r->p->channels[c].count; k++)
            changed |= order(r, transfer(r, r->p->channels[c].first + k - 1),
                             transfer(r, r->p->channels[c].first + k));
    return changed;
}

static void order_all(struct races *r)
{
    for (bool changed = true; changed;) {
        changed = order_channels(r);
        for (int rank = 0; rank < r->p->ranks; rank++)
            changed |= order_rank(r, rank);
    }
}

/* ---- who touches what ------------------------------------------------------------------------ */

static void touch(struct races *r, int object, int node, bool is_write)
{
    *PP_PUSH(r->arena, r->accesses, r->access_count, r->access_capacity) =
        (struct access){object, node, is_write};
}

static int slot_object(const struct races *r, int rank, int i)
{
    return (rank * PP_OP_KINDS + r->p->kind[i]) * r->slots + r->p->slot[i];
}

/* The tied matrix of a stage apart from the rest: it has a sum of its own. */
static int gradient_object(const struct races *r, int pipe, int stage, bool is_tied)
{
    return r->p->ranks * PP_OP_KINDS * r->slots + (pipe * r->p->stages + stage) * 2 + is_tied;
}

static void touch_gradients(struct races *r, int pipe, int stage, int node, bool is_write)
{
    touch(r, gradient_object(r, pipe, stage, false), node, is_write);
    touch(r, gradient_object(r, pipe, stage, true), node, is_write);
}

static bool covers(const struct pp_program *p, int i, const struct pp_op *op)
{
    return p->stage[i] == op->stage && p->split[i] == op->split &&
           p->mb[i] < op->mb + op->granules && op->mb < p->mb[i] + p->granule_count[i];
}

/* Every SEND of what a compute op makes, every RECV of what it reads. */
static void touch_messages(struct races *r, int rank, int i, int send_kind, int recv_kind)
{
    const struct pp_program *p = r->p;
    const struct pp_op op = pp_program_op(p, i);

    for (int j = p->begin[rank]; j < p->begin[rank + 1]; j++)
        if ((p->kind[j] == send_kind || p->kind[j] == recv_kind) && covers(p, j, &op))
            touch(r, slot_object(r, rank, j), i, p->kind[j] == send_kind);
}

static void touch_by(struct races *r, int rank, int i)
{
    const struct pp_program *p = r->p;
    const int kind = p->kind[i];

    assert(kind != PP_R);
    if (kind == PP_F)
        touch_messages(r, rank, i, PP_SEND_F, PP_RECV_F);
    if (kind == PP_B || kind == PP_I)
        touch_messages(r, rank, i, PP_SEND_B, PP_RECV_B);
    if (kind == PP_B || kind == PP_W || kind == PP_U)
        touch_gradients(r, p->pipe[i], p->stage[i], i, true);
    if (pp_op_is_send(kind) || pp_op_is_recv(kind))
        touch(r, slot_object(r, rank, i), posted(r, i), pp_op_is_recv(kind));
}

static void touch_sum(struct races *r, int c)
{
    const struct pp_collective *collective = &r->p->collectives[c];

    for (int pipe = 0; pipe < r->p->pipelines; pipe++) {
        touch(r, gradient_object(r, pipe, collective->stage, collective->tied), sum(r, c), true);
        if (collective->tied)
            touch(r, gradient_object(r, pipe, r->p->stages - 1, true), sum(r, c), true);
    }
}

/* At its last barrier a rank takes its part of the norm from the copies of pipeline 0. The tied
 * matrix counts in the first stage alone. After all ranks have met, every rank may read all
 * gradients. */
static void touch_norm(struct races *r, int barriers)
{
    const struct pp_program *p = r->p;

    for (int rank = 0; rank < p->ranks; rank++) {
        int last = -1;
        for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
            last = p->kind[i] == PP_BAR ? i : last;
        for (int stage = 0; last >= 0 && stage < p->stages; stage++)
            if (pp_program_rank_of(p, 0, stage) == rank) {
                touch(r, gradient_object(r, 0, stage, false), last, false);
                if (stage == 0)
                    touch(r, gradient_object(r, 0, stage, true), last, false);
            }
    }
    for (int k = 0; barriers > 0 && k < p->pipelines * p->stages; k++)
        touch_gradients(r, 0, k, meeting(r, barriers - 1), false);
}

static void touch_all(struct races *r, int barriers)
{
    for (int rank = 0; rank < r->p->ranks; rank++)
        for (int i = r->p->begin[rank]; i < r->p->begin[rank + 1]; i++)
            touch_by(r, rank, i);
    for (int c = 0; c < r->p->collective_count; c++)
        touch_sum(r, c);
    touch_norm(r, barriers);
}

static const char *name(const struct races *r, int node)
{
    char text[PP_OP_TEXT_BYTES];

    if (node >= r->size)
        return pp_arena_printf(r->arena, node < sum(r, 0) ? "transfer %d" : "sum or barrier %d",
                               node - (node < sum(r, 0) ? r->size : sum(r, 0)));
    const struct pp_op op = pp_program_op(r->p, node);
    pp_op_print(&op, pp_program_style(r->p), text);
    return pp_arena_strdup(r->arena, text);
}

const char *find_race(struct pp_arena *arena, const struct pp_program *p)
{
    struct races r = {.arena = arena, .p = p, .size = pp_program_size(p), .slots = 1};
    int barriers = 0;

    for (int i = 0; i < r.size; i++) {
        r.slots = p->slot[i] >= r.slots ? p->slot[i] + 1 : r.slots;
        barriers += p->kind[i] == PP_BAR; /* of all ranks: room enough */
    }
    r.nodes = meeting(&r, barriers);
    r.words = (r.nodes + 63) / 64;
    r.before = PP_ARRAY(arena, uint64_t, (size_t)r.nodes * (size_t)r.words);
    order_all(&r);
    for (int n = 0; n < r.nodes; n++)
        if (is_before(&r, n, n))
            return pp_arena_printf(arena, "%s waits for itself", name(&r, n));
    touch_all(&r, barriers / p->ranks);
    for (int a = 0; a < r.access_count; a++)
        for (int b = 0; b < a; b++) {
            const struct access *x = &r.accesses[a], *y = &r.accesses[b];
            if (x->object == y->object && (x->is_write || y->is_write) && x->node != y->node &&
                !is_before(&r, x->node, y->node) && !is_before(&r, y->node, x->node))
                return pp_arena_printf(arena, "%s and %s touch the same memory", name(&r, x->node),
                                       name(&r, y->node));
        }
    return NULL;
}
