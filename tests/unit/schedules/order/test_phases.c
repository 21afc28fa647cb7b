/* The pattern language of .phases: which weight gradient a W takes, and the published zero-bubble
 * rule restated. */
#include "schedules/order/schedule.h"
#include "schedules/registry.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static const char *pattern;
static int times;

static void repeat(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    (void)shape, (void)rank;
    pp_phase(out, times, pattern);
}

static void pile_up(const struct pp_shape *shape, int rank, struct pp_phases *out)
{
    (void)rank;
    pp_phase(out, shape->micro_batches, "F0 F1");
    pp_phase(out, shape->micro_batches, "I0");
    pp_phase(out, shape->micro_batches, "I1");
    pp_phase(out, shape->micro_batches, "W1");
    pp_phase(out, shape->micro_batches, "W0");
}

static struct pp_orders *orders_of(struct pp_arena *arena, const struct pp_schedule *schedule,
                                   struct pp_shape shape)
{
    struct pp_order_maps maps;
    struct pp_orders *orders;
    struct pp_error err;

    cr_assert_eq(pp_schedule_check(schedule, &shape, &err), PP_OK, "%s", err.message);
    cr_assert_eq(pp_schedule_orders(arena, schedule, &shape, NULL, &orders, &maps, &err), PP_OK);
    return orders;
}

static const char *text_of(struct pp_arena *arena, const struct pp_orders *orders, int rank)
{
    char *text = pp_arena_alloc(arena, 1 << 12), *out = text;

    *out = '\0';
    for (int i = 0; i < orders->count[rank]; i++) {
        const struct pp_op *op = &orders->ops[rank][i];
        out += sprintf(out, "%s%d%s%d", i ? " " : "", op->stage, pp_op_kinds[op->kind].text,
                       (int)op->mb);
    }
    return text;
}

/* Merak's order: only the last rank but one differs from 1f1b. */
Test(phases, the_last_rank_but_one_is_shifted)
{
    static const char *const ops[] = {"F0", "F1", "F2", "B0", "B1", "F3",
                                      "B2", "F4", "B3", "F5", "B4", "B5"};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_schedule *schedule = pp_schedule_find("1f1b");

    for (int ranks = 2; ranks <= 6; ranks++) {
        const struct pp_shape plain = {.ranks = ranks, .micro_batches = 6};
        struct pp_shape shifted = plain;
        char *wanted = "";
        shifted.option[pp_schedule_option_at(schedule, "shifted")] = 1;
        for (size_t i = 0; i < PP_COUNT(ops); i++)
            wanted = pp_arena_printf(arena, "%s%s%d%s", wanted, i ? " " : "", ranks - 2, ops[i]);
        const struct pp_orders *was = orders_of(arena, schedule, plain),
                               *is = orders_of(arena, schedule, shifted);
        for (int r = 0; r < ranks; r++)
            cr_expect_str_eq(text_of(arena, is, r),
                             r == ranks - 2 ? wanted : text_of(arena, was, r));
    }
}

Test(phases, a_w_takes_the_oldest_of_its_chunk_or_of_all)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_schedule schedule = {.name = "test", .chunks = 2, .phases = repeat};

    times = 1, pattern = "I1 I0 I1 I0 W0 W W W1 W W0 W";
    cr_expect_str_eq(
        text_of(arena,
                orders_of(arena, &schedule, (struct pp_shape){.ranks = 1, .micro_batches = 2}), 0),
        "1I0 0I0 1I1 0I1 0W0 1W0 1W1 0W1");
    times = 9, pattern = "I0 W W1 I1 W0";
    cr_expect_str_eq(
        text_of(arena,
                orders_of(arena, &schedule, (struct pp_shape){.ranks = 1, .micro_batches = 3}), 0),
        "0I0 0W0 1I0 0I1 1W0 1I1 0W1 0I2 1W1 1I2 0W2 1W2");
}

