#include "core/cost/analytic/parts.h"
#include "tests/unit/support/cost_inputs.h"

static const struct setting gpt3 = {"gpt3-175b", "h100", 8, 16, 16, 1, 1, 2048};

/* Korthikanti et al. 2022: 34 s b h / t for a block with sequence parallelism and fused attention.
 * Stored scores add 5 a s^2 b / t. A checkpoint has 2 s b h / t. */
Test(roofline_memory, saved_activations_are_the_closed_form)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const double s = 2048, b = 1, h = 12288, a = 96, t = 8, blocks = 6, v = 51200;
    struct pp_stage_memory *memory = costs_of(arena, &in)->memory;

    cr_assert_float_eq(memory[3].saved_bytes, blocks * 34 * s * b * h / t, 1);
    cr_assert_eq(memory[3].checkpoint_bytes, memory[3].saved_bytes);
    cr_assert_float_eq(memory[15].saved_bytes,
                       blocks * 34 * s * b * h / t + 4 * s * b * h / t * (1 + v / h), 1);
    /* Qi et al. 2024, table 1: 32 of the 34 wait for W */
    cr_assert_float_eq(memory[3].weight_grad_frac, 32.0 / 34, 1e-12);
    cr_assert_float_eq(memory[3].boundary_bytes, 2 * s * b * h / t, 1e-6);
    cr_assert_eq(memory[15].boundary_bytes, 0);

    in.recompute = PP_RECOMPUTE_FULL;
    memory = costs_of(arena, &in)->memory;
    cr_assert_float_eq(memory[3].checkpoint_bytes, blocks * 2 * s * b * h / t, 1);
    cr_assert_float_eq(memory[3].saved_bytes, (blocks * 2 + 32) * s * b * h / t, 1);

    cluster.device.is_attention_unfused = true;
    in.recompute = PP_RECOMPUTE_NONE;
    memory = costs_of(arena, &in)->memory;
    cr_assert_float_eq(memory[3].saved_bytes, blocks * s * b * h / t * (34 + 5 * a * s / h), 1);
    in.recompute = PP_RECOMPUTE_SELECTIVE;
    memory = costs_of(arena, &in)->memory;
    cr_assert_float_eq(memory[3].checkpoint_bytes, blocks * s * b * h / t * 34, 1);
}

/* GPT's block with recomputed modules, in bytes of s b h / t. From 34, these save 4 (outputs of two
 * norms), 8 (output of the activation function), 8 + 8 (both of the MLP). R has the kernels of the
 * modules and their products alone. */
Test(roofline_memory, modules_that_are_computed_again_are_not_kept)
{
    static const struct {
        const char *modules;
        double kept, products; /* of the MLP's */
    } rows[] = {{"core_attn", 34, 0}, {"layernorm", 30, 0},   {"act", 26, 0},
                {"mlp", 18, 2},       {"mla_up_proj", 34, 0}, {"layernorm+mlp+act", 14, 2}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_error err = {0};
        struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
        const double s = 2048, h = 12288, t = 8, blocks = 6;

        in.recompute = PP_RECOMPUTE_SELECTIVE;
        cr_assert_eq(pp_again_read(rows[i].modules, NULL, &in.again, &err), PP_OK, "%s",
                     err.message);
        const struct pp_costs *costs = costs_of(arena, &in);
        cr_assert_float_eq(costs->memory[3].checkpoint_bytes, blocks * rows[i].kept * s * h / t, 1,
                           "%s", rows[i].modules);
        cr_assert_float_eq(costs->memory[3].saved_bytes,
                           (blocks * rows[i].kept + 34 - rows[i].kept) * s * h / t, 1, "%s",
                           rows[i].modules);
        const bool has_core = in.again & PP_AGAIN_CORE;
        cr_assert_float_eq(costs->op[PP_R][3].flops / blocks,
                           rows[i].products * 2 * s * h * 4 * h + has_core * 4 * s * s * h, 1e6,
                           "%s", rows[i].modules);
        cr_assert(in.again == PP_AGAIN_LATENT || costs->op[PP_R][3].ps > 0);
        cr_assert(costs->op[PP_R][3].ps < costs->op[PP_F][3].ps);
    }
}

