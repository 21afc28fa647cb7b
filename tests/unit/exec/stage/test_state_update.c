/* Norm and update of states: shares, squares, AdamW. */
#include "tests/unit/exec/stage/state_case.h"

#include <criterion/criterion.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

TestSuite(update, .init = set_up, .fini = tear_down);

static void squares_of(const struct copy *c, double *squares)
{
    double *blocks = PP_ARRAY(arena, double, pp_squares_blocks(&c->stage));

    pp_state_squares(k, NULL, &c->stage, &c->state, c->scratch, blocks);
    pp_squares_add(&(struct pp_squares_part){&c->stage, blocks}, 1, squares);
}

static void norm_by_parts(bool is_exact, double *whole_squares, double *part_squares)
{
    struct copy *whole = make(0, BLOCKS, true, true, is_exact);
    struct copy *parts[] = {make(0, 1, true, false, is_exact), make(1, 0, false, false, is_exact),
                            make(1, 1, false, true, is_exact)};

    set_gradients(whole);
    squares_of(whole, whole_squares);
    for (int s = 0; s < 3; s++) {
        set_gradients(parts[s]);
        squares_of(parts[s], part_squares);
    }
}

static struct pp_cuts shared_by(int copies)
{
    return (struct pp_cuts){1, 1, copies};
}

/* Copies of one state that share the optimizer out. */
static struct copy **make_shares(int copies, bool is_exact)
{
    struct copy **shares = PP_ARRAY(arena, struct copy *, copies);

    for (int c = 0; c < copies; c++) {
        shares[c] = make(0, BLOCKS, true, true, is_exact);
        shares[c]->state.share = pp_share_of(&shares[c]->stage, c, copies);
    }
    return shares;
}

Test(update, shares_follow_one_another_and_are_even)
{
    const struct pp_stage *stage = &make(0, BLOCKS, true, true, false)->stage;

    for (int copies = 1; copies < 3000; copies = 2 * copies + 1) {
        const int64_t each = pp_share_elements(stage, copies);
        int64_t until = 0;

        cr_assert(each % 16 == 0 && each < stage->elements / copies + 17);
        cr_assert_eq(pp_state_bytes(stage, k, false, shared_by(copies)).optimizer,
                     2 * (size_t)each * sizeof(double));
        for (int c = 0; c < copies; c++) {
            const struct pp_range share = pp_share_of(stage, c, copies);
            if (share.from >= share.until)
                continue; /* the last ones of very many */
            cr_assert(share.from == until && share.until - share.from <= each);
            until = share.until;
        }
        cr_assert_eq(until, stage->elements);
    }
}

/* With half the gradients. */
static const struct pp_adamw_step *now_of(int step)
{
    static struct pp_adamw_step now = {.grad_scale = 0.5};

    pp_recipe_adamw_step(&recipe, step, &now);
    return &now;
}

static bool are_gradients_zero(const struct copy *c)
{
    for (int64_t i = 0; i < c->stage.elements; i++)
        if (c->state.fixed ? c->state.fixed[i] != 0 : ((double *)c->state.sum)[i] != 0)
            return false;
    return true;
}

/* Each copy has its share, and of the gradients no more than it says that it needs. PIPESIM_LONG=1:
 * also of more copies. */
