/* core/cost/layers/layers.h — a layer as the list of its kernels on one device in one pass.
 * Formulas and where they come from: docs/costs.md, "Time of compute". */
#pragma once

#include "core/cost/inputs.h"
#include "core/cost/kernel.h"
#include "core/cost/terms.h"

/* What one device works on in one op. */
struct pp_layer_work {
    double tokens;  /* of all samples of the micro-batch: batch * seq / (cp * splits) */
    double context; /* keys each query multiplies with, on average */
    bool is_near;   /* they are the near ones of a window: its far edge is computed whole, too */
};

/* A layer's share of F, of I (input gradient), of W (weight gradient). A recomputation is an F. */
enum pp_pass { PP_PASS_F, PP_PASS_I, PP_PASS_W, PP_PASSES };

enum { PP_LAYER_KERNELS_MAX = 64 };

/* The list while it is built, with what all kernels of the layer need to know. */
struct pp_layer_kernels {
    const struct pp_cost_inputs *in;
    struct pp_layer_work work;
    enum pp_pass pass;
    double value_bytes;  /* of parameters and activations */
    double grad_bytes;   /* of a weight gradient that is added up over micro-batches */
    double whole_tokens; /* tokens between the matrices: 1 / tp of them with sequence parallelism */
    double scale;        /* of the matrices: --params */
    struct pp_kernel kernel[PP_LAYER_KERNELS_MAX];
    int count;
};

/* All kernels of one layer in one pass. */
void pp_layer_kernels(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                      struct pp_layer_work work, enum pp_pass pass, struct pp_layer_kernels *list);

/* The work of the experts of a block on one device. */
struct pp_expert_work {
    double sent;    /* copies of tokens that leave the device for experts */
    double experts; /* held */
    double tokens;  /* of each of them */
    double ffn;     /* width of one on this device */
};
struct pp_expert_work pp_layer_expert_work(const struct pp_cost_inputs *in,
                                           struct pp_layer_work work);
/* ---- for the files that describe layers ---------------------------------------------------- */

/* A matrix of k x n parameters that `tokens` tokens are multiplied with: a product in each pass.
 * The weight gradient is added to what is there; `has_bias` adds a sum over the tokens. */
struct pp_layer_matrix {
    const char *name;
    double tokens, k, n;
    bool has_bias;
    bool is_wide;                   /* in 16 bits where the others are narrow */
    bool is_cast_before[PP_PASSES]; /* F: the input, I: the gradient comes in fp8 */
    double count;      /* matrices of that shape side by side (experts), a launch each; 0 = 1 */
    double again_frac; /* share that PyTorch's selective recomputation, which keeps every other
                        * product, computes again */
};
void pp_layer_add_matrix(struct pp_layer_kernels *list, struct pp_layer_matrix matrix);
#define PP_LAYER_MATRIX(list, ...) /* its fields, by name */                                       \
    pp_layer_add_matrix((list), (struct pp_layer_matrix){__VA_ARGS__})

/* Kernels that only move bytes. In F, I and W each of `values` is read or written that often in the
 * training precision. `bytes` are those of other formats. */
struct pp_layer_traffic {
    const char *name;
    int launches[PP_PASSES];
    double passes[PP_PASSES], bytes[PP_PASSES];
};
void pp_layer_add_traffic(struct pp_layer_kernels *list, double values,
                          struct pp_layer_traffic traffic);
#define PP_LAYER_TRAFFIC(list, values, ...) /* its fields, in order */                             \
    pp_layer_add_traffic((list), (values), (struct pp_layer_traffic){__VA_ARGS__})
/* A kernel as it is, in this pass. */
void pp_layer_add(struct pp_layer_kernels *list, struct pp_kernel kernel);

/* Of a product: `is_wide` is in 16 bits where the others are narrow. */
enum pp_precision pp_layer_precision(const struct pp_layer_kernels *list, bool is_wide);
/* Those from `first` on belong to a module of enum pp_again, too. */
void pp_layer_mark(struct pp_layer_kernels *list, int first, unsigned module);

void pp_layer_add_norm(struct pp_layer_kernels *list);
/* gelu or gated product of so many values. */
void pp_layer_add_activation(struct pp_layer_kernels *list, double values);
/* Everything between the qkv matrix and the projection. */
void pp_layer_add_attention(struct pp_layer_kernels *list);
/* A mixture of experts, in place of the dense feed-forward matrices. */
void pp_layer_add_experts(struct pp_layer_kernels *list);
