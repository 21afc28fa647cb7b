/* .phases: expands patterns into the list of a rank. */
#include "schedules/order/order.h"

#include <assert.h>
#include <ctype.h>
#include <stdbool.h>

/* Pending weight gradients: I adds an op, W removes the oldest (of one chunk or of all). All are in
 * one list in the order of their I, linked by chunk, so that both take constant time. */
struct pending {
    struct waiting {
        struct pp_op op;
        int slot, next; /* next of its chunk, -1 = none */
        bool is_taken;
    } * ops;
    int head, count, capacity;
    int *first, *last; /* of a chunk: [slot], -1 = none */
};

struct pp_phases {
    struct pp_arena *arena;
    const struct pp_schedule *schedule;
    const struct pp_places *places;
    struct pp_orders *orders;
    int rank;
    const struct pp_slot *slots; /* of the rank */
    int slot_count;
    int total[2]; /* F and B without a chunk number: their number, and the number done */
    int done[2];
    int *slot_done[2]; /* done with a chunk number: [slot] */
    struct pending pending;
};

static int granules_of(const struct pp_places *places, int pipe)
{
    return places->mb_begin[pipe + 1] - places->mb_begin[pipe];
}

/* Returns the micro-batches that go through a chunk before the next chunk: --group, or all. */
static int group_of(const struct pp_schedule *schedule, const struct pp_shape *shape)
{
    const bool has_group = schedule->options[PP_GROUP_AT] == &pp_group_option;
    const int group = has_group ? shape->option[PP_GROUP_AT] : 0;

    return group > 0 && group < shape->micro_batches ? group : shape->micro_batches;
}

static struct pp_schedule_work group_unit(const struct pp_schedule *schedule,
                                          const struct pp_shape *shape, int direction, int k)
{
    const int n = shape->micro_batches, splits = shape->splits, chunks = shape->chunks;
    const int group = group_of(schedule, shape);
    const int unit = k / splits, split = k % splits;
    const int first = unit / (group * chunks) * group;
    const int size = first + group <= n ? group : n - first;
    const int rest = unit - first * chunks;
    const int chunk = rest / size;

    return (struct pp_schedule_work){.chunk = direction == PP_DIR_F ? chunk : chunks - 1 - chunk,
                                     .mb = first + rest % size,
                                     .split = direction == PP_DIR_F ? split : splits - 1 - split};
}

/* Returns the next F (direction 0) or B without a chunk number, and its chunk; false if none. */
static bool next_any(struct pp_phases *out, int kind, int direction, int *chunk, struct pp_op *op)
{
    const struct pp_shape *shape = out->places->shape;
    const int k = out->done[direction];

    if (k >= out->total[direction])
        return false;
    out->done[direction]++;
    const struct pp_schedule_work unit = out->schedule->next
                                             ? out->schedule->next(shape, direction, k)
                                             : group_unit(out->schedule, shape, direction, k);
    *chunk = unit.chunk;
    *op = pp_compute_op(kind, out->slots[unit.chunk], unit.mb, unit.split);
    return true;
}

static bool next_of_chunk(struct pp_phases *out, int kind, int direction, int chunk,
                          struct pp_op *op)
{
    const int splits = out->places->shape->splits;
    const int k = out->slot_done[direction][chunk];
    const struct pp_slot slot = out->slots[chunk];

    if (k >= granules_of(out->places, slot.pipe) * splits)
        return false;
    out->slot_done[direction][chunk]++;
    const int split = direction == PP_DIR_F ? k % splits : splits - 1 - k % splits;
    *op = pp_compute_op(kind, slot, out->places->mbs[out->places->mb_begin[slot.pipe] + k / splits],
                        split);
    return true;
}

static void put_pending(struct pp_phases *out, int slot, const struct pp_op *op)
{
    struct pending *pending = &out->pending;
    const int at = pending->count;

    *PP_PUSH(out->arena, pending->ops, pending->count, pending->capacity) =
        (struct waiting){.op = *op, .slot = slot, .next = -1};
    if (pending->first[slot] < 0)
        pending->first[slot] = at;
    else
        pending->ops[pending->last[slot]].next = at;
    pending->last[slot] = at;
}

