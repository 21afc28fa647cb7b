/* A model as a row of stages in plain memory: forward and backward of one granule through all of
 * them, whatever the division. For the tests of exec/stage/stage.c. */
#ifndef PP_TESTS_STAGE_RIG_H
#define PP_TESTS_STAGE_RIG_H

#include "exec/stage/stage.h"
#include "exec/state/state.h"
#include "kernels/numbers.h"

#include <math.h>
#include <string.h>

enum { RIG_STAGES = 8, RIG_SPLITS = 4, RIG_GUARD = 256 };
static const unsigned char rig_poison[4] = {0x5a, 0xa5, 0xb1, 0x7f}; /* a signalling NaN */

struct chunk {
    struct pp_stage *stage;
    char *weights, *sum;
    int64_t *fixed;
    char *kept[RIG_SPLITS], *saved[RIG_SPLITS];
    char *out[RIG_SPLITS], *grad_out[RIG_SPLITS]; /* boundaries after and before the stage */
};

/* Few bits of saved values; 0 = in full. Then stages have no W, and R if that is wanted. */
struct rig_bits {
    int act_bits;
    bool has_r, is_rounded;
};

struct rig {
    const struct pp_kernels *k;
    const struct pp_net *net;
    int stages, rows, splits;
    struct chunk chunk[RIG_STAGES];
    char *scratch, *grad_scratch;
    size_t scratch_bytes;
    int status;
    bool is_exact;
    int32_t *ids, *targets;
    double loss_scale, *loss;    /* [splits][rows * tokens] */
    struct pp_stage_again again; /* of all stages */
    bool is_moved;               /* all stages: what they save moves between memory tiers */
    struct rig_bits few;
    struct pp_probe *probe;
};

/* Uniform in (-1, 1), a pure function of its arguments. */
static inline double rig_random(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + 0x94d049bb133111ebu;

    for (int i = 0; i < 3; i++)
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u + 0x2545f4914f6cdd1du;
    return (double)(x >> 11) / 4503599627370496.0 - 1;
}

/* Element of a sum of gradients. */
static inline double rig_get(const struct rig *r, const void *sum, int64_t i)
{
    return pp_number_get(sum, r->k->gradient_bytes, i);
}

static inline double rig_weight(const struct rig *r, const void *weights, int64_t i)
{
    return pp_number_get(weights, r->k->element_bytes, i);
}

static inline void rig_put(const struct rig *r, void *weights, int64_t i, double value)
{
    pp_number_put(weights, r->k->element_bytes, i, value);
}

/* Poisoned, with a guard after it. */
static inline char *rig_memory(struct pp_arena *arena, size_t bytes)
{
    char *memory = pp_arena_alloc_raw(arena, bytes + RIG_GUARD);

    for (size_t i = 0; i < bytes + RIG_GUARD; i++)
        memory[i] = (char)rig_poison[i % 4];
    return memory;
}

static inline size_t rig_untouched(const char *memory, size_t bytes)
{
    size_t words = 0;

    for (size_t i = 0; i + 4 <= bytes; i += 4)
        words += memcmp(memory + i, rig_poison, 4) == 0;
    return words;
}

static inline bool rig_is_guarded(const char *memory, size_t bytes)
{
    for (size_t i = bytes; i < bytes + RIG_GUARD; i++)
        if (memory[i] != (char)rig_poison[i % 4])
            return false;
    return true;
}

/* All tensors matter: gains around 1, biases not zero, weights large enough to bend softmax. */
static inline void rig_fill_weights(const struct rig *r, const struct chunk *c)
{
    for (int p = 0; p < c->stage->param_count; p++) {
        const struct pp_param *param = &c->stage->params[p];
        for (int64_t i = 0; i < param->count; i++) {
            const double u = rig_random((uint64_t)param->id + 1, (uint64_t)i);
            const double value = param->init == PP_INIT_ONE    ? 1 + 0.2 * u
                                 : param->init == PP_INIT_ZERO ? 0.2 * u
                                                               : 0.5 * u;
            rig_put(r, c->weights, param->offset + i, value);
        }
    }
}

static inline void rig_sample(struct rig *r, int granule)
{
    for (int i = 0; i < r->rows * r->net->seq; i++) {
        const uint64_t at = (uint64_t)(granule * r->rows * r->net->seq + i);
        r->ids[i] = (int32_t)(fabs(rig_random(1000, at)) * r->net->vocab);
        r->targets[i] = r->net->is_encoder && at % 3 == 1
                            ? -1
                            : (int32_t)(fabs(rig_random(1001, at)) * r->net->vocab);
    }
}

