/* The solver of sim/engine/maxmin.h against progressive filling of all flows at every event. */
#include "core/units.h"
#include "sim/engine/maxmin.h"
#include "tests/oracle/maxmin.h"
#include "tests/unit/support/random_program.h"

#include <criterion/criterion.h>
#include <math.h>

enum { LINKS = 12, WIRES = 40, ROUTE = 4, TURNS = 5, MAX_USED = WIRES * ROUTE };

struct net {
    struct pp_wire wire[WIRES];
    int32_t used[MAX_USED];
    double shared_bytes_per_s[LINKS];
    struct pp_wires wires;
    double bytes[WIRES][TURNS], pause_s[WIRES][TURNS]; /* before each transfer of a wire */
};

/* Many equal values: begins, ends and levels of links that coincide. */
static double any_of(struct rng *rng, double unit)
{
    return rng_chance(rng, 60) ? unit * rng_int(rng, 1, 3) : unit * rng_int(rng, 1, 1000000) / 3e5;
}

static void add_route(struct net *n, struct rng *rng, int links, int wire)
{
    struct pp_wire *w = &n->wire[wire];
    double slowest = HUGE_VAL;

    *w = (struct pp_wire){.first = wire > 0 ? w[-1].first + w[-1].count : 0};
    for (int l = 0; l < links && w->count < ROUTE; l++)
        if (rng_chance(rng, 30)) {
            n->used[w->first + w->count++] = l;
            slowest = fmin(slowest, n->shared_bytes_per_s[l]);
        }
    w->bytes_per_s = w->count > 0 ? slowest : any_of(rng, 1e9);
    if (w->count > 0 && rng_chance(rng, 30))
        w->bytes_per_s = w->cap_bytes_per_s = slowest * rng_int(rng, 1, 9) / 10;
}

static void make_net(struct net *n, struct rng *rng)
{
    const int links = rng_int(rng, 1, LINKS), wires = rng_int(rng, 2, WIRES);

    for (int l = 0; l < links; l++)
        n->shared_bytes_per_s[l] = any_of(rng, 1e9);
    for (int w = 0; w < wires; w++) {
        add_route(n, rng, links, w);
        for (int k = 0; k < TURNS; k++) {
            n->bytes[w][k] = any_of(rng, 1e6);
            n->pause_s[w][k] = rng_chance(rng, 30) ? 0 : any_of(rng, 1e-3);
        }
    }
    n->wires = (struct pp_wires){.wire = n->wire,
                                 .count = wires,
                                 .lanes = 1,
                                 .used = n->used,
                                 .shared_bytes_per_s = n->shared_bytes_per_s,
                                 .shared_count = links};
}

typedef double ends[WIRES][TURNS];

/* Begins the transfers whose time has come; returns the time of the next one. */
static int64_t begin_due(const struct net *n, const struct pp_solver *solver, int64_t now_ps,
                         int64_t next_ps[], int turn[], int *flows)
{
    int64_t until_ps = INT64_MAX;

    for (int w = 0; w < n->wires.count; w++) {
        if (next_ps[w] <= now_ps) {
            solver->begin(solver->context, w, n->bytes[w][turn[w]], now_ps);
            next_ps[w] = INT64_MAX;
            ++*flows;
        }
        until_ps = next_ps[w] < until_ps ? next_ps[w] : until_ps;
    }
    return until_ps;
}

static void run_solver(struct pp_arena *arena, const struct net *n, ends end_s)
{
    const struct pp_solver solver = pp_maxmin_solver(pp_maxmin_make(arena, &n->wires));
    int64_t next_ps[WIRES], now_ps = 0;
    int turn[WIRES] = {0}, flows = 0;

    for (int w = 0; w < n->wires.count; w++)
        next_ps[w] = pp_units_ps(n->pause_s[w][0]);
    for (;;) {
        const int64_t until_ps = begin_due(n, &solver, now_ps, next_ps, turn, &flows);
        if (flows == 0 && until_ps == INT64_MAX)
            return;
        int64_t end_ps = until_ps;
        const int w = flows > 0 ? solver.advance(solver.context, until_ps, &end_ps) : -1;
        cr_assert(end_ps >= now_ps && (w >= 0 || until_ps < INT64_MAX));
        now_ps = w >= 0 ? end_ps : until_ps;
        if (w < 0)
            continue;
        flows--;
        end_s[w][turn[w]++] = pp_units_s(end_ps);
        if (turn[w] < TURNS)
            next_ps[w] = end_ps + pp_units_ps(n->pause_s[w][turn[w]]);
    }
}

static struct fluid_flow flow_of(const struct net *n, int w)
{
    const struct pp_wire *wire = &n->wire[w];
    const bool is_bound = wire->count == 0 || wire->cap_bytes_per_s > 0;
    struct fluid_flow f = {.link_count = wire->count + is_bound};

    for (int k = 0; k < wire->count; k++)
        f.links[k] = n->used[wire->first + k];
    if (is_bound)
        f.links[wire->count] = LINKS + w; /* a link of its own */
    return f;
}

