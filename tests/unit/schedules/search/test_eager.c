/* Eager order, as a program like any other, and against published and derived step times. It is
 * also compared with a simulation that looks at every rank at every unit of time. */
#include "schedules/evaluate/evaluate.h"
#include "schedules/lower/lower.h"
#include "schedules/memory/memory.h"
#include "schedules/registry.h"
#include "schedules/search/eager.h"
#include "schedules/verify/verify.h"

#include <criterion/criterion.h>
#include <string.h>

struct example {
    struct pp_arena *arena;
    struct pp_program *strict;
    struct pp_costs *costs;
    struct pp_unit_costs unit;
};

static bool make(struct example *x, const struct pp_schedule *schedule, struct pp_shape shape,
                 const char *unit)
{
    if (pp_schedule_check(schedule, &shape, NULL) != PP_OK)
        return false;
    cr_assert_eq(pp_unit_costs_parse(unit, &x->unit, NULL), PP_OK);
    x->costs = pp_costs_unit(x->arena, &x->unit, shape.ranks, pp_shape_stages(&shape), shape.splits,
                             shape.granules);
    cr_assert_eq(pp_schedule_program(x->arena, schedule, &shape, x->costs, &x->strict, NULL),
                 PP_OK);
    return true;
}

static double step_s(struct pp_arena *arena, const struct pp_program *p,
                     const struct pp_costs *costs)
{
    const struct pp_lower_options lower = {0};
    const struct pp_eval_options options = {.is_buffered = true};
    struct pp_error err = {0};
    struct pp_program *lowered;
    struct pp_eval *plan;

    for (int post = PP_POST_EARLY; post <= PP_POST_SENDER; post++) {
        const struct pp_lower_options tight = {
            .post = (enum pp_post)post, .recv_slots = 1, .has_sync = true, .has_optimizer = true};
        cr_assert_eq(pp_lower(arena, p, &tight, &lowered, &err), PP_OK, "%s", err.message);
        cr_assert_eq(pp_verify(lowered, NULL, &err), PP_OK, "%s: %s", p->name, err.message);
    }
    cr_assert_eq(pp_lower(arena, p, &lower, &lowered, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_verify(lowered, NULL, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_eval_create(arena, lowered, costs, &options, &plan, &err), PP_OK);
    return (double)pp_eval_run(arena, plan, 1, NULL, PP_TIMES_MAKESPAN)->makespan_ps * 1e-12;
}

static double eager_s(const char *name, int ranks, int n, const char *unit)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_eager_options options = {.order = {.rule = PP_ORDER_EAGER}};
    struct example x = {.arena = arena};
    struct pp_program *eager;

    cr_assert(make(&x, pp_schedule_find(name),
                   (struct pp_shape){.ranks = ranks, .micro_batches = n}, unit));
    cr_assert_eq(pp_eager_program(arena, x.strict, x.costs, &options, &eager, NULL), PP_OK);
    return step_s(arena, eager, x.costs);
}

/* List scheduling by Chimera's slot key (direct concatenation) fills its intermediate bubbles. */
Test(eager, chimera)
{
    cr_assert_eq(eager_s("chimera", 4, 8, "F=1,B=2"), 29);
    cr_assert_eq(eager_s("chimera", 8, 32, "F=1,B=2"), 106);
    cr_assert_eq(eager_s("chimera", 4, 64, "F=1,B=2"), 196);
    cr_assert_eq(eager_s("chimera", 4, 8, "F=1,B=3"), 36);
    cr_assert_eq(eager_s("chimera", 8, 32, "F=1,B=3"), 143);
    cr_assert_float_eq(eager_s("chimera", 4, 64, "F=10,B=17"), 1762, 1e-9);
}

/* Neither order lets the last rank of a flushed pipeline work earlier. */
Test(eager, one_way_pipelines_keep_their_step)
{
    for (int ranks = 1; ranks <= 6; ranks++)
        for (int n = 1; n <= 8; n++) {
            cr_assert_eq(eager_s("1f1b", ranks, n, "F=1,B=2"), 3 * (n + ranks - 1));
            cr_assert_eq(eager_s("gpipe", ranks, n, "F=1,B=2"), 3 * (n + ranks - 1));
        }
}

/* ---- the oracle ------------------------------------------------------------------------------ */

enum { FOREVER = 1 << 30 };

struct naive {
    const struct pp_program *p;
    const struct pp_unit_costs *unit;
    int limit;        /* cells */
    int *start, *end; /* [instruction] in units of time; FOREVER = not yet */
};

static bool covers(const struct pp_program *p, int i, int kind, int stage, int granule, int split)
{
    const bool is_kind =
        kind == PP_B ? p->kind[i] == PP_B || p->kind[i] == PP_I : p->kind[i] == kind;

    return is_kind && p->stage[i] == stage && p->split[i] == split && granule >= p->mb[i] &&
           granule < p->mb[i] + p->granule_count[i];
}

static int rank_at(const struct pp_program *p, int i)
{
    int r = 0;

    while (i >= p->begin[r + 1])
        r++;
    return r;
}

/* Has this been done, and has the result come to `rank`, at time t? */
static bool has(const struct naive *x, int kind, int stage, int granule, int split, int rank, int t)
{
    const struct pp_program *p = x->p;

    if (stage < 0 || stage >= p->stages || split < 0 || split >= p->splits)
        return true;
    for (int i = 0; i < pp_program_size(p); i++)
        if (covers(p, i, kind, stage, granule, split))
            return x->end[i] + (rank_at(p, i) == rank ? 0 : (int)x->unit->c) <= t;
    return false;
}

static bool is_ready(const struct naive *x, int i, int rank, int t)
{
    const struct pp_program *p = x->p;

    for (int g = p->mb[i]; g < p->mb[i] + p->granule_count[i]; g++) {
        const int s = p->stage[i], q = p->split[i];
        if (p->kind[i] == PP_F &&
            !(has(x, PP_F, s - 1, g, q, rank, t) && has(x, PP_F, s, g, q - 1, rank, t)))
            return false;
        if ((p->kind[i] == PP_B || p->kind[i] == PP_I) &&
            !(has(x, PP_F, s, g, q, rank, t) && has(x, PP_B, s + 1, g, q, rank, t) &&
              has(x, PP_B, s, g, q + 1, rank, t)))
            return false;
        if (p->kind[i] == PP_W && !has(x, PP_B, s, g, q, rank, t))
            return false;
    }
    return true;
}

static int held_at(const struct naive *x, int rank, int t)
{
    const struct pp_program *p = x->p;
    int held = 0;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        held += p->kind[i] == PP_F && x->start[i] <= t ? p->granule_count[i] : 0;
        held -=
            (p->kind[i] == PP_B || p->kind[i] == PP_W) && x->end[i] <= t ? p->granule_count[i] : 0;
    }
    return held;
}

