/* Kernels of a layer that generates: norms, biases and residuals are fused, nothing is saved. One
 * row a kernel in docs/costs.md, "Generation". */
#include "core/cost/generation/parts.h"

#include <math.h>

/* Is true if attention and feed-forward layer read the same normalized vectors and run next to each
 * other, so that one sum ends both. */
static bool is_parallel(const struct pp_model *m)
{
    return m->numerics.norm_place == PP_NORM_PARALLEL;
}

/* Adds a kernel that moves `passes` times `values` in the width of activations. */
static void add_moving(struct pp_layer_kernels *list, const char *name, double values,
                       double passes)
{
    PP_LAYER_TRAFFIC(list, values, name, {1, 0, 0}, {passes, 0, 0});
}

/* ---- products -------------------------------------------------------------------------------- */

static void add_matrix(struct pp_layer_kernels *list, const char *name, double tokens, double k,
                       double n)
{
    PP_LAYER_MATRIX(list, .name = name, .tokens = tokens, .k = k, .n = n);
}

/* ---- attention ------------------------------------------------------------------------------- */

struct widths {
    double heads, queries, kv; /* of one device: heads; values of queries, of keys or values */
    double out;                /* values of the output */
};

static struct widths widths_of(const struct pp_cost_inputs *in)
{
    const struct pp_model *m = in->model;
    const double tp = in->layout.tp, heads = m->heads / tp;
    const bool is_latent = m->latent.kv_rank > 0;

    return (struct widths){.heads = heads,
                           .queries = heads * m->head_dim,
                           .kv = fmax(m->kv_heads / tp, 1) * m->head_dim,
                           .out = heads * (is_latent ? m->latent.value_dim : m->head_dim)};
}

static void add_qkv(const struct pp_pass_work *work, struct pp_layer_kernels *list)
{
    const struct pp_model *m = &work->model;
    const struct widths w = widths_of(&work->in);
    const double n = w.queries + 2 * w.kv;

    add_matrix(list, "qkv", work->tokens, m->hidden, n * list->scale);
    if (m->has_qk_norm)
        add_moving(list, "head norms", work->tokens * (w.queries + w.kv), 2);
    add_moving(list, "bias, rotary, append", work->tokens * n, 2);
}

/* Narrow vectors of latent attention. Keys and values of all heads are made of them in pass 0.
 * Later passes multiply queries and outputs instead (DeepSeek-AI 2024, DeepSeek-V2, section 2.1.2:
 * the matrices are absorbed), head by head. */
static void add_latent(const struct pp_pass_work *work, struct pp_layer_kernels *list)
{
    const struct pp_model *m = &work->model;
    const struct pp_latent *l = &m->latent;
    const struct widths w = widths_of(&work->in);
    const double t = work->tokens, plain = m->head_dim - l->rope_dim;

    if (l->q_rank > 0) {
        add_matrix(list, "queries down", t, m->hidden, l->q_rank);
        add_moving(list, "latent norm", t * l->q_rank, 2);
    }
    add_matrix(list, "queries", t, l->q_rank > 0 ? l->q_rank : m->hidden, w.queries);
    add_matrix(list, "keys, values down", t, m->hidden, l->kv_rank + l->rope_dim);
    add_moving(list, "latent norm", t * l->kv_rank, 2);
    add_moving(list, "rotary, append", t * ((w.heads + 1) * l->rope_dim + l->kv_rank), 2);
    if (work->pass == 0)
        add_matrix(list, "keys, values", t, l->kv_rank, w.heads * (plain + l->value_dim));
    else
        pp_pass_add_grouped(list, "queries absorbed", t, plain, l->kv_rank, w.heads);
}

void pp_pass_add_cached(const struct pp_pass_work *work, double keys, struct pp_layer_kernels *list)
{
    const struct pp_latent *l = &work->model.latent;
    const struct pp_device *device = &work->in.cluster->device;
    const struct widths w = widths_of(&work->in);
    const bool is_latent = l->kv_rank > 0;
    const double met = work->sequences * keys,
                 width = is_latent ? w.heads * (2 * l->kv_rank + l->rope_dim) : w.queries + w.out,
                 moved = is_latent ? width : 2 * w.queries;

    pp_layer_add(list, (struct pp_kernel){
                           .name = "attention",
                           .kind = PP_KERNEL_ATTENTION,
                           .precision = pp_layer_precision(list, true),
                           .modules = PP_AGAIN_CORE,
                           .launches = 1,
                           .flops = 2 * met * width,
                           .bytes = met * pp_kv_block_bytes(&work->in) +
                                    work->tokens * moved * list->value_bytes,
                           .eta = device->attention_eta,
                           .blocks = device->multiprocessors, /* keys are divided, too */
                       });
}

/* ---- block ----------------------------------------------------------------------------------- */

/* Marks what stands between the projections in pass 0 as attention. */
static void add_prompt_attention(const struct pp_pass_work *work, bool is_near,
                                 struct pp_layer_kernels *list)
{
    const int first = list->count;