Test(roofline_memory, modules_are_words)
{
    static const char *const bad[] = {"",     "+",      "mlp+",          "mlp,act",
                                      "norm", "mlpact", "layernorm++act"};
    struct pp_error err = {0};
    unsigned again;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(pp_again_read(bad[i], NULL, &again, &err), PP_EINVAL, "%s", bad[i]);
    for (unsigned all = 1; all <= PP_AGAIN_ALL; all++) {
        char text[128];
        pp_again_print(all, text, sizeof text);
        cr_assert_eq(pp_again_read(text, NULL, &again, &err), PP_OK, "%s", text);
        cr_assert_eq(again, all, "%s", text);
    }
}

/* ZeRO 3 of DeepSpeed updates 1e9 parameters at a time; ZeRO 1 its whole shard. */
Test(roofline_memory, zero_3_updates_its_shard_in_turns)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(
        arena, (struct setting){"gpt3-175b", "a100", 1, 1, 64, 1, 1, 2048}, &model, &cluster);
    struct pp_error err = {0};
    const double shard = pp_model_params(&model) / 64;

    cr_assert_eq(pp_framework_find("deepspeed", &in.framework, &err), PP_OK);
    in.state.replicas = (struct pp_mesh){8, 8};
    in.state = pp_state_with_zero(&in.state, 1);
    cr_assert_float_eq(costs_of(arena, &in)->memory[0].update_bytes, 6 * shard, 10);
    in.state = pp_state_with_zero(&in.state, 3);
    cr_assert_gt(shard, 1e9);
    cr_assert_float_eq(costs_of(arena, &in)->memory[0].update_bytes, 6e9, 10);
    /* of a block's 1.8e9 parameters 1e9 stay gathered */
    const struct pp_stage_gathers *gathers = costs_of(arena, &in)->gathers;
    cr_assert_float_eq((1 - gathers->gone_frac) * gathers->unit_bytes, 2e9, 10);
}

/* Without dropout, 2 of 34 bytes are absent, as are the mask and the dropped scores, 3 of 5.
 * Kernels do not move them either. Forward moves a byte for each of two residuals and 2 e + 1 for
 * scores. Backward moves 2 e + 1 for each residual and again for scores. Models with gates never
 * had them. */
Test(roofline_memory, dropout_is_in_memory_and_time_or_in_neither)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    struct pp_framework dry = *pp_framework_plain;
    const double t = 2048 * 12288.0 / 8, scores = 2048.0 * 2048 * 96 / 8;

    dry.has_dropout = false;
    cluster.device.is_attention_unfused = true;
    const struct pp_layer_work work = pp_analytic_work(&in, 0);
    for (int gated = 0; gated < 2; gated++) {
        model.is_gated = gated;
        in.framework = pp_framework_plain;
        const double saved = pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK),
                     forward = pp_analytic_layer(&in, PP_LAYER_BLOCK, work, PP_PASS_F).bytes,
                     back = pp_analytic_layer(&in, PP_LAYER_BLOCK, work, PP_PASS_I).bytes;
        in.framework = &dry;
        cr_assert_float_eq(saved - pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK),
                           gated ? 0 : 2 * t + 3 * scores, 1);
        cr_assert_float_eq(forward - pp_analytic_layer(&in, PP_LAYER_BLOCK, work, PP_PASS_F).bytes,
                           gated ? 0 : 2 * t + 5 * scores, 1e3);
        cr_assert_float_eq(back - pp_analytic_layer(&in, PP_LAYER_BLOCK, work, PP_PASS_I).bytes,
                           gated ? 0 : 2 * 5 * t + 5 * scores, 1e3);
    }
}

/* Korthikanti et al. 2022, table 2:
 *   without sequence parallelism:   s b h (10 + 24/t + 5 a s/(h t))
 *   with sequence parallelism:      s b h/t (34 + 5 a s/h)
 *   and selective recomputation:    34 s b h/t */
static double closed_form(const struct pp_cost_inputs *in)
{
    const double s = in->layout.seq, b = in->layout.mbs, h = in->model->hidden,
                 a = in->model->heads, t = in->layout.tp;
    const double scores = in->recompute == PP_RECOMPUTE_SELECTIVE ? 0 : 5 * a * s / h;

    return in->is_tp_only ? s * b * h * (10 + (24 + scores) / t) : s * b * h / t * (34 + scores);
}

