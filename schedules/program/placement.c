/* Tables of the rank that holds each stage, one rule per kind of placement. */
#include "schedules/program/placement.h"

#include <assert.h>

const char *const pp_placement_names[] = {
    [PP_PLACE_LOOP] = "loop", [PP_PLACE_VEE] = "v",     [PP_PLACE_TWO_WAY] = "two-way",
    [PP_PLACE_WAVE] = "wave", [PP_PLACE_FILE] = "file",
};

/* Returns the pair of a pipeline. Blocks have two pairs; the last block may have one. */
static int pair_of(int pipeline, int pipelines, int *is_up)
{
    const int block = pipeline / 4;
    const int pairs = pipelines / 2 - 2 * block >= 2 ? 2 : 1;
    const int within = pipeline % 4;

    *is_up = within >= pairs;
    return 2 * block + within % pairs;
}

static int zigzag(int stage, int ranks)
{
    const int rank = stage % ranks;

    return stage / ranks % 2 == 0 ? rank : ranks - 1 - rank;
}

static int two_way(int stage, int ranks, int pipeline, int pipelines)
{
    int is_up;
    const int pair = pair_of(pipeline, pipelines, &is_up);
    const int down = zigzag(stage, ranks), position = is_up ? ranks - 1 - down : down;

    return (pair * (ranks / (pipelines / 2)) + position) % ranks;
}

uint16_t *pp_placement_make(struct pp_arena *arena, enum pp_placement_kind kind, int ranks,
                            int chunks, int pipelines)
{
    const int stages = ranks * chunks;
    uint16_t *rank_of = PP_ARRAY(arena, uint16_t, (size_t)pipelines * (size_t)stages);

    assert(kind != PP_PLACE_FILE);
    for (int pipeline = 0; pipeline < pipelines; pipeline++) {
        uint16_t *row = rank_of + (size_t)pipeline * (size_t)stages;
        for (int stage = 0; stage < stages; stage++) {
            if (kind == PP_PLACE_TWO_WAY)
                row[stage] = (uint16_t)two_way(stage, ranks, pipeline, pipelines);
            else if (kind == PP_PLACE_LOOP)
                row[stage] = (uint16_t)(stage % ranks);
            else
                row[stage] = (uint16_t)zigzag(stage, ranks);
        }
    }
    return rank_of;
}