    list->work = (is_near ? pp_analytic_near_work : pp_analytic_work)(&work->in, 0);
    list->work.tokens = work->tokens;
    pp_layer_add_attention_core(list);
    pp_layer_mark(list, first, PP_AGAIN_CORE);
}

static void add_attention(const struct pp_pass_work *work, bool is_near,
                          struct pp_layer_kernels *list)
{
    const struct pp_model *m = &work->model;
    const struct pp_latent *l = &m->latent;
    const struct widths w = widths_of(&work->in);
    const bool is_latent = l->kv_rank > 0;

    pp_layer_add_norm(list);
    (is_latent ? add_latent : add_qkv)(work, list);
    if (work->pass == 0)
        add_prompt_attention(work, is_near, list);
    else if (is_latent)
        pp_pass_add_grouped(list, "values", work->tokens, l->kv_rank, l->value_dim, w.heads);
    add_matrix(list, "projection", work->tokens, w.out, m->hidden * list->scale);
}

/* Adds the kernels between the halves of a block. Norms of outputs are kernels of their own. */
static void add_between(const struct pp_pass_work *work, struct pp_layer_kernels *list)
{
    const struct pp_model *m = &work->model;

    if (m->norms_per_layer > 2)
        pp_layer_add_norm(list);
    if (!is_parallel(m))
        add_moving(list, "bias, residual, norm", work->tokens * m->hidden, 4);
}

static void add_block(const struct pp_pass_work *work, enum pp_layer_kind kind, bool is_near,
                      struct pp_layer_kernels *list)
{
    const struct pp_model *m = &work->model;

    add_attention(work, is_near, list);
    add_between(work, list);
    if (kind == PP_LAYER_MOE)
        pp_pass_add_experts(work, list);
    else
        pp_pass_add_mlp(list, work->tokens, m->ffn / (double)work->in.layout.tp, 1);
    if (m->norms_per_layer > 2)
        pp_layer_add_norm(list);
    add_moving(list, "residual", work->tokens * m->hidden, 3);
}

/* ---- both ends ------------------------------------------------------------------------------- */

static void add_embedding(const struct pp_pass_work *work, struct pp_layer_kernels *list)
{
    const struct pp_model *m = &work->model;

    if (m->patch > 0)
        add_matrix(list, "patches", work->tokens, m->patch, m->hidden / (double)work->in.layout.tp);
    add_moving(list, "embedding", work->tokens * m->hidden, m->positions > 0 ? 3 : 2);
}

/* Adds the choice of the next token of each sequence. Top-p sorts probabilities of the whole
 * vocabulary on every device, as cub does (DeviceSegmentedRadixSort, which
 * FasterTransformer's invokeTopPSampling calls):
 *   softmax  maximum (4), sum of exponentials (4), quotient (8)
 *   sort     numbers of tokens (4); 6 digits of 6 bits: counts (4), pairs read and written (16)
 *   choice   sum of sorted probabilities (4), the token (4) */
static void add_sampling(const struct pp_pass_work *work, struct pp_layer_kernels *list)
{
    static const struct {
        int launches;
        double bytes;
        bool is_whole;
    } HOW[] = {[PP_SAMPLE_GREEDY] = {4, 6, false},
               [PP_SAMPLE_TOP_P] = {4 + 1 + 1 + 6 + 1, 6 + 16 + 4 + 6 * (4 + 16) + 8, true}};
    const int how = work->generation->sampling;
    const double rows = work->model.vocab / (HOW[how].is_whole ? 1.0 : work->in.layout.tp);

    PP_LAYER_TRAFFIC(list, work->sequences * ceil(rows), "sampling", {HOW[how].launches, 0, 0},
                     .bytes = {HOW[how].bytes, 0, 0});
}

/* Adds the head for one token of each sequence, and the choice of the next one. */
static void add_head(const struct pp_pass_work *work, struct pp_layer_kernels *list)
{
    const struct pp_model *m = &work->model;
    const double tp = work->in.layout.tp, rows = ceil(m->vocab / tp);

    list->whole_tokens = work->sequences;
    if (m->has_final_norm || m->has_mlm_head)
        pp_layer_add_norm(list);
    if (m->has_mlm_head)
        add_matrix(list, "transform", work->sequences, m->hidden, m->hidden / tp);
    PP_LAYER_MATRIX(list, .name = "logits", .tokens = work->sequences, .k = m->hidden, .n = rows,
                    .is_wide = true);
    add_sampling(work, list);
}

void pp_pass_layer(const struct pp_pass_work *work, enum pp_layer_kind kind, bool is_near,
                   struct pp_layer_kernels *list)
{
    const struct pp_layer_work all = {.tokens = work->tokens};

    pp_layer_open(&work->in, all, PP_PASS_F, list);
    list->weight_bytes = pp_cost_weight_bytes(&work->in);
    if (kind == PP_LAYER_EMBEDDING)
        add_embedding(work, list);
    else if (kind == PP_LAYER_HEAD)
        add_head(work, list);
    else
        add_block(work, kind, is_near, list);
}