static inline void rig_chunk(struct pp_arena *arena, struct rig *r, int s, int first, int blocks,
                             bool has_edge)
{
    struct chunk *c = &r->chunk[s];
    const struct pp_stage_shape shape = {.first_block = first,
                                         .blocks = blocks,
                                         .has_embedding = s == 0,
                                         .has_head = s == r->stages - 1,
                                         .has_edge = has_edge && s < r->stages - 1,
                                         .has_w = r->few.act_bits == 0,
                                         .has_r = r->few.act_bits == 0 || r->few.has_r,
                                         .act_bits = r->few.act_bits,
                                         .is_rounded = r->few.is_rounded,
                                         .again = r->again,
                                         .is_moved = r->is_moved,
                                         .rows = r->rows,
                                         .tokens = r->net->seq / r->splits,
                                         .splits = r->splits};

    c->stage = pp_stage_create(arena, r->net, &shape, r->k);
    c->weights = pp_arena_alloc(arena, (size_t)c->stage->elements * r->k->element_bytes);
    c->sum = pp_arena_alloc(arena, (size_t)c->stage->elements * r->k->gradient_bytes);
    c->fixed = PP_ARRAY(arena, int64_t, c->stage->elements);
    rig_fill_weights(r, c);
    for (int split = 0; split < r->splits; split++) {
        c->kept[split] = rig_memory(arena, c->stage->kept_bytes);
        c->saved[split] = rig_memory(arena, c->stage->saved_bytes);
        c->out[split] = has_edge ? c->kept[split] + c->stage->edge_offset
                                 : rig_memory(arena, c->stage->boundary_bytes);
        c->grad_out[split] = rig_memory(arena, c->stage->boundary_bytes);
    }
}

/* blocks [stages] add up to net->layers. An encoder is not split. With edges every stage writes its
 * output into its own kept, where the next one's backward leaves the gradient. */
static inline struct rig *rig_create_of(struct pp_arena *arena, const struct pp_kernels *k,
                                        const struct pp_net *net, int stages, const int *blocks,
                                        int rows, int splits, bool has_edges,
                                        struct pp_stage_again again, bool is_moved,
                                        struct rig_bits few)
{
    struct rig *r = PP_NEW(arena, struct rig);
    size_t grad_scratch_bytes = 0;

    splits = net->is_encoder ? 1 : splits;
    *r = (struct rig){.k = k,
                      .net = net,
                      .stages = stages,
                      .rows = rows,
                      .splits = splits,
                      .again = again,
                      .is_moved = is_moved,
                      .few = few};
    for (int s = 0, first = 0; s < stages; first += blocks[s++]) {
        rig_chunk(arena, r, s, first, blocks[s], has_edges);
        const struct pp_stage *stage = r->chunk[s].stage;
        if (stage->scratch_bytes > r->scratch_bytes)
            r->scratch_bytes = stage->scratch_bytes;
        if (stage->grad_scratch_bytes > grad_scratch_bytes)
            grad_scratch_bytes = stage->grad_scratch_bytes;
        if (has_edges && s > 0)
            for (int split = 0; split < splits; split++)
                r->chunk[s].grad_out[split] = r->chunk[s - 1].out[split];
    }
    r->scratch = rig_memory(arena, r->scratch_bytes);
    r->grad_scratch = rig_memory(arena, grad_scratch_bytes);
    r->ids = PP_ARRAY(arena, int32_t, rows * net->seq);
    r->targets = PP_ARRAY(arena, int32_t, rows * net->seq);
    r->loss = PP_ARRAY(arena, double, rows * net->seq);
    r->loss_scale = 1.0 / (rows * net->seq);
    rig_sample(r, 0);
    return r;
}

static inline struct rig *rig_create_again(struct pp_arena *arena, const struct pp_kernels *k,
                                           const struct pp_net *net, int stages, const int *blocks,
                                           int rows, int splits, bool has_edges,
                                           struct pp_stage_again again)
{
    return rig_create_of(arena, k, net, stages, blocks, rows, splits, has_edges, again, false,
                         (struct rig_bits){0});
}

static inline struct rig *rig_create(struct pp_arena *arena, const struct pp_kernels *k,
                                     const struct pp_net *net, int stages, const int *blocks,
                                     int rows, int splits, bool has_edges)
{
    return rig_create_again(arena, k, net, stages, blocks, rows, splits, has_edges,
                            (struct pp_stage_again){0});
}

