#include "core/roofline_parts.h"

#include <math.h>
#include <string.h>

/* FlashAttention reaches about two thirds of what large matrix multiplications reach
 * (Dao 2023, figures 5 and 6: 190-225 of 312 TFLOP/s forward against about 250). */
static const double attention_eta = 0.65;
/* Matrix products of the attention backward per product of the forward: five against two with
 * recomputed scores (Dao 2023, section 3.1), four against two when the scores were stored. */
static const double fused_attention_backward = 2.5, unfused_attention_backward = 2.0;
/* An elementwise backward reads the saved input and the gradient and writes one: about twice the
 * traffic of the forward. */
static const double memory_backward = 2.0;
/* Cross entropy of 16-bit logits in fp32: cast (2 + 4 bytes), maximum (4), exponentials and sum
 * (4 + 4), pick (0); the backward reads the softmax and writes the gradient, as `memory_backward`
 * would double it, so the forward stands for 12 bytes a logit. */
static const double loss_bytes_per_logit = 12;

double pp_dtype_bytes(const struct pp_device *device)
{
    return strcmp(device->dtype, "fp32") == 0 || strcmp(device->dtype, "tf32") == 0 ? 4 : 2;
}

struct pp_work pp_roofline_work(const struct pp_cost_inputs *in, int split)
{
    const struct pp_layout *l = &in->layout;
    const double splits = in->splits, seq = l->seq;
    struct pp_work work = {
        .tokens = (double)l->mbs * seq / l->cp / splits,
        .context = seq,
    };

    /* A split attends to itself and to what came before. Fused kernels skip the masked half of
     * the diagonal, others compute whole rectangles. */
    if (in->model->is_causal)
        work.context = in->cluster->device.is_attention_unfused ? seq * (split + 1) / splits
                                                                : seq * (split + 0.5) / splits;
    return work;
}

static void add(struct pp_terms *terms, struct pp_term term)
{
    terms->term[terms->count++] = term;
}

/* out[m, n] += in[m, k] weights[k, n] on one device. */
static struct pp_term matrix(const char *name, const char *formula, const double mkn[3],
                             double dtype_bytes)
{
    const double m = mkn[0], k = mkn[1], n = mkn[2];

    return (struct pp_term){
        .name = name,
        .formula = formula,
        .kind = PP_TERM_MATRIX,
        .kernels = 1,
        .flops = 2 * m * k * n,
        .bytes = (m * k + k * n + m * n) * dtype_bytes,
    };
}

static struct pp_term memory(const char *name, const char *formula, int kernels, double bytes)
{
    return (struct pp_term){.name = name,
                            .formula = formula,
                            .kind = PP_TERM_MEMORY,
                            .kernels = kernels,
                            .bytes = bytes};
}

static void add_attention(struct pp_terms *terms, const struct pp_cost_inputs *in,
                          struct pp_work work, double dtype_bytes)
{
    const struct pp_model *m = in->model;
    const double tp = in->layout.tp, width = (double)m->heads * m->head_dim / tp,
                 kv = fmax(m->kv_heads / tp, 1) * m->head_dim;
    const double flops = 4 * work.tokens * work.context * width;
    const double operands = work.tokens * (2 * width + 2 * kv) * dtype_bytes;

    if (!in->cluster->device.is_attention_unfused) {
        add(terms, (struct pp_term){"attention", "4 t c d/tp (fused)", PP_TERM_ATTENTION, 1, flops,
                                    operands});
        return;
    }
    /* Scores go through memory: written, masked and normalized (read, write), dropped out (read,
     * write), read. */
    const double scores = work.tokens * work.context * m->heads / tp * dtype_bytes;
    add(terms, (struct pp_term){"attention products", "4 t c d/tp", PP_TERM_ATTENTION, 2, flops,
                                operands + 2 * scores});
    add(terms,
        (struct pp_term){"softmax, dropout", "4 passes over t c a/tp scores", PP_TERM_ATTENTION,
                         m->is_gated ? 1 : 2, 0, (m->is_gated ? 2 : 4) * scores});
}

/* --params scales the matrices to the size that was given. */
static double matrix_scale(const struct pp_model *model)
{
    struct pp_model plain = *model;

    plain.params_override = 0;
    return pp_model_layer_params(model, PP_LAYER_BLOCK) /
           pp_model_layer_params(&plain, PP_LAYER_BLOCK);
}

static struct pp_terms block_terms(const struct pp_cost_inputs *in, struct pp_work work)
{
    const struct pp_model *m = in->model;
    const double tp = in->layout.tp, t = work.tokens, h = m->hidden, f = m->ffn / tp,
                 q = (double)m->heads * m->head_dim / tp,
                 kv = fmax(m->kv_heads / tp, 1) * m->head_dim;
    const double e = pp_dtype_bytes(&in->cluster->device), fan = m->is_gated ? 2 : 1;
    const double scale = matrix_scale(m);
    struct pp_terms terms = {.count = 0};

