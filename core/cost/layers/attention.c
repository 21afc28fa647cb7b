/* The kernels of attention between its projections, fused or not. */
#include "core/cost/layers/layers.h"

#include <math.h>

/* Products of the backward per product of the forward: five to two (Dao 2023, section 3.1). */
static const double fused_backward = 2.5;
/* Speed of the fused backward against the forward, as shares of the peak (Dao 2023, section 1). */
static const double fused_backward_speed = 0.63 / 0.73;
/* Speed of FlashAttention 1 against 2 (Dao 2023: twice as fast; figures 4 to 6, 1.7 to 1.9). */
static const double first_speed = 0.55;
/* Queries of one block of a fused kernel (Dao 2023, section 3.3). */
static const double block_queries = 128;
/* Time that a block of cuDNN's kernels takes without its products, in a forward. It loads queries
 * and first keys, and writes. Such a block has a multiprocessor for itself, while those of
 * FlashAttention 2 hide each other's start. Fitted on 90 times of NVIDIA/cudnn-frontend
 * (tests/data/attention_cudnn.csv). */
static const double block_start_s = 2.5e-6;

struct shape {
    double samples, heads, kv_width, width; /* of one device */
    double queries, keys;                   /* of a sample */
};

static struct shape shape_of(const struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double tp = list->in->layout.tp, samples = list->in->layout.mbs;

    return (struct shape){
        .samples = samples,
        .heads = m->heads / tp,
        .width = pp_model_attention_width(m) / tp,
        .kv_width = m->latent.kv_rank > 0 ? pp_model_attention_width(m) / tp
                                          : fmax(m->kv_heads / tp, 1) * m->head_dim,
        .queries = list->work.tokens / samples,
        .keys = list->work.context,
    };
}

static void add_core_traffic(struct pp_layer_kernels *list, double values,
                             struct pp_layer_traffic traffic)
{
    const int count = list->count;

    pp_layer_add_traffic(list, values, traffic);
    for (int i = count; i < list->count; i++) {
        list->kernel[i].modules = PP_AGAIN_CORE;
        list->kernel[i].again_frac = 0;
    }
}

/* ---- fused ----------------------------------------------------------------------------------- */

static bool is_by_cudnn(const struct pp_layer_kernels *list)
{
    const struct pp_device *device = &list->in->cluster->device;

    return !device->is_attention_first && pp_cost_framework(list->in)->has_cudnn_attention &&
           device->cudnn_speed > 0;
}

/* Returns the speed of the framework's fused kernel against FlashAttention 2. */
static double kernel_speed(const struct pp_layer_kernels *list)
{
    const struct pp_device *device = &list->in->cluster->device;

    return device->is_attention_first ? first_speed : is_by_cudnn(list) ? device->cudnn_speed : 1;
}

/* Returns the keys that a query computes. Blocks on the diagonal of a causal mask, and on a
 * window's edge, are computed whole. In fp8, cuDNN's backward masks windows but computes all before
 * them: its time grows with the square of the sequence (tests/data/attention_cudnn.csv). Recipes
 * with fused experts set fp8_dot_product_attention. */
static double keys_of(const struct pp_layer_kernels *list, double keys)
{
    const double seq = list->in->layout.seq;
    const bool is_masked_only =
        list->work.is_near && list->pass == PP_PASS_I && pp_cost_has_fused_experts(list->in);
    const int edges = list->in->model->is_causal + list->work.is_near;

    return is_masked_only ? seq / 2 : fmin(keys + edges * block_queries / 2, seq);
}

static void add_fused(struct pp_layer_kernels *list, struct shape s)
{
    const bool is_backward = list->pass == PP_PASS_I;
    const double products = is_backward ? fused_backward : 1;
    const double flops = 4 * list->work.tokens * keys_of(list, s.keys) * s.width;
    const double operands = list->work.tokens * 2 * (s.width + s.kv_width) * list->value_bytes;

    if (list->pass == PP_PASS_W)
        return;
    pp_layer_add(
        list, (struct pp_kernel){
                  .name = "attention",
                  .kind = PP_KERNEL_ATTENTION,
                  .precision = pp_layer_precision(list, true),
                  .modules = PP_AGAIN_CORE,
                  .launches = is_backward ? 2 : 1,
                  .flops = products * flops,
                  .bytes = is_backward ? 2 * operands : operands, /* and gradients */
                  .eta = list->in->cluster->device.attention_eta * kernel_speed(list) *
                         (is_backward ? fused_backward_speed : 1),
                  .blocks = s.samples * s.heads * ceil(s.queries / block_queries),
                  /* once for the keys of each device */
                  .block_s = is_by_cudnn(list) ? products * list->in->layout.cp * block_start_s : 0,
              });
}

/* ---- unfused --------------------------------------------------------------------------------- */

