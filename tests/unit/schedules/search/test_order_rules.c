/* Words of --order, orders by arrival, and limits that are multiples of what the strict order
 * holds. A simulation of one pipeline, message by message, gives the steps by arrival. */
#include "schedules/evaluate/evaluate.h"
#include "schedules/memory/memory.h"
#include "schedules/registry.h"
#include "schedules/search/eager.h"
#include "schedules/verify/verify.h"
#include "tests/unit/support/random_program.h"

#include <criterion/criterion.h>
#include <string.h>

/* ---- words ----------------------------------------------------------------------------------- */

Test(order_rules, words_are_read_and_printed)
{
    static const char *const legal[] = {"strict",      "eager",      "eager:4",    "eager:2x",
                                        "dynamic",     "dynamic:12", "arrival",    "arrival:1",
                                        "arrival:16x", "dynamic:1x", "eager:4096x"};
    char text[PP_ORDER_TEXT_BYTES];
    struct pp_order_choice order;

    for (size_t i = 0; i < sizeof(legal) / sizeof(*legal); i++) {
        cr_assert_eq(pp_order_read(legal[i], &order, NULL), PP_OK, "%s", legal[i]);
        cr_assert_str_eq(pp_order_print(order, text), legal[i]);
    }
}

Test(order_rules, other_words_are_refused_with_the_nearest)
{
    static const struct {
        const char *text, *nearest;
    } bad[] = {{"lazy", "expected strict"},
               {"", "expected strict"},
               {"eager:", "nearest: eager:1"},
               {"eager:0", "nearest: eager:1"},
               {"eager:x", "nearest: eager:1x"},
               {"dynamic:0x", "nearest: dynamic:1x"},
               {"dynamic:-2x", "nearest: dynamic:1x"},
               {"arrival:0x10", "nearest: arrival:1"},
               {"arrival:2xx", "nearest: arrival:1x"},
               {"strict:4", "nearest: strict"},
               {"eager:99999999999999999999999999999999999999", "nearest: eager:1"},
               {"eage", "expected strict"}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct pp_error err = {0};
        struct pp_order_choice order;
        cr_assert_eq(pp_order_read(bad[i].text, &order, &err), PP_EINVAL, "%s", bad[i].text);
        cr_assert_not_null(strstr(err.message, bad[i].nearest), "%s: %s", bad[i].text, err.message);
    }
}

/* ---- one pipeline, message by message -------------------------------------------------------- */

enum { MOST_RANKS = 16, MOST_BATCHES = 64, NEVER = 1 << 30 };

/* Times at which results reach a rank; a result that its own rank makes is not in a queue. */
struct pipe {
    int ranks, batches, limit, f, b, c;
    int forward_at[MOST_RANKS][MOST_BATCHES], backward_at[MOST_RANKS][MOST_BATCHES];
    int busy_until[MOST_RANKS];
    bool is_own[MOST_BATCHES]; /* backwards that the last rank may run */
    int started, left;         /* micro-batches at the first rank */
    int end;
};

/* Runs `op` (0 forward, 1 backward) of micro-batch m on a free rank from time t on. */
static void pipe_run(struct pipe *x, int r, int op, int m, int t)
{
    const int end = t + (op ? x->b : x->f);

    (op ? x->backward_at : x->forward_at)[r][m] = NEVER;
    x->busy_until[r] = end;
    x->end = end > x->end ? end : x->end;
    if (op && r > 0)
        x->backward_at[r - 1][m] = end + x->c;
    if (!op && r < x->ranks - 1)
        x->forward_at[r + 1][m] = end + x->c;
    if (r == x->ranks - 1)
        x->is_own[m] = !op;
}

/* Starts what a rank that is free at time t runs. */
static void pipe_look(struct pipe *x, int r, int t)
{
    int op = -1, m = -1, when = NEVER;

    if (x->busy_until[r] > t)
        return;
    if (r == 0 && x->started < x->batches && x->started - x->left < x->limit) {
        pipe_run(x, r, 0, x->started++, t);
        return;
    }
    for (int i = 0; r == x->ranks - 1 && i < x->batches; i++)
        if (x->is_own[i]) {
            pipe_run(x, r, 1, i, t);
            return;
        }
    for (int k = 1; k >= 0; k--)
        for (int i = 0; i < x->batches; i++) {
            const int at = (k ? x->backward_at : x->forward_at)[r][i];
            if (at <= t && at < when)
                op = k, m = i, when = at;
        }
    if (op >= 0)
        pipe_run(x, r, op, m, t);
}

