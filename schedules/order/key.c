/* Expands a schedule's .key into orders. */
#include "schedules/order/order.h"

#include <stdlib.h>

struct keyed {
    int64_t key;
    struct pp_op op;
};

/* Compares keys. Of equal keys, deeper stages come first, then forwards; any fixed rule works. */
static int compare(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->op.stage != b->op.stage)
        return b->op.stage - a->op.stage;
    if (a->op.kind != b->op.kind)
        return a->op.kind - b->op.kind;
    return a->op.mb < b->op.mb ? -1 : a->op.mb > b->op.mb;
}

/* Returns the F or B that starts with granule `index` of the slot's pipeline. */
static struct keyed keyed_op(const struct pp_schedule *schedule, const struct pp_places *places,
                             struct pp_slot slot, int kind, int index)
{
    const struct pp_key_op op = {.kind = kind,
                                 .stage = slot.stage,
                                 .pipeline = slot.pipe,
                                 .index = index,
                                 .mb = places->mbs[places->mb_begin[slot.pipe] + index]};
    struct keyed keyed = {.key = schedule->key(places->shape, &op),
                          .op = pp_compute_op(kind, slot, op.mb, 0)};

    if (kind == PP_F)
        keyed.op.granules = (uint8_t)places->shape->granules;
    return keyed;
}

void pp_key_expand(struct pp_arena *arena, const struct pp_schedule *schedule,
                   const struct pp_places *places, struct pp_orders *orders)
{
    const struct pp_shape *shape = places->shape;

    for (int rank = 0; rank < shape->ranks; rank++) {
        int count = 0;
        for (int i = places->slot_begin[rank]; i < places->slot_begin[rank + 1]; i++) {
            const int pipe = places->slots[i].pipe;
            count += 2 * (places->mb_begin[pipe + 1] - places->mb_begin[pipe]);
        }
        pp_orders_reserve(arena, orders, rank, count);
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        struct keyed *list = PP_ARRAY(arena, struct keyed, count);
        count = 0;
        for (int i = places->slot_begin[rank]; i < places->slot_begin[rank + 1]; i++) {
            const struct pp_slot slot = places->slots[i];
            const int begin = places->mb_begin[slot.pipe], end = places->mb_begin[slot.pipe + 1];
            for (int j = 0; j < end - begin; j++) {
                if (j % shape->granules == 0)
                    list[count++] = keyed_op(schedule, places, slot, PP_F, j);
                list[count++] = keyed_op(schedule, places, slot, PP_B, j);
            }
        }
        qsort(list, (size_t)count, sizeof(*list), compare);
        for (int i = 0; i < count; i++)
            pp_orders_add(arena, orders, rank, list[i].op);
        pp_arena_release(arena, mark);
    }
}
