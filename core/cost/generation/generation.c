/* The table of costs of a run that generates. */
#include "core/cost/generation/generation.h"

#include "core/cost/generation/parts.h"
#include "core/units.h"

#include <math.h>

/* ---- a pass ---------------------------------------------------------------------------------- */

/* A pass without its attention to the cache. */
struct pass {
    struct pp_pass_work work, last; /* last: the pass over the last token of prompts */
    struct pp_pass_layers layers;   /* of both */
    bool has_last;
};

/* Prompts without their last token need no logits. The last token then makes the first new one. */
static void open_apart(const struct pp_cost_inputs *in, struct pass *p)
{
    struct pp_pass_layers earlier;
    struct pp_pass_work rest;

    pp_pass_open(in, 1, &p->last);
    p->last.sequences = p->last.tokens = p->last.in.layout.mbs = p->work.in.layout.mbs;
    pp_pass_layers(&p->last, &p->layers);
    if (p->work.in.layout.seq == 1)
        return;
    pp_pass_open(in, 0, &rest);
    rest.in.layout.seq--;
    rest.tokens -= rest.sequences;
    pp_pass_layers(&rest, &earlier);
    earlier.kind[PP_LAYER_HEAD] = (struct pp_pass_cost){0};
    for (int kind = 0; kind < PP_LAYER_KINDS; kind++) {
        pp_pass_add(&p->layers.kind[kind], &earlier.kind[kind], 1);
        pp_pass_add(&p->layers.near[kind], &earlier.near[kind], 1);
    }
}

static void open_pass(const struct pp_cost_inputs *in, int pass, struct pass *p)
{
    pp_pass_open(in, pass, &p->work);
    p->has_last = pass == 0 && in->model->is_causal && pp_cost_framework(in)->ends_prompts_apart;
    if (p->has_last)
        open_apart(in, p);
    else
        pp_pass_layers(&p->work, &p->layers);
}

/* Attention of a block to the cache: to all keys, and to near ones. */
struct cached {
    struct pp_pass_cost all, near;
};

static struct cached cached_of(const struct pass *p, int pass)
{
    const struct pp_pass_work *work = p->has_last ? &p->last : &p->work;
    const int keys = pp_generation_context(work->generation, pass),
              window = work->model.window.keys;

    if (pass == 0 && !p->has_last)
        return (struct cached){0};
    return (struct cached){pp_pass_cached(work, keys),
                           pp_pass_cached(work, window > 0 ? fmin(keys, window) : keys)};
}

static void add_cached(const struct cached *cached, const struct pp_stage_layers *held,
                       struct pp_pass_cost *sum)
{
    const double blocks = held->count[PP_LAYER_BLOCK] + held->count[PP_LAYER_MOE],
                 near = held->windowed[PP_LAYER_BLOCK] + held->windowed[PP_LAYER_MOE];

    pp_pass_add(sum, &cached->all, blocks - near);
    pp_pass_add(sum, &cached->near, near);
}

struct pp_pass_cost pp_generation_pass(const struct pp_cost_inputs *in, int stage, int pass)
{
    struct pass p;

    open_pass(in, pass, &p);
    const struct pp_stage_layers held = pp_analytic_stage_layers(&p.work.in, stage);
    struct pp_pass_cost sum = pp_pass_sum(&p.layers, &held);
    const struct cached cached = cached_of(&p, pass);
    add_cached(&cached, &held, &sum);
    pp_pass_add_host(&p.work, stage == in->stages - 1, &sum);
    return sum;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Returns the cost of all pieces of an op. `loads` show in each. */
static struct pp_cost cost_of(const struct pp_pass_cost *sum, struct pp_cost loads, double pieces)
{
    return (struct pp_cost){.ps = (int64_t)pieces * (pp_units_ps(sum->s) + loads.ps),
                            .copy_ps = (int64_t)pieces * loads.copy_ps,
                            .tp_ps = (int64_t)pieces * pp_units_ps(sum->tp_s),
                            .ep_ps = (int64_t)pieces * pp_units_ps(sum->ep_s),
                            .flops = pieces * sum->flops,
                            .bytes = pieces * sum->bytes};
}

/* Returns the time of loads that shows in an op, if parameters live on another tier. */
static struct pp_cost loads_of(struct pp_arena *arena, const struct pass *p,
                               const struct pp_stage_layers *held, const struct pp_pass_cost *sum,
                               int stage, int v, struct pp_costs *costs)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_by_unit s = {.first = held->count[PP_LAYER_EMBEDDING] *
                                    p->layers.kind[PP_LAYER_EMBEDDING].s,
                           .last = held->count[PP_LAYER_HEAD] * p->layers.kind[PP_LAYER_HEAD].s};

    if (!costs->gathers)
        return (struct pp_cost){0};
    s.each = fmax(0, sum->s - s.first - s.last);
    const struct pp_cost shown = pp_analytic_fill_loads(arena, &p->work.in, stage, v, &s, costs);
    pp_arena_release(arena, mark);
    return shown;
}

