/* Programs with a cache of units that leave out most of their steady state are those of whole ones,
 * instruction by instruction. */
#include "schedules/build/cut.h"
#include "schedules/memory/memory.h"
#include "tests/unit/schedules/build/build_of.h"

#include <criterion/criterion.h>

enum { POLICIES = 3, ROOMS = 5, BUFFERS = 3, BYTES = 1000 };

/* Unit costs, with parameters that are loaded a chunk at a time. */
static struct pp_costs *loading_costs(struct pp_arena *arena, const struct pp_build *b)
{
    const int stages = pp_shape_stages(&b->shape);
    struct pp_costs *costs =
        pp_costs_unit(arena, &pp_unit_costs_usual, b->shape.ranks, stages, 1, 1);

    costs->memory = PP_ARRAY(arena, struct pp_stage_memory, stages);
    costs->gathers = PP_ARRAY(arena, struct pp_stage_gathers, stages);
    costs->gather_buffers = b->state.buffers;
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++) {
        costs->purpose[purpose] = PP_ARRAY(arena, struct pp_cost, stages);
        for (int s = 0; s < stages; s++)
            costs->purpose[purpose][s] = (struct pp_cost){.ps = 7, .bytes = BYTES};
    }
    for (int s = 0; s < stages; s++)
        costs->gathers[s] = (struct pp_stage_gathers){.units = 1, .unit_bytes = BYTES};
    return costs;
}

static const struct pp_program *built(struct pp_arena *arena, struct pp_build build, bool may_cut)
{
    struct pp_program *program;
    struct pp_error err = {0};

    build.may_cut = build.no_slots = may_cut;
    cr_assert_eq(pp_build(arena, &build, &program, &err), PP_OK, "%s", err.message);
    return program;
}

static void is_unfolded(struct pp_arena *arena, const struct pp_program *cut,
                        const struct pp_program *whole, const struct pp_state_spec *state)
{
    const struct pp_program *p = pp_cut_unfold(arena, cut, cut->cut->periods);

    cr_assert_eq(pp_program_size(p), pp_program_size(whole));
    for (int i = 0; i < pp_program_size(p); i++)
        cr_assert(p->kind[i] == whole->kind[i] && p->stage[i] == whole->stage[i] &&
                      p->aux[i] == whole->aux[i] &&
                      (!pp_op_has_purpose(p->kind[i]) || p->purpose[i] == whole->purpose[i]),
                  "%s, %d cached, policy %d, %d buffers: instruction %d", whole->name,
                  state->cached, state->evict, state->buffers, i);
}

static void try_state(struct pp_arena *arena, struct pp_build *b, int cuts[ROOMS])
{
    b->costs = loading_costs(arena, b);
    const struct pp_program *cut = built(arena, *b, true);
    if (!cut->cut)
        return;
    const struct pp_program *whole = built(arena, *b, false);
    const struct pp_rank_memory *x = pp_memory_peaks(arena, cut, b->costs),
                                *y = pp_memory_peaks(arena, whole, b->costs);
    is_unfolded(arena, cut, whole, &b->state);
    for (int r = 0; r < b->shape.ranks; r++)
        cr_assert_eq(x[r].peak_bytes, y[r].peak_bytes, "%s, rank %d", whole->name, r);
    cuts[b->state.cached - 1]++;
}

Test(cut_cache, cut_programs_are_whole_ones)
{
    int cuts[ROOMS] = {0};

    for (int k = 0; pp_schedules[k]; k++)
        for (int at = 0; at < ROOMS * POLICIES * BUFFERS; at++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_build b = of(pp_schedules[k]->name, at % 2 ? 240 : 336);
            b.proves_result = false;
            b.shape.chunks = at % 2 ? 4 : 0;
            b.state = pp_state_spec_zero(0, (struct pp_mesh){1, 1});
            b.state.home[PP_STATE_PARAMS] = PP_TIER_HOST;
            b.state.cached = 1 + at % ROOMS;
            b.state.evict = (enum pp_evict)(at / ROOMS % POLICIES);
            b.state.buffers = 1 + at / (ROOMS * POLICIES);
            if (pp_schedule_check(b.schedule, &b.shape, NULL) != PP_OK || b.schedule->is_continuous)
                continue;
            try_state(arena, &b, cuts);
        }
    for (int r = 0; r < ROOMS; r++)
        cr_assert_gt(cuts[r], 20, "%d with room for %d", cuts[r], r + 1);
}