static int length_of(const struct naive *x, int i)
{
    const double of_kind[PP_OP_KINDS] = {
        [PP_F] = x->unit->f, [PP_B] = x->unit->b, [PP_I] = x->unit->i, [PP_W] = x->unit->w};
    const bool is_pair = x->p->aux[i] == PP_FUSED_FIRST;

    const double whole = is_pair ? x->unit->fb : of_kind[x->p->kind[i]];

    return (int)(whole * x->p->granule_count[i] / (x->p->granules * x->p->splits));
}

static void look(struct naive *x, int rank, int t)
{
    const struct pp_program *p = x->p;

    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++)
        if (x->start[i] <= t && x->end[i] > t)
            return; /* busy */
    for (int i = p->begin[rank]; i < p->begin[rank + 1]; i++) {
        const int pair = p->aux[i] == PP_FUSED_FIRST;
        if (x->start[i] != FOREVER || p->aux[i] == PP_FUSED_SECOND || !is_ready(x, i, rank, t) ||
            (pair && !is_ready(x, i + 1, rank, t)))
            continue;
        if (p->kind[i] == PP_F && held_at(x, rank, t) + p->granule_count[i] > x->limit)
            continue;
        for (int k = i; k <= i + pair; k++) {
            x->start[k] = t;
            x->end[k] = t + length_of(x, i);
        }
        return;
    }
}

