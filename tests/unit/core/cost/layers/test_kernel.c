/* Kernels against closed forms: tiles and waves of products, flops of layers, the host. */
#include "core/cost/analytic/parts.h"
#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <math.h>
#include <string.h>

static struct pp_device a100(struct pp_arena *arena)
{
    struct pp_cluster cluster;
    struct pp_error err = {0};

    cr_assert_eq(pp_cluster_load(arena, "a100", &cluster, &err), PP_OK, "%s", err.message);
    return cluster.device;
}

/* 108 multiprocessors: 108 tiles of 256 x 128 are one full wave, one more tile starts another. */
Test(kernel, waves_are_whole)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_device device = a100(arena);
    const struct pp_gemm_shape full = {256 * 12, 128 * 9, 4096, 1},
                               more = {256 * 12, 128 * 9 + 128, 4096, 1};
    const double ramp = 4096 / (4096.0 + 64);

    const struct pp_gemm_plan plan = pp_gemm_plan(&device, full);
    cr_assert_eq(plan.tile_m * plan.tile_n, 256 * 128);
    cr_assert_eq(plan.parts, 1);
    cr_assert_float_eq(plan.eta, device.gemm_eta * ramp, 1e-12);
    /* with large tiles it would take twice as long; smaller ones waste less, never nothing */
    const double eta = pp_gemm_plan(&device, more).eta;
    cr_assert(eta >= device.gemm_eta * ramp * 120 / 216);
    cr_assert(eta < 0.97 * plan.eta);
}

/* Multiprocessors one by one: each takes the next tile when it is free. */
static double finish_steps(int tiles, int processors, double steps)
{
    double free_at[256] = {0}, last = 0;

    for (int t = 0; t < tiles; t++) {
        int next = 0;
        for (int p = 1; p < processors; p++)
            next = free_at[p] < free_at[next] ? p : next;
        free_at[next] += steps;
        last = fmax(last, free_at[next]);
    }
    return last;
}

Test(kernel, waves_are_what_a_queue_of_tiles_takes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const int sizes[][4] = {
        {2048, 9216, 3072, 1},  {1024, 5120, 20480, 1}, {512, 512, 64, 48}, {128, 128, 8192, 1},
        {8192, 50304, 2304, 1}, {333, 777, 1000, 3},    {64, 64, 64, 1000},
    };
    const struct pp_device device = a100(arena);

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
        const int batch = sizes[i][3];
        const struct pp_gemm_plan plan =
            pp_gemm_plan(&device, (struct pp_gemm_shape){m, n, k, batch, false});
        const int tiles = (int)(ceil(m / plan.tile_m) * ceil(n / plan.tile_n)) * batch * plan.parts;
        /* time of one step of a whole multiprocessor in flops */
        const double steps = finish_steps(tiles, device.multiprocessors, k / plan.parts + 64);
        const double useful =
            m * n * k * batch / device.multiprocessors / (plan.tile_m * plan.tile_n) / steps;
        cr_assert(plan.eta <= device.gemm_eta * useful * (1 + 1e-12), "%zu", i);
        cr_assert(plan.eta >= 0.55 * device.gemm_eta * useful * (1 - 1e-12), "%zu", i);
        cr_assert_eq(plan.parts > 1, plan.extra_bytes > 0);
    }
    /* a long product with one tile is cut along k */
    cr_assert(pp_gemm_plan(&device, (struct pp_gemm_shape){128, 128, 8192, 1, false}).parts > 1);
}

Test(kernel, odd_rows_are_half_as_fast)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_device device = a100(arena);
    struct pp_gemm_shape gemm = {2048, 50257, 1024, 1, false};
    const double eta = pp_gemm_plan(&device, gemm).eta;

    gemm.is_misaligned = true;
    cr_assert_float_eq(pp_gemm_plan(&device, gemm).eta, eta / 2, 1e-12);
    cr_assert(pp_gemm_is_misaligned(50257, PP_PRECISION_FP16));
    cr_assert(!pp_gemm_is_misaligned(50304, PP_PRECISION_FP16));
    cr_assert(!pp_gemm_is_misaligned(50256, PP_PRECISION_BF16)); /* 8 values are 16 bytes */
    cr_assert(pp_gemm_is_misaligned(50256 + 8, PP_PRECISION_FP8) == (50264 % 16 != 0));
    cr_assert(!pp_gemm_is_misaligned(50257, PP_PRECISION_FP32));  /* no tensor cores */
    cr_assert(!pp_gemm_is_misaligned(1000.5, PP_PRECISION_FP16)); /* stands for a whole number */
}