    add(&terms, memory("norms", "4 passes over t h/tp", 2, 4 * t * h / tp * e));
    add(&terms, matrix("qkv", "2 t h (q + 2 kv)/tp", (double[]){t, h, (q + 2 * kv) * scale}, e));
    if (m->positions == 0)
        add(&terms, memory("rotary", "2 passes over t (q + kv)/tp", 1, 2 * t * (q + kv) * e));
    add_attention(&terms, in, work, e);
    add(&terms, matrix("projection", "2 t q h/tp", (double[]){t, q, h * scale}, e));
    add(&terms,
        matrix(m->is_gated ? "gate, up" : "mlp up", m->is_gated ? "4 t h f/tp" : "2 t h f/tp",
               (double[]){t, h, fan * f * scale}, e));
    add(&terms, memory(m->is_gated ? "silu, product" : "gelu",
                       m->is_gated ? "3 passes over t f/tp" : "2 passes over t f/tp", 1,
                       (1 + fan) * t * f * e));
    add(&terms, matrix("mlp down", "2 t f h/tp", (double[]){t, f, h * scale}, e));
    add(&terms, memory(m->is_gated ? "residuals" : "dropout, residuals", "6 passes over t h/tp", 2,
                       6 * t * h / tp * e));
    return terms;
}

static struct pp_terms head_terms(const struct pp_cost_inputs *in, struct pp_work work)
{
    const struct pp_model *m = in->model;
    const double tp = in->layout.tp, t = work.tokens, h = m->hidden, v = m->vocab / tp;
    const double e = pp_dtype_bytes(&in->cluster->device);
    struct pp_terms terms = {.count = 0};

    if (m->has_final_norm || m->has_mlm_head)
        add(&terms, memory("final norm", "2 passes over t h/tp", 1, 2 * t * h / tp * e));
    if (m->has_mlm_head)
        add(&terms, matrix("transform", "2 t h^2/tp", (double[]){t, h, h / tp}, e));
    add(&terms, matrix("logits", "2 t h V/tp", (double[]){t, h, v}, e));
    add(&terms, memory("cross entropy", "12 B t V/tp", 3, loss_bytes_per_logit * t * v));
    return terms;
}

static struct pp_terms embedding_terms(const struct pp_cost_inputs *in, struct pp_work work)
{
    const double e = pp_dtype_bytes(&in->cluster->device), t = work.tokens;
    struct pp_terms terms = {.count = 0};

    /* rows read and written for every token, positions added */
    add(&terms, memory("embedding", "4 passes over t h", 2, 4 * t * in->model->hidden * e));
    return terms;
}

struct pp_terms pp_roofline_terms(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                  struct pp_work work)
{
    static struct pp_terms (*const terms[])(const struct pp_cost_inputs *, struct pp_work) = {
        [PP_LAYER_EMBEDDING] = embedding_terms,
        [PP_LAYER_BLOCK] = block_terms,
        [PP_LAYER_HEAD] = head_terms,
    };

    return terms[kind](in, work);
}

struct pp_compute pp_roofline_term_cost(const struct pp_device *device, const struct pp_term *term,
                                        enum pp_pass pass)
{
    const double attention_backward =
        device->is_attention_unfused ? unfused_attention_backward : fused_attention_backward;
    /* Factors on flops and bytes by kind and pass: half of a matrix' backward is the weight
     * gradient, everything else belongs to the input gradient. */
    const double factors[][PP_PASSES] = {
        [PP_TERM_MATRIX] = {1, 1, 1},
        [PP_TERM_ATTENTION] = {1, attention_backward, 0},
        [PP_TERM_MEMORY] = {1, memory_backward, 0},
    };
    const double factor = factors[term->kind][pass];
    const double eta =
        device->gemm_eta *
        (term->kind == PP_TERM_ATTENTION && !device->is_attention_unfused ? attention_eta : 1);

    if (factor == 0)
        return (struct pp_compute){0};
    const double flops_s = factor * term->flops / (device->peak_flops_per_s * eta);
    const double bytes_s = factor * term->bytes / (device->memory_bytes_per_s * device->memory_eta);
    return (struct pp_compute){
        .s = term->kernels * device->launch_s + fmax(flops_s, bytes_s),
        .bytes = factor * term->bytes,
    };
}

struct pp_compute pp_roofline_layer(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                    struct pp_work work, enum pp_pass pass)
{
    const struct pp_terms terms = pp_roofline_terms(in, kind, work);
    struct pp_compute sum = {0};

    for (int i = 0; i < terms.count; i++) {
        const struct pp_compute part =
            pp_roofline_term_cost(&in->cluster->device, &terms.term[i], pass);
        sum.s += part.s;
        sum.bytes += part.bytes;
    }
    return sum;
}

struct pp_compute pp_roofline_attention(const struct pp_cost_inputs *in, struct pp_work work)
{
    const struct pp_terms terms = pp_roofline_terms(in, PP_LAYER_BLOCK, work);
    struct pp_compute sum = {0};

    for (int i = 0; i < terms.count; i++)
        if (terms.term[i].kind == PP_TERM_ATTENTION) {
            const struct pp_compute part =
                pp_roofline_term_cost(&in->cluster->device, &terms.term[i], PP_PASS_F);
            sum.s += part.s;
            sum.bytes += part.bytes;
        }
    return sum;
}
