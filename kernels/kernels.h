/* kernels/kernels.h — operations of a device on tensors: one table of functions per element type
 * and device. Kernels know tensors, not ops, layers or pipelines.
 *
 * A table has two element types. T: activations, their gradients, and weights as layers read them.
 * G: gradients of weights, optimizer state, statistics. G is T, but float if T is bfloat16. Tensors
 * are dense, row-major, of T unless a parameter says otherwise; leading dimensions count elements.
 * `stream` is the queue of the work. On a CPU it is NULL and every function has finished when it
 * returns. No function allocates: scratch comes from the caller. Every function is a pure function
 * of its arguments, to the bit. The same shapes and values give the same result on any thread, in
 * any order.
 *
 * Work may run after it is enqueued. Structs and arrays of pointers are read at the call, their
 * tensors when the work runs. `ids`, `targets`, `loss`, `step`, the blocks of `squares` and
 * `status` are in memory that device and host both read.
 *
 * Weight gradients (parameters named d..., of G) are written, or added to when `add` is set. */
#pragma once

#include "core/arena.h"
#include "core/error.h"
#include "kernels/angles.h"
#include "kernels/cached.h"
#include "kernels/packed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Activation functions: GELU in its tanh form (Hendrycks and Gimpel 2016) and by erf, ReLU, and
 * SiLU, x sigmoid(x). */
enum pp_activation { PP_GELU_TANH, PP_GELU_ERF, PP_RELU, PP_SILU, PP_ACTIVATIONS };

/* c [m][n] = (base + op(a) op(b)) + bias. op(a) is [m][k], stored [k][m] when a_transposed; op(b)
 * is [k][n], stored [n][k] when b_transposed. All [m][n] tensors have the leading dimension ldc. In
 * use are {bias, base}, {bias, activated}, {slope_of}, {base, is_gradient}, and parts of them. */
struct pp_gemm {
    int m, n, k;
    bool a_transposed, b_transposed;
    bool is_gradient; /* c and base are of G */
    bool is_few;      /* grouped_gemm: few rows of an expert go to gemm_few */
    const void *a, *b;
    void *c;
    int lda, ldb, ldc;
    const void *base;              /* [m][n], may be c; NULL = none */
    const void *bias;              /* [n], added to every row; NULL = none */
    enum pp_activation activation; /* f of the next two */
    void *activated;               /* [m][n]: f(c), while c is the input of f; NULL = none */
    const void *slope_of; /* [m][n], not c: c = (op(a) op(b)) * f'(slope_of); NULL = none */
};

/* Rows for which gemm_few is meant. */
enum { PP_FEW_ROWS = 8 };

/* LayerNorm (Ba et al. 2016), or RMSNorm if is_rms (Zhang and Sennrich 2019): no mean, no bias. */
struct pp_norm {
    int rows, width;
    int group, stride; /* 0: rows are dense. Else rows of x, y, dy, base and dx lie in groups, each
                        * at a multiple of `stride` elements: heads of a token */
    bool is_rms;
    double epsilon;
    const void *x, *gamma, *beta; /* beta NULL = none */
    void *y;                      /* forward: [rows][width] */
    void *stats;                  /* [rows][2] of G: mean (0 when is_rms), 1 / deviation */
    /* backward; also reads x, gamma, stats */
    const void *dy, *base; /* base [rows][width], may be dx; NULL = 0. dy may be dx without base */
    void *dx;              /* = base + the gradient */
    void *dgamma, *dbeta;  /* [width] of G; dbeta NULL = none */
    void *dx_sum; /* [width] of G: sum over rows of dx, with the bits of sum_rows; NULL = none */
    void *dgamma_added, *dbeta_added, *dx_added; /* like them: they are added to it; NULL = none */
};

/* Rotation of the pairs (i, i + dim / 2) of the first `heads` heads of each token (Su et al. 2021;
 * the layout of LLaMA). x [batch * tokens][stride], token t of a sequence at position first + t.
 * Inverse: rotate back. */
struct pp_rotation {
    int batch, tokens, heads, head_dim, stride, first;
    struct pp_angles angles;
    bool is_inverse;
};

/* Attention of the tokens of one sequence split to those of all splits up to it. It is causal,
 * unless it is full: then every query meets all keys of the split, which is the whole sequence.
 * With a window, a causal query meets its own key and those before it, `window` in total. qkv[j],
 * j = 0 .. split: [batch * tokens][(heads + 2 kv_heads) * head_dim], per token all queries, then
 * keys, then values. Query head h reads key head h / (heads / kv_heads). Scores are scaled by
 * 1 / sqrt(head_dim). */