/* launch + max(flops, bytes), and what bounds it. */
Test(kernel, time_is_the_larger_of_flops_and_bytes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_device device = a100(arena);
    const double rate = device.memory_bytes_per_s * device.memory_eta;
    const struct pp_kernel moves = {.kind = PP_KERNEL_MEMORY, .launches = 3, .bytes = 1e9};
    const struct pp_kernel fused = {.kind = PP_KERNEL_ATTENTION,
                                    .precision = device.precision,
                                    .launches = 1,
                                    .flops = 1e12,
                                    .bytes = 1e6,
                                    .eta = 0.5,
                                    .blocks = 27};

    cr_assert_float_eq(pp_kernel_time(&device, &moves).s, 3 * device.launch_s + 1e9 / rate, 1e-12);
    cr_assert_eq(pp_kernel_time(&device, &moves).bound, PP_BOUND_MEMORY);
    /* 27 blocks keep a quarter of 108 multiprocessors busy */
    cr_assert_float_eq(pp_kernel_time(&device, &fused).s,
                       device.launch_s + 1e12 / (device.peak_flops_per_s * 0.125), 1e-12);
    cr_assert_eq(pp_kernel_time(&device, &fused).bound, PP_BOUND_COMPUTE);
}

/* ---- layers -------------------------------------------------------------------------------- */

/* Products of a layer by all devices have the model's flops, three times those of a forward. A
 * vocabulary that does not divide evenly among devices is rounded up. */
Test(kernel, products_of_a_layer_are_the_models_flops)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    static const char *const models[] = {"gpt3-175b", "llama3-70b", "bert-large", "llama2-7b"};
    static const enum pp_layer_kind kinds[] = {PP_LAYER_BLOCK, PP_LAYER_HEAD};

    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (int tp = 1; tp <= 8; tp *= 4)
            for (int k = 0; k < 2; k++) {
                const struct setting s = {models[i], "a100 attention:unfused", tp, 1, 1, 1, 2,
                                          1024};
                struct pp_model model;
                struct pp_cluster cluster;
                const struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
                double flops = 0;
                for (int pass = 0; pass < PP_PASSES; pass++)
                    flops += pp_analytic_layer(&in, kinds[k], pp_analytic_work(&in, 0),
                                               (enum pp_pass)pass)
                                 .flops;
                cr_assert_float_eq(flops / (3 * pp_model_layer_flops(&model, kinds[k], 2, 1024,
                                                                     PP_FLOPS_MEGATRON)),
                                   1, k == 1 ? 1e-4 : 1e-9, "%s tp %d kind %d", models[i], tp, k);
            }
}

/* Without sequence parallelism what lies between the matrices is the work of every device. */
Test(kernel, norms_and_residuals_are_whole_without_sequence_parallelism)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"gpt3-175b", "a100", 8, 1, 1, 1, 1, 2048};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
    struct pp_layer_kernels cut, whole;

    pp_layer_kernels(&in, PP_LAYER_BLOCK, pp_analytic_work(&in, 0), PP_PASS_F, &cut);
    in.is_tp_only = true;
    pp_layer_kernels(&in, PP_LAYER_BLOCK, pp_analytic_work(&in, 0), PP_PASS_F, &whole);
    cr_assert_eq(cut.count, whole.count);
    int larger = 0;
    for (int i = 0; i < cut.count; i++) {
        const bool is_between = strcmp(cut.kernel[i].name, "norm") == 0 ||
                                strstr(cut.kernel[i].name, "residual") != NULL;
        cr_assert_float_eq(whole.kernel[i].bytes, (is_between ? 8 : 1) * cut.kernel[i].bytes, 1,
                           "%s", cut.kernel[i].name);
        larger += is_between;
    }
    cr_assert_eq(larger, 4);
}

/* One fused kernel for the softmax of 4 rows of samples and heads; else four, over 8 passes. */
Test(kernel, softmax_is_fused_in_fours)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    double bytes[2];

    for (int i = 0; i < 2; i++) {
        const struct setting s = {"gpt2-medium", "a100 attention:unfused", i ? 8 : 4, 1, 1, 1, 1,
                                  1024};
        struct pp_model model;
        struct pp_cluster cluster;
        const struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
        struct pp_layer_kernels list;
        int at = 0;
        cr_assert_eq(model.heads, 16);
        pp_layer_kernels(&in, PP_LAYER_BLOCK, pp_analytic_work(&in, 0), PP_PASS_F, &list);
        while (strcmp(list.kernel[at].name, "attention softmax") != 0)
            at++;
        cr_assert_eq(list.kernel[at].launches, i ? 4 : 1);
        bytes[i] = list.kernel[at].bytes / (16.0 / (i ? 8 : 4));
    }
    cr_assert_float_eq(bytes[0], 2 * 2 * 1024.0 * 1024, 1);
    cr_assert_float_eq(bytes[1], 8 * 2 * 1024.0 * 1024, 1);
}