/* Every chunk in a list of its own: quadratic search would not end. */
Test(phases, many_pending_weight_gradients)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_schedule schedule = {.name = "test", .chunks = 2, .phases = pile_up};
    const int n = 1 << 20;
    const struct pp_orders *orders =
        orders_of(arena, &schedule, (struct pp_shape){.ranks = 1, .micro_batches = n});

    cr_assert_eq(orders->count[0], 6 * n);
    cr_expect_eq(orders->ops[0][4 * n].stage, 1);
    for (int i = 0; i < 2 * n; i++) {
        const struct pp_op *op = &orders->ops[0][4 * n + i];
        cr_assert(op->kind == PP_W && op->stage == (i < n) && op->mb == i % n);
    }
}

/* ---- the zero-bubble rule ----------------------------------------------------------------- */

/* PyTorch's ScheduleInterleavedZeroBubble: (V-1)G + D-1-r forwards, then pairs; the W that follows
 * the i-th I, from i = r on, is that of the oldest I. Ops as stage * N + mb. */
static int zero_bubble(const struct pp_shape *s, int rank, int *kind, int *unit)
{
    const int all = s->micro_batches * s->chunks, n = s->micro_batches;
    const int first = (s->chunks - 1) * s->option[PP_GROUP_AT] + s->ranks - 1 - rank;
    const int warmup = first < all ? first : all;
    int count = 0, weights = 0, *backward = calloc((size_t)all, sizeof(int));
    int *next = calloc((size_t)s->chunks * 2, sizeof(int));

    for (int k = 0; k < all + warmup; k++) {
        const int local = k / s->option[PP_GROUP_AT] % s->chunks;
        if (k < all) {
            kind[count] = PP_F;
            unit[count++] = (local * s->ranks + rank) * n + next[local]++;
        }
        if (k < warmup)
            continue;
        const int i = k - warmup, chunk = s->chunks - 1 - i / s->option[PP_GROUP_AT] % s->chunks;
        backward[i] = (chunk * s->ranks + rank) * n + next[s->chunks + chunk]++;
        kind[count] = PP_I, unit[count++] = backward[i];
        if (i >= rank)
            kind[count] = PP_W, unit[count++] = backward[weights++];
    }
    while (weights < all)
        kind[count] = PP_W, unit[count++] = backward[weights++];
    free(backward);
    free(next);
    return count;
}

static int check_zero_bubble(const char *name, struct pp_shape shape)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_schedule *schedule = pp_schedule_find(name);

    if (pp_schedule_check(schedule, &shape, NULL) != PP_OK)
        return 0;
    const struct pp_orders *orders = orders_of(arena, schedule, shape);
    shape.option[PP_GROUP_AT] =
        shape.option[PP_GROUP_AT] ? shape.option[PP_GROUP_AT] : shape.micro_batches;
    for (int rank = 0; rank < shape.ranks; rank++) {
        const int all = 3 * shape.micro_batches * shape.chunks;
        int *kind = PP_ARRAY(arena, int, all), *unit = PP_ARRAY(arena, int, all);
        cr_assert_eq(zero_bubble(&shape, rank, kind, unit), all);
        cr_assert_eq(orders->count[rank], all);
        for (int i = 0; i < all; i++) {
            const struct pp_op *op = &orders->ops[rank][i];
            cr_assert(op->kind == kind[i] && op->stage * shape.micro_batches + op->mb == unit[i],
                      "%s D=%d V=%d N=%d rank %d op %d", name, shape.ranks, shape.chunks,
                      shape.micro_batches, rank, i);
        }
    }
    return 1;
}

Test(phases, zero_bubble_orders_are_the_published_rule)
{
    int checked = 0;

    for (int ranks = 1; ranks <= 9; ranks++)
        for (int n = 1; n <= 40; n++)
            for (int chunks = 0; chunks <= 4; chunks++)
                checked += check_zero_bubble(
                    chunks ? "interleaved-zb" : "zb-h1",
                    (struct pp_shape){.ranks = ranks, .chunks = chunks, .micro_batches = n});
    cr_assert_gt(checked, 1000);
}
