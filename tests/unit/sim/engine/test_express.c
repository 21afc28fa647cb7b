/* Transfers over shared links against a solver small enough to be obvious: all flows share one link
 * in equal parts. */
#include "core/units.h"
#include "sim/engine/express.h"

#include <criterion/criterion.h>
#include <math.h>

enum { FLOWS = 8 };

struct equal {
    double bytes_per_s, now_s;
    double left_bytes[FLOWS]; /* [wire], 0 = none */
    int flows, begun;
};

static void begin(void *context, int wire, double bytes, int64_t now_ps)
{
    struct equal *e = context;

    cr_assert_eq(e->left_bytes[wire], 0);
    if (e->flows == 0)
        e->now_s = pp_units_s(now_ps);
    cr_assert_float_eq(e->now_s, pp_units_s(now_ps), 1e-12);
    e->left_bytes[wire] = bytes;
    e->flows++;
    e->begun++;
}

static int advance(void *context, int64_t until_ps, int64_t *end_ps)
{
    struct equal *e = context;
    const double share = e->bytes_per_s / e->flows;
    int first = -1;

    for (int w = 0; w < FLOWS; w++)
        if (e->left_bytes[w] > 0 && (first < 0 || e->left_bytes[w] < e->left_bytes[first]))
            first = w;
    const double end_s = e->now_s + e->left_bytes[first] / share;
    const bool is_end = until_ps == INT64_MAX || end_s <= pp_units_s(until_ps);
    const double to_s = is_end ? end_s : pp_units_s(until_ps), sent = (to_s - e->now_s) * share;
    for (int w = 0; w < FLOWS; w++)
        if (e->left_bytes[w] > 0)
            e->left_bytes[w] -= sent;
    e->now_s = to_s;
    if (!is_end)
        return -1;
    e->left_bytes[first] = 0;
    e->flows--;
    *end_ps = pp_units_ps(end_s);
    return first;
}

/* Wires 0 .. 3 share a link of 100 B/s, wire 4 has its own; latency 1 s. */
static struct pp_wires wires_of_one_link(struct pp_wire wire[5])
{
    static int32_t used[4];
    static double shared_bytes_per_s[] = {100};

    for (int w = 0; w < 5; w++)
        wire[w] = (struct pp_wire){
            .alpha_ps = pp_units_ps(1), .bytes_per_s = 100, .first = w < 4 ? w : 0, .count = w < 4};
    return (struct pp_wires){.wire = wire,
                             .count = 5,
                             .lanes = 1,
                             .used = used,
                             .shared_bytes_per_s = shared_bytes_per_s,
                             .shared_count = 1};
}

static void expect(struct pp_express *e, int wire, double at_s)
{
    const struct pp_express_event event = pp_express_next(e);

    cr_assert_eq(event.kind, PP_EXPRESS_END);
    cr_assert_eq(event.wire, wire, "wire %d at %g s", event.wire, pp_units_s(event.at_ps));
    cr_assert_float_eq(pp_units_s(event.at_ps), at_s, 1e-9, "%.12g", pp_units_s(event.at_ps));
}

static void check(bool is_plain, int flows)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_wire wire[5];
    const struct pp_wires wires = wires_of_one_link(wire);
    struct equal equal = {.bytes_per_s = 100};
    const struct pp_solver solver = {&equal, begin, advance};
    struct pp_express *e = pp_express_make(arena, &wires, is_plain);
    struct pp_network_stats stats = {0};

    pp_express_start(e, 0, 1000, 0); /* on the link from 1 s, alone until 3 s: 800 left */
    pp_express_start(e, 1, 200, pp_units_ps(2)); /* shares from 3 s: 200 at 50 B/s until 7 s */
    cr_assert_eq(pp_express_next(e).kind, PP_EXPRESS_SOLVER);
    pp_express_set_solver(e, &solver);
    expect(e, 1, 7);
    expect(e, 0, 13);                             /* 600 left at 7 s, alone again */
    pp_express_start(e, 2, 100, pp_units_ps(13)); /* alone: 14 to 15 s */
    pp_express_start(e, 3, 100, pp_units_ps(14)); /* begins as the other ends: 15 to 16 s */
    expect(e, 2, 15);
    expect(e, 3, 16);
    cr_assert_eq(pp_express_next(e).kind, PP_EXPRESS_NOTHING);
    cr_assert_eq(equal.begun, flows);
    pp_express_stats(e, &stats);
    cr_assert_eq(stats.shared, flows);
    cr_assert_eq(stats.shared_links, 1);
}

Test(express, transfers_share_a_link)
{
    check(false, 2);
}

Test(express, without_the_shortcut_times_are_the_same)
{
    check(true, 4);
}

Test(express, an_own_link_needs_no_solver)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_wire wire[5];
    const struct pp_wires wires = wires_of_one_link(wire);
    struct pp_express *e = pp_express_make(arena, &wires, false);

    pp_express_start(e, 4, 300, 0);
    pp_express_start(e, 0, 300, 0);
    expect(e, 0, 4);
    expect(e, 4, 4);
}

Test(express, events_leave_by_time_then_ends_before_calls)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_wire wire[5];
    const struct pp_wires wires = wires_of_one_link(wire);
    struct pp_express *e = pp_express_make(arena, &wires, false);

    pp_express_call(e, 7, pp_units_ps(4));
    pp_express_call(e, 3, pp_units_ps(2));
    pp_express_start(e, 0, 300, 0);
    struct pp_express_event event = pp_express_next(e);
    cr_assert(event.kind == PP_EXPRESS_CALL && event.wire == 3);
    expect(e, 0, 4);
    event = pp_express_next(e);
    cr_assert(event.kind == PP_EXPRESS_CALL && event.wire == 7 && event.at_ps == pp_units_ps(4));
}

Test(express, a_call_replaces_the_one_before_and_lets_no_time_pass)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_wire wire[5];
    const struct pp_wires wires = wires_of_one_link(wire);
    struct pp_express *e = pp_express_make(arena, &wires, false);

    pp_express_call(e, 200, pp_units_ps(9));
    pp_express_call(e, 1, pp_units_ps(1));
    pp_express_call(e, 200, pp_units_ps(2));
    struct pp_express_event event = pp_express_next(e);
    cr_assert(event.kind == PP_EXPRESS_CALL && event.wire == 1);
    event = pp_express_next(e);
    cr_assert(event.kind == PP_EXPRESS_CALL && event.wire == 200 && event.at_ps == pp_units_ps(2));
    event = pp_express_next(e);
    cr_assert(event.kind == PP_EXPRESS_NOTHING && event.at_ps == pp_units_ps(2));
    pp_express_start(e, 4, 100, pp_units_ps(2)); /* as in a step after the one that ended at 2 s */
    expect(e, 4, 4);
}

Test(express, a_transfer_without_bytes_does_not_hide_another)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_wire wire[5];
    const struct pp_wires wires = wires_of_one_link(wire);
    struct equal equal = {.bytes_per_s = 100};
    const struct pp_solver solver = {&equal, begin, advance};
    struct pp_express *e = pp_express_make(arena, &wires, false);

    pp_express_set_solver(e, &solver);
    pp_express_start(e, 0, 400, 0); /* 1 to 5 s if it were alone */
    pp_express_start(e, 1, 0, pp_units_ps(1));
    expect(e, 1, 2);
    pp_express_start(e, 2, 50, pp_units_ps(2)); /* shares from 3 s: 50 at 50 B/s until 4 s */
    expect(e, 2, 4);
    expect(e, 0, 5.5);
}