static int pipe_step(struct pipe *x)
{
    int last = -1, ends_at = -1;

    for (int r = 0; r < x->ranks; r++)
        for (int m = 0; m < x->batches; m++)
            x->forward_at[r][m] = x->backward_at[r][m] = NEVER;
    for (int t = 0; t <= 4 * MOST_RANKS * MOST_BATCHES * (x->f + x->b + x->c); t++) {
        if (last == 1 && ends_at == t) /* a backward of the first rank has ended */
            x->left++, last = -1;
        for (int r = 0; r < x->ranks; r++) {
            const int started = x->started, was = x->busy_until[r];
            pipe_look(x, r, t);
            if (r == 0 && x->busy_until[0] != was) {
                last = x->started == started; /* 1: a backward */
                ends_at = x->busy_until[0];
            }
        }
        if (x->left == x->batches)
            break;
    }
    return x->end;
}

/* ---- orders of programs ---------------------------------------------------------------------- */

struct made {
    struct pp_arena *arena;
    struct pp_program *strict, *ordered;
    struct pp_costs *costs;
};

static bool make_strict(struct made *x, const struct pp_schedule *schedule, struct pp_shape shape,
                        const char *unit)
{
    struct pp_unit_costs costs;

    if (pp_schedule_check(schedule, &shape, NULL) != PP_OK)
        return false;
    cr_assert_eq(pp_unit_costs_parse(unit, &costs, NULL), PP_OK);
    x->costs = pp_costs_unit(x->arena, &costs, shape.ranks, pp_shape_stages(&shape), shape.splits,
                             shape.granules);
    cr_assert_eq(pp_schedule_program(x->arena, schedule, &shape, x->costs, &x->strict, NULL),
                 PP_OK);
    return true;
}

static double step_s(struct made *x, const struct pp_program *p)
{
    const struct pp_eval_options options = {.is_buffered = true};
    struct pp_eval *plan;
    struct pp_error err = {0};

    cr_assert_eq(pp_verify(p, NULL, &err), PP_OK, "%s: %s", p->name, err.message);
    cr_assert_eq(pp_eval_create(x->arena, p, x->costs, &options, &plan, &err), PP_OK);
    return (double)pp_eval_run(x->arena, plan, 1, NULL, PP_TIMES_MAKESPAN)->makespan_ps * 1e-12;
}

static double ordered_s(struct made *x, struct pp_order_choice order)
{
    const struct pp_eager_options options = {.order = order};
    struct pp_error err = {0};

    cr_assert_eq(pp_eager_program(x->arena, x->strict, x->costs, &options, &x->ordered, &err),
                 PP_OK, "%s", err.message);
    return step_s(x, x->ordered);
}

/* AxoNN's rule is slower than the strict order, even without noise. */
Test(order_rules, steps_by_arrival)
{
    static const struct {
        int ranks, batches, arrival, strict;
    } rows[] = {{4, 8, 33, 33},    {4, 16, 57, 57},   {8, 16, 75, 69},
                {8, 32, 126, 117}, {8, 64, 222, 213}, {16, 64, 264, 237}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct made x = {.arena = arena};
        const struct pp_shape shape = {.ranks = rows[i].ranks, .micro_batches = rows[i].batches};
        cr_assert(make_strict(&x, pp_schedule_find("1f1b"), shape, "F=1,B=2"));
        cr_assert_eq(step_s(&x, x.strict), rows[i].strict);
        cr_assert_eq(ordered_s(&x, (struct pp_order_choice){.rule = PP_ORDER_ARRIVAL}),
                     rows[i].arrival);
    }
}

