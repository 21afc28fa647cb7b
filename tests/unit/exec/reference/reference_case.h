/* Two small models, a recipe and a batch for tests of the reference. */
#ifndef PP_TESTS_REFERENCE_CASE_H
#define PP_TESTS_REFERENCE_CASE_H

#include "exec/reference/reference.h"

#include <criterion/criterion.h>

static const struct pp_net net = {.name = "test",
                                  .layers = 2,
                                  .hidden = 32,
                                  .heads = 4,
                                  .kv_heads = 4,
                                  .head_dim = 8,
                                  .ffn = 64,
                                  .vocab = 128,
                                  .seq = 16,
                                  .has_positions = true,
                                  .is_tied = true,
                                  .has_bias_qkv = true,
                                  .has_bias_out = true,
                                  .has_bias_mlp = true,
                                  .has_bias_norm = true,
                                  .norm_epsilon = 1e-5,
                                  .rotary.theta = 10000};
/* Everything that the one above is not. */
static const struct pp_net llama = {.name = "test-llama",
                                    .layers = 3,
                                    .hidden = 24,
                                    .heads = 4,
                                    .kv_heads = 2,
                                    .head_dim = 6,
                                    .ffn = 40,
                                    .vocab = 128,
                                    .seq = 16,
                                    .is_gated = true,
                                    .activation = PP_SILU,
                                    .is_rms = true,
                                    .norm_epsilon = 1e-5,
                                    .rotary.theta = 10000};
static const struct pp_recipe recipe = {.seed = 1,
                                        .is_exact = true,
                                        .rate = 3e-3,
                                        .end_rate = 3e-4,
                                        .warmup_steps = 2,
                                        .steps = 20,
                                        .beta1 = 0.9,
                                        .beta2 = 0.95,
                                        .epsilon = 1e-8,
                                        .decay = 0.1,
                                        .clip = 0.5 /* active in the first steps of both */};
static const struct pp_batch batch = {
    .replicas = 1, .micro_batches = 8, .mbs = 2, .granules = 1, .splits = 1};

static struct pp_arena *arena;
static struct pp_text text;
static struct pp_error err;

static void set_up(void)
{
    arena = pp_arena_create();
    cr_assert_eq(pp_text_load(arena, &(struct pp_text_wish){.seq = net.seq, .vocab = net.vocab},
                              &text, &err),
                 PP_OK);
    text.order.seed = recipe.seed;
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
}

static inline struct pp_reference *make(const struct pp_net *n, const struct pp_kernels *kernels,
                                        const struct pp_batch *b, const struct pp_recipe *r)
{
    struct pp_reference *reference;

    cr_assert_eq(pp_reference_create(arena, n, kernels, &(const struct pp_place){&pp_backend_cpu},
                                     b, r, &reference, &err),
                 PP_OK, "%s", err.message);
    return reference;
}

static double gradients(struct pp_reference *reference, int step)
{
    double loss;

    cr_assert_eq(pp_reference_step(reference, &text, step, &loss, &err), PP_OK, "%s", err.message);
    return loss;
}

#endif
