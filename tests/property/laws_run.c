/* Running and comparing the cases of laws.h. */
#include "tests/property/laws.h"

#include "core/units.h"

#include <criterion/criterion.h>
#include <math.h>

enum pp_status law_try(const struct law_case *c, const struct pp_engine *engine,
                       struct pp_engine_run *run, struct pp_error *err)
{
    struct pp_times *times;

    PP_TRY(engine->run(c->arena, c->program, c->costs, &c->options, PP_TIMES_POSTS, &times, err));
    *run = (struct pp_engine_run){
        .program = c->program, .costs = c->costs, .times = times, .engine = engine->name};
    return PP_OK;
}

struct pp_trace *law_run(const struct law_case *c, const struct pp_engine *engine)
{
    struct pp_engine_run run;
    struct pp_error err = {0};

    cr_assert_eq(law_try(c, engine, &run, &err), PP_OK, "%s: %s: %s", engine->name, c->text,
                 err.message);
    return pp_engine_trace(c->arena, &run);
}

struct fluid_options law_fluid_options(const struct law_case *c)
{
    const struct pp_eval_options *o = &c->options.eval;

    return (struct fluid_options){.is_buffered = o->is_buffered,
                                  .buffered = o->buffered,
                                  .replicas = c->options.replicas,
                                  .steps = o->steps,
                                  .is_barrier_free = o->is_barrier_free,
                                  .ring_flows = o->ring_flows,
                                  .network = c->options.network,
                                  .sync_share = c->options.sync_share};
}

double law_makespan_s(const struct pp_trace *trace)
{
    double latest_s = 0;

    for (int i = 0; i < trace->count; i++)
        latest_s = fmax(latest_s, trace->events[i].end_s);
    return latest_s;
}

int64_t *law_durations(const struct law_case *c, const struct pp_trace *trace)
{
    const struct pp_program *p = c->program;
    const size_t size = (size_t)pp_program_size(p), replicas = (size_t)trace->replicas;
    int64_t *ps = PP_ARRAY(c->arena, int64_t, size * replicas * (size_t)trace->steps);
    int e = 0;

    for (int replica = 0; replica < trace->replicas; replica++)
        for (int r = 0; r < p->ranks; r++)
            for (int step = 0; step < trace->steps; step++)
                for (int i = p->begin[r]; i < p->begin[r + 1]; i++, e++) {
                    const struct pp_trace_event *event = &trace->events[e];
                    ps[((size_t)step * size + (size_t)i) * replicas + (size_t)replica] =
                        pp_units_ps(event->end_s) - pp_units_ps(event->start_s);
                    i += event->is_fused;
                }
    return ps;
}

static bool is_near(double a, double b, double slack_s)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= slack_s;
}

const char *law_difference(struct pp_arena *arena, const struct pp_trace *a,
                           const struct pp_trace *b, double slack_s)
{
    if (a->count != b->count)
        return "another number of events";
    for (int i = 0; i < a->count; i++) {
        const struct pp_trace_event *x = &a->events[i], *y = &b->events[i];
        if (is_near(x->end_s, y->end_s, slack_s) && is_near(x->posted_s, y->posted_s, slack_s) &&
            is_near(x->matched_s, y->matched_s, slack_s) &&
            is_near(x->start_s, y->start_s, slack_s))
            continue;
        return pp_arena_printf(arena,
                               "%s of rank %d.%d step %d: posted %.15g start %.15g end %.15g (%s), "
                               "posted %.15g start %.15g end %.15g (%s)",
                               x->cell, x->rank, x->replica, x->step, x->posted_s, x->start_s,
                               x->end_s, a->engine, y->posted_s, y->start_s, y->end_s, b->engine);
    }
    return NULL;
}

const char *law_fluid_difference(const struct law_case *c, const struct pp_trace *trace,
                                 const struct fluid_times *x, double slack_s)
{
    const struct pp_program *p = c->program;
    const int steps = trace->steps;
    int e = 0;

    for (int replica = 0; replica < trace->replicas; replica++)
        for (int r = 0; r < p->ranks; r++)
            for (int step = 0; step < steps; step++)
                for (int i = p->begin[r]; i < p->begin[r + 1]; i++, e++) {
                    const size_t at = ((size_t)step * (size_t)pp_program_size(p) + (size_t)i) *
                                          (size_t)trace->replicas +
                                      (size_t)replica;
                    const struct pp_trace_event *event = &trace->events[e];
                    i += event->is_fused;
                    if (is_near(event->end_s, x->end_s[at], slack_s) &&
                        is_near(event->start_s, x->start_s[at], slack_s) &&
                        (isnan(event->posted_s) ||
                         is_near(event->posted_s, x->posted_s[at], slack_s)))
                        continue;
                    return pp_arena_printf(
                        c->arena,
                        "%s of rank %d.%d step %d: posted %.15g start %.15g end %.15g (%s), posted "
                        "%.15g start %.15g end %.15g (oracle)",
                        event->cell, r, replica, step, event->posted_s, event->start_s,
                        event->end_s, trace->engine, x->posted_s[at], x->start_s[at], x->end_s[at]);
                }
    return NULL;
}

void law_print(const struct law_case *c, FILE *out)
{
    fprintf(out, "%s\n", c->text);
    pp_program_print(c->program, out);
    for (int i = 0; i < c->costs->links; i++)
        if (c->costs->s_per_byte[i] > 0)
            fprintf(out, "rank %d to %d: %lld ps + %g s/B\n", i / c->costs->ranks,
                    i % c->costs->ranks, (long long)c->costs->alpha_ps[i], c->costs->s_per_byte[i]);
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        for (int s = 0; c->costs->op[kind] && s < c->costs->stages; s++)
            fprintf(out, "%d%s: %lld ps\n", s, pp_op_kinds[kind].text,
                    (long long)c->costs->op[kind][s * c->costs->splits].ps);
}