Test(update, norm_and_update_do_not_depend_on_shares)
{
    for (int is_exact = 0; is_exact <= 1; is_exact++)
        for (int copies = 2; copies < (getenv("PIPESIM_LONG") ? 700 : 100 + 150 * is_exact);
             copies = 3 * copies + 1) {
            struct copy *whole = make(0, BLOCKS, true, true, is_exact),
                        **shares = make_shares(copies, is_exact);
            const size_t count = (size_t)pp_squares_blocks(&whole->stage);
            double *expected = PP_ARRAY(arena, double, count),
                   *got = PP_ARRAY(arena, double, count);

            set_gradients(whole);
            pp_state_init(&whole->stage, k, &(struct pp_recipe){.seed = 1}, &whole->state,
                          pp_cuts_none());
            set_gradients(whole);
            pp_state_squares(k, NULL, &whole->stage, &whole->state, whole->scratch, expected);
            pp_state_update(k, NULL, &whole->stage, &whole->state, &recipe, now_of(1));
            for (int c = 0; c < copies; c++) {
                struct copy *part = shares[c];
                const struct pp_range share = part->state.share;
                const int64_t end = pp_squares_end(&part->stage, share);
                if (share.from >= share.until)
                    continue;
                pp_state_init(&part->stage, k, &(struct pp_recipe){.seed = 1}, &part->state,
                              shared_by(copies));
                set_gradients(part);
                for (int64_t i = 0; i < part->stage.elements; i++)
                    if ((i < share.from || i >= end) && is_exact)
                        part->state.fixed[i] = INT64_MAX;
                    else if (i < share.from || i >= end)
                        ((double *)part->state.sum)[i] = (double)NAN;
                pp_state_squares(k, NULL, &part->stage, &part->state, part->scratch, got);
                pp_state_update(k, NULL, &part->stage, &part->state, &recipe, now_of(1));
                const size_t from = (size_t)share.from,
                             bytes = (size_t)(share.until - share.from) * sizeof(double);
                cr_assert_arr_eq((double *)part->state.weights + from,
                                 (double *)whole->state.weights + from, bytes);
                cr_assert_arr_eq(part->state.m, (double *)whole->state.m + from, bytes);
                cr_assert_arr_eq(part->state.v, (double *)whole->state.v + from, bytes);
                cr_assert(are_gradients_zero(part), "%d of %d", c, copies);
            }
            cr_assert_arr_eq(expected, got, count * sizeof(double), "%d copies", copies);
        }
}

/* Blocks of one copy, and where they arrive. */
struct moved {
    const double *from;
    double *to;
    size_t bytes;
};

static void take(void *closure, void *memory, size_t bytes)
{
    struct moved *moved = closure;

    memcpy(moved->to + ((const double *)memory - moved->from), memory, bytes);
    moved->bytes += bytes;
}

/* Shares that go to another process give the same bits there, by one number for most tensors. */
Test(update, moved_squares_give_the_same_sums)
{
    for (int copies = 1; copies < 700; copies = 3 * copies + 1) {
        struct copy *whole = make(0, BLOCKS, true, true, false);
        const struct pp_stage *stage = &whole->stage;
        const size_t count = (size_t)pp_squares_blocks(stage);
        double *blocks = PP_ARRAY(arena, double, count), *there = PP_ARRAY(arena, double, count),
               expected[LAYERS] = {0}, got[LAYERS] = {0};
        size_t bytes = 0;

        set_gradients(whole);
        pp_state_squares(k, NULL, stage, &whole->state, whole->scratch, blocks);
        pp_squares_add(&(struct pp_squares_part){stage, blocks}, 1, expected);
        for (int c = 0; c < copies; c++) {
            double *own = PP_ARRAY(arena, double, count);
            struct moved moved = {own, there, 0};
            struct pp_state state = whole->state;
            state.share = pp_share_of(stage, c, copies);
            pp_state_squares(k, NULL, stage, &state, whole->scratch, own);
            pp_squares_fold(stage, state.share, own);
            pp_squares_move(stage, state.share, own, take, &moved);
            bytes += moved.bytes;
        }
        pp_squares_add(&(struct pp_squares_part){stage, there}, 1, got);
        cr_assert_arr_eq(expected, got, sizeof expected, "%d copies", copies);
        if (copies == 1)
            cr_assert_eq(bytes, (size_t)stage->param_count * sizeof(double));
        cr_assert_leq(bytes, count * sizeof(double));
    }
}

Test(update, norm_does_not_depend_on_the_division)
{
    for (int is_exact = 0; is_exact <= 1; is_exact++) {
        double whole[LAYERS] = {0}, parts[LAYERS] = {0};

        norm_by_parts(is_exact, whole, parts);
        cr_assert_arr_eq(whole, parts, sizeof whole);

        double by_hand = 0;
        for (int p = 0; p < PARAMS; p++)
            for (int64_t i = 0; i < all_params[p].count; i++)
                by_hand += pow(sin((double)(i + 1) * (all_params[p].id + 1)) * 0.01, 2);
        double sum = 0;
        for (int layer = 0; layer < LAYERS; layer++)
            sum += whole[layer];
        cr_assert_float_eq(sum, by_hand, 1e-10 * by_hand);
    }
}