/* Rates of the wires that carry something; returns the time of the next event. */
static double share(const struct net *n, const struct fluid_link *links, struct fluid_flow flow[],
                    const double from_s[], double now_s)
{
    struct fluid_flow *open[WIRES];
    double room[LINKS + WIRES], next_s = HUGE_VAL;
    int count = 0, users[LINKS + WIRES];

    for (int w = 0; w < n->wires.count; w++)
        if (from_s[w] > now_s)
            next_s = fmin(next_s, from_s[w]);
        else
            open[count++] = &flow[w];
    fluid_share(links, open, count, room, users);
    for (int k = 0; k < count; k++)
        next_s = fmin(next_s, now_s + open[k]->left_bytes / open[k]->rate);
    return next_s;
}

static void run_oracle(const struct net *n, ends end_s)
{
    const double blink_s = 1e-14;
    struct fluid_link links[LINKS + WIRES];
    struct fluid_flow flow[WIRES];
    double from_s[WIRES];
    int turn[WIRES] = {0};

    for (int l = 0; l < LINKS; l++)
        links[l] = (struct fluid_link){n->shared_bytes_per_s[l], false};
    for (int w = 0; w < n->wires.count; w++) {
        const struct pp_wire *wire = &n->wire[w];
        links[LINKS + w] =
            (struct fluid_link){wire->count > 0 ? wire->cap_bytes_per_s : wire->bytes_per_s, true};
        flow[w] = flow_of(n, w);
        flow[w].left_bytes = n->bytes[w][0];
        from_s[w] = n->pause_s[w][0];
    }
    for (double now_s = 0, next_s; (next_s = share(n, links, flow, from_s, now_s)) < HUGE_VAL;
         now_s = next_s)
        for (int w = 0; w < n->wires.count; w++) {
            if (from_s[w] > now_s)
                continue;
            flow[w].left_bytes -= flow[w].rate * (next_s - now_s);
            if (flow[w].left_bytes > flow[w].rate * blink_s)
                continue;
            end_s[w][turn[w]++] = next_s;
            from_s[w] = turn[w] < TURNS ? next_s + n->pause_s[w][turn[w]] : HUGE_VAL;
            flow[w].left_bytes = turn[w] < TURNS ? n->bytes[w][turn[w]] : 0;
        }
}

Test(laws_maxmin, partial_solutions_are_those_of_all_flows)
{
    enum { CASES = 400 };

    for (uint64_t seed = 1; seed <= CASES; seed++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct rng rng = {seed};
        struct net n;
        ends found = {{0}}, wanted = {{0}};
        double latest_s = 0;

        make_net(&n, &rng);
        run_solver(arena, &n, found);
        run_oracle(&n, wanted);
        for (int w = 0; w < n.wires.count; w++)
            latest_s = fmax(latest_s, wanted[w][TURNS - 1]);
        for (int w = 0; w < n.wires.count; w++)
            for (int k = 0; k < TURNS; k++)
                cr_assert(fabs(found[w][k] - wanted[w][k]) <= 1e-9 * latest_s,
                          "seed %d: transfer %d of wire %d ends at %.15g, by filling at %.15g",
                          (int)seed, k, w, found[w][k], wanted[w][k]);
    }
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Flows filled when n flows of different sizes cross two links each of a chain of n + 1. */
static double work_of_chain(int n)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_wires wires = {.wire = PP_ARRAY(arena, struct pp_wire, n),
                             .count = n,
                             .lanes = 1,
                             .used = PP_ARRAY(arena, int32_t, 2 * n),
                             .shared_bytes_per_s = PP_ARRAY(arena, double, n + 1),
                             .shared_count = n + 1};
    struct rng rng = {7};
    int64_t end_ps;

    for (int l = 0; l <= n; l++)
        wires.shared_bytes_per_s[l] = 1e9 * rng_int(&rng, 5, 9);
    for (int w = 0; w < n; w++) {
        wires.wire[w] = (struct pp_wire){.first = 2 * w, .count = 2, .bytes_per_s = 1e9};
        wires.used[2 * w] = w;
        wires.used[2 * w + 1] = w + 1;
    }
    struct pp_maxmin *m = pp_maxmin_make(arena, &wires);
    const struct pp_solver solver = pp_maxmin_solver(m);
    for (int w = 0; w < n; w++)
        solver.begin(solver.context, w, 1e6 * rng_int(&rng, 1000, 9999), 0);
    for (int k = 0; k < n; k++)
        cr_assert_geq(solver.advance(solver.context, INT64_MAX, &end_ps), 0);
    return (double)pp_maxmin_stats(m).filled;
}

Test(laws_maxmin, work_grows_with_the_flows_that_meet)
{
    const double few = work_of_chain(1000), many = work_of_chain(8000);

    cr_assert_lt(many, 8.5 * few, "%g flows filled, then %g", few, many);
    cr_assert_lt(many, 10 * 8000., "%g flows filled", many);
}
