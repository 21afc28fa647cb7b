/* Functions that add kernels to a layer's list. */
#include "core/cost/layers/layers.h"

#include <assert.h>
#include <math.h>

/* Bytes of an operand in the product, and of its cast. In fp8 the cast reads 16 bits a value and
 * keeps the largest for the next scale. It writes the operand plain and transposed, as Transformer
 * Engine's cast_transpose does. In nvfp4 there are 4 bits a value and a scale of 8 bits for each 16
 * values. Its cast reads the operand twice, because it needs the largest value first. So does a
 * cast to fp8 with a scale of the values themselves (is_scaled_first). Source:
 * NVIDIA 2025, "Pretraining Large Language Models with NVFP4", appendix B, two levels of scales. */
enum { WIDE_BYTES = 2 };
static const struct narrow {
    const char *name;
    double bytes, cast_bytes;
    int launches;
} narrow[PP_PRECISIONS] = {
    [PP_PRECISION_FP8] = {"cast to fp8", 1, 2 + 1 + 1, 1},
    [PP_PRECISION_NVFP4] = {"cast to nvfp4", 0.5625, 2 + 2 + 0.5625 + 0.5625, 2},
};

void pp_layer_add(struct pp_layer_kernels *list, struct pp_kernel kernel)
{
    assert(list->count < PP_LAYER_KERNELS_MAX);
    list->kernel[list->count++] = kernel;
}

void pp_layer_mark(struct pp_layer_kernels *list, int first, unsigned module)
{
    for (int i = first; i < list->count; i++)
        list->kernel[i].modules |= module;
}

void pp_layer_add_traffic(struct pp_layer_kernels *list, double values,
                          struct pp_layer_traffic traffic)
{
    const double bytes = traffic.passes[list->pass] * list->value_bytes + traffic.bytes[list->pass];

    if (traffic.launches[list->pass] > 0)
        pp_layer_add(list, (struct pp_kernel){.name = traffic.name,
                                              .kind = PP_KERNEL_MEMORY,
                                              .again_frac = 1,
                                              .launches = traffic.launches[list->pass],
                                              .bytes = values * bytes});
}

enum pp_precision pp_layer_precision(const struct pp_layer_kernels *list, bool is_wide)
{
    const enum pp_precision precision = list->in->cluster->device.precision;

    return is_wide && pp_precision_is_narrow(precision) ? PP_PRECISION_BF16 : precision;
}

static void add_cast(struct pp_layer_kernels *list, double values, const struct narrow *to)
{
    const bool is_twice = to->launches == 1 && pp_cost_framework(list->in)->is_scaled_first;
    const int launches = to->launches + is_twice;
    const double bytes = to->cast_bytes + (is_twice ? WIDE_BYTES : 0);

    PP_LAYER_TRAFFIC(list, values, to->name, {launches, launches, 0}, .bytes = {bytes, bytes, 0});
}

void pp_layer_add_matrix(struct pp_layer_kernels *list, struct pp_layer_matrix matrix)
{
    const double t = matrix.tokens, k = matrix.k, n = matrix.n, e = list->value_bytes,
                 count = matrix.count > 0 ? matrix.count : 1;
    const enum pp_precision precision = pp_layer_precision(list, matrix.is_wide);
    const bool is_narrow = pp_precision_is_narrow(precision);
    /* weight gradients of micro-batches are written, then added to a sum */
    const bool is_apart =
        pp_cost_framework(list->in)->adds_grads_apart && list->in->layout.micro_batches > 1;
    const bool is_misaligned =
        pp_gemm_is_misaligned(k, precision) || pp_gemm_is_misaligned(n, precision);
    /* forward (t x k)(k x n), input gradient (t x n)(n x k), weight gradient (n x t)(t x k) */
    const struct pp_gemm_shape shapes[PP_PASSES] = {{t, n, k, count, is_misaligned},
                                                    {t, k, n, count, is_misaligned},
                                                    {n, k, t, count, is_misaligned}};
    const double operand = is_narrow ? narrow[precision].bytes : e,
                 more = list->weight_bytes > 0 ? list->weight_bytes - operand : 0;
    /* a weight gradient is added to its sum, or written for a separate kernel that adds it */
    const double bytes[PP_PASSES] = {
        (t * k + k * n) * operand + k * n * more + t * n * e,
        (t * n + k * n) * operand + t * k * e,
        (t * k + t * n) * operand + k * n * (is_apart ? e : 2 * list->grad_bytes),
    };

    pp_layer_add(list, (struct pp_kernel){
                           .name = matrix.name,
                           .kind = PP_KERNEL_GEMM,
                           .precision = precision,
                           .again_frac = matrix.again_frac,
                           .launches = (int)ceil(count),
                           .gemm = shapes[list->pass],
                           .flops = 2 * t * k * n * count,
                           .bytes = bytes[list->pass] * count,
                       });
    if (is_narrow && !matrix.is_cast_before[list->pass])
        add_cast(list, (list->pass == PP_PASS_F ? k : n) * t * count, &narrow[precision]);
    if (is_apart)
        PP_LAYER_TRAFFIC(list, k * n * count, "gradient sum", {0, 0, 1}, {0, 0, 1},
                         {0, 0, 2 * list->grad_bytes});
    /* Products in fp32 leave biases to a kernel of its own (PyTorch 1, F.linear of more than two
     * dimensions). Products in 16 bits, or the kernels after them, add biases at no cost. */
    if (matrix.has_bias && precision == PP_PRECISION_FP32)
        PP_LAYER_TRAFFIC(list, t * n * count, "bias", {1, 0, 0}, {2, 0, 0});
    if (matrix.has_bias)
        PP_LAYER_TRAFFIC(list, t * n * count, "bias gradient", {0, 0, 1}, {0, 0, 1});
}

void pp_layer_add_norm(struct pp_layer_kernels *list)
{
    /* backward: input and gradient in, gradient out; both read again for the sums over tokens that
     * are the gradients of scale and shift */
    static const struct pp_layer_traffic plain = {"norm", {1, 2, 0}, {2, 5, 0}},
                                         /* input and its gradient in fp32, cast before and after */
        fp32 = {"fp32, norm", {2, 3, 0}, {2, 3, 0}, {8, 16, 0}};

    pp_layer_add_traffic(list, list->whole_tokens * list->in->model->hidden,
                         pp_cost_framework(list->in)->has_fp32_norms ? fp32 : plain);
}

/* gelu reads one vector and writes one; a gated function multiplies two. The backward reads inputs
 * and gradient, and writes gradients. A separate gate writes its output, which both passes read. */
void pp_layer_add_activation(struct pp_layer_kernels *list, double values)
{
    static const struct pp_layer_traffic gelu = {"gelu", {1, 1, 0}, {2, 3, 0}},
                                         fused = {"silu, product", {1, 1, 0}, {3, 5, 0}},
                                         apart = {"silu, product", {2, 3, 0}, {5, 8, 0}};
    const int first = list->count;

    pp_layer_add_traffic(list, values,
                         !list->in->model->is_gated                     ? gelu
                         : pp_cost_framework(list->in)->is_gate_unfused ? apart
                                                                        : fused);
    pp_layer_mark(list, first, PP_AGAIN_ACT);
}