/* Returns whether everything ran. */
static bool simulate(struct pp_arena *arena, struct naive *x)
{
    const int size = pp_program_size(x->p);
    int longest = 0, left = 0;

    x->start = PP_ARRAY(arena, int, size);
    x->end = PP_ARRAY(arena, int, size);
    for (int i = 0; i < size; i++) {
        x->start[i] = x->end[i] = FOREVER;
        longest += length_of(x, i) + (int)x->unit->c;
    }
    for (int t = 0; t <= longest; t++)
        for (int r = 0; r < x->p->ranks; r++)
            look(x, r, t);
    for (int i = 0; i < size; i++)
        left += x->start[i] == FOREVER;
    return left == 0;
}

/* Each rank's ops in the order in which they began. */
static void compare(const struct naive *x, const struct pp_program *eager)
{
    for (int r = 0; r < x->p->ranks; r++)
        for (int k = x->p->begin[r], last = -1; k < x->p->begin[r + 1]; k++) {
            const struct pp_op op = pp_program_op(eager, k);
            int i = x->p->begin[r];
            while (i < x->p->begin[r + 1] &&
                   !(x->p->kind[i] == op.kind && x->p->stage[i] == op.stage &&
                     x->p->mb[i] == op.mb && x->p->split[i] == op.split))
                i++;
            cr_assert_lt(i, x->p->begin[r + 1]);
            cr_assert_geq(x->start[i], last, "%s rank %d position %d", eager->name, r,
                          k - x->p->begin[r]);
            last = x->start[i];
        }
}

static void check(const struct example *x, int limit, int *stuck)
{
    const struct pp_eager_options options = {.order = {.rule = PP_ORDER_EAGER, .limit = limit}};
    const int cells = x->strict->granules * x->strict->splits;
    struct naive naive = {
        .p = x->strict, .unit = &x->unit, .limit = limit ? limit * cells : FOREVER};
    struct pp_error err = {0};
    struct pp_program *eager;
    const bool is_possible = simulate(x->arena, &naive);
    const enum pp_status status =
        pp_eager_program(x->arena, x->strict, x->costs, &options, &eager, &err);

    cr_assert_eq(status == PP_OK, is_possible, "%s limit %d: %s", x->strict->name, limit,
                 err.message);
    if (!is_possible) {
        cr_assert_eq(status, PP_EPROGRAM);
        cr_assert_not_null(strstr(err.message, "deadlocks"), "%s", err.message);
        cr_assert_not_null(strstr(err.message, "try --order eager:"), "%s", err.message);
        ++*stuck;
        return;
    }
    compare(&naive, eager);
    int makespan = 0;
    for (int i = 0; i < pp_program_size(x->strict); i++)
        makespan = naive.end[i] > makespan ? naive.end[i] : makespan;
    cr_assert_eq(step_s(x->arena, eager, x->costs), makespan, "%s", x->strict->name);
    const struct pp_rank_memory *memory = pp_memory_peaks(x->arena, eager, x->costs);
    for (int r = 0; r < eager->ranks && limit; r++)
        cr_assert_leq(memory[r].peak_activations, limit, "%s rank %d", eager->name, r);
}

Test(eager, every_schedule_against_the_oracle)
{
    static const char *const units[] = {"F=2,B=4", "F=4,I=2,W=2,C=1", "F=2,I=2,W=6,C=2,FB=8"};
    int ran = 0, stuck = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (int ranks = 1; ranks <= 4; ranks++)
            for (int n = 1; n <= 8; n += 1 + (n > 2)) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                struct example x = {.arena = arena};
                if (!make(&x, pp_schedules[k],
                          (struct pp_shape){.ranks = ranks, .micro_batches = n}, units[n % 3]))
                    continue;
                for (int limit = 0; limit <= 4; limit += 2, ran++)
                    check(&x, limit, &stuck);
            }
    cr_assert_gt(ran - stuck, 100);
    cr_assert_gt(stuck, 5);
}

Test(eager, refuses_lowered_programs)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_eager_options options = {.order = {.rule = PP_ORDER_EAGER}};
    const struct pp_lower_options lower = {0};
    struct example x = {.arena = arena};
    struct pp_program *lowered, *eager;

    cr_assert(make(&x, pp_schedule_find("1f1b"), (struct pp_shape){.ranks = 2, .micro_batches = 2},
                   "F=1"));
    cr_assert_eq(pp_lower(arena, x.strict, &lower, &lowered, NULL), PP_OK);
    cr_assert_eq(pp_eager_program(arena, lowered, x.costs, &options, &eager, NULL), PP_EINVAL);
}
