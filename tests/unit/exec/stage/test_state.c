#include "exec/stage/state.h"

#include "core/random.h"
#include "exec/stage/loss.h"

#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* A model of two blocks and its divisions, with tensors of every kind, laid out by hand. So these
 * tests depend on no layer's code. */
enum { BLOCKS = 2, LAYERS = BLOCKS + 2, LARGEST = 3 * PP_SQUARES_BLOCK + 17 };

static const struct pp_net net = {.name = "by hand", .layers = BLOCKS, .is_tied = true};
static const struct pp_param all_params[] = {
    {"embedding", 0, 0, LARGEST, 0, PP_INIT_NORMAL, 0.02, true, true},
    {"qkv", 1, 1, 5001, 0, PP_INIT_NORMAL, 0.1, true, false},
    {"norm", 2, 1, 33, 0, PP_INIT_ONE, 0, false, false},
    {"bias", 3, 1, 7, 0, PP_INIT_ZERO, 0, false, false},
    {"qkv", 4, 2, 5001, 0, PP_INIT_NORMAL, 0.1, true, false},
    {"norm", 5, 3, 33, 0, PP_INIT_ONE, 0, false, false},
};
enum { PARAMS = sizeof all_params / sizeof *all_params };

static struct pp_arena *arena;
static const struct pp_kernels *const k = &pp_kernels_reference;

static void set_up(void)
{
    arena = pp_arena_create();
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
}

TestSuite(state, .init = set_up, .fini = tear_down);

struct copy {
    struct pp_stage stage;
    struct pp_state state;
    double *scratch;
};

static void add_param(struct pp_stage *stage, int p)
{
    struct pp_param *param = &stage->params[stage->param_count++];

    *param = all_params[p];
    param->offset = stage->elements;
    stage->tensors[stage->param_count - 1] =
        (struct pp_flat_tensor){param->offset, param->offset + param->count, param->decays};
    stage->elements += (param->count + 15) / 16 * 16;
}

/* A stage of `blocks` from `first` on; its head has the embedding's matrix where both are apart. */
static struct copy *make(int first, int blocks, bool has_embedding, bool has_head, bool is_exact)
{
    struct copy *c = PP_NEW(arena, struct copy);

    c->stage.net = &net;
    c->stage.shape = (struct pp_stage_shape){.first_block = first,
                                             .blocks = blocks,
                                             .has_embedding = has_embedding,
                                             .has_head = has_head};
    c->stage.params = PP_ARRAY(arena, struct pp_param, PARAMS);
    c->stage.tensors = PP_ARRAY(arena, struct pp_flat_tensor, PARAMS);
    for (int p = 0; p < PARAMS; p++) {
        const int layer = all_params[p].layer;

        if (layer == 0            ? has_embedding || has_head
            : layer == 1 + BLOCKS ? has_head
                                  : layer > first && layer <= first + blocks)
            add_param(&c->stage, p);
    }
    const struct pp_state_bytes bytes = pp_state_bytes(&c->stage, k, is_exact, 1);
    c->state.weights = pp_arena_alloc(arena, bytes.weights);
    c->state.share = pp_share_of(&c->stage, 0, 1);
    c->state.m = pp_arena_alloc(arena, bytes.moment);
    c->state.v = pp_arena_alloc(arena, bytes.moment);
    if (is_exact)
        c->state.fixed = pp_arena_alloc(arena, bytes.gradients);
    else
        c->state.sum = pp_arena_alloc(arena, bytes.gradients);
    c->scratch = PP_ARRAY(arena, double, pp_squares_blocks(&c->stage));
    return c;
}

static const struct pp_param *param_of(const struct copy *c, int id)
{
    for (int p = 0; p < c->stage.param_count; p++)
        if (c->stage.params[p].id == id)
            return &c->stage.params[p];
    return NULL;
}

static double *weights_of(const struct copy *c, int id)
{
    return (double *)c->state.weights + param_of(c, id)->offset;
}

/* Gradients that depend on tensor and element alone. */
static void set_gradients(struct copy *c)
{
    for (int p = 0; p < c->stage.param_count; p++) {
        const struct pp_param *param = &c->stage.params[p];

        for (int64_t i = 0; i < param->count; i++) {
            const double value = sin((double)(i + 1) * (param->id + 1)) * 0.01;

            if (c->state.fixed)
                c->state.fixed[param->offset + i] = llrint(ldexp(value, PP_GRAD_BITS));
            else
                ((double *)c->state.sum)[param->offset + i] = value;
        }
    }
}