static inline struct pp_stage_work rig_work(struct rig *r, int s, int split)
{
    struct chunk *c = &r->chunk[s];

    return (struct pp_stage_work){
        .stage = c->stage,
        .weights = c->weights,
        .grads = {.is_exact = r->is_exact,
                  .sum = c->sum,
                  .fixed = c->fixed,
                  .scratch = r->grad_scratch,
                  .status = &r->status},
        .split = split,
        .kept = (void *const *)c->kept,
        .saved = (void *const *)c->saved,
        .in = s > 0 ? r->chunk[s - 1].out[split] : NULL,
        .out = s < r->stages - 1 ? c->out[split] : NULL,
        .grad_in = s < r->stages - 1 ? r->chunk[s + 1].grad_out[split] : NULL,
        .grad_out = s > 0 ? c->grad_out[split] : NULL,
        .ids = r->ids,
        .targets = r->targets,
        .loss_scale = r->loss_scale,
        .loss = r->loss + (size_t)split * (size_t)(r->rows * r->net->seq / r->splits),
        .scratch = r->scratch,
        .probe = r->probe,
    };
}

typedef void (*rig_call)(const struct pp_kernels *k, void *stream, const struct pp_stage_work *w);
static inline void rig_call_stage(struct rig *r, rig_call call, int s, int split)
{
    const struct pp_stage_work w = rig_work(r, s, split);

    call(r->k, NULL, &w);
}

static inline double rig_forward(struct rig *r)
{
    double loss = 0;

    for (int split = 0; split < r->splits; split++)
        for (int s = 0; s < r->stages; s++)
            rig_call_stage(r, pp_stage_forward, s, split);
    for (int i = 0; i < r->rows * r->net->seq; i++)
        loss += r->loss[i];
    return loss * r->loss_scale;
}

enum rig_backward { RIG_B, RIG_I_W, RIG_ALL_I_THEN_W };
static inline void rig_backward(struct rig *r, enum rig_backward how)
{
    for (int split = r->splits - 1; split >= 0; split--)
        for (int s = r->stages - 1; s >= 0; s--) {
            rig_call_stage(r, how == RIG_B ? pp_stage_backward : pp_stage_input_grad, s, split);
            if (how == RIG_I_W)
                rig_call_stage(r, pp_stage_weight_grad, s, split);
        }
    for (int split = r->splits - 1; split >= 0 && how == RIG_ALL_I_THEN_W; split--)
        for (int s = 0; s < r->stages; s++)
            rig_call_stage(r, pp_stage_weight_grad, s, split);
}

/* The tensor of an id in a stage, NULL when it is not there. */
static inline const struct pp_param *rig_find(const struct chunk *c, int id)
{
    for (int p = 0; p < c->stage->param_count; p++)
        if (c->stage->params[p].id == id)
            return &c->stage->params[p];
    return NULL;
}

/* Element of a gradient, the sum over the stages that hold the tensor. */
static inline double rig_gradient(const struct rig *r, int id, int64_t i)
{
    double sum = 0;

    for (int s = 0; s < r->stages; s++) {
        const struct pp_param *param = rig_find(&r->chunk[s], id);
        if (param != NULL)
            sum += rig_get(r, r->chunk[s].sum, param->offset + i);
    }
    return sum;
}

static inline int64_t rig_exact_gradient(const struct rig *r, int id, int64_t i)
{
    int64_t sum = 0;

    for (int s = 0; s < r->stages; s++) {
        const struct pp_param *param = rig_find(&r->chunk[s], id);
        if (param != NULL)
            sum += r->chunk[s].fixed[param->offset + i];
    }
    return sum;
}

/* A net in which no two dimensions are equal; variants are set by the caller. */
static inline struct pp_net rig_net(int layers)
{
    return (struct pp_net){.name = "test",
                           .layers = layers,
                           .hidden = 12,
                           .heads = 4,
                           .kv_heads = 2,
                           .head_dim = 4,
                           .ffn = 10,
                           .vocab = 17,
                           .seq = 8,
                           .has_positions = true,
                           .has_bias_qkv = true,
                           .has_bias_out = true,
                           .has_bias_mlp = true,
                           .has_bias_norm = true,
                           .norm_epsilon = 1e-5,
                           .rotary.theta = 100};
}

static inline void rig_net_without_biases(struct pp_net *net)
{
    net->has_positions = net->has_bias_qkv = net->has_bias_out = net->has_bias_mlp =
        net->has_bias_norm = false;
    net->is_rms = true;
}