/* PyTorch keeps every other product of a block, and the attention. Of q, k, v, o, gate, up, down it
 * recomputes k, o and up. */
Test(kernel, selection_per_op_is_every_other_matrix)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"llama3-8b", "h100", 2, 4, 1, 1, 2, 4096};
    struct pp_error err = {0};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);

    cr_assert_eq(pp_framework_find("fsdp", &in.framework, &err), PP_OK);
    in.recompute = PP_RECOMPUTE_SELECTIVE;
    const struct pp_costs *costs = costs_of(arena, &in);
    const double elements = 4096.0 * 1024 + 4096.0 * 4096 + 4096.0 * 14336;
    cr_assert_float_eq(costs->op[PP_R][1].flops / (8 * 2.0 * 2 * 4096 * elements), 1, 1e-12);
    double flops = 0;
    for (int stage = 0; stage < in.stages; stage++)
        flops += costs->op[PP_R][stage].flops;
    cr_assert_float_eq(flops / (2 * pp_recompute_flops_per_sample(&in, PP_FLOPS_MEGATRON)), 1,
                       1e-12);
    /* two gathers of the forward's four exchanges */
    cr_assert_float_eq(costs->op[PP_R][1].tp_ps / (double)costs->op[PP_F][1].tp_ps, 0.5, 1e-6);
    cr_assert(costs->op[PP_R][1].ps < costs->op[PP_F][1].ps);
}

/* ---- host ---------------------------------------------------------------------------------- */

static int launches(const struct pp_cost_inputs *in, enum pp_pass pass)
{
    return pp_analytic_layer(in, PP_LAYER_BLOCK, pp_analytic_work(in, 0), pass).launches;
}

/* Stages in the middle: a slow host decides F and B, a fast one shows by its share. */
Test(kernel, the_host_launches_a_backward_as_one)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"gpt2-xl", "a100", 1, 4, 1, 1, 1, 1024};
    struct pp_framework framework = {.name = "test",
                                     .grads_bytes = 2,
                                     .fp16_grads_bytes = 2,
                                     .params_bytes = 2,
                                     .optimizer_bytes = 12,
                                     .host_frac = 0.25,
                                     .op_gap_s = 1e-4};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);

    in.framework = &framework;
    in.recompute = PP_RECOMPUTE_FULL;
    const struct pp_costs *none = costs_of(arena, &in);
    const double f = 12 * launches(&in, PP_PASS_F),
                 b = f + 12 * (launches(&in, PP_PASS_I) + launches(&in, PP_PASS_W));
    framework.kernel_gap_s = 1e-3; /* slower than any kernel */
    const struct pp_costs *slow = costs_of(arena, &in);
    cr_assert_float_eq(pp_units_s(slow->op[PP_F][1].ps), f * 1e-3 + 1e-4, 1e-9);
    cr_assert_float_eq(pp_units_s(slow->op[PP_B][1].ps + slow->op[PP_R][1].ps), b * 1e-3 + 1e-4,
                       1e-9);
    cr_assert_eq(slow->op[PP_B][1].ps, slow->op[PP_I][1].ps + slow->op[PP_W][1].ps);
    framework.kernel_gap_s = 1e-6; /* faster than the device */
    const struct pp_costs *fast = costs_of(arena, &in);
    cr_assert_float_eq(pp_units_s(fast->op[PP_F][1].ps - none->op[PP_F][1].ps), f * 0.25e-6, 1e-9);
    cr_assert_float_eq(pp_units_s(fast->op[PP_B][1].ps + fast->op[PP_R][1].ps -
                                  none->op[PP_B][1].ps - none->op[PP_R][1].ps),
                       b * 0.25e-6, 1e-9);
}

/* Hidden is the share asked for, and at most what the matrices take. */
Test(kernel, overlap_of_tensor_parallelism_ends_with_the_matrices)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"gpt3-175b", "a100", 8, 4, 1, 1, 1, 2048};
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
    const double tp_s = pp_units_s(costs_of(arena, &in)->op[PP_F][1].tp_ps);

    in.tp_overlap_frac = 0.5;
    cr_assert_float_eq(pp_units_s(costs_of(arena, &in)->op[PP_F][1].tp_ps), tp_s / 2, 1e-9);
    in.tp_overlap_frac = 1;
    cluster.device.peak_flops_per_s *= 1e6; /* only bytes and launches are left to hide exchanges */
    cr_assert(pp_units_s(costs_of(arena, &in)->op[PP_F][1].tp_ps) > 0.5 * tp_s);
}