struct pp_attention {
    int batch, tokens, heads, kv_heads, head_dim, split; /* tokens: of one split */
    int window;                                          /* 0 = none */
    bool is_full;
    const void *const *qkv;
    void *out;     /* [batch * tokens][heads * head_dim] */
    void *lse;     /* [batch][heads][tokens] of G: log of the sum of exp of a row of scores */
    void *scratch; /* attention_scratch_bytes */
    /* backward; also reads qkv, out, lse */
    const void *dout;
    void *const *dqkv; /* like qkv: queries' part of `split` is written, keys' and values' parts of
                        * all are written, or added to when `add` is set */
    bool add;
};

/* The choice of experts for each token (Shazeer et al. 2017): softmax over the logits of all
 * experts, and the `top_k` largest; of equal ones, those of smaller index. Rows are copies of
 * tokens in the order of experts, those of one expert in the order of tokens. With a capacity, an
 * expert takes no more than the first `capacity` choices of a sample; others have no row. */
struct pp_routing {
    int batch, tokens, experts, top_k; /* tokens: of one split of a sample */
    int rows;                          /* the most that there can be */
    int capacity;                      /* 0 = no limit */
    int first_expert, held;            /* choices of other experts have no row; held 0 = all have */
    bool is_normalized;    /* the gates of a token add up to 1; else probabilities of all do */
    const void *logits;    /* [batch * tokens][experts] */
    void *gates;           /* [batch * tokens][top_k] of G: weights of the choices */
    int32_t *expert, *row; /* [batch * tokens][top_k]: of each choice; row -1 = none */
    int32_t *from;         /* [rows] choice of a row, token * top_k + k; -1 = not in use */
    int32_t *begin;        /* [experts + 1] first row of each expert, and their number */
    const int32_t *before; /* [batch][experts] choices in earlier splits; NULL = 0 */
    int32_t *so_far;       /* likewise, with this split; NULL without capacity */
    const void *dgates;    /* backward: of G; also reads logits, gates, expert */
    void *dlogits;         /* may be logits */
};

/* The loss of balance of experts (Fedus et al. 2021, section 2.2): a factor times the sum over
 * experts of choices times probabilities. As in transformers, both are those of all mixtures of a
 * model and all their tokens. */
struct pp_balance {
    int tokens, experts, top_k; /* routed here */
    size_t element_bytes, gradient_bytes;
    const void *logits;    /* [tokens][experts] */
    const int32_t *expert; /* [tokens][top_k] */
    /* [2][experts] of double: choices, and probabilities; begins at any multiple of 4 bytes */
    void *sums;
    double factor; /* of the loss, or of its gradient */
};

/* Rows of experts, one after the other: sender by sender, then by expert. An expert has those from
 * begin[sender * stride + expert] to the next entry, counted from the sender's first entry. */
struct pp_row_groups {
    int senders, experts, stride;
    int rows; /* the most that there can be */
    const int32_t *begin;
};
/* Experts of one sender. */
struct pp_group_range {
    int sender, from, until;
};

/* Rows that device `index` gets from all `devices` that share experts, device by device. `begins`
 * is that of the routing of each device, [devices][stride], from the first of these experts on. */
struct pp_row_exchange {
    bool is_back;                /* to where their tokens are; else to where their experts are */
    int devices, index, experts; /* experts: of each */
    const int32_t *begins;
    int stride;
    size_t row_bytes;
    int rows; /* of `to`; those after the last become 0 */
    const void *const *from;
    bool is_packed; /* `from` begin with the rows for this device */
    int slot_rows;  /* pack_rows: rows of a slot */
    void *to;
    double *moved_bytes; /* += bytes from other devices; NULL = not wanted */
};

/* Rows from tokens and tokens from rows, of `width`. */
struct pp_token_exchange {
    const struct pp_routing *routing; /* expert, row, from, begin and gates are read */
    int width;
    const void *x, *dy, *base; /* base of tokens; NULL = 0 */
    void *y, *dx, *dgates;     /* dgates [batch * tokens][top_k] of G */
};

/* Tokens in columns first .. first + tokens - 1 of ids [batch][stride]. The table has a row for
 * each of `words` ids from first_word on. Other ids have rows of zeros, and no gradient. */
struct pp_embedding {
    int batch, tokens, first, stride, width;
    int first_word, words;
    const int32_t *ids;
    const void *table,
        *positions; /* y [batch * tokens][width] = table[id] + positions[first + t] */
    void *y;        /* positions NULL = none */
    const void *dy;
    void *dtable, *dpositions; /* [words][width], [stride][width] of G; NULL = none */
    bool add;
};

