/* The chunks that a rank holds and the micro-batches of a pipeline. */
#include "schedules/order/order.h"

struct pp_op pp_compute_op(int kind, struct pp_slot slot, int mb, int split)
{
    return (struct pp_op){.kind = (uint8_t)kind,
                          .split = (uint8_t)split,
                          .granules = 1,
                          .stage = slot.stage,
                          .pipe = slot.pipe,
                          .mb = mb,
                          .arg = -1,
                          .slot = -1};
}

struct pp_places pp_places_make(struct pp_arena *arena, const struct pp_shape *shape,
                                const struct pp_order_maps *maps)
{
    const int stages = pp_shape_stages(shape), all = shape->pipelines * stages;
    const int granules = shape->micro_batches * shape->granules;
    struct pp_places places = {.shape = shape,
                               .slot_begin = PP_ARRAY(arena, int, shape->ranks + 2),
                               .slots = PP_ARRAY(arena, struct pp_slot, all),
                               .mb_begin = PP_ARRAY(arena, int, shape->pipelines + 2),
                               .mbs = PP_ARRAY(arena, int, granules)};
    /* Counting sort: begin[x + 2] first counts x, then begin[x + 1] is the place of the next x. */
    for (int i = 0; i < all; i++)
        places.slot_begin[maps->rank_of[i] + 2]++;
    for (int rank = 0; rank < shape->ranks; rank++)
        places.slot_begin[rank + 2] += places.slot_begin[rank + 1];
    for (int i = 0; i < all; i++)
        places.slots[places.slot_begin[maps->rank_of[i] + 1]++] =
            (struct pp_slot){.pipe = (uint16_t)(i / stages), .stage = (uint16_t)(i % stages)};

    for (int mb = 0; mb < granules; mb++)
        places.mb_begin[maps->pipe_of[mb] + 2]++;
    for (int pipe = 0; pipe < shape->pipelines; pipe++)
        places.mb_begin[pipe + 2] += places.mb_begin[pipe + 1];
    for (int mb = 0; mb < granules; mb++)
        places.mbs[places.mb_begin[maps->pipe_of[mb] + 1]++] = mb;
    return places;
}