Test(order_rules, arrival_against_a_pipeline_of_messages)
{
    struct rng rng = {15};

    for (int k = 0; k < 150; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct made x = {.arena = arena};
        struct pipe pipe = {.ranks = rng_int(&rng, 1, 9),
                            .batches = rng_int(&rng, 1, 24),
                            .f = rng_int(&rng, 1, 4),
                            .b = rng_int(&rng, 1, 7),
                            .c = rng_int(&rng, 0, 2)};
        const int limit = rng_int(&rng, 0, 11);
        const char *unit = pp_arena_printf(arena, "F=%d,B=%d,C=%d", pipe.f, pipe.b, pipe.c);
        const struct pp_shape shape = {.ranks = pipe.ranks, .micro_batches = pipe.batches};
        pipe.limit = limit ? limit : pipe.ranks;
        cr_assert(make_strict(&x, pp_schedule_find("1f1b"), shape, unit));
        cr_assert_eq(
            ordered_s(&x, (struct pp_order_choice){.rule = PP_ORDER_ARRIVAL, .limit = limit}),
            pipe_step(&pipe), "P %d N %d %s limit %d", pipe.ranks, pipe.batches, unit, limit);
    }
}

/* Orders of any schedule with a multiple exist, are legal, and hold no more than that. */
static void hold_no_more(struct made *x, int times)
{
    const struct pp_rank_memory *strict = pp_memory_peaks(x->arena, x->strict, x->costs), *held;

    for (int rule = PP_ORDER_EAGER; rule <= PP_ORDER_ARRIVAL; rule++) {
        const struct pp_order_choice order = {
            .rule = (enum pp_order_rule)rule, .limit = times, .is_multiple = true};
        ordered_s(x, order);
        held = pp_memory_peaks(x->arena, x->ordered, x->costs);
        for (int r = 0; r < x->strict->ranks && rule != PP_ORDER_ARRIVAL; r++)
            cr_assert_leq(held[r].peak_activations, times * strict[r].peak_activations + 1e-9,
                          "%s rank %d", x->strict->name, r);
    }
}

Test(order_rules, multiples_block_no_schedule)
{
    int ran = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (int ranks = 1; ranks <= 6; ranks++)
            for (int n = 1; n <= 16; n += 1 + n / 3) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                struct made x = {.arena = arena};
                const struct pp_shape shape = {.ranks = ranks, .micro_batches = n};
                if (pp_schedules[k]->is_continuous ||
                    !make_strict(&x, pp_schedules[k], shape, "F=4,B=8,I=3,W=5,C=1,FB=11"))
                    continue;
                hold_no_more(&x, 1 + n % 3);
                ran++;
            }
    cr_assert_gt(ran, 300);
}

/* With durations of its own the order is that of costs with these durations. */
Test(order_rules, given_durations_are_obeyed)
{
    static const struct pp_order_choice order = {
        .rule = PP_ORDER_DYNAMIC, .limit = 2, .is_multiple = true};

    for (int k = 0; pp_schedules[k]; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct made x = {.arena = arena}, slow = {.arena = arena};
        const struct pp_shape shape = {.ranks = 4, .micro_batches = 8};
        if (pp_schedules[k]->is_continuous || pp_schedules[k]->generate ||
            !make_strict(&x, pp_schedules[k], shape, "F=4,B=8,I=3,W=5,FB=12") ||
            !make_strict(&slow, pp_schedules[k], shape, "F=6,B=7,I=2,W=5,FB=10"))
            continue;
        int64_t *unit_ps = PP_ARRAY(arena, int64_t, pp_program_size(x.strict));
        for (int i = 0; i < pp_program_size(x.strict); i++) {
            const bool is_pair = x.strict->aux[i] == PP_FUSED_FIRST;
            const struct pp_op op = pp_program_op(x.strict, i),
                               next = is_pair ? pp_program_op(x.strict, i + 1) : op;
            unit_ps[i] = pp_costs_op(slow.costs, &op, is_pair ? &next : NULL).ps;
        }
        const struct pp_eager_options given = {.order = order, .unit_ps = unit_ps};
        ordered_s(&slow, order);
        cr_assert_eq(pp_eager_program(arena, x.strict, x.costs, &given, &x.ordered, NULL), PP_OK);
        for (int i = 0; i < pp_program_size(x.strict); i++)
            cr_assert(x.ordered->kind[i] == slow.ordered->kind[i] &&
                          x.ordered->mb[i] == slow.ordered->mb[i] &&
                          x.ordered->stage[i] == slow.ordered->stage[i],
                      "%s op %d", x.strict->name, i);
    }
}
