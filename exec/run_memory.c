/* Draws the memory of the fullest rank on each tier over a step: measured and predicted. */
#include "exec/run.h"

#include "plots/plot.h"
#include "traces/rows.h"
#include "traces/step.h"

/* Bytes of each tier, and the two steps at whose times they are drawn. */
struct sheet {
    struct pp_arena *arena;
    const struct pp_exec_run *run;
    int rank;
    struct pp_memory_changes changes;
    struct pp_plot_held held;
    struct pp_held_curve *curves;
    const char **names;
};

/* Memory of a tier that has no other use in a step: state, buffers of whole tensors, scratch. */
static double base_bytes(const struct pp_rank_layout *l, enum pp_tier tier)
{
    double bytes = 0;

    if (tier == PP_TIER_DEVICE)
        return (double)(l->params_bytes + l->grads_bytes + l->optimizer_bytes + l->other_bytes);
    for (int c = 0; c < PP_STATE_SHARDED; c++)
        bytes += (double)l->away_bytes[tier][c];
    return bytes;
}

static struct pp_plot_tier tier_of(const struct sheet *s, enum pp_tier tier)
{
    const enum pp_tier saved = s->run->plan.program->state.spec.home[PP_STATE_ACTIVATIONS];
    struct pp_plot_tier out = {.base_bytes = base_bytes(&s->run->result.layout[s->rank], tier)};

    if (tier == PP_TIER_DEVICE) {
        out.taken_bytes = s->changes.taken_bytes;
        out.given_bytes = s->changes.given_bytes;
    } else if (tier == saved) {
        out.taken_bytes = s->changes.away_taken_bytes;
        out.given_bytes = s->changes.away_given_bytes;
    }
    return out;
}

/* Adds the curves of a step. */
static void add_step(struct sheet *s, const struct pp_trace *trace, const char *what)
{
    const struct pp_program *p = s->run->plan.program;
    const struct pp_figure_events events = pp_figure_events(s->arena, p, trace);
    const double end_s = pp_figure_end_s(trace);

    for (int tier = PP_TIER_DEVICE; tier < PP_TIERS; tier++) {
        const struct pp_plot_tier t = tier_of(s, (enum pp_tier)tier);
        if (t.base_bytes == 0 && !t.taken_bytes)
            continue;
        s->names[s->held.count] =
            pp_arena_printf(s->arena, "%s, %s", pp_tier_rows[tier].name, what);
        s->curves[s->held.count++] = pp_plot_tier_curve(s->arena, p, trace, &events, s->rank, &t);
    }
    s->held.end_s = end_s > s->held.end_s ? end_s : s->held.end_s;
}

enum pp_status pp_exec_memory_draw(struct pp_arena *arena, const struct pp_exec_run *run,
                                   const struct pp_plot_target *target, struct pp_error *err)
{
    enum { SMALL_BYTES = 1 << 30 };
    const struct pp_training_result *r = &run->result;
    struct sheet s = {.arena = arena,
                      .run = run,
                      .rank = r->peak_rank,
                      .changes = pp_memory_changes(arena, run->plan.program, run->plan.costs),
                      .held = {.quantity = "memory", .is_bytes = true},
                      .curves = PP_ARRAY(arena, struct pp_held_curve, 2 * PP_TIERS),
                      .names = PP_ARRAY(arena, const char *, 2 * PP_TIERS)};
    struct pp_step step;

    PP_TRY(pp_step_median(arena, r->trace, 0, &step, err));
    add_step(&s, &step.trace, "measured");
    add_step(&s, r->prediction.trace, "predicted");
    s.held.is_small = r->layout[s.rank].peak_bytes < SMALL_BYTES;
    s.held.curves = s.curves;
    s.held.names = s.names;
    s.held.title = pp_arena_printf(arena, "%s: memory over time by tier, rank %d",
                                   run->plan.program->name, s.rank);
    return pp_plot_held(arena, &s.held, target, err);
}
