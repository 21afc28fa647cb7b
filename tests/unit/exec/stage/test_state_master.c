/* Master weights: state of two element types, held against that of single precision alone. */
#include "exec/state/state.h"

#include "kernels/numbers.h"

#include <criterion/criterion.h>
#include <string.h>

enum { COPIES = 3, GUARD = 64 };
static const struct pp_net net = {.name = "test",
                                  .layers = 2,
                                  .hidden = 20,
                                  .heads = 2,
                                  .kv_heads = 2,
                                  .head_dim = 10,
                                  .ffn = 36,
                                  .vocab = 31,
                                  .seq = 6,
                                  .has_positions = true,
                                  .is_tied = true,
                                  .has_bias_mlp = true,
                                  .norm_epsilon = 1e-5};
static const struct pp_recipe recipe = {.seed = 1,
                                        .rate = 0.01,
                                        .end_rate = 0.001,
                                        .steps = 10,
                                        .beta1 = 0.9,
                                        .beta2 = 0.95,
                                        .epsilon = 1e-8,
                                        .decay = 0.1};
static struct pp_arena *arena;

static void set_up(void)
{
    arena = pp_arena_create();
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
}

TestSuite(state_master, .init = set_up, .fini = tear_down);

/* A copy of the whole model. */
struct copy {
    const struct pp_kernels *k;
    struct pp_stage *stage;
    struct pp_state state;
};

static struct copy make(const struct pp_kernels *k, int copy, int copies)
{
    const struct pp_stage_shape shape = {.blocks = net.layers,
                                         .has_embedding = true,
                                         .has_head = true,
                                         .rows = 1,
                                         .tokens = net.seq,
                                         .splits = 1};
    struct copy c = {.k = k, .stage = pp_stage_create(arena, &net, &shape, k)};
    const struct pp_cuts cuts = {1, 1, copies};
    const struct pp_state_bytes bytes = pp_state_bytes(c.stage, k, false, cuts);

    const size_t all = bytes.weights + bytes.gradients + bytes.optimizer;
    char *memory = pp_arena_alloc(arena, all + GUARD);
    memset(memory, 0x5a, all + GUARD);
    c.state = pp_state_at(c.stage, k, false, copy, cuts, memory);
    pp_state_init(c.stage, k, &recipe, &c.state, cuts);
    cr_assert_eq(pp_state_hash(c.stage, k, &c.state, 0),
                 pp_state_drawn_hash(c.stage, k, &recipe, &c.state, 0));
    for (size_t i = all; i < all + GUARD; i++)
        cr_assert_eq(memory[i], 0x5a);
    return c;
}

static void update(const struct copy *c, int step)
{
    struct pp_adamw_step now = {.grad_scale = 0.5};
    float *gradients = c->state.sum;

    for (int64_t i = 0; i < c->stage->elements; i++)
        gradients[i] = (float)((double)((i * 7919 + step) % 1009) * 1e-4 - 0.05);
    pp_recipe_adamw_step(&recipe, step, &now);
    pp_state_update(c->k, NULL, c->stage, &c->state, &recipe, &now);
    for (int64_t i = 0; i < c->stage->elements; i++)
        cr_assert_eq(gradients[i], 0);
}

/* The master of the share is `single`; weights are rounded from it inside of `fresh`. */
static void check(const struct copy *c, const float *single, struct pp_range fresh)
{
    const struct pp_range share = c->state.share;
    const uint16_t *weights = c->state.weights;
    const float *master = c->state.master;

    for (int64_t i = share.from; i < share.until; i++)
        cr_assert_eq(master[i - share.from], single[i], "element %lld", (long long)i);
    for (int64_t i = fresh.from; i < fresh.until; i++)
        cr_assert_eq(weights[i], pp_bf16_round(single[i]), "element %lld", (long long)i);
}

Test(state_master, is_the_state_of_single_precision_and_weights_are_its_rounding)
{
    const struct copy whole = make(pp_kernels_fp32(true), 0, 1);

    cr_assert_null(whole.state.master);
    for (int copies = 1; copies <= COPIES; copies++)
        for (int copy = 0; copy < copies; copy++) {
            const struct copy c = make(&pp_kernels_bf16, copy, copies);
            check(&c, whole.state.weights, (struct pp_range){0, c.stage->elements});
            cr_assert_gt(c.state.share.until, c.state.share.from);
        }
}

Test(state_master, is_updated_as_single_precision_is)
{
    const struct copy whole = make(pp_kernels_fp32(true), 0, 1);
    struct copy copies[COPIES];

    for (int copy = 0; copy < COPIES; copy++)
        copies[copy] = make(&pp_kernels_bf16, copy, COPIES);
    for (int step = 0; step < 4; step++) {
        update(&whole, step);
        for (int copy = 0; copy < COPIES; copy++) {
            update(&copies[copy], step);
            check(&copies[copy], whole.state.weights, copies[copy].state.share);
        }
    }
}

Test(state_master, takes_twelve_bytes_of_optimizer_state)
{
    const struct pp_stage *stage = make(&pp_kernels_bf16, 0, 1).stage;
    const size_t elements = (size_t)stage->elements;

    for (int is_exact = 0; is_exact < 2; is_exact++) {
        const struct pp_state_bytes bytes =
            pp_state_bytes(stage, &pp_kernels_bf16, is_exact, pp_cuts_none());
        cr_assert_eq(bytes.weights, 2 * elements);
        cr_assert_eq(bytes.gradients, (is_exact ? 8 : 4) * elements);
        cr_assert_eq(bytes.optimizer, 12 * elements);
        cr_assert_eq(bytes.moment, 4 * elements);
    }
}
