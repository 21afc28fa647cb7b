#include "core/cost/cost.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct pp_unit_costs parsed(const char *text)
{
    struct pp_unit_costs unit;
    struct pp_error err;

    cr_assert_eq(pp_unit_costs_parse(text, &unit, &err), PP_OK, "%s: %s", text, err.message);
    return unit;
}

Test(cost, unit_texts_are_completed_so_that_b_is_i_plus_w)
{
    static const struct {
        const char *text;
        struct pp_unit_costs want;
    } cases[] = {
        {"F=1", {.f = 1, .b = 2, .i = 1, .w = 1, .c = 0, .fb = 3}},
        {"F=1,B=2", {.f = 1, .b = 2, .i = 1, .w = 1, .c = 0, .fb = 3, .has_backward = true}},
        {"B=3", {.f = 1, .b = 3, .i = 1.5, .w = 1.5, .c = 0, .fb = 4, .has_backward = true}},
        {"F=2,I=3,W=1", {.f = 2, .b = 4, .i = 3, .w = 1, .c = 0, .fb = 6, .has_backward = true}},
        {"W=1,F=2,I=3,C=0.1",
         {.f = 2, .b = 4, .i = 3, .w = 1, .c = 0.1, .fb = 6, .has_backward = true}},
        {"F=1,B=4,W=1", {.f = 1, .b = 4, .i = 3, .w = 1, .c = 0, .fb = 5, .has_backward = true}},
        {"F=1,B=2,FB=2.5",
         {.f = 1, .b = 2, .i = 1, .w = 1, .c = 0, .fb = 2.5, .has_backward = true}},
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const struct pp_unit_costs got = parsed(cases[k].text);
        cr_assert(memcmp(&got, &cases[k].want, sizeof(got)) == 0, "%s", cases[k].text);
    }
}

Test(cost, bad_unit_texts_are_refused_with_the_key)
{
    static const char *const bad[][2] = {
        {"", "unknown key"},
        {"F", "without a value"},
        {"F=", "expected a number"},
        {"F=1,", "unknown key"},
        {"G=1", "'G'"},
        {"f=1", "unknown key"},
        {"F=1,F=1", "twice"},
        {"F=-1", "F"},
        {"F=x", "F"},
        {"F=nan", "F"},
        {"F=inf", "F"},
        {"F=1e300", "F"},
        {"F=1,I=1", "without W"},
        {"F=1,W=1", "without I"},
        {"F=1,B=1,I=2", "I + W"},
        {"F=0,B=0", "no op would take time"},
        {"F=0,P=0", "no op would take time"},
        {"B=3,I=1,W=1", "I + W"},
        {"F=1,,B=2", "unknown key"},
    };

    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        struct pp_unit_costs unit;
        struct pp_error err = {0};
        cr_assert_eq(pp_unit_costs_parse(bad[k][0], &unit, &err), PP_EINVAL, "%s", bad[k][0]);
        cr_assert_not_null(strstr(err.message, bad[k][1]), "%s: %s", bad[k][0], err.message);
    }
}

Test(cost, granules_and_splits_take_their_share)
{
    struct pp_arena *arena = pp_arena_create();
    const struct pp_unit_costs unit = parsed("F=1,I=2,W=3,C=0.25,FB=5");
    const struct pp_costs *costs = pp_costs_unit(arena, &unit, 4, 8, 2, 2);
    const int64_t s = 1000000000000;
    struct pp_op f = {.kind = PP_F, .granules = 2, .stage = 7, .split = 1}, b = f, send = f;

    b.kind = PP_B;
    send.kind = PP_SEND_F;
    cr_assert_eq(pp_costs_op(costs, &f, NULL).ps, s / 2, "a whole micro-batch, half a sequence");
    cr_assert_eq(pp_costs_op(costs, &b, NULL).ps, 5 * s / 2);
    cr_assert_eq(pp_costs_op(costs, &f, &b).ps, 5 * s / 2);
    b.stage = 0;
    cr_assert_eq(pp_costs_op(costs, &f, &b).ps, 5 * s / 2, "FB is that of all pairs of stages");
    f.granules = 1;
    cr_assert_eq(pp_costs_op(costs, &f, NULL).ps, s / 4);
    send.granules = 1;
    cr_assert_eq(pp_costs_p2p(costs, &send, 0).ps, s / 4, "C is for each message as it is");
    cr_assert_eq(pp_costs_op(costs, &send, NULL).ps, 0, "a post costs nothing");
    pp_arena_destroy(arena);
}

