/* Predicts left-out schedules, as any run with --cost, and compares them with the measured step. */
#include "sim/calibrate/calibrate.h"

#include "core/random.h"
#include "core/units.h"
#include "schedules/evaluate/band.h"
#include "schedules/order/formula.h"
#include "sim/resolve/resolve.h"
#include "traces/compare/compare.h"

/* Durations of ops of a kind over the median of their group. */
struct ratios {
    double *frac;
    int count, capacity;
};

static struct ratios *gather(struct pp_arena *arena, const struct pp_calibrate *c)
{
    struct ratios *ratios = PP_ARRAY(arena, struct ratios, PP_OP_KINDS);

    for (int k = 0; k < c->group_count; k++) {
        const struct pp_calibrate_group *g = &c->groups[k];
        struct ratios *r = &ratios[g->kind];
        for (int i = 0; i < g->count && g->median_s > 0; i++)
            *PP_PUSH(arena, r->frac, r->count, r->capacity) = g->s[i] / g->median_s;
    }
    return ratios;
}

/* Returns the ratios of `kind`, or those of its stand-ins if it never ran. */
static const struct ratios *of_kind(const struct ratios *ratios, int kind)
{
    const struct pp_stand_in *other = &pp_stand_ins[kind];

    if (ratios[kind].count > 0)
        return &ratios[kind];
    for (int k = 0; k < 2 && other->factor > 0; k++)
        if (ratios[other->kind[k]].count > 0)
            return &ratios[other->kind[k]];
    return &ratios[PP_F];
}

struct draws {
    const struct pp_result *result;
    const struct ratios *ratios;
    uint64_t stream, drawn;
};

static double draw_s(struct draws *d, const struct pp_costs *costs, const struct pp_op *op)
{
    const struct ratios *r = of_kind(d->ratios, op->kind);
    const double s = pp_units_s(pp_costs_op(costs, op, NULL).ps);

    if (r->count == 0)
        return s;
    return s * r->frac[pp_random_bits(d->stream, d->drawn++) % (uint64_t)r->count];
}

/* Draws a duration for every op. */
static void draw_all(void *closure, int64_t *compute_ps)
{
    struct draws *d = closure;
    const struct pp_program *p = d->result->program;
    const struct pp_costs *costs = d->result->costs;
    const int replicas = d->result->config.layout.dp;

    for (int i = 0; i < pp_program_size(p); i++)
        for (int r = 0; r < replicas && pp_op_is_compute(p->kind[i]); r++) {
            const struct pp_op op = pp_program_op(p, i);
            double s;

            if (p->aux[i] == PP_FUSED_SECOND)
                continue;
            s = draw_s(d, costs, &op);
            if (p->aux[i] == PP_FUSED_FIRST) {
                const struct pp_op second = pp_program_op(p, i + 1);
                s += draw_s(d, costs, &second);
            }
            compute_ps[(size_t)i * (size_t)replicas + (size_t)r] = pp_units_ps(s);
        }
}

static enum pp_status find_band(const struct pp_calibrate *c, const struct pp_result *result,
                                uint64_t seed, struct pp_band *band, struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct draws d = {.result = result, .ratios = gather(scratch, c), .stream = seed};
    const struct pp_draws draws = {result->config.layout.dp, draw_all, &d};

    return pp_band_find(result->program, result->costs, &draws, band, err);
}

enum pp_status pp_calibrate_try(const struct pp_calibrate *c, const struct pp_calibrate_run *run,
                                uint64_t seed, struct pp_calibrate_trial *trial,
                                struct pp_error *err)
{
    const struct pp_compare_options options = {.skip_steps = 0, .allows_different = true};
    struct pp_comparison comparison;
    struct pp_config config = run->config;
    struct pp_result result;

    config.cost = c->file;
    config.lower.has_clip = c->file->is_clipped;
    PP_TRY(pp_simulate(c->arena, &config, PP_FULL, NULL, &result, err));
    PP_TRY(pp_compare(c->arena, result.trace, run->trace, &options, &comparison, err));
    *trial = (struct pp_calibrate_trial){
        .run = run,
        .measured_s = comparison.measured.step_s,
        .predicted_s = result.metrics.iteration_s,
        .null_s = pp_formula_step_s(result.program, config.schedule, result.costs)};
    return find_band(c, &result, seed, &trial->band, err);
}
