/* The calls of a stage against each other: B and I with W, recomputation, splits; the memory they
 * write. */
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>

enum { LAYERS = 3, STAGES = 5, ROWS = 2 };
static const int blocks[STAGES] = {1, 0, 2, 0, 0};

/* One element type, and two: see kernels/kernels.h. */
static const struct pp_kernels *const tables[] = {&pp_kernels_reference, &pp_kernels_bf16};
enum { TABLES = sizeof tables / sizeof *tables };

static struct rig *make(struct pp_arena *arena, const struct pp_kernels *k,
                        const struct pp_net *net, int splits)
{
    return rig_create(arena, k, net, STAGES, blocks, ROWS, splits, false);
}

static void assert_equal_gradients(const struct rig *a, const struct rig *b, double tolerance)
{
    for (int s = 0; s < a->stages; s++)
        for (int64_t i = 0; i < a->chunk[s].stage->elements; i++) {
            const double x = rig_get(a, a->chunk[s].sum, i), y = rig_get(b, b->chunk[s].sum, i);
            cr_assert_float_eq(x, y, tolerance, "stage %d, element %lld: %.17g and %.17g", s,
                               (long long)i, x, y);
        }
}

static void check_orders(const struct pp_kernels *k, int variant, int splits)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, variant);
    struct rig *runs[3];

    for (int how = RIG_B; how <= RIG_ALL_I_THEN_W; how++) {
        runs[how] = make(arena, k, &net, splits);
        rig_forward(runs[how]);
        rig_backward(runs[how], how);
    }
    assert_equal_gradients(runs[RIG_B], runs[RIG_I_W], 0);
    assert_equal_gradients(runs[RIG_B], runs[RIG_ALL_I_THEN_W], 0);
    for (int s = 1; s < STAGES; s++)
        cr_assert_arr_eq(runs[RIG_B]->chunk[s].grad_out[0], runs[RIG_I_W]->chunk[s].grad_out[0],
                         runs[RIG_B]->chunk[s].stage->boundary_bytes);
}

Test(stage_calls, backward_is_input_gradient_and_weight_gradient)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 3))
        for (int t = 0; t < TABLES; t++) {
            check_orders(tables[t], variant, 1);
            check_orders(tables[t], variant, 2);
        }
}

/* F leaves what R fills again: all of it is poisoned in between. */
static void check_recompute(const struct pp_kernels *k, int variant)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, variant);
    struct rig *plain = make(arena, k, &net, 1), *again = make(arena, k, &net, 1);

    rig_forward(plain);
    rig_forward(again);
    for (int s = 0; s < STAGES; s++) {
        struct chunk *c = &again->chunk[s];
        char *out = c->out[0];

        c->saved[0] = rig_memory(arena, c->stage->saved_bytes);
        c->out[0] = rig_memory(arena, c->stage->boundary_bytes);
        rig_call_stage(again, pp_stage_recompute, s, 0);
        cr_assert_arr_eq(c->saved[0], plain->chunk[s].saved[0], c->stage->saved_bytes);
        cr_assert_eq(rig_untouched(c->out[0], c->stage->boundary_bytes),
                     c->stage->boundary_bytes / 4, "stage %d wrote its output again", s);
        c->out[0] = out;
    }
    rig_backward(plain, RIG_B);
    rig_backward(again, RIG_I_W);
    assert_equal_gradients(plain, again, 0);
    cr_assert_arr_eq(plain->loss, again->loss, sizeof(double) * (size_t)(ROWS * net.seq));
}

Test(stage_calls, recomputation_gives_the_same_bits)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 3))
        for (int t = 0; t < TABLES; t++)
            check_recompute(tables[t], variant);
}

static void check_splits(int variant, int splits)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, variant);
    if (net.balance_loss > 0) /* it is that of all tokens of a call */
        return;
    struct rig *whole = make(arena, tables[0], &net, 1),
               *split = make(arena, tables[0], &net, splits);
    const double difference = rig_forward(whole) - rig_forward(split);

    cr_assert_float_eq(difference, 0, 1e-12, "variant %d: %g", variant, difference);
    rig_backward(whole, RIG_I_W);
    rig_backward(split, RIG_I_W);
    assert_equal_gradients(whole, split, 1e-12);
}

Test(stage_calls, splits_of_a_sequence_give_the_same_loss_and_gradients)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 3)) {
        check_splits(variant, 2);
        check_splits(variant, 4);
    }
}