/* Cross entropy of logits whose words several devices share (Shoeybi et al. 2019, section 3). Rows
 * of x [batch * tokens][ld] begin with the logits of `words` ids from first_word on. `max` and
 * `sums` are those of the words here, until the devices have put them together. */
struct pp_entropy {
    int batch, tokens, first, stride; /* of targets, as of ids above */
    int first_word, words, ld;
    const int32_t *targets;
    double scale;
    void *x;
    void *max;  /* [batch * tokens] of G: the largest logit */
    void *sums; /* [batch * tokens][2] of G: the sum of exp(x - max); the target's logit, or 0 */
    double *loss;
};

/* Tensors of a flat vector. Each begins at a multiple of PP_FLAT_UNIT elements; gaps are zero.
 * Those of experts follow one another without gaps, also elsewhere. */
enum { PP_FLAT_UNIT = 16 };
struct pp_flat_tensor {
    int64_t from, until;
    bool decays;
};

/* Elements from .. until - 1 of a flat vector, and their gradients: `grad` of G, or `fixed` of
 * int64 with `bits` binary places. All vectors here begin with element `from`, a multiple of
 * PP_FLAT_UNIT. */
struct pp_flat {
    const struct pp_flat_tensor *tensors; /* all tensors of the vector, in order */
    int tensor_count;
    int64_t from, until;
    void *grad;
    int64_t *fixed;
    int bits;
    bool keeps_grad; /* adamw of the CPU does not zero what it has read */
};

/* AdamW (Loshchilov and Hutter 2019). Decay is decoupled, and only for the tensors that decay.
 * epsilon is more than 0, so that zeros between tensors stay zero. */
struct pp_adamw {
    double beta1, beta2, epsilon, decay;
};
/* Numbers that differ in every step. */
struct pp_adamw_step {
    double rate, correction1, correction2; /* 1 - beta^t */
    double grad_scale;
};

enum { PP_SQUARES_BLOCK = 4096 };
enum pp_fixed_status { PP_FIXED_OK = 0, PP_FIXED_NOT_FINITE = 1, PP_FIXED_OVERFLOW = 2 };

/* Parts that a table may lack, as bits: activation functions other than GELU in its tanh form and
 * SwiGLU, `scale`, norms in groups, windows. Encoders need full attention, targets that do
 * not count, add_bias, and activations apart from gemm. */
enum pp_kernels_lacks {
    PP_LACKS_ACTIVATIONS = 1,
    PP_LACKS_SCALE = 2,
    PP_LACKS_HEAD_NORMS = 4,
    PP_LACKS_WINDOWS = 8,
    PP_LACKS_ENCODERS = 16
};

/* Keys that a query meets, counted over all splits; `query` counts in its own. */
struct pp_keys {
    int from, until;
};
static inline struct pp_keys pp_keys_met(const struct pp_attention *a, int query)
{
    const int own = a->split * a->tokens + query,
              before = a->window > 0 && a->window <= own ? own + 1 - a->window : 0;

    return a->is_full ? (struct pp_keys){0, a->tokens} : (struct pp_keys){before, own + 1};
}

/* Returns the rows in use of all senders, where the host may read their bounds. */
static inline int pp_row_groups_rows(const struct pp_row_groups *g)
{
    int rows = 0;

    for (int s = 0; s < g->senders; s++)
        rows += g->begin[s * g->stride + g->experts] - g->begin[s * g->stride];
    return rows;
}

/* Returns the first element of a row. */
static inline size_t pp_norm_row(const struct pp_norm *n, size_t row)
{
    const size_t group = (size_t)n->group, width = (size_t)n->width;

    return group > 0 ? row / group * (size_t)n->stride + row % group * width : row * width;
}

/* Returns the row of an id in the table, or of a target among the logits; -1 = it is elsewhere. */
static inline int pp_word_row(int32_t id, int first_word, int words)
{
    return id >= first_word && id - first_word < words ? id - first_word : -1;
}

struct pp_kernels {
    const char *name;               /* "fp32", "reference" */
    bool is_immediate;              /* the host may read what a function wrote when it returns */
    size_t element_bytes;           /* sizeof(T) */
    size_t gradient_bytes;          /* sizeof(G) */
    unsigned lacks;                 /* of enum pp_kernels_lacks */
    bool has_fast_epilogue;         /* `activated` of gemm may differ from activate_forward */
    int head_dim_limit;             /* largest head_dim of attention; 0: any */
    int vocab_multiple;             /* gemm is fast if the padded vocabulary is a multiple of it */
    const char *(*about)(void);     /* libraries and instruction sets in use, one line */
    const char *(*attention)(void); /* what has computed attention so far; NULL: own kernels */