/* ---- precision ----------------------------------------------------------------------------- */

Test(kernel, a_precision_without_a_peak_is_refused_by_name)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_device device = a100(arena);

    cr_assert_eq(pp_device_set_precision(&device, PP_PRECISION_FP8, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "fp32 tf32 fp16 bf16"), "%s", err.message);
    cr_assert_eq(pp_device_set_precision(&device, PP_PRECISION_TF32, &err), PP_OK);
    cr_assert_float_eq(device.peak_flops_per_s, 156e12, 1);
    cr_assert_eq(pp_device_set_precision(&device, PP_PRECISION_FP32, &err), PP_OK);
    cr_assert_float_eq(device.peak_flops_per_s, 19.5e12, 1);
    cr_assert_eq(pp_device_set_precision(&device, PP_PRECISION_BF16, &err), PP_OK);
    cr_assert_float_eq(device.peak_flops_per_s, 312e12, 1);
}

/* fp8 halves the matrices of blocks, adds casts, and leaves attention and the head as they are. */
Test(kernel, fp8_is_for_the_matrices_of_blocks)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"llama3-70b", "h100", 8, 1, 1, 1, 1, 8192};
    struct pp_error err = {0};
    struct pp_model model;
    struct pp_cluster cluster;
    const struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
    const struct pp_layer_work work = pp_analytic_work(&in, 0);
    const double block_s = pp_analytic_layer(&in, PP_LAYER_BLOCK, work, PP_PASS_W).s,
                 core_s = pp_analytic_attention(&in, work).s,
                 head_s = pp_analytic_layer(&in, PP_LAYER_HEAD, work, PP_PASS_F).s;

    cr_assert_eq(pp_device_set_precision(&cluster.device, PP_PRECISION_FP8, &err), PP_OK);
    const double fast_s = pp_analytic_layer(&in, PP_LAYER_BLOCK, work, PP_PASS_W).s;
    cr_assert(fast_s < 0.55 * block_s && fast_s > 0.49 * block_s);
    cr_assert_float_eq(pp_analytic_attention(&in, work).s, core_s, 1e-12);
    cr_assert_float_eq(pp_analytic_layer(&in, PP_LAYER_HEAD, work, PP_PASS_F).s, head_s, 1e-12);
}

/* nvfp4: 4.5 bits a value in products, 41 bits in casts; as fast as the peak says where products
 * bound. */
Test(kernel, nvfp4_is_for_the_matrices_of_blocks)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct setting s = {"llama3-70b", "gb200", 1, 1, 1, 1, 1, 8192};
    struct pp_error err = {0};
    struct pp_model model;
    struct pp_cluster cluster;
    const struct pp_cost_inputs in = inputs_of(arena, s, &model, &cluster);
    struct pp_layer_kernels list;

    cr_assert_eq(pp_device_set_precision(&cluster.device, PP_PRECISION_NVFP4, &err), PP_OK);
    cr_assert_float_eq(cluster.device.peak_flops_per_s, 10e15, 1);
    pp_layer_kernels(&in, PP_LAYER_BLOCK, pp_analytic_work(&in, 0), PP_PASS_F, &list);
    for (int i = 0; i < list.count; i++) {
        const struct pp_kernel *k = &list.kernel[i];
        if (k->kind == PP_KERNEL_GEMM) {
            cr_assert_eq(k->precision, PP_PRECISION_NVFP4, "%s", k->name);
            cr_assert_float_eq(
                k->bytes, 0.5625 * k->gemm.k * (k->gemm.m + k->gemm.n) + 2 * k->gemm.m * k->gemm.n,
                1, "%s", k->name);
            cr_assert_str_eq(k[1].name, "cast to nvfp4");
            cr_assert_float_eq(k[1].bytes, 41.0 / 8 * k->gemm.m * k->gemm.k, 1);
            cr_assert_eq(k[1].launches, 2);
        }
        if (k->kind == PP_KERNEL_ATTENTION)
            cr_assert_eq(k->precision, PP_PRECISION_BF16);
    }
    cr_assert(!pp_gemm_is_misaligned(32, PP_PRECISION_NVFP4));
    cr_assert(pp_gemm_is_misaligned(48, PP_PRECISION_NVFP4));
    cr_assert_eq(pp_cluster_load(arena, "h100", &cluster, &err), PP_OK);
    cr_assert_eq(pp_device_set_precision(&cluster.device, PP_PRECISION_NVFP4, &err), PP_EINVAL);
}
