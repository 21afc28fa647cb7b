/* Saved values in few bits: bytes at rest, tensors in full, and time, against sums by hand. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>

static const struct setting gpt3 = {"gpt3-175b", "h100", 8, 16, 16, 1, 1, 2048},
                            llama = {"llama3-70b", "h100", 4, 4, 4, 1, 1, 8192};

/* B/32 + 1/128 of fp32 and B/16 + 1/64 of 16 bits. Token numbers and masks stay. */
Test(bits, are_counted_by_values)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, llama, &model, &cluster);

    for (int bits = 2; bits <= 8; bits *= 2) {
        in.state.activation_bits = bits;
        const double most = pp_analytic_most_bytes(&in);
        cr_expect_float_eq(most, bits / 8.0 + 4.0 / 128, 1e-15);
        for (int wide = 0; wide < 2; wide++) {
            cluster.device.precision = wide ? PP_PRECISION_FP32 : PP_PRECISION_BF16;
            const double full = pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK),
                         rest = pp_analytic_layer_bytes(&in, PP_LAYER_BLOCK, most),
                         frac = wide ? bits / 32.0 + 1 / 128.0 : bits / 16.0 + 1 / 64.0;
            cr_expect_float_eq(rest / full, frac, 1e-12);
            cr_expect_eq(pp_analytic_layer_bytes(&in, PP_LAYER_EMBEDDING, most),
                         pp_analytic_saved_bytes(&in, PP_LAYER_EMBEDDING));
            cr_expect_float_eq(costs_of(arena, &in)->memory[1].saved_bytes, 20 * rest, 1);
        }
    }
}

/* Mesa on DeiT: 16 h + 2 heads x 197 values of a token and block, and 16 bytes a parameter. Its
 * authors measured .445, .454 and .487. */
Test(bits, of_mesa_on_images)
{
    static const struct {
        const char *model;
        double h, heads, frac;
    } rows[] = {{"deit-ti", 192, 3, 0.423}, {"deit-s", 384, 6, 0.438}, {"deit-b", 768, 12, 0.465}};
    const double tokens = 128 * 197.0;

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct setting one = {rows[i].model, "v100-dgx1", 1, 1, 1, 1, 128, 197};
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_error err;
        struct pp_cost_inputs in = inputs_of(arena, one, &model, &cluster);
        cr_assert_eq(pp_framework_find("autocast", &in.framework, &err), PP_OK);
        const double state = 16 * pp_model_params(&model),
                     full = 12 * pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK),
                     rest = 12 * pp_analytic_layer_bytes(&in, PP_LAYER_BLOCK, 1);
        cr_expect_float_eq(rest, 12 * tokens * (16 * rows[i].h + 2 * rows[i].heads * 197), 1);
        cr_expect_float_eq((rest + state) / (full + state), rows[i].frac, 6e-4, "%s",
                           rows[i].model);
    }
}

/* GPT, in units of s b h / t: 16 values and two masks are saved. From I to W there are 7 inputs and
 * 9 gradients, these with all bits. In the MLP two tensors of 4 values are in full. */
Test(bits, of_gpt_by_hand)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const double t = 2048 * 12288.0 / 8 * 6, one = t / 6; /* six blocks a stage */

    for (int bits = 2; bits <= 8; bits *= 2) {
        in.state.activation_bits = 0;
        const struct pp_costs *plain = costs_of(arena, &in);
        in.state.activation_bits = bits;
        const struct pp_costs *costs = costs_of(arena, &in);
        const struct pp_stage_memory *m = &costs->memory[3], *before = &plain->memory[3];
        const double v = bits / 8.0 + 4.0 / 128, freed = 2 * 4 * (2 - v) * one,
                     left = fmin(32, 18 + 7 * v),
                     rate = cluster.device.memory_bytes_per_s * cluster.device.memory_eta,
                     s = 6 * cluster.device.launch_s + 16 * (2 + v) * t / rate;
        cr_expect_float_eq(m->saved_bytes, (16 * v + 2) * t, 1);
        cr_expect_float_eq(m->weight_grad_frac * m->saved_bytes, left * t, 1);
        cr_expect_float_eq(m->forward_bytes - before->forward_bytes, freed, 1);
        cr_expect_float_eq(m->backward_bytes - before->backward_bytes, freed, 1);
        cr_expect_float_eq(m->input_bytes - before->input_bytes, freed, 1);
        cr_expect_float_eq(m->weights_bytes, (4 + 1) * (2 - v) * one, 1);
        cr_expect_eq(m->recompute_bytes, 0);
        for (int k = 0; k < 2; k++) {
            const int kind = k ? PP_B : PP_F;
            cr_expect_float_eq(pp_units_s(costs->op[kind][3].ps - plain->op[kind][3].ps), s, 2e-12);
            cr_expect_eq(costs->op[kind][3].bits_ps, costs->op[kind][3].ps - plain->op[kind][3].ps);
        }
        cr_expect_eq(costs->op[PP_B][3].ps, costs->op[PP_I][3].ps + costs->op[PP_W][3].ps);
        cr_expect_null(costs->op[PP_Q] ? (costs->op[PP_Q][3].ps ? costs : NULL) : NULL);
    }
}

/* A recomputed block keeps its input in few bits, and quantises the rest when it is computed again.
 */
Test(bits, of_recomputed_blocks)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const double one = 2048 * 12288.0 / 8, v = 1 + 4.0 / 128;

    in.recompute = PP_RECOMPUTE_FULL;
    in.state.activation_bits = 8;
    const struct pp_stage_memory *m = &costs_of(arena, &in)->memory[3];
    cr_expect_float_eq(m->checkpoint_bytes, 6 * v * one, 1);
    cr_expect_float_eq(m->saved_bytes, (6 * v + 15 * v + 2) * one, 1);
    cr_expect_float_eq(m->forward_bytes, (2 - v) * one, 1);
    cr_expect_float_eq(m->recompute_bytes, 8 * (2 - v) * one, 1);
}