/* No padding: whatever a stage asks for is written, and nothing after it. */
static void check_memory(const struct rig *r, int s, int split, bool is_backward_over)
{
    const struct chunk *c = &r->chunk[s];
    const struct pp_stage *stage = c->stage;

    cr_assert(rig_is_guarded(c->kept[split], stage->kept_bytes));
    cr_assert(rig_is_guarded(c->saved[split], stage->saved_bytes));
    cr_assert_eq(rig_untouched(c->kept[split], stage->kept_bytes), 0, "kept of stage %d", s);
    if (is_backward_over)
        cr_assert_eq(rig_untouched(c->saved[split], stage->saved_bytes), 0,
                     "saved of stage %d: %zu words of %zu bytes", s,
                     rig_untouched(c->saved[split], stage->saved_bytes), stage->saved_bytes);
}

static void check_all_memory(const struct rig *r, bool is_backward_over)
{
    for (int s = 0; s < r->stages; s++)
        for (int split = 0; split < r->splits; split++)
            check_memory(r, s, split, is_backward_over);
    cr_assert(rig_is_guarded(r->scratch, r->scratch_bytes));
}

Test(stage_calls, write_every_byte_they_asked_for_and_none_beyond)
{
    static const int stages[] = {1, STAGES};
    static const int whole[] = {LAYERS};

    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 1))
        for (int i = 0; i < 8 * TABLES; i++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_net net = rig_variant(LAYERS, variant);

            net.ffn = i & 4 ? 70 : 10; /* either part of the scratch may be the larger one */
            struct rig *r = rig_create(arena, tables[i / 8], &net, stages[i % 2],
                                       i % 2 ? blocks : whole, ROWS, i & 2 ? 2 : 1, i % 2);

            rig_forward(r);
            check_all_memory(r, false);
            rig_backward(r, i & 4 ? RIG_ALL_I_THEN_W : RIG_B);
            check_all_memory(r, true);
        }
}

static double ticks;
static double tick(void)
{
    return ticks += 1;
}

/* The clock advances by 1 whenever it is read: once for each layer. */
Test(stage_calls, a_probe_sees_every_layer_once)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, 0);
    static const int whole[] = {LAYERS};
    struct rig *r = rig_create(arena, &pp_kernels_reference, &net, 1, whole, ROWS, 1, false);
    struct pp_probe probe = {.now_s = tick};
    static const struct {
        rig_call call;
        double s[3][PP_PARTS];
    } calls[] = {
        {pp_stage_forward, {{1, LAYERS, 1}}},
        {pp_stage_recompute, {{1, LAYERS, 1}}},
        {pp_stage_input_grad, {{0}, {0, LAYERS, 1}}},
        {pp_stage_weight_grad, {{0}, {0}, {1, LAYERS, 1}}},
    };

    r->probe = &probe;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        rig_call_stage(r, calls[i].call, 0, 0);
        cr_assert_arr_eq(probe.s, calls[i].s, sizeof probe.s);
    }
    rig_forward(r);
    rig_call_stage(r, pp_stage_backward, 0, 0);
    cr_assert_arr_eq(probe.s[1], calls[2].s[1], sizeof probe.s[1]);
    cr_assert_arr_eq(probe.s[2], calls[3].s[2], sizeof probe.s[2]);
}

static int marked;
static void mark(void *stream)
{
    (void)stream;
    marked++;
}

/* Where the device tells the time, the same parts end at marks, after one at the begin of the
 * call. */
Test(stage_calls, marks_part_what_a_clock_parts)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, 0);
    static const int whole[] = {LAYERS};
    static const rig_call calls[] = {pp_stage_forward, pp_stage_input_grad, pp_stage_weight_grad,
                                     pp_stage_backward};
    struct rig *r = rig_create(arena, &pp_kernels_reference, &net, 1, whole, ROWS, 1, false);
    const int most = pp_stage_timings(r->chunk[0].stage);
    struct pp_probe clock = {.now_s = tick};

    rig_forward(r);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct pp_probe probe = {.record_timing = mark, .timings = PP_ARRAY(arena, uint8_t, most)};
        double count[3][PP_PARTS] = {0};

        marked = 0;
        r->probe = &probe;
        rig_call_stage(r, calls[i], 0, 0);
        cr_assert(probe.timing_count == marked && marked <= most, "%d marks", marked);
        cr_assert_eq(probe.timings[0], PP_TIMING_BEGIN);
        for (int k = 1; k < marked; k++)
            count[probe.timings[k] / PP_PARTS][probe.timings[k] % PP_PARTS]++;
        r->probe = &clock;
        rig_call_stage(r, calls[i], 0, 0);
        cr_assert_arr_eq(count, clock.s, sizeof count);
    }
}
