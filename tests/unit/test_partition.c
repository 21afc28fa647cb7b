#include "core/roofline.h"

#include <criterion/criterion.h>
#include <string.h>

/* A legal division exists when every free stage can have a block and the rest has a place. */
static bool is_possible(int blocks, int stages, int first, int last)
{
    if (blocks < stages)
        return false;
    if (stages == 1)
        return (first == 0 || first == blocks) && (last == 0 || last == blocks);
    const int free_stages = stages - (first > 0) - (last > 0), rest = blocks - first - last;
    return free_stages == 0 ? rest == 0 : rest >= free_stages;
}

static void check_division(const int *share, const int sizes[4])
{
    const int blocks = sizes[0], stages = sizes[1], first = sizes[2], last = sizes[3];
    int sum = 0, low = blocks, high = 0;

    for (int s = 0; s < stages; s++) {
        sum += share[s];
        cr_assert(share[s] >= 1);
        if ((s == 0 && first > 0) || (s == stages - 1 && last > 0))
            continue;
        low = share[s] < low ? share[s] : low;
        high = share[s] > high ? share[s] : high;
    }
    cr_assert_eq(sum, blocks);
    cr_assert(high - low <= 1 || high == 0);
    cr_assert(first == 0 || share[0] == first);
    cr_assert(last == 0 || share[stages - 1] == last);
    /* an end that is free never holds more than an inner stage */
    for (int s = 1; s < stages - 1; s++) {
        cr_assert(first > 0 || share[0] <= share[s]);
        cr_assert(last > 0 || share[stages - 1] <= share[s]);
    }
    /* nor the stage of the head more than that of the embedding */
    cr_assert(first > 0 || last > 0 || share[stages - 1] <= share[0]);
}

Test(partition, every_block_is_placed_evenly_and_the_ends_are_light)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    int possible = 0;

    for (int blocks = 1; blocks <= 33; blocks++)
        for (int stages = 1; stages <= 11; stages++)
            for (int first = 0; first <= 5; first++)
                for (int last = 0; last <= 5; last++) {
                    struct pp_error err = {0};
                    int *share = NULL;
                    const enum pp_status status =
                        pp_partition_blocks(arena, blocks, stages, first, last, &share, &err);
                    cr_assert_eq(status == PP_OK, is_possible(blocks, stages, first, last),
                                 "%d blocks, %d stages, first %d, last %d: %s", blocks, stages,
                                 first, last, err.message);
                    if (status != PP_OK)
                        continue;
                    check_division(share, (int[]){blocks, stages, first, last});
                    possible++;
                }
    cr_assert(possible > 5000);
}

Test(partition, refusals_say_what_would_fit)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    int *share;

    cr_assert_eq(pp_partition_blocks(arena, 96, 128, 0, 0, &share, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "at most 96"), "%s", err.message);
    cr_assert_eq(pp_partition_blocks(arena, 10, 4, 5, 5, &share, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "at most 8"), "%s", err.message);
    cr_assert_eq(pp_partition_blocks(arena, 10, 2, 5, 6, &share, &err), PP_EINVAL);
    cr_assert_eq(pp_partition_blocks(arena, 10, 0, 0, 0, &share, &err), PP_EINVAL);
    cr_assert_eq(pp_partition_blocks(arena, 10, 2, 2147483647, 2147483647, &share, &err),
                 PP_EINVAL);
}
