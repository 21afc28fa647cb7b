/* Traces from times: measured exchanges, and the shares that divide the rest of an op. */
#include "traces/from_times.h"

#include <criterion/criterion.h>
#include <math.h>

enum { OPS = 2, REPLICAS = 2 };

static struct pp_op op_of(const void *program, int i)
{
    (void)program;
    return (struct pp_op){.kind = i == 0 ? PP_F : PP_B};
}

/* By formula, an op exchanges for half of its time and gathers for a tenth. */
static struct pp_cost cost_of(const void *program, const struct pp_costs *costs, int i,
                              bool is_fused)
{
    (void)program, (void)costs, (void)i, (void)is_fused;
    return (struct pp_cost){.ps = 100, .tp_ps = 30, .ep_ps = 20, .gather_ps = 10};
}

static void expect(const struct pp_trace_event *event, enum pp_share share, double s)
{
    cr_assert_float_eq(event->share_s[share], s, 1e-18, "%s of replica %d, share %d: %g s, not %g",
                       event->cell, event->replica, share, event->share_s[share], s);
}

static const int64_t start_ps[OPS * REPLICAS] = {0, 1000, 5000, 6000},
                                    end_ps[OPS * REPLICAS] = {1000, 3000, 6000, 6500};

static struct pp_trace *trace_of(struct pp_arena *arena, const int64_t *tp_ps, const int64_t *ep_ps)
{
    static const int32_t begin[] = {0, OPS};

    return pp_trace_from_source(arena, &(struct pp_trace_source){.name = "one",
                                                                 .engine = "test",
                                                                 .ranks = 1,
                                                                 .begin = begin,
                                                                 .op = op_of,
                                                                 .cost = cost_of,
                                                                 .replicas = REPLICAS,
                                                                 .steps = 1,
                                                                 .start_ps = start_ps,
                                                                 .end_ps = end_ps,
                                                                 .tp_ps = tp_ps,
                                                                 .ep_ps = ep_ps});
}

Test(from_times, measured_exchanges_replace_both_shares)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    /* An op with nearly nothing else, none at all, nothing else, and only one of both. */
    static const int64_t tp_ps[] = {600, 0, 250, 100}, ep_ps[] = {390, 0, 750, 0};
    const struct pp_trace *trace = trace_of(arena, tp_ps, ep_ps);

    cr_assert_eq(trace->count, OPS * REPLICAS);
    for (int k = 0; k < trace->count; k++) {
        const struct pp_trace_event *event = &trace->events[k];
        const int at = (event->kind == PP_F ? 0 : 1) * REPLICAS + event->replica;
        const double ps = (double)(end_ps[at] - start_ps[at]),
                     rest_ps = ps - (double)(tp_ps[at] + ep_ps[at]);
        double sum_s = 0;

        expect(event, PP_SHARE_TP, 1e-12 * (double)tp_ps[at]);
        expect(event, PP_SHARE_EP, 1e-12 * (double)ep_ps[at]);
        expect(event, PP_SHARE_GATHER, 1e-12 * rest_ps * 10 / 50); /* of what is not exchanged */
        for (int share = 0; share < PP_SHARES; share++)
            sum_s += event->share_s[share];
        cr_assert_leq(sum_s, 1e-12 * ps * (1 + 1e-12));
    }
}

Test(from_times, shares_are_by_formula_without_measurements)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_trace *trace = trace_of(arena, NULL, NULL);

    for (int k = 0; k < trace->count; k++) {
        const struct pp_trace_event *event = &trace->events[k];

        expect(event, PP_SHARE_TP, 0.3 * (event->end_s - event->start_s));
        expect(event, PP_SHARE_EP, 0.2 * (event->end_s - event->start_s));
        expect(event, PP_SHARE_GATHER, 0.1 * (event->end_s - event->start_s));
    }
}