/* Adds a product for each sample and head; the scores are one of its three matrices. */
static void add_scores_product(struct pp_layer_kernels *list, struct shape s, const char *name,
                               double m, double n, double k)
{
    const double batch = s.samples * s.heads;
    const enum pp_precision precision = pp_layer_precision(list, true);

    pp_layer_add(list, (struct pp_kernel){
                           .name = name,
                           .kind = PP_KERNEL_GEMM,
                           .precision = precision,
                           .modules = PP_AGAIN_CORE,
                           .launches = 1,
                           .gemm = {m, n, k, batch,
                                    pp_gemm_is_misaligned(list->in->model->head_dim, precision)},
                           .flops = 2 * batch * m * n * k,
                           .bytes = batch * (m * k + k * n + m * n) * list->value_bytes,
                       });
}

/* A fused kernel scales, masks and normalizes scores in 16 bits. It takes four rows of samples and
 * heads and at most 4,096 keys at a time (Megatron-LM, megatron/core/fusions/fused_softmax.py).
 * Otherwise scale, mask, cast and softmax follow one another. In fp32 there is nothing to cast, and
 * no gradient of a mask that is added (BERT). XLA takes as many passes, as a reduction ends a
 * kernel. In fp32 between 16-bit products, these are, in bytes:
 *   forward   cast with mask (2 + 4), maximum (4), sum of exponentials (4), quotient for the
 *             backward and for the product (4 + 4 + 2)
 *   backward  sum of products with the quotient (2 + 4), gradient (2 + 4 + 2) */
enum { SOFTMAX_ROWS = 4, SOFTMAX_KEYS = 4096 };
enum softmax_kind { SOFTMAX_APART, SOFTMAX_CUT, SOFTMAX_WIDE, SOFTMAX_FUSED, SOFTMAX_FP32 };
static const struct pp_layer_traffic softmax[] = {
    [SOFTMAX_APART] = {"attention softmax", {4, 4, 0}, {8, 9, 0}},
    [SOFTMAX_CUT] = {"attention softmax", {3, 2, 0}, {6, 5, 0}},
    [SOFTMAX_WIDE] = {"attention softmax", {4, 2, 0}, {12, 7, 0}},
    [SOFTMAX_FUSED] = {"attention softmax", {1, 1, 0}, {2, 3, 0}},
    /* the product writes 4 bytes in place of 2, the kernel reads them and writes 2 */
    [SOFTMAX_FP32] = {"attention softmax", {1, 1, 0}, {4, 5, 0}},
};

static enum softmax_kind softmax_kind(const struct pp_layer_kernels *list, struct shape s)
{
    const enum pp_softmax habit = pp_cost_framework(list->in)->softmax;

    if (list->value_bytes == 4 || habit == PP_SOFTMAX_CUT)
        return SOFTMAX_CUT;
    if (habit == PP_SOFTMAX_WIDE)
        return SOFTMAX_WIDE;
    if (habit == PP_SOFTMAX_FP32)
        return SOFTMAX_FP32;
    return fmod(s.samples * s.heads, SOFTMAX_ROWS) == 0 && s.keys <= SOFTMAX_KEYS ? SOFTMAX_FUSED
                                                                                  : SOFTMAX_APART;
}

static void add_unfused(struct pp_layer_kernels *list, struct shape s)
{
    const double q = s.queries, c = s.keys, d = list->in->model->head_dim;
    const double scores = s.samples * s.heads * q * c;
    const struct pp_layer_traffic dropout = {
        "attention dropout", {1, 1, 0}, {2, 2, 0}, {1, 1, 0}}; /* a byte of mask */

    if (list->pass == PP_PASS_F) {
        add_scores_product(list, s, "attention scores", q, c, d);
        add_core_traffic(list, scores, softmax[softmax_kind(list, s)]);
        if (pp_cost_has_dropout(list->in))
            add_core_traffic(list, scores, dropout);
        add_scores_product(list, s, "attention values", q, d, c);
    }
    if (list->pass == PP_PASS_I) {
        add_scores_product(list, s, "values' gradient", c, d, q);
        add_scores_product(list, s, "scores' gradient", q, c, d);
        if (pp_cost_has_dropout(list->in))
            add_core_traffic(list, scores, dropout);
        add_core_traffic(list, scores, softmax[softmax_kind(list, s)]);
        add_scores_product(list, s, "queries' gradient", q, d, c);
        add_scores_product(list, s, "keys' gradient", c, d, q);
    }
}

/* Adds the copies that take queries, keys and values apart by head, or put outputs together. */
static void add_layout(struct pp_layer_kernels *list, const char *name, double width)
{
    PP_LAYER_TRAFFIC(list, list->work.tokens * width, name, {1, 1, 0}, {2, 2, 0});
}

void pp_layer_add_attention_core(struct pp_layer_kernels *list)
{
    (list->in->cluster->device.is_attention_unfused ? add_unfused : add_fused)(list,
                                                                               shape_of(list));
}

void pp_layer_add_attention(struct pp_layer_kernels *list)
{
    const struct shape s = shape_of(list);

    add_layout(list, "heads apart", s.width + 2 * s.kv_width);
    pp_layer_add_attention_core(list);
    add_layout(list, "heads together", s.width);
}