/* ... and figure 1 with section 4.2.3: activations of the first stage in GiB. They are those of L
 * layers for 1F1B, of L (1 + (p - 1)/(p m)) with m chunks a device. Values as encoded by Isaev et
 * al. 2023 (Calculon, validation.py). */
static const struct figure {
    int layers, hidden, heads, pp, chunks, mbs;
    double baseline_gib, present_gib;
} figure_1[] = {
    {48, 6144, 64, 1, 1, 4, 59.25, 9.5625},
    {96, 12288, 96, 8, 3, 1, 66.84375, 12.3515625},
    {105, 20480, 128, 35, 3, 1, 114.0234375, 23.076171875},
    {128, 25600, 160, 64, 1, 1, 131.25, 26.5625},
};

Test(roofline_memory, activations_are_those_of_figure_1)
{
    const double gib = 1024.0 * 1024 * 1024;

    for (size_t i = 0; i < sizeof figure_1 / sizeof *figure_1; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct figure *f = &figure_1[i];
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
        const double held =
            f->layers * (f->chunks > 1 ? 1 + (f->pp - 1.0) / (f->pp * f->chunks) : 1);

        cluster.device.is_attention_unfused = true;
        in.layout.mbs = f->mbs;
        model.hidden = f->hidden;
        model.heads = model.kv_heads = f->heads;
        model.head_dim = f->hidden / f->heads;
        model.ffn = 4 * f->hidden;
        in.is_tp_only = true;
        const double baseline = pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK);
        cr_assert_float_eq(baseline, closed_form(&in), 1);
        cr_assert_float_eq(held * baseline / gib / f->baseline_gib, 1, 2e-3, "%g, %g GiB",
                           held * baseline / gib, f->baseline_gib);
        in.is_tp_only = false;
        cr_assert_float_eq(pp_analytic_saved_bytes(&in, PP_LAYER_BLOCK), closed_form(&in), 1);
        in.recompute = PP_RECOMPUTE_SELECTIVE;
        const int blocks = in.blocks_per_stage[3];
        const double present = costs_of(arena, &in)->memory[3].checkpoint_bytes / blocks;
        cr_assert_float_eq(present, closed_form(&in), 1);
        cr_assert_float_eq(held * present / gib / f->present_gib, 1, 2e-3, "%g, %g GiB",
                           held * present / gib, f->present_gib);
    }
}

/* Megatron-LM: 18 bytes a parameter in bf16, 16 and 4 more while the optimizer runs in fp16. */
Test(roofline_memory, frameworks_have_their_state)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const struct {
        const char *framework;
        enum pp_precision precision;
        double state, update;
    } rows[] = {{"plain", PP_PRECISION_BF16, 16, 0},    {"megatron", PP_PRECISION_BF16, 18, 0},
                {"megatron", PP_PRECISION_FP16, 16, 4}, {"deepspeed", PP_PRECISION_FP16, 16, 6},
                {"fsdp", PP_PRECISION_BF16, 16, 0},     {"megatron", PP_PRECISION_FP32, 16, 0}};
    struct pp_error err;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
        cr_assert_eq(pp_framework_find(rows[i].framework, &in.framework, &err), PP_OK);
        cr_assert_eq(pp_device_set_precision(&cluster.device, rows[i].precision, &err), PP_OK);
        const struct pp_stage_memory *m = &costs_of(arena, &in)->memory[3];
        const double params = pp_cost_stage_params(&in, 3);
        cr_assert_float_eq((m->params_bytes + m->grads_bytes + m->optimizer_bytes) / params,
                           rows[i].state, 1e-9);
        cr_assert_float_eq(m->update_bytes / params, rows[i].update, 1e-9);
    }
}

/* Rajbhandari et al. 2020, figure 1 (7.5 B parameters, 64 replicas): 120, 31.4, 16.6, 1.9 GB. */
Test(roofline_memory, states_are_those_of_the_zero_paper)
{
    static const double expected_gb[] = {120, 31.4, 16.6, 1.9};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"gpt-7.5b", "h100", 1, 1, 64, 1, 1, 1024};
    struct pp_error err = {0};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);

    cr_assert_eq(pp_model_from_params(arena, 7.5e9, &model, &err), PP_OK);
    in.blocks_per_stage = &model.layers;
    for (int zero = 0; zero <= 3; zero++) {
        in.state = pp_state_spec_zero(zero, pp_cost_replicas(&in));
        const struct pp_stage_memory *m = costs_of(arena, &in)->memory;
        const double gb = (m->params_bytes + m->grads_bytes + m->optimizer_bytes) / 1e9;
        cr_assert_float_eq(gb, expected_gb[zero], 0.05, "zero %d: %g GB", zero, gb);
    }
}

