/* Collectives around a ring, hop by hop. */
#include "schedules/evaluate/eval.h"

static int turns_of(const struct pp_collective *c)
{
    return c->tied || c->purpose ? 0 : pp_ring_turns(c->kind);
}

/* Returns the inputs of the meet by position: members post in ascending order of their ranks. NULL
 * if the ring has other ranks than members. */
static int32_t *inputs_of(struct pp_arena *arena, const struct pp_ring *ring, int ranks, int posts)
{
    int32_t *input = PP_ARRAY(arena, int32_t, ring->positions);
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    int32_t *index = PP_ARRAY(arena, int32_t, ranks);
    int count = 0;

    for (int i = 0; i < ring->positions; i++)
        index[ring->rank[i]] = 1;
    for (int rank = 0; rank < ranks; rank++)
        if (index[rank])
            index[rank] = count++;
    for (int i = 0; i < ring->positions; i++)
        input[i] = index[ring->rank[i]];
    pp_arena_release(arena, mark);
    return count == posts ? input : NULL;
}

/* Sets the duration of a ring of equal hops, as there is no list of devices. */
static bool plain_ring(const struct pp_costs *costs, const struct pp_collective *c, int64_t *ps)
{
    if (costs->sync_ranks < 2 || !costs->ring_alpha_ps)
        return false;
    const int64_t hop_ps = costs->ring_alpha_ps[c->stage];
    const int64_t steps = (int64_t)turns_of(c) * (costs->sync_ranks - 1);
    *ps = hop_ps < INT64_MAX / 4 / steps ? hop_ps * steps : INT64_MAX / 4;
    return true;
}

bool pp_ring_plan(struct pp_arena *arena, const struct pp_costs *costs,
                  const struct pp_collective *c, int posts, struct pp_ring_plan *eval, int64_t *ps)
{
    bool is_even = true;

    *eval = (struct pp_ring_plan){0};
    if (turns_of(c) == 0 || c->stage >= costs->stages)
        return false;
    if (!costs->rings)
        return plain_ring(costs, c, ps);
    const struct pp_ring *ring = &costs->rings[c->stage];
    if (ring->positions < 2)
        return false;
    int64_t *hop_ps = PP_ARRAY(arena, int64_t, ring->positions);
    for (int i = 0; i < ring->positions; i++) {
        hop_ps[i] = pp_ring_hop_ps(ring, c->kind, i, c->buckets);
        is_even = is_even && hop_ps[i] == hop_ps[0];
    }
    *ps = pp_ring_together_ps(ring, c->kind, c->buckets);
    const int32_t *input = is_even ? NULL : inputs_of(arena, ring, costs->ranks, posts);
    if (input)
        *eval = (struct pp_ring_plan){.positions = ring->positions,
                                      .steps = turns_of(c) * (ring->positions - 1),
                                      .hop_ps = hop_ps,
                                      .input = input,
                                      .replica = ring->replica};
    return true;
}
