#include "schedules/program/placement.h"

#include <criterion/criterion.h>

static void expect(enum pp_placement_kind kind, int ranks, int chunks, int pipelines,
                   const int *want)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const uint16_t *got = pp_placement_make(arena, kind, ranks, chunks, pipelines);

    for (int i = 0; i < ranks * chunks * pipelines; i++)
        cr_expect_eq(got[i], want[i], "%s D=%d V=%d P=%d entry %d: %d", pp_placement_names[kind],
                     ranks, chunks, pipelines, i, got[i]);
}

Test(placement, small_cases_by_hand)
{
    expect(PP_PLACE_LOOP, 3, 2, 1, (int[]){0, 1, 2, 0, 1, 2});
    expect(PP_PLACE_VEE, 3, 2, 1, (int[]){0, 1, 2, 2, 1, 0});
    expect(PP_PLACE_WAVE, 2, 4, 1, (int[]){0, 1, 1, 0, 0, 1, 1, 0});
    expect(PP_PLACE_TWO_WAY, 3, 1, 2, (int[]){0, 1, 2, 2, 1, 0});
    expect(PP_PLACE_TWO_WAY, 3, 2, 2, (int[]){0, 1, 2, 2, 1, 0, 2, 1, 0, 0, 1, 2});
    /* f = 2: down 0, down 1, up 0, up 1; the second pair starts at rank D/f. */
    expect(PP_PLACE_TWO_WAY, 4, 1, 4, (int[]){0, 1, 2, 3, 2, 3, 0, 1, 3, 2, 1, 0, 1, 0, 3, 2});
    /* f = 3, where the last block has one pair: d0 d1 u0 u1, d2 u2. */
    expect(PP_PLACE_TWO_WAY, 3, 1, 6,
           (int[]){0, 1, 2, 1, 2, 0, 2, 1, 0, 0, 2, 1, 2, 0, 1, 1, 0, 2});
}

Test(placement, every_rank_holds_every_pipeline_equally)
{
    for (int kind = PP_PLACE_LOOP; kind < PP_PLACE_FILE; kind++) {
        for (int ranks = 1; ranks <= 12; ranks++) {
            for (int pairs = 1; pairs <= (kind == PP_PLACE_TWO_WAY ? ranks : 1); pairs++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const int pipelines = kind == PP_PLACE_TWO_WAY ? 2 * pairs : 1, stages = 2 * ranks;
                int held[12] = {0};
                if (ranks % pairs != 0)
                    continue;
                const uint16_t *got =
                    pp_placement_make(arena, (enum pp_placement_kind)kind, ranks, 2, pipelines);
                for (int i = 0; i < pipelines * stages; i++)
                    held[got[i]]++;
                for (int rank = 0; rank < ranks; rank++)
                    cr_expect_eq(held[rank], 2 * pipelines);
            }
        }
    }
}