/* AdamW as its paper writes it, one element at a time. */
static double by_hand(const struct pp_recipe *r, double weight, double grad, bool decays, int steps)
{
    double m = 0, v = 0;

    for (int t = 1; t <= steps; t++) {
        const double rate = pp_recipe_rate(r, t - 1);

        m = r->beta1 * m + (1 - r->beta1) * grad;
        v = r->beta2 * v + (1 - r->beta2) * grad * grad;
        const double mean = m / (1 - pow(r->beta1, t));
        const double deviation = sqrt(v / (1 - pow(r->beta2, t)));
        weight -= rate * (mean / (deviation + r->epsilon) + (decays ? r->decay * weight : 0));
    }
    return weight;
}

Test(update, update_is_adamw_and_clears_the_gradients)
{
    for (int is_exact = 0; is_exact <= 1; is_exact++) {
        struct copy *c = make(0, BLOCKS, true, true, is_exact);
        struct copy *start = make(0, BLOCKS, true, true, is_exact);

        pp_state_init(&c->stage, k, &(struct pp_recipe){.seed = 1}, &c->state, pp_cuts_none());
        pp_state_init(&start->stage, k, &(struct pp_recipe){.seed = 1}, &start->state,
                      pp_cuts_none());
        for (int step = 0; step < 3; step++) {
            set_gradients(c);
            pp_state_update(k, NULL, &c->stage, &c->state, &recipe, now_of(step));
        }
        for (int p = 0; p < PARAMS; p++) {
            const struct pp_param *param = &all_params[p];

            for (int64_t i = 0; i < param->count; i++) {
                const double grad = 0.5 * sin((double)(i + 1) * (param->id + 1)) * 0.01;
                const double expected =
                    by_hand(&recipe, weights_of(start, p)[i], grad, param->decays, 3);

                cr_assert_float_eq(weights_of(c, p)[i], expected, 1e-8, "%s[%d]", param->name,
                                   (int)i);
            }
        }
        cr_assert(are_gradients_zero(c));
    }
}

static int zero_calls;
static const char *zeroed_end;

static void count_zero(void *stream, size_t bytes, void *x)
{
    zero_calls++;
    zeroed_end = (char *)x + bytes;
    k->zero(stream, bytes, x);
}

/* The optimizer clears what it reads; one call clears the rest, if there is any. */
Test(update, gradients_beyond_the_share_are_cleared_by_one_call)
{
    struct pp_kernels counting = *k;

    counting.zero = count_zero;
    for (int is_exact = 0; is_exact <= 1; is_exact++)
        for (int copies = 1; copies <= 2000; copies = copies < 4 ? copies + 1 : 500 * copies)
            for (int c = 0; c < copies; c++) {
                struct copy *part = make(0, BLOCKS, true, true, is_exact);
                part->state.share = pp_share_of(&part->stage, c, copies);
                pp_state_init(&part->stage, k, &(struct pp_recipe){.seed = 1}, &part->state,
                              pp_cuts_none());
                set_gradients(part);
                const struct pp_state *state = &part->state;
                const char *gradients = is_exact ? (char *)state->fixed : state->sum;
                zero_calls = 0;
                zeroed_end = gradients;
                pp_state_update(&counting, NULL, &part->stage, &part->state, &recipe, now_of(0));
                cr_assert_eq(zero_calls, copies > 1);
                cr_assert_leq((size_t)(zeroed_end - gradients),
                              pp_state_bytes(&part->stage, k, is_exact, pp_cuts_none()).gradients);
                cr_assert(are_gradients_zero(part), "%d of %d", c, copies);
                c += copies > 4 ? 100 : 0; /* and an empty share, the last one */
            }
}