    void (*gemm)(void *stream, const struct pp_gemm *g);
    /* x [rows][width] += bias [width] */
    void (*add_bias)(void *stream, int rows, int width, const void *bias, void *x);
    /* dbias [width] of G = sum over rows of dy */
    void (*sum_rows)(void *stream, int rows, int width, const void *dy, void *dbias, bool add);

    void (*norm_forward)(void *stream, const struct pp_norm *n);
    void (*norm_backward)(void *stream, const struct pp_norm *n);

    /* y = f(x). dx = dy * f'(x); dx may be x or dy. */
    void (*activate_forward)(void *stream, enum pp_activation f, int64_t count, const void *x,
                             void *y);
    void (*activate_backward)(void *stream, enum pp_activation f, int64_t count, const void *x,
                              const void *dy, void *dx);
    /* x [rows][2 width]: gate, then value. y [rows][width] = f(gate) * value. dx may be x. */
    void (*gate_forward)(void *stream, enum pp_activation f, int rows, int width, const void *x,
                         void *y);
    void (*gate_backward)(void *stream, enum pp_activation f, int rows, int width, const void *x,
                          const void *dy, void *dx);

    void (*rotate)(void *stream, const struct pp_rotation *r, void *x);
    size_t (*attention_scratch_bytes)(const struct pp_attention *a);
    void (*attention_forward)(void *stream, const struct pp_attention *a);
    void (*attention_backward)(void *stream, const struct pp_attention *a);

    /* For a token at a time (kernels/cached.h). gemm_few is a gemm of a few rows of a, and columns
     * of b: b_transposed, not a_transposed, no gradient. It reads b at the speed of memory if m is
     * at most PP_FEW_ROWS. On a CPU, a row of c has the same bits for every m. They may differ from
     * those of gemm. */
    void (*gemm_few)(void *stream, const struct pp_gemm *g);
    void (*cache_append)(void *stream, const struct pp_cache_append *a);
    size_t (*attention_cached_scratch_bytes)(const struct pp_attention_cached *a);
    void (*attention_cached)(void *stream, const struct pp_attention_cached *a);

    void (*embed_forward)(void *stream, const struct pp_embedding *e);
    void (*embed_backward)(void *stream, const struct pp_embedding *e);
    /* Softmax and cross entropy, fused. x [batch * tokens][ld] has logits in the first `vocab`
     * columns, and becomes (softmax - one-hot) * scale. Later columns become 0. loss
     * [batch * tokens] (double): -ln p(target). targets [batch][stride], columns first .. Rows
     * whose target is negative do not count: they and their loss become 0. */
    void (*cross_entropy)(void *stream, int batch, int tokens, int first, int stride, int vocab,
                          int ld, const int32_t *targets, double scale, void *x, double *loss);
    /* The same in three steps: max; sums, which may leave anything in x; then gradient and
     * loss. */
    void (*entropy_max)(void *stream, const struct pp_entropy *e);
    void (*entropy_sums)(void *stream, const struct pp_entropy *e);
    void (*entropy_end)(void *stream, const struct pp_entropy *e);

    /* From a tensor x [count] to its form at rest in 8, 4 or 2 bits a value, and back. It has
     * pp_packed_bytes bytes (kernels/packed.h), and begins at a multiple of 4 bytes. */
    void (*quantise)(void *stream, int bits, int64_t count, const void *x, void *packed);
    void (*restore)(void *stream, int bits, int64_t count, const void *packed, void *x);

    /* x *= factor */
    void (*scale)(void *stream, int64_t count, double factor, void *x);