Test(state, weights_do_not_depend_on_the_division)
{
    struct copy *whole = make(0, BLOCKS, true, true, true);
    struct copy *parts[] = {make(0, 0, true, false, true), make(0, 1, false, false, true),
                            make(1, 1, false, true, true)};

    pp_state_init(&whole->stage, k, 7, &whole->state, 1);
    for (int s = 0; s < 3; s++) {
        pp_state_init(&parts[s]->stage, k, 7, &parts[s]->state, 1);
        for (int p = 0; p < parts[s]->stage.param_count; p++) {
            const struct pp_param *param = &parts[s]->stage.params[p];

            cr_assert_arr_eq(weights_of(parts[s], param->id), weights_of(whole, param->id),
                             (size_t)param->count * sizeof(double));
        }
    }
}

/* The hash of what one process has is that of what another one draws; it sees a bit of any tensor.
 */
Test(state, hashes_of_equal_weights_are_equal)
{
    for (int copies = 1; copies < 9; copies += 3) {
        struct copy *c = make(0, BLOCKS, true, true, false);

        c->state.share = pp_share_of(&c->stage, copies - 1, copies);
        pp_state_init(&c->stage, k, 7, &c->state, 1);
        const uint64_t drawn = pp_state_drawn_hash(&c->stage, k, 7, c->state.share, 1);
        cr_assert_eq(pp_state_hash(&c->stage, k, &c->state, 1), drawn);
        cr_assert_neq(pp_state_drawn_hash(&c->stage, k, 8, c->state.share, 1), drawn);
        for (int p = 0; p < c->stage.param_count; p++) {
            double *first = weights_of(c, c->stage.params[p].id), before = *first;
            *first = nextafter(before, 2);
            cr_assert_neq(pp_state_hash(&c->stage, k, &c->state, 1), drawn);
            *first = before;
        }
    }
}

Test(state, weights_have_mean_and_deviation_and_gaps_are_zero)
{
    struct copy *c = make(0, BLOCKS, true, true, false);

    memset(c->state.weights, 0xff, (size_t)c->stage.elements * sizeof(double));
    memset(c->state.sum, 0xff, (size_t)c->stage.elements * sizeof(double));
    pp_state_init(&c->stage, k, 1, &c->state, 1);
    const double *w = weights_of(c, 0);
    double sum = 0, squares = 0, fourth = 0;
    for (int i = 0; i < LARGEST; i++) {
        const double z = w[i] / 0.02;

        sum += z;
        squares += z * z;
        fourth += z * z * z * z;
    }
    /* five standard errors of n = 12,305 normal numbers */
    cr_assert_lt(fabs(sum / LARGEST), 5 / sqrt(LARGEST));
    cr_assert_lt(fabs(squares / LARGEST - 1), 5 * sqrt(2.0 / LARGEST));
    cr_assert_lt(fabs(fourth / LARGEST - 3), 5 * sqrt(96.0 / LARGEST));
    cr_assert_eq(weights_of(c, 2)[32], 1);
    cr_assert_eq(weights_of(c, 3)[6], 0);
    for (int64_t i = 0; i < c->stage.elements; i++)
        cr_assert_eq(((double *)c->state.sum)[i], 0);
    for (int p = 0; p < c->stage.param_count; p++)
        for (int64_t i = c->stage.params[p].count; i % 16; i++)
            cr_assert_eq(((double *)c->state.weights)[c->stage.params[p].offset + i], 0);
}

/* Cut into pieces for several cores, whose ends lie anywhere: against the formula of Box and
 * Muller, number by number. */
Test(state, a_tensor_drawn_by_many_threads_is_drawn_by_place)
{
    enum { COUNT = (3 << 20) + 5 };
    struct pp_param param = {"huge", 9, 0, COUNT, 0, PP_INIT_NORMAL, 0.5, true, false};
    struct pp_stage stage = {.net = &net, .params = &param, .param_count = 1};
    struct pp_state state = {.sum = NULL};

    stage.elements = (COUNT + 15) / 16 * 16;
    const size_t bytes = (size_t)stage.elements * sizeof(double);
    state.weights = pp_arena_alloc(arena, bytes), state.sum = pp_arena_alloc(arena, bytes);
    state.m = pp_arena_alloc(arena, bytes), state.v = pp_arena_alloc(arena, bytes);
    state.share = pp_share_of(&stage, 0, 1);
    void *const zeros[] = {state.sum, state.m, state.v};
    for (int v = 0; v < 3; v++)
        memset(zeros[v], 0xff, bytes);
    pp_state_init(&stage, k, 3, &state, 1);
    for (int v = 0; v < 3; v++)
        for (int64_t i = 0; i < stage.elements; i++)
            cr_assert_eq(((uint64_t *)zeros[v])[i], 0, "vector %d, element %d", v, (int)i);
    const uint64_t stream = pp_random_stream(3, 9);
    for (int i = 0; i < COUNT; i++) {
        const uint64_t a = pp_random_bits(stream, (uint64_t)i & ~1ul) >> 11,
                       b = pp_random_bits(stream, (uint64_t)i | 1) >> 11;
        const double angle = 2 * M_PI * (double)(b + 1) * 0x1p-53;
        const double x = sqrt(-2 * log((double)(a + 1) * 0x1p-53)) * (i % 2 ? sin : cos)(angle);

        cr_assert_float_eq(((double *)state.weights)[i], 0.5 * x, 1e-14, "element %d", i);
    }
    cr_assert_eq(((double *)state.weights)[COUNT], 0);
}

