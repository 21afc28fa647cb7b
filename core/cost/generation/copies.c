/* Keys and values that live on another tier: copies inside of a pass, next to its compute.
 *
 * The cache of a block moves up before its attention, and its new part down after it. Copies up
 * share their link with parameters. With k buffers, block i waits until block i - k has left its
 * own. */
#include "core/cost/generation/parts.h"
#include "core/units.h"

#include <math.h>

/* ---- bytes ----------------------------------------------------------------------------------- */

static double blocks_of(const struct pp_stage_layers *held)
{
    return held->count[PP_LAYER_BLOCK] + held->count[PP_LAYER_MOE];
}

/* Returns the new bytes of all blocks in a pass. A block with a window keeps its near keys only. */
static double new_bytes(const struct pp_pass_work *work, const struct pp_stage_layers *held)
{
    const double near = held->windowed[PP_LAYER_BLOCK] + held->windowed[PP_LAYER_MOE],
                 kept = work->model.window.keys > 0
                            ? fmin(work->tokens, work->sequences * work->model.window.keys)
                            : work->tokens;

    return pp_kv_block_bytes(&work->in) * ((blocks_of(held) - near) * work->tokens + near * kept);
}

double pp_pass_copy_room(const struct pp_pass_work *work, const struct pp_stage_layers *held,
                         int pass)
{
    const double blocks = blocks_of(held), buffers = fmin(work->in.state.buffers, blocks),
                 near = held->windowed[PP_LAYER_BLOCK] + held->windowed[PP_LAYER_MOE],
                 window = work->model.window.keys,
                 all = pass > 0 ? pp_generation_context(work->generation, pass) : 0,
                 keys = window > 0 && blocks <= near ? fmin(all, window) : all;

    return buffers * pp_state_moved(&work->in.state, PP_STATE_CACHE) *
           pp_kv_block_bytes(&work->in) * (work->sequences * keys + work->tokens);
}

/* ---- times ----------------------------------------------------------------------------------- */

enum { MOST_BUFFERS = 64 };

/* Copies and compute of one block; seconds. */
struct lanes {
    int blocks, buffers;
    double load_s, up_s, compute_s, down_s; /* load: parameters, of all blocks but the first */
};

/* Returns the time until the new part of the last block is home. */
static double last_s(const struct lanes *l)
{
    double left_s[MOST_BUFFERS] = {0}, home_s[MOST_BUFFERS] = {0}; /* of the last blocks */
    double up_s = 0, clock_s = 0, down_s = 0;

    for (int i = 0; i < l->blocks; i++) {
        const int slot = i % l->buffers;
        up_s = fmax(up_s, left_s[slot]) + (i > 0 ? l->load_s : 0) + l->up_s;
        clock_s = fmax(fmax(clock_s, up_s), home_s[slot]) + l->compute_s;
        down_s = fmax(down_s, clock_s) + l->down_s;
        left_s[slot] = clock_s, home_s[slot] = down_s;
    }
    return down_s;
}

static double rate_of(const struct pp_cost_inputs *in)
{
    const struct pp_tier_route route =
        pp_tier_route(PP_TIER_DEVICE, in->state.home[PP_STATE_CACHE]);

    return pp_tier_rate(in->cluster->tiers, route, pp_analytic_node_devices(in));
}

struct pp_cost pp_pass_copies(const struct pp_pass_work *work, const struct pp_pass_cost *sum,
                              const struct pp_stage_layers *held, struct pp_cost loads, int v,
                              double pieces, struct pp_costs *costs)
{
    const double frac = pp_state_moved(&work->in.state, PP_STATE_CACHE), blocks = blocks_of(held);

    if (!costs->cached[PP_COPY_UP] || blocks < 1)
        return loads;
    const double rate = rate_of(&work->in), up = frac * sum->cache_bytes,
                 down = frac * new_bytes(work, held),
                 load_s = costs->gathers ? pp_units_s(costs->gathers[v].load_ps) : 0;
    costs->cached[PP_COPY_UP][v] =
        (struct pp_cost){.ps = pp_units_ps(pieces * up / rate), .bytes = pieces * up};
    costs->cached[PP_COPY_DOWN][v] =
        (struct pp_cost){.ps = pp_units_ps(pieces * down / rate), .bytes = pieces * down};
    const struct lanes lanes = {.blocks = (int)lround(blocks),
                                .buffers = (int)fmin(work->in.state.buffers, MOST_BUFFERS),
                                .load_s = load_s / fmax(1, blocks - 1),
                                .up_s = up / blocks / rate,
                                .compute_s = sum->s / blocks,
                                .down_s = down / blocks / rate};
    const int64_t shown_ps = pp_units_ps(fmax(0, last_s(&lanes) - sum->s));
    return shown_ps > loads.ps ? (struct pp_cost){.ps = shown_ps, .copy_ps = shown_ps} : loads;
}
