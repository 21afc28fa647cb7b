/* core/cost/layers/layers.h — a layer as the list of its kernels on one device in one pass.
 * Formulas with sources: docs/costs.md, "Time of compute". */
#pragma once

#include "core/cost/inputs.h"
#include "core/cost/kernel.h"
#include "core/cost/terms.h"

/* Work of one device in one op. */
struct pp_layer_work {
    double tokens;  /* of all samples of the micro-batch: batch * seq / (cp * splits) */
    double context; /* keys that each query multiplies with, on average */
    bool is_near;   /* the keys are those of a window, whose far edge is computed whole, too */
};

/* A layer's share of F, of I (input gradient), of W (weight gradient). Recomputation is an F. */
enum pp_pass { PP_PASS_F, PP_PASS_I, PP_PASS_W, PP_PASSES };

enum { PP_LAYER_KERNELS_MAX = 64 };

/* A growing list of kernels, with the values that all of them need. */
struct pp_layer_kernels {
    const struct pp_cost_inputs *in;
    struct pp_layer_work work;
    enum pp_pass pass;
    double value_bytes;  /* of parameters and activations */
    double weight_bytes; /* of a parameter that a forward reads; 0 = as the operands of a product */
    double grad_bytes;   /* of a weight gradient in its sum over micro-batches */
    double whole_tokens; /* tokens between the matrices: 1 / tp of them with sequence parallelism */
    double scale;        /* factor of --params on the matrices */
    struct pp_kernel kernel[PP_LAYER_KERNELS_MAX];
    int count;
};

/* Opens an empty list. */
void pp_layer_open(const struct pp_cost_inputs *in, struct pp_layer_work work, enum pp_pass pass,
                   struct pp_layer_kernels *list);
void pp_layer_kernels(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                      struct pp_layer_work work, enum pp_pass pass, struct pp_layer_kernels *list);

/* Work of the experts of a block on one device. */
struct pp_expert_work {
    double sent;    /* copies of tokens that leave the device for experts */
    double experts; /* experts on the device */
    double tokens;  /* of each expert */
    double ffn;     /* width of an expert on this device */
};
struct pp_expert_work pp_layer_expert_work(const struct pp_cost_inputs *in,
                                           struct pp_layer_work work);
/* Returns the number of devices that exchange tokens: all that hold different experts; without
 * sequence parallelism, replicas that do. */
int pp_layer_expert_peers(const struct pp_cost_inputs *in);

/* A matrix of k x n parameters for `tokens` tokens: one product in each pass. The weight gradient
 * is added to its sum; `has_bias` adds a sum over the tokens. */
struct pp_layer_matrix {
    const char *name;
    double tokens, k, n;
    bool has_bias;
    bool is_wide;                   /* in 16 bits if the others are narrow */
    bool is_cast_before[PP_PASSES]; /* F: the input, I: the gradient arrives in fp8 */
    double count;                   /* equal matrices (experts), a launch each; 0 = 1 */
    double again_frac;              /* share that PyTorch repeats if every other product is kept */
};
void pp_layer_add_matrix(struct pp_layer_kernels *list, struct pp_layer_matrix matrix);
#define PP_LAYER_MATRIX(list, ...) /* its fields, by name */                                       \
    pp_layer_add_matrix((list), (struct pp_layer_matrix){__VA_ARGS__})

/* Kernels that only move bytes. `passes`: how often F, I and W read or write each of `values` in
 * the training precision. `bytes`: those of other formats. */
struct pp_layer_traffic {
    const char *name;
    int launches[PP_PASSES];
    double passes[PP_PASSES], bytes[PP_PASSES];
};
void pp_layer_add_traffic(struct pp_layer_kernels *list, double values,
                          struct pp_layer_traffic traffic);
#define PP_LAYER_TRAFFIC(list, values, ...) /* its fields, in order */                             \
    pp_layer_add_traffic((list), (values), (struct pp_layer_traffic){__VA_ARGS__})
void pp_layer_add(struct pp_layer_kernels *list, struct pp_kernel kernel);

/* Returns the precision of a product; `is_wide` is in 16 bits if the others are narrow. */
enum pp_precision pp_layer_precision(const struct pp_layer_kernels *list, bool is_wide);
/* Adds the kernels from `first` on to a module of enum pp_again, too. */
void pp_layer_mark(struct pp_layer_kernels *list, int first, unsigned module);

void pp_layer_add_norm(struct pp_layer_kernels *list);
/* Adds gelu or gated product of so many values. */
void pp_layer_add_activation(struct pp_layer_kernels *list, double values);
/* Adds all kernels between the qkv matrix and the projection. */
void pp_layer_add_attention(struct pp_layer_kernels *list);
/* Adds those of them that multiply, without copies that take heads apart. */
void pp_layer_add_attention_core(struct pp_layer_kernels *list);
/* Adds a mixture of experts, in place of the dense feed-forward matrices. */
void pp_layer_add_experts(struct pp_layer_kernels *list);
