/* The kernels of a mixture of experts: router, permutations, the matrices of the device's experts,
 * shared experts. Tokens are spread evenly over the experts.
 *
 * t tokens of a micro-batch come to a tensor-parallel group, t / tp of them to each device, which
 * sends top_k copies of each. A device holds count / ep experts, cut over etp devices that gather
 * their tokens first. It works on etp * top_k * t / tp tokens, for any ep.
 *
 * Without sequence parallelism each device has all t tokens. It routes all, and sends the copies
 * for the experts that etp neighbours of its group hold. */
#include "core/cost/layers/layers.h"

/* Router outputs are in fp32: scores, probabilities, indices, masks. Kernels of Megatron's router:
 * softmax or sigmoid, top-k, scatter of the chosen, sums for the balancing loss, counts. */
enum { ROUTER_VALUE_BYTES = 4, ROUTING_KERNELS = 8, ROUTING_GRADIENT_KERNELS = 5 };

struct pp_expert_work pp_layer_expert_work(const struct pp_cost_inputs *in,
                                           struct pp_layer_work work)
{
    const struct pp_experts *e = &in->model->experts;
    const double capacity = in->capacity_factor > 0 ? in->capacity_factor : 1;
    const int etp = pp_layout_etp(&in->layout);
    const double own = work.tokens / in->layout.tp * e->top_k * capacity;

    return (struct pp_expert_work){
        .sent = in->is_tp_only ? etp * own : own,
        .experts = (double)e->count / in->layout.ep,
        .tokens = own * etp * in->layout.ep / e->count,
        .ffn = (double)e->ffn / etp,
    };
}

int pp_layer_expert_peers(const struct pp_cost_inputs *in)
{
    const int ep = in->layout.ep, sets = in->layout.tp / pp_layout_etp(&in->layout);
    int common = ep;

    while (ep % common != 0 || sets % common != 0)
        common--;
    return in->is_tp_only ? ep / common : ep;
}

/* A permutation reads and writes each copy of a token. */
static void add_permutation(struct pp_layer_kernels *list, double copies, const char *name)
{
    PP_LAYER_TRAFFIC(list, copies * list->in->model->hidden, name, {1, 1, 0}, {2, 2, 0});
}

static void add_router(struct pp_layer_kernels *list)
{
    const struct pp_model *m = list->in->model;
    const double tokens = list->whole_tokens, experts = m->experts.count;
    const double pass = 2 * ROUTER_VALUE_BYTES;

    PP_LAYER_MATRIX(list, .name = "router", .tokens = tokens, .k = m->hidden, .n = experts,
                    .is_wide = true);
    PP_LAYER_TRAFFIC(list, tokens * experts, "routing",
                     {ROUTING_KERNELS, ROUTING_GRADIENT_KERNELS, 0},
                     .bytes = {ROUTING_KERNELS * pass, ROUTING_GRADIENT_KERNELS * pass, 0});
}

static bool is_bias_apart(const struct pp_layer_kernels *list)
{
    return pp_cost_framework(list->in)->expert_bias_bytes[PP_PASS_F] > 0;
}

/* Adds up, activation, down. Fused experts pass activations and their gradients in fp8. */
static void add_mlp(struct pp_layer_kernels *list, const char *const name[2], double tokens,
                    double ffn, double count, bool is_fused)
{
    const struct pp_model *m = list->in->model;
    const bool has_bias = m->has_bias_mlp && !is_fused;

    PP_LAYER_MATRIX(list, .name = name[0], .tokens = tokens, .k = m->hidden,
                    .n = (m->is_gated ? 2 : 1) * ffn, .has_bias = has_bias,
                    .is_cast_before = {[PP_PASS_I] = is_fused}, .count = count);
    if (!is_fused)
        pp_layer_add_activation(list, tokens * ffn * count);
    PP_LAYER_MATRIX(list, .name = name[1], .tokens = tokens, .k = ffn, .n = m->hidden,
                    .has_bias = has_bias && !is_bias_apart(list),
                    .is_cast_before = {[PP_PASS_F] = is_fused}, .count = count);
}

/* Adds kernels that weigh biases of outputs with probabilities, some for each expert. */
static void add_output_bias(struct pp_layer_kernels *list, const struct pp_expert_work *w)
{
    enum { EXPERT_LAUNCHES = 2, EXPERT_GRADIENT_LAUNCHES = 5, COMMON_LAUNCHES = 2 };
    const double *bytes = pp_cost_framework(list->in)->expert_bias_bytes;
    const int experts = (int)w->experts;

    if (!list->in->model->has_bias_mlp || !is_bias_apart(list))
        return;
    PP_LAYER_TRAFFIC(list, w->tokens * w->experts * list->in->model->hidden, "experts' bias",
                     {EXPERT_LAUNCHES * experts + COMMON_LAUNCHES,
                      EXPERT_GRADIENT_LAUNCHES * experts + COMMON_LAUNCHES, 0},
                     .bytes = {bytes[0], bytes[1], 0});
}

void pp_layer_add_experts(struct pp_layer_kernels *list)
{
    static const char *const routed[] = {"experts up", "experts down"}, *const shared[] = {
                                                                            "shared up",
                                                                            "shared down"};
    const struct pp_cost_inputs *in = list->in;
    const struct pp_expert_work w = pp_layer_expert_work(in, list->work);
    const bool is_sent = pp_layer_expert_peers(in) > 1;
    const bool is_once = in->is_sent_once && is_sent; /* copies are made where they arrive */
    const bool is_sorted = is_once || (w.experts > 1 && is_sent);
    const bool is_fused = pp_cost_has_fused_experts(in);
    const double here = w.tokens * w.experts;

    add_router(list);
    if (!is_once)
        add_permutation(list, w.sent, "permute");
    if (is_sorted)
        add_permutation(list, here, "sort by expert");
    add_mlp(list, routed, w.tokens, w.ffn, w.experts, is_fused);
    if (!is_fused)
        add_output_bias(list, &w);
    if (is_sorted)
        add_permutation(list, here, "sort by sender");
    if (!is_once)
        add_permutation(list, w.sent, "unpermute, weigh");
    if (in->model->experts.shared_ffn > 0)
        add_mlp(list, shared, list->work.tokens,
                in->model->experts.shared_ffn / (double)in->layout.tp, 1, false);
}