Test(state, tensors_and_seeds_draw_different_numbers)
{
    struct copy *a = make(0, BLOCKS, true, true, true), *b = make(0, BLOCKS, true, true, true);
    int equal = 0;

    pp_state_init(&a->stage, k, 1, &a->state, 1);
    pp_state_init(&b->stage, k, 2, &b->state, 1);
    for (int i = 0; i < 5001; i++)
        equal += weights_of(a, 1)[i] == weights_of(a, 4)[i] ||
                 weights_of(a, 1)[i] == weights_of(b, 1)[i];
    cr_assert_eq(equal, 0);
}

Test(state, single_precision_holds_the_same_weights_rounded)
{
    const struct pp_kernels single = {.element_bytes = sizeof(float),
                                      .gradient_bytes = sizeof(float)};
    struct copy *c = make(0, 1, false, false, true), *d = make(0, 1, false, false, true);

    pp_state_init(&c->stage, k, 1, &c->state, 1);
    pp_state_init(&d->stage, &single, 1, &d->state, 1);
    for (int i = 0; i < 5001; i++)
        cr_assert_eq(((float *)d->state.weights)[i], (float)weights_of(c, 1)[i]);
}

static void squares_of(const struct copy *c, double *squares)
{
    double *blocks = PP_ARRAY(arena, double, pp_squares_blocks(&c->stage));

    pp_state_squares(k, NULL, &c->stage, &c->state, c->scratch, blocks);
    pp_squares_add(&c->stage, blocks, squares);
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

static const struct pp_recipe recipe = {.seed = 1,
                                        .rate = 0.01,
                                        .end_rate = 0.001,
                                        .warmup_steps = 2,
                                        .steps = 10,
                                        .beta1 = 0.9,
                                        .beta2 = 0.95,
                                        .epsilon = 1e-8,
                                        .decay = 0.1};

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

Test(state, shares_follow_one_another_and_are_even)
{
    const struct pp_stage *stage = &make(0, BLOCKS, true, true, false)->stage;

    for (int copies = 1; copies < 3000; copies = 2 * copies + 1) {
        const int64_t each = pp_share_elements(stage, copies);
        int64_t until = 0;

        cr_assert(each % 16 == 0 && each < stage->elements / copies + 17);
        cr_assert_eq(pp_state_bytes(stage, k, false, copies).optimizer,
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

/* Each copy has its share, and of the gradients no more than it says that it needs. */
Test(state, norm_and_update_do_not_depend_on_shares)
{
    for (int is_exact = 0; is_exact <= 1; is_exact++)
        for (int copies = 2; copies < 700; copies = 3 * copies + 1) {
            struct copy *whole = make(0, BLOCKS, true, true, is_exact),
                        **shares = make_shares(copies, is_exact);
            const size_t count = (size_t)pp_squares_blocks(&whole->stage);
            double *expected = PP_ARRAY(arena, double, count),
                   *got = PP_ARRAY(arena, double, count);

            set_gradients(whole);
            pp_state_init(&whole->stage, k, 1, &whole->state, 1);
            set_gradients(whole);
            pp_state_squares(k, NULL, &whole->stage, &whole->state, whole->scratch, expected);
            pp_state_update(k, NULL, &whole->stage, &whole->state, &recipe, now_of(1));
            for (int c = 0; c < copies; c++) {
                struct copy *part = shares[c];
                const struct pp_range share = part->state.share;
                const int64_t end = pp_squares_end(&part->stage, share);
                if (share.from >= share.until)
                    continue;
                pp_state_init(&part->stage, k, 1, &part->state, copies);
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
Test(state, moved_squares_give_the_same_sums)
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
        pp_squares_add(stage, blocks, expected);
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
        pp_squares_add(stage, there, got);
        cr_assert_arr_eq(expected, got, sizeof expected, "%d copies", copies);
        if (copies == 1)
            cr_assert_eq(bytes, (size_t)stage->param_count * sizeof(double));
        cr_assert_leq(bytes, count * sizeof(double));
    }
}

Test(state, norm_does_not_depend_on_the_division)
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

Test(state, update_is_adamw_and_clears_the_gradients)
{
    for (int is_exact = 0; is_exact <= 1; is_exact++) {
        struct copy *c = make(0, BLOCKS, true, true, is_exact);
        struct copy *start = make(0, BLOCKS, true, true, is_exact);

        pp_state_init(&c->stage, k, 1, &c->state, 1);
        pp_state_init(&start->stage, k, 1, &start->state, 1);
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
Test(state, gradients_beyond_the_share_are_cleared_by_one_call)
{
    struct pp_kernels counting = *k;

    counting.zero = count_zero;
    for (int is_exact = 0; is_exact <= 1; is_exact++)
        for (int copies = 1; copies <= 2000; copies = copies < 4 ? copies + 1 : 500 * copies)
            for (int c = 0; c < copies; c++) {
                struct copy *part = make(0, BLOCKS, true, true, is_exact);
                part->state.share = pp_share_of(&part->stage, c, copies);
                pp_state_init(&part->stage, k, 1, &part->state, 1);
                set_gradients(part);
                const struct pp_state *state = &part->state;
                const char *gradients = is_exact ? (char *)state->fixed : state->sum;
                zero_calls = 0;
                zeroed_end = gradients;
                pp_state_update(&counting, NULL, &part->stage, &part->state, &recipe, now_of(0));
                cr_assert_eq(zero_calls, copies > 1);
                cr_assert_leq((size_t)(zeroed_end - gradients),
                              pp_state_bytes(&part->stage, k, is_exact, 1).gradients);
                cr_assert(are_gradients_zero(part), "%d of %d", c, copies);
                c += copies > 4 ? 100 : 0; /* and an empty share, the last one */
            }
}

Test(recipe, rate_rises_over_the_warmup_and_falls_to_its_end)
{
    cr_assert_float_eq(pp_recipe_rate(&recipe, 0), 0.005, 1e-15);
    cr_assert_float_eq(pp_recipe_rate(&recipe, 1), 0.01, 1e-15);
    cr_assert_float_eq(pp_recipe_rate(&recipe, 2), 0.01, 1e-15);
    for (int step = 3; step < 10; step++)
        cr_assert_lt(pp_recipe_rate(&recipe, step), pp_recipe_rate(&recipe, step - 1));
    cr_assert_float_eq(pp_recipe_rate(&recipe, 9), 0.001, 1e-15);
    cr_assert_float_eq(pp_recipe_rate(&recipe, 1000), 0.001, 1e-15);

    struct pp_recipe no_warmup = recipe, one_step = recipe;
    no_warmup.warmup_steps = 0;
    cr_assert_float_eq(pp_recipe_rate(&no_warmup, 0), 0.01, 1e-15);
    one_step.warmup_steps = 0;
    one_step.steps = 1;
    cr_assert_float_eq(pp_recipe_rate(&one_step, 0), 0.01, 1e-15);
}

static double scale_of(const struct pp_recipe *with, const double *squares)
{
    return pp_recipe_grad_scale(with, pp_squares_norm(squares, BLOCKS));
}

Test(recipe, gradients_are_scaled_to_the_clip_and_never_up)
{
    const double squares[LAYERS] = {4, 0, 9, 3}; /* norm 4 */
    struct pp_recipe clipped = recipe;

    cr_assert_eq(pp_squares_norm(squares, BLOCKS), 4);
    cr_assert_eq(scale_of(&clipped, squares), 1);
    clipped.clip = 1;
    cr_assert_eq(scale_of(&clipped, squares), 0.25);
    clipped.clip = 5;
    cr_assert_eq(scale_of(&clipped, squares), 1);
    const double broken[LAYERS] = {4, HUGE_VAL, 9, 3}, worse[LAYERS] = {4, 0, NAN, 3};
    cr_assert(isnan(scale_of(&clipped, broken)));
    cr_assert(isnan(scale_of(&clipped, worse)));
}

Test(loss, sums_do_not_depend_on_order_and_know_what_is_no_number)
{
    double loss[1000], reversed[1000];
    struct pp_loss_sum there = {.is_finite = true}, back = {.is_finite = true};
    double sum = 0;

    for (int i = 0; i < 1000; i++) {
        loss[i] = reversed[999 - i] = 5 + sin(i);
        sum += loss[i];
    }
    pp_loss_add(&there, loss, 1000);
    for (int i = 0; i < 1000; i += 100)
        pp_loss_add(&back, reversed + i, 100);
    cr_assert_eq(there.fixed, back.fixed);
    cr_assert_eq(pp_loss_mean(&there), pp_loss_mean(&back));
    cr_assert_float_eq(pp_loss_mean(&there), sum / 1000, 1e-9);
    for (int i = 0; i < 3; i++) {
        struct pp_loss_sum broken = there;

        pp_loss_add(&broken, (const double[]){NAN, HUGE_VAL, 1e300} + i, 1);
        cr_assert(!broken.is_finite && isnan(pp_loss_mean(&broken)));
    }
}