/* Fills one stage in all passes from `first` on; `p` is any of them. */
static void fill_stage(struct pp_arena *arena, const struct pp_cost_inputs *in,
                       const struct pass *p, const struct cached *cached, int stage, int first,
                       int end, struct pp_costs *costs)
{
    const struct pp_stage_layers held = pp_analytic_stage_layers(&p->work.in, stage);
    const struct pp_pass_cost alike = pp_pass_sum(&p->layers, &held);
    const double pieces = first == 0 ? pp_generation_pieces(in->generation) : 1;

    for (int pass = first; pass < end; pass++) {
        struct pp_pass_cost sum = alike;
        add_cached(&cached[pass], &held, &sum);
        pp_pass_add_host(&p->work, stage == in->stages - 1, &sum);
        const int v = pass * in->stages + stage;
        const struct pp_cost loads = loads_of(arena, p, &held, &sum, stage, v, costs);
        costs->op[PP_F][v] =
            cost_of(&sum, pp_pass_copies(&p->work, &sum, &held, loads, v, pieces, costs), pieces);
    }
}

static struct pp_costs *allocate(struct pp_arena *arena, const struct pp_cost_inputs *in)
{
    const struct pp_device *device = &in->cluster->device;
    const int all = in->stages * in->generation->passes;
    struct pp_costs *costs = PP_NEW(arena, struct pp_costs);

    *costs = (struct pp_costs){
        .stages = all,
        .splits = 1,
        .granules = pp_generation_pieces(in->generation),
        .ranks = in->layout.pp,
        .sync_ranks = in->layout.dp,
        .other_bytes = pp_analytic_other_bytes(in),
        .fragment_frac = pp_cost_framework(in)->fragment_frac,
        .stuck_frac = pp_cost_framework(in)->stuck_frac,
        .capacity_bytes = device->memory_bytes * pp_state_usable(&in->state, PP_TIER_DEVICE),
        .origin = "analytic",
        .source = pp_arena_printf(arena, "roofline of %s; %s", device->title, device->source),
    };
    costs->op[PP_F] = PP_ARRAY(arena, struct pp_cost, all);
    costs->ring_alpha_ps = PP_ARRAY(arena, int64_t, all);
    costs->memory = PP_ARRAY(arena, struct pp_stage_memory, all);
    for (int purpose = PP_FOR_STEP + 1; purpose < PP_PURPOSES; purpose++)
        if (pp_state_is_away(&in->state, (enum pp_state_class)pp_purposes[purpose].what))
            costs->purpose[purpose] = PP_ARRAY(arena, struct pp_cost, all);
    if (pp_state_is_away(&in->state, PP_STATE_CACHE))
        for (int stream = PP_COPY_DOWN; stream <= PP_COPY_UP; stream++)
            costs->cached[stream] = PP_ARRAY(arena, struct pp_cost, all);
    if (!pp_state_is_away(&in->state, PP_STATE_PARAMS))
        return costs;
    costs->gathers = PP_ARRAY(arena, struct pp_stage_gathers, all);
    costs->gather_buffers = in->state.buffers;
    return costs;
}

static enum pp_status check(const struct pp_cost_inputs *in, struct pp_error *err)
{
    const struct pp_generation *g = in->generation;
    const int most = UINT16_MAX / in->stages;

    PP_TRY(pp_analytic_check(in, err));
    if (g->passes > most)
        return pp_error_set(err, PP_EINVAL,
                            "--tokens %d with %d stages are more than %d stages of a program: at "
                            "most --tokens %d",
                            g->passes, in->stages, UINT16_MAX, most);
    return PP_OK;
}

static enum pp_status check_times(const struct pp_costs *costs, struct pp_error *err)
{
    static const double longest_s = 1e5; /* more is a mistake in the input */

    for (int v = 0; v < costs->stages; v++)
        if (costs->op[PP_F][v].ps < 0 || costs->op[PP_F][v].ps > pp_units_ps(longest_s) ||
            !isfinite(costs->op[PP_F][v].bytes) || !isfinite(costs->op[PP_F][v].flops))
            return pp_error_set(err, PP_EINVAL,
                                "a pass of stage %d would take more than %g s: check the sizes of "
                                "model, --batch and --prompt",
                                v, longest_s);
    return PP_OK;
}

enum pp_status pp_costs_generation(struct pp_arena *arena, const struct pp_cost_inputs *in,
                                   struct pp_costs **costs, struct pp_error *err)
{
    const int passes = in->generation->passes;
    struct pass prompt, token;

    PP_TRY(check(in, err));
    struct pp_costs *c = allocate(arena, in);
    open_pass(in, 0, &prompt);
    open_pass(in, 1, &token);
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct cached *cached = PP_ARRAY(scratch, struct cached, passes);
    for (int pass = 0; pass < passes; pass++)
        cached[pass] = cached_of(pass > 0 ? &token : &prompt, pass);
    for (int s = 0; s < in->stages; s++) {
        fill_stage(arena, in, &prompt, cached, s, 0, 1, c);
        fill_stage(arena, in, &token, cached, s, 1, passes, c);
    }
    pp_pass_memory(in, c->memory);
    pp_analytic_fill_links(arena, in, c);
    PP_TRY(check_times(c, err));
    *costs = c;
    return PP_OK;
}