Test(cost, a_message_has_its_latency_once_and_its_bytes_by_share)
{
    struct pp_stage_memory memory[3] = {{.boundary_bytes = 800}, {.boundary_bytes = 1600}, {0}};
    int64_t alpha_ps[2] = {10, 1000};
    double s_per_byte[2] = {1e-12, 2e-12};
    const unsigned char link[9] = {0, 1, 0, 0, 0, 1, 0, 0, 0};
    const struct pp_costs costs = {.stages = 3,
                                   .splits = 2,
                                   .granules = 4,
                                   .ranks = 3,
                                   .links = 2,
                                   .link = link,
                                   .alpha_ps = alpha_ps,
                                   .s_per_byte = s_per_byte,
                                   .memory = memory};
    struct pp_op op = {.kind = PP_SEND_F, .stage = 1, .granules = 4, .peer = 2};

    cr_assert_eq(pp_costs_message_bytes(&costs, &op), 800, "half a sequence of 1600 bytes");
    cr_assert_eq(pp_costs_p2p(&costs, &op, 1).ps, 1000 + 1600);
    op.granules = 1;
    cr_assert_eq(pp_costs_p2p(&costs, &op, 1).ps, 1000 + 400);
    op.kind = PP_SEND_B;
    op.peer = 0;
    cr_assert_eq(pp_costs_message_bytes(&costs, &op), 100, "the boundary below stage 1");
    cr_assert_eq(pp_costs_p2p(&costs, &op, 1).ps, 10 + 100);
    op.kind = PP_RECV_F;
    cr_assert_eq(pp_costs_message_bytes(&costs, &op), 100);
    op.kind = PP_RECV_B;
    cr_assert_eq(pp_costs_message_bytes(&costs, &op), 200);
    op.kind = PP_SEND_F;
    op.stage = 2;
    cr_assert_eq(pp_costs_message_bytes(&costs, &op), 0, "nothing leaves the last stage");
}

Test(cost, shares_are_rounded_to_the_nearest_picosecond_without_overflow)
{
    struct pp_cost f = {.ps = 10}, tied = {.ps = 77}, sum = {.ps = 5};
    struct pp_costs costs = {.stages = 1, .splits = 1, .granules = 3, .tied = &tied};
    struct pp_op op = {.kind = PP_F, .granules = 1}, ar = {.kind = PP_AR, .aux = PP_TIED};

    costs.op[PP_F] = &f;
    costs.op[PP_AR] = &sum;
    cr_assert_eq(pp_costs_op(&costs, &op, NULL).ps, 3);
    op.granules = 2;
    cr_assert_eq(pp_costs_op(&costs, &op, NULL).ps, 7);
    f.ps = INT64_MAX / 4;
    cr_assert_eq(pp_costs_op(&costs, &op, NULL).ps, f.ps / 3 * 2 + (f.ps % 3 * 2 + 1) / 3);
    cr_assert_eq(pp_costs_op(&costs, &ar, NULL).ps, 77);
    ar.aux = 0;
    cr_assert_eq(pp_costs_op(&costs, &ar, NULL).ps, 5);
}

/* An F overlapped with a B: compute hides exchanges of experts, and only those. */
Test(cost, exchanges_hide_in_an_overlapped_pair)
{
    static const struct {
        int64_t f_ps, f_ep, b_ps, b_ep, ps, ep;
    } pairs[] = {
        {100, 0, 200, 0, 300, 0},     /* nothing to hide */
        {100, 40, 200, 50, 210, 0},   /* all of it */
        {100, 90, 100, 80, 170, 140}, /* more exchanges than compute: 30 of compute hide 30 */
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct pp_cost f = {.ps = pairs[i].f_ps, .ep_ps = pairs[i].f_ep},
                       b = {.ps = pairs[i].b_ps, .ep_ps = pairs[i].b_ep};
        struct pp_costs costs = {.stages = 1, .splits = 1, .granules = 1, .ranks = 1};
        costs.op[PP_F] = &f;
        costs.op[PP_B] = &b;
        const struct pp_op forward = {.kind = PP_F, .granules = 1},
                           backward = {.kind = PP_B, .granules = 1};
        const struct pp_cost pair = pp_costs_op(&costs, &forward, &backward);
        cr_assert_eq(pair.ps, pairs[i].ps, "%zu: %lld", i, (long long)pair.ps);
        cr_assert_eq(pair.ep_ps, pairs[i].ep, "%zu: %lld", i, (long long)pair.ep_ps);
    }
}