Test(roofline_memory, stages_hold_the_whole_model)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *const models[] = {"gpt3-175b", "llama2-70b", "gpt2-64", "bert-48"};

    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (int pp = 1; pp <= 8; pp *= 2) {
            const struct setting setting = {models[i], "a100", 2, pp, 2, 1, 1, 512};
            struct pp_model model;
            struct pp_cluster cluster;
            const struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);
            const struct pp_costs *costs = costs_of(arena, &in);
            double params = 0;
            for (int s = 0; s < pp; s++)
                params += pp_cost_stage_params(&in, s) * 2;
            const bool has_copy = model.is_tied && pp > 1;
            cr_assert_float_eq(params - (has_copy ? (double)model.vocab * model.hidden : 0),
                               pp_model_params(&model), 1);
            cr_assert_eq(costs->tied != NULL, has_copy);
        }
}

/* rho_s = 1 - (1 - rho_1) (P - 1) / (P - s), clipped, none on the last stage. */
Test(roofline_memory, stage_aware_recomputation_follows_the_rule)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting setting = {"gpt2-64", "h100", 1, 4, 1, 1, 1, 512};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, setting, &model, &cluster);

    in.recompute = PP_RECOMPUTE_STAGE;
    in.first_stage_ratio = 0.75;
    const double *fracs = pp_recompute_fracs(arena, &in);
    const double expected[] = {0.75, 0.625, 0.25, 0}; /* exact in binary */
    for (int s = 0; s < 4; s++)
        cr_assert_eq(fracs[s], expected[s]);
    in.first_stage_ratio = 0.1;
    fracs = pp_recompute_fracs(arena, &in);
    cr_assert_float_eq(fracs[0], 0.1, 1e-12);
    for (int s = 1; s < 4; s++)
        cr_assert_eq(fracs[s], 0);
    const double block = pp_model_layer_flops(&model, PP_LAYER_BLOCK, 1, 512, PP_FLOPS_MEGATRON);
    cr_assert_float_eq(pp_recompute_flops_per_sample(&in, PP_FLOPS_MEGATRON), 1.6 * block, 1);
    in.recompute = PP_RECOMPUTE_FULL;
    cr_assert_float_eq(pp_recompute_flops_per_sample(&in, PP_FLOPS_MEGATRON) / (64 * block), 1,
                       1e-12);
}

/* An activation inside of a fused kernel cannot be computed again by itself: its output, which the
 * next product needs in fp8, is kept. Shared experts have it apart. */
Test(roofline_memory, fused_activations_are_kept)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"deepseek-v3", "b200", 1, 4, 16, 1, 1, 4096};
    struct pp_error err = {0};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
    const double routed = 4096.0 * 8 * 2048, shared = 4096.0 * 2048;
    double kept[2][2];

    in.layout.ep = 8;
    in.recompute = PP_RECOMPUTE_SELECTIVE;
    cr_assert_eq(pp_device_set_precision(&cluster.device, PP_PRECISION_FP8, &err), PP_OK);
    for (int is_fused = 0; is_fused <= 1; is_fused++)
        for (int is_again = 0; is_again <= 1; is_again++) {
            const char *name = is_fused ? "bridge" : "nemo";
            cr_assert_eq(pp_framework_find(name, &in.framework, &err), PP_OK);
            in.again = is_again ? PP_AGAIN_ACT : PP_AGAIN_CORE;
            kept[is_fused][is_again] = costs_of(arena, &in)->memory[2].checkpoint_bytes;
        }
    const double blocks = in.blocks_per_stage[2];
    cr_assert_float_eq(kept[0][0] - kept[0][1], blocks * (routed + shared), 1);
    cr_assert_float_eq(kept[1][0] - kept[1][1], blocks * shared, 1);
    /* NeMo's copies for the projection, shared experts and the second narrow matrix */
    cr_assert_float_eq(kept[0][0] - kept[1][0], blocks * 4096 * (16384 + 2 * 7168), 1);
}