    /* Experts. dispatch: y [row] = x [token], and 0 in rows that are not in
     * use. Backward, dx = base + the sum of a token's rows of dy. combine: y = base + the sum of
     * gate * x [row]. Backward, dx [row] = gate * dy, which may be x. Then dgates = x . dy, 0 for
     * choices without a row. */
    void (*route_forward)(void *stream, const struct pp_routing *r);
    void (*route_backward)(void *stream, const struct pp_routing *r);
    /* Adds the rows of each expert to counts [experts], and choices without a row to the next
     * number. The last is for rows of other experts than from .. until - 1. */
    void (*route_count)(void *stream, const struct pp_routing *r, int from, int until,
                        double *counts);
    void (*dispatch_forward)(void *stream, const struct pp_token_exchange *e);
    void (*dispatch_backward)(void *stream, const struct pp_token_exchange *e);
    void (*combine_forward)(void *stream, const struct pp_token_exchange *e);
    void (*combine_backward)(void *stream, const struct pp_token_exchange *e);
    /* NULL if the table is immediate: then the host copies rows. */
    void (*exchange_rows)(void *stream, const struct pp_row_exchange *e);
    /* Copies rows of from[0], which is this device's, to `to` [devices][slot_rows]. Slot d begins
     * with the rows that device d gets. The rest of a slot stays. */
    void (*pack_rows)(void *stream, const struct pp_row_exchange *e);
    /* The same on the rows of each expert. `k` is this table. `g` is of all
     * rows, whose number it does not say. `b`, bias and gradients have a part for each expert.
     * gemm: c and `activated` become 0 in rows that are not in use. The others do the experts of a
     * range: c = base + transposed(a) b, and sums over rows. c and dbias begin with those of the
     * first. */
    void (*grouped_gemm)(const struct pp_kernels *k, void *stream,
                         const struct pp_row_groups *groups, const struct pp_gemm *g);
    void (*grouped_weight_grad)(const struct pp_kernels *k, void *stream,
                                const struct pp_row_groups *groups, struct pp_group_range range,
                                const struct pp_gemm *g);
    void (*grouped_sum_rows)(const struct pp_kernels *k, void *stream,
                             const struct pp_row_groups *groups, struct pp_group_range range,
                             int width, const void *dy, void *dbias, bool add);

    /* Loss of balance. balance_sums adds tokens to `sums`. The others need
     * the sums of all mixtures. balance_grad makes grad [tokens][experts] of G, and balance_add
     * adds it to x of T. balance_loss adds the loss to each of `count` numbers. */
    void (*balance_sums)(void *stream, const struct pp_balance *b);
    void (*balance_grad)(void *stream, const struct pp_balance *b, void *grad);
    void (*balance_add)(void *stream, const struct pp_balance *b, const void *grad, void *x);
    void (*balance_loss)(void *stream, const struct pp_balance *b, int64_t count, double *loss);

    /* y = x[0] + x[1] + ... of `parts` vectors, in order, rounded once or after some; y is none of
     * them. Likewise of G: the sum, and the largest. */
    void (*sum)(void *stream, int64_t count, int parts, const void *const *x, void *y);
    void (*sum_of_g)(void *stream, int64_t count, int parts, const void *const *x, void *y);
    void (*max_of_g)(void *stream, int64_t count, int parts, const void *const *x, void *y);
    void (*copy)(void *stream, size_t bytes, const void *from, void *to);
    void (*zero)(void *stream, size_t bytes, void *x);
    void (*add)(void *stream, int64_t count, const void *x, void *y); /* y += x, of G */

    /* One step of the range, whose gradients become 0. `master`: the weights in G; then weights =
     * round(master). NULL if T is G: then there are only weights. *step is read when the work runs.
     */
    void (*adamw)(void *stream, const struct pp_flat *flat, const struct pp_adamw *adamw,
                  const struct pp_adamw_step *step, void *weights, void *master, void *m, void *v);
    /* Sums of squares of the gradients in double, in order. A tensor is cut into blocks of
     * PP_SQUARES_BLOCK elements from its begin. Blocks that begin in the range are summed to their
     * end, and written one after the other. */
    void (*squares)(void *stream, const struct pp_flat *flat, double *blocks);
    /* x of G. sum += round(x * 2^bits), int64. A value that is not finite or does not fit sets
     * *status (enum pp_fixed_status), which is never cleared here. */
    void (*fixed_add)(void *stream, int64_t count, const void *x, int bits, int64_t *sum,
                      int *status);
    void (*fixed_merge)(void *stream, int64_t count, const int64_t *x, int64_t *sum, int *status);
    /* Sets *status if a sum of x and `copies` - 1 vectors like it might overflow. */
    void (*fixed_fits)(void *stream, int64_t count, const int64_t *x, int copies, int *status);
};

/* Double precision, plain loops: the reference of all other tables. */
extern const struct pp_kernels pp_kernels_reference;
/* Mixed precision: T bfloat16, G float. Plain loops; results are rounded once, from double. */
extern const struct pp_kernels pp_kernels_bf16;
/* Single precision: own vector code, chosen for this CPU on the first call (thread-safe). Never
 * fails. OpenBLAS, if present, does multiplications beyond 2^27 products; if the first call has
 * `pinned`, with the core type of every AVX2 machine. All else has the same bits on all of them. */
const struct pp_kernels *pp_kernels_fp32(bool pinned);
