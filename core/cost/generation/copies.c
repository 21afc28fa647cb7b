/* Keys and values that live on another tier. The cache of a block moves up before its attention,
 * and its new part down after it. COPY.kv-up brings that of the first block of a pass, COPY.kv-down
 * takes that of the last one home. Those of the other blocks move inside of F, next to its compute.
 */
#include "core/cost/generation/parts.h"
#include "core/units.h"

#include <math.h>

static double blocks_of(const struct pp_stage_layers *held)
{
    return held->count[PP_LAYER_BLOCK] + held->count[PP_LAYER_MOE];
}

static double near_of(const struct pp_stage_layers *held)
{
    return held->windowed[PP_LAYER_BLOCK] + held->windowed[PP_LAYER_MOE];
}

/* ---- memory ---------------------------------------------------------------------------------- */

void pp_pass_copy_room(const struct pp_pass_work *work, const struct pp_stage_layers *held,
                       double pieces, struct pp_stage_memory *memory)
{
    const struct pp_generation *g = work->generation;
    const double blocks = blocks_of(held), window = work->model.window.keys,
                 moved = pieces * pp_state_moved(&work->in.state, PP_STATE_CACHE) *
                         (blocks > 0 ? pp_kv_block_bytes(&work->in) : 0),
                 all = pp_generation_context(g, work->pass),
                 keys = window > 0 && blocks <= near_of(held) ? fmin(all, window) : all,
                 earlier = work->pass > 0 ? keys - 1 : 0;

    memory->kv_up_bytes = moved * work->sequences * earlier;
    memory->kv_down_bytes = moved * work->tokens;
    memory->kv_room_bytes =
        fmin(work->in.state.buffers, blocks) * (memory->kv_up_bytes + memory->kv_down_bytes);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Returns the new bytes of all blocks in a pass. A block with a window keeps its near keys only. */
static double new_bytes(const struct pp_pass_work *work, const struct pp_stage_layers *held)
{
    const double near = near_of(held),
                 kept = work->model.window.keys > 0
                            ? fmin(work->tokens, work->sequences * work->model.window.keys)
                            : work->tokens;

    return pp_kv_block_bytes(&work->in) * ((blocks_of(held) - near) * work->tokens + near * kept);
}

/* Returns the bytes of earlier passes in all blocks: what this one reads, but not what it makes. */
static double earlier_bytes(const struct pp_pass_work *work, const struct pp_pass_cost *sum,
                            const struct pp_stage_layers *held)
{
    return work->pass > 0 ? sum->cache_bytes - new_bytes(work, held) : 0;
}

/* Fills the copies of stage v in one direction: of one block, and of the others. Returns the
 * seconds of these in one of `pieces` ops. */
static double fill(const struct pp_pass_work *work, enum pp_purpose purpose, double bytes,
                   double blocks, int v, double pieces, struct pp_costs *costs)
{
    const double moved = pieces * bytes * pp_state_moved(&work->in.state, PP_STATE_CACHE);
    const struct pp_cost inner = pp_analytic_move(&work->in, purpose, moved - moved / blocks);

    costs->purpose[purpose][v] = pp_analytic_move(&work->in, purpose, moved / blocks);
    costs->cached[pp_move_stream(purpose)][v] = inner;
    return pp_units_s(inner.ps) / pieces;
}

struct pp_cost pp_pass_copies(const struct pp_pass_work *work, const struct pp_pass_cost *sum,
                              const struct pp_stage_layers *held, struct pp_cost loads, int v,
                              double pieces, struct pp_costs *costs)
{
    const double blocks = blocks_of(held);

    if (!costs->cached[PP_COPY_UP] || blocks < 1)
        return loads;
    const double load_s = costs->gathers ? pp_units_s(costs->gathers[v].load_ps) : 0,
                 up_s = fill(work, PP_FOR_KV_UP, earlier_bytes(work, sum, held), blocks, v, pieces,
                             costs),
                 down_s =
                     fill(work, PP_FOR_KV_DOWN, new_bytes(work, held), blocks, v, pieces, costs),
                 copies_s = fmax(up_s + (up_s > 0 ? load_s : 0), down_s);
    const bool is_ahead = work->in.state.buffers > 1;
    const int64_t shown_ps =
        pp_units_ps(fmax(0, copies_s - (is_ahead ? sum->s - sum->s / blocks : 0)));

    return shown_ps > loads.ps ? (struct pp_cost){.ps = shown_ps, .copy_ps = shown_ps} : loads;
}