/* What families of models have beyond that. */
static inline void rig_neox(struct pp_net *net)
{
    net->has_positions = false;
    net->is_parallel = true;
    net->activation = PP_GELU_ERF;
    net->rotary = (struct pp_angles){.dim = 2, .theta = 100};
}
/* OPT has ReLU, whose slope differences do not see near 0: tests of kernels have it. */
static inline void rig_opt(struct pp_net *net)
{
    net->activation = PP_SILU;
    net->position_offset = 2;
    net->is_tied = true;
}
static inline void rig_gemma(struct pp_net *net)
{
    rig_net_without_biases(net);
    net->is_gated = net->is_tied = true;
    net->activation = PP_GELU_TANH;
    net->embedding_scale = sqrt(net->hidden);
}
static inline void rig_llama3(struct pp_net *net)
{
    rig_net_without_biases(net);
    net->is_gated = true;
    net->activation = PP_SILU;
    net->rotary =
        (struct pp_angles){.theta = 100, .factor = 2, .low = 1, .high = 4, .original_seq = 16};
}
static inline void rig_qwen3(struct pp_net *net)
{
    rig_net_without_biases(net);
    net->is_gated = net->has_qk_norm = true;
    net->activation = PP_SILU;
}
static inline void rig_mixtral(struct pp_net *net)
{
    rig_llama3(net);
    net->experts = 4;
    net->top_k = 2;
    net->expert_ffn = 6;
    net->every = 1;
}
/* Top-1 with a limit, which some tokens are beyond; dense blocks between the mixtures. */
static inline void rig_switch(struct pp_net *net)
{
    net->activation = PP_GELU_TANH;
    net->experts = 3;
    net->top_k = 1;
    net->expert_ffn = 6;
    net->shared_ffn = 14;
    net->every = 2;
    net->has_plain_gates = true;
    net->capacity = 3;
}
/* With a loss of balance: each choice adds to the gradients of all. */
static inline void rig_balanced(struct pp_net *net)
{
    rig_mixtral(net);
    net->balance_loss = 0.3;
}
/* Every second block has a window. */
static inline void rig_mistral(struct pp_net *net)
{
    rig_net_without_biases(net);
    net->is_gated = true;
    net->activation = PP_SILU;
    net->window = (struct pp_window){.keys = 3, .full_every = 2};
}
static inline void rig_bert(struct pp_net *net)
{
    net->is_encoder = net->is_tied = true;
    net->token_types = 2;
    net->activation = PP_GELU_ERF;
}
static void (*const rig_families[])(struct pp_net *net) = {
    rig_neox,    rig_opt,    rig_gemma,    rig_llama3,  rig_qwen3,
    rig_mixtral, rig_switch, rig_balanced, rig_mistral, rig_bert};

/* The 32 combinations of positions, activation function, head, norm and key-value heads, and the
 * families. */
enum {
    RIG_COMBINATIONS = 32,
    RIG_VARIANTS = RIG_COMBINATIONS + (int)(sizeof rig_families / sizeof *rig_families)
};
/* Returns the next variant: every `step`-th combination, and all families. */
static inline int rig_next(int variant, int step)
{
    if (variant >= RIG_COMBINATIONS)
        return variant + 1;
    return variant + step < RIG_COMBINATIONS ? variant + step : RIG_COMBINATIONS;
}

static inline struct pp_net rig_variant(int layers, int variant)
{
    struct pp_net net = rig_net(layers);

    if (variant >= RIG_COMBINATIONS) {
        rig_families[variant - RIG_COMBINATIONS](&net);
        return net;
    }

    net.has_positions = variant & 1;
    net.is_gated = variant & 2;
    net.activation = net.is_gated ? PP_SILU : PP_GELU_TANH;
    net.is_tied = variant & 4;
    net.is_rms = variant & 8;
    net.has_bias_norm = !net.is_rms;
    net.kv_heads = variant & 16 ? 4 : 2;
    net.has_bias_qkv = !net.is_rms || (variant & 1);
    net.has_bias_out = !net.is_rms;
    net.has_bias_mlp = !net.is_rms;
    return net;
}

/* The weights of a part as seed 3 draws them. */
static inline char *rig_weights(struct pp_arena *arena, const struct pp_stage *stage,
                                const struct pp_kernels *k)
{
    const struct pp_recipe recipe = {.seed = 3};
    const struct pp_state_bytes bytes = pp_state_bytes(stage, k, false, pp_cuts_none());
    char *memory = pp_arena_alloc(arena, bytes.weights + bytes.gradients + bytes.optimizer);
    const struct pp_state state = pp_state_at(stage, k, false, 0, pp_cuts_none(), memory);

    pp_state_init(stage, k, &recipe, &state, pp_cuts_none());
    return state.weights;
}

#endif