/* Removes the oldest of a slot (-1 = of all). The oldest of all is also the oldest of its chunk. */
static bool next_weight_gradient(struct pp_phases *out, int slot, struct pp_op *op)
{
    struct pending *pending = &out->pending;

    while (pending->head < pending->count && pending->ops[pending->head].is_taken)
        pending->head++;
    const int at = slot >= 0                        ? pending->first[slot]
                   : pending->head < pending->count ? pending->head
                                                    : -1;
    if (at < 0)
        return false;
    struct waiting *oldest = &pending->ops[at];
    oldest->is_taken = true;
    pending->first[oldest->slot] = oldest->next;
    *op = oldest->op;
    op->kind = PP_W;
    return true;
}

static bool next_op(struct pp_phases *out, char letter, int chunk, struct pp_op *op)
{
    const int kind = letter == 'F' ? PP_F : letter == 'B' ? PP_B : letter == 'I' ? PP_I : PP_W;
    const int direction = kind == PP_F ? PP_DIR_F : PP_DIR_B;

    assert(letter == 'F' || letter == 'B' || letter == 'I' || letter == 'W');
    assert(chunk < out->slot_count);
    if (kind == PP_W)
        return next_weight_gradient(out, chunk, op);
    if (chunk < 0 ? !next_any(out, kind, direction, &chunk, op)
                  : !next_of_chunk(out, kind, direction, chunk, op))
        return false;
    if (kind == PP_I)
        put_pending(out, chunk, op);
    return true;
}

/* Reads one letter and its optional chunk number; chunk -1 = no number. */
static const char *read_letter(const char *text, char *letter, int *chunk)
{
    *letter = *text++;
    *chunk = -1;
    for (; isdigit((unsigned char)*text); text++)
        *chunk = (*chunk < 0 ? 0 : *chunk) * 10 + (*text - '0');
    return text;
}

/* Appends the ops of one pattern; false if none of its ops was left. */
static bool append_pattern(struct pp_phases *out, const char *pattern)
{
    bool any = false;

    for (const char *text = pattern; *text != '\0';) {
        char letter;
        int chunk;
        struct pp_op ops[2];
        bool have[2] = {false, false};
        if (*text == ' ') {
            text++;
            continue;
        }
        text = read_letter(text, &letter, &chunk);
        have[0] = next_op(out, letter, chunk, &ops[0]);
        if (*text == '+') {
            text = read_letter(text + 1, &letter, &chunk);
            have[1] = next_op(out, letter, chunk, &ops[1]);
        }
        if (have[0] && have[1]) {
            ops[0].aux = PP_FUSED_FIRST;
            ops[1].aux = PP_FUSED_SECOND;
        }
        for (int i = 0; i < 2; i++)
            if (have[i])
                pp_orders_add(out->arena, out->orders, out->rank, ops[i]);
        any = any || have[0] || have[1];
    }
    return any;
}

void pp_phase(struct pp_phases *out, int times, const char *pattern)
{
    for (int i = 0; i < times; i++)
        if (!append_pattern(out, pattern))
            return;
}

/* Empties the list for another rank and keeps its memory. */
static void clear_pending(struct pending *pending, int slots)
{
    pending->head = pending->count = 0;
    for (int slot = 0; slot < slots; slot++)
        pending->first[slot] = pending->last[slot] = -1;
}

void pp_phases_expand(struct pp_arena *arena, const struct pp_schedule *schedule,
                      const struct pp_places *places, struct pp_orders *orders)
{
    const struct pp_shape *shape = places->shape;
    const int most = pp_shape_stages(shape) * shape->pipelines;
    struct pending pending = {.first = PP_ARRAY(arena, int, most),
                              .last = PP_ARRAY(arena, int, most)};

    for (int rank = 0; rank < shape->ranks; rank++) {
        const int begin = places->slot_begin[rank], end = places->slot_begin[rank + 1];
        clear_pending(&pending, end - begin);
        struct pp_phases out = {
            .arena = arena,
            .schedule = schedule,
            .places = places,
            .orders = orders,
            .rank = rank,
            .slots = places->slots + begin,
            .slot_count = end - begin,
            .slot_done = {PP_ARRAY(arena, int, end - begin), PP_ARRAY(arena, int, end - begin)},
            .pending = pending};
        for (int i = begin; i < end; i++)
            out.total[0] += granules_of(places, places->slots[i].pipe) * shape->splits;
        out.total[1] = out.total[0];
        pp_orders_reserve(arena, orders, rank, 2 * out.total[0]);
        schedule->phases(shape, rank, &out);
        pending = out.pending;
    }
}
