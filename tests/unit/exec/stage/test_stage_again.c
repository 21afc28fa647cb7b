/* Recomputation of parts of blocks against none: bits and bytes, for each set of modules. */
#include "tests/unit/exec/stage/stage_rig.h"

#include "core/cost/recompute.h"
#include "exec/nodes/call.h"

#include <criterion/criterion.h>

enum { LAYERS = 3, STAGES = 4, ROWS = 2 };
static const int blocks[STAGES] = {1, 0, 2, 0};
static const struct pp_kernels *const tables[] = {&pp_kernels_reference, &pp_kernels_bf16};

/* Each module, modules of which one needs what the other makes, all; and blocks. */
static const struct pp_stage_again choices[] = {
    {.modules = PP_AGAIN_CORE},
    {.modules = PP_AGAIN_NORM},
    {.modules = PP_AGAIN_ACT},
    {.modules = PP_AGAIN_MLP},
    {.modules = PP_AGAIN_MOE},
    {.modules = PP_AGAIN_NORM | PP_AGAIN_MLP},
    {.modules = PP_AGAIN_NORM | PP_AGAIN_MOE},
    {.modules = PP_AGAIN_CORE | PP_AGAIN_ACT},
    {.modules = PP_AGAIN_CORE | PP_AGAIN_NORM | PP_AGAIN_ACT | PP_AGAIN_MLP},
    {.modules = PP_AGAIN_CORE | PP_AGAIN_NORM | PP_AGAIN_ACT | PP_AGAIN_MLP | PP_AGAIN_MOE},
    {.blocks = 1},
    {.blocks = 2},
};

/* ---- bits ------------------------------------------------------------------------------------ */

/* R comes right before the backward of its split, into memory that F has not seen. */
static void backward(struct pp_arena *arena, struct rig *r, enum rig_backward how)
{
    for (int split = r->splits - 1; split >= 0; split--)
        for (int s = r->stages - 1; s >= 0; s--) {
            struct chunk *c = &r->chunk[s];
            c->saved[split] = rig_memory(arena, c->stage->saved_bytes);
            rig_call_stage(r, pp_stage_recompute, s, split);
            rig_call_stage(r, how == RIG_B ? pp_stage_backward : pp_stage_input_grad, s, split);
            cr_assert(rig_is_guarded(c->saved[split], c->stage->saved_bytes));
            cr_assert(rig_is_guarded(c->kept[split], c->stage->kept_bytes));
        }
    for (int split = r->splits - 1; split >= 0 && how != RIG_B; split--)
        for (int s = 0; s < r->stages; s++)
            rig_call_stage(r, pp_stage_weight_grad, s, split);
}

static void keep(struct rig *r)
{
    for (int split = 0; split < r->splits; split++)
        for (int s = 0; s < r->stages; s++) {
            struct chunk *c = &r->chunk[s];
            char *saved = c->saved[split];
            c->saved[split] = NULL;
            rig_call_stage(r, pp_stage_keep, s, split);
            c->saved[split] = saved;
        }
}

static void check_bits(const struct pp_kernels *k, int variant, int splits,
                       struct pp_stage_again again)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, variant);
    struct rig *plain = rig_create(arena, k, &net, STAGES, blocks, ROWS, splits, false);

    rig_forward(plain);
    rig_backward(plain, RIG_ALL_I_THEN_W);
    for (int how = RIG_B; how <= RIG_ALL_I_THEN_W; how += RIG_ALL_I_THEN_W) {
        struct rig *r =
            rig_create_again(arena, k, &net, STAGES, blocks, ROWS, splits, false, again);
        keep(r);
        backward(arena, r, (enum rig_backward)how);
        cr_assert_arr_eq(plain->loss, r->loss, sizeof(double) * (size_t)(ROWS * net.seq));
        for (int s = 0; s < STAGES; s++) {
            const struct pp_stage *stage = r->chunk[s].stage;
            cr_assert_arr_eq(plain->chunk[s].sum, r->chunk[s].sum,
                             (size_t)stage->elements * k->gradient_bytes,
                             "variant %d, modules %u, blocks %d, stage %d", variant, again.modules,
                             again.blocks, s);
        }
    }
}

Test(stage_again, gradients_have_the_bits_of_a_run_without)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 5))
        for (size_t i = 0; i < PP_COUNT(choices); i++) {
            check_bits(tables[(variant + (int)i) % 2], variant, 1, choices[i]);
            if (choices[i].blocks == 0)
                check_bits(tables[(variant + (int)i) % 2], variant, 2, choices[i]);
        }
}

Test(stage_again, fp32_too)
{
    for (size_t i = 0; i < PP_COUNT(choices); i++) {
        check_bits(pp_kernels_fp32(true), 1, 1, choices[i]);
        check_bits(pp_kernels_fp32(true), 2, 1, choices[i]);
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* What a block remakes: elements of T of a token, of G of a token, of T of a row of an expert. */
struct remade {
    int64_t t, g, row;
};

/* Its feed-forward layer. Rows, tokens that are sent to experts, are remade with them. */
static void add_mlp(const struct pp_net *net, bool has_experts, unsigned modules,
                    struct remade *sum)
{
    const unsigned all = has_experts ? PP_AGAIN_MOE : PP_AGAIN_MLP;
    const int fan = net->is_gated ? 2 : 1,
              made = (modules & (PP_AGAIN_ACT | all) ? 1 : 0) + (modules & all ? fan : 0);

    sum->t += made * (has_experts ? net->shared_ffn : net->ffn);
    sum->row += has_experts ? made * net->expert_ffn : 0;
    if (has_experts && modules & all) {
        sum->t += net->experts;
        sum->row += 2 * net->hidden;
    }
}

static struct remade by_modules(const struct pp_net *net, bool has_experts, unsigned modules)
{
    struct remade sum = {0};

    if (modules & PP_AGAIN_CORE) {
        sum.t += (int64_t)net->heads * net->head_dim;
        sum.g += net->heads;
    }
    if (modules & PP_AGAIN_NORM) { /* the second norm of an encoder's block makes its output */
        const int norms = net->is_encoder ? 1 : 2;
        sum.t += norms * net->hidden;
        sum.g += 2 * norms;
    }
    add_mlp(net, has_experts, modules, &sum);
    return sum;
}

/* Norms, queries with keys and values (twice if normalized), attention, the sum between the two
 * layers, both sides of the activation. */
static struct remade whole_block(const struct pp_net *net, bool has_experts)
{
    const unsigned all = PP_AGAIN_CORE | PP_AGAIN_NORM | PP_AGAIN_MLP | PP_AGAIN_MOE;
    const int heads = net->heads + 2 * net->kv_heads;
    struct remade sum = by_modules(net, has_experts, all);

    sum.t += (int64_t)(1 + net->has_qk_norm) * heads * net->head_dim;
    sum.t += net->is_parallel ? 0 : net->hidden;
    sum.g += net->has_qk_norm ? 2 * (net->heads + net->kv_heads) : 0;
    if (net->is_encoder) { /* the sum before the second norm */
        sum.t += net->hidden;
        sum.g += 2;
    }
    return sum;
}

static struct pp_stage *stage_of(struct pp_arena *arena, const struct pp_kernels *k,
                                 const struct pp_net *net, int s, bool has_w,
                                 struct pp_stage_again again)
{
    const struct pp_stage_shape shape = {.first_block = 2 * s,
                                         .blocks = 2,
                                         .has_embedding = s == 0,
                                         .has_head = s == 2,
                                         .has_w = has_w,
                                         .has_r = true,
                                         .again = again,
                                         .rows = ROWS,
                                         .tokens = net->seq,
                                         .splits = 1};

    return pp_stage_create(arena, net, &shape, k);
}

static size_t bytes_of(const struct pp_kernels *k, const struct pp_stage *stage, struct remade each)
{
    const int64_t tokens = (int64_t)ROWS * stage->net->seq,
                  rows = each.row > 0 ? pp_routes_rows(stage->net, &stage->shape) : 0;

    return (size_t)(tokens * each.t + rows * each.row) * k->element_bytes +
           (size_t)(tokens * each.g) * k->gradient_bytes;
}

/* What the first `count` blocks of a stage remake. */
static size_t blocks_bytes(const struct pp_kernels *k, const struct pp_stage *stage, int count,
                           unsigned modules)
{
    size_t bytes = 0;

    for (int i = 0; i < count; i++) {
        const bool has_experts = pp_net_has_experts(stage->net, stage->shape.first_block + i);
        bytes += bytes_of(k, stage,
                          modules ? by_modules(stage->net, has_experts, modules)
                                  : whole_block(stage->net, has_experts));
    }
    return bytes;
}

/* Gates and order of the rows of all mixtures of the stage. */
static size_t routes_bytes(const struct pp_kernels *k, const struct pp_stage *stage)
{
    const struct pp_net *net = stage->net;
    const struct pp_stage_shape *shape = &stage->shape;
    const size_t routed = (size_t)ROWS * (size_t)net->seq * (size_t)net->top_k;

    return (size_t)pp_net_mixtures(net, shape->first_block, shape->blocks) *
           (routed * k->gradient_bytes + pp_routes_bytes(net, shape, pp_routes_rows(net, shape)));
}

/* Returns the places that a stage of two blocks adds for gradients, at most one. They are all that
 * it saves, less blocks with their routing, their inputs, and norm and logits of a head. An encoder
 * has a norm after its embedding, and a layer with an activation function in its head. */
static size_t added_bytes(const struct pp_kernels *k, const struct pp_stage *plain)
{
    const struct pp_net *net = plain->net;
    const struct pp_stage_shape *shape = &plain->shape;
    const int64_t multiple = k->vocab_multiple;
    const int64_t logits = (net->vocab + multiple - 1) / multiple * multiple;
    const struct remade embedding = {.t = net->hidden, .g = 2},
                        head = {.t = (net->is_encoder ? 3 : 1) * net->hidden + logits, .g = 2};
    const size_t ends = (size_t)(1 + shape->has_embedding + shape->has_head),
                 saved =
                     blocks_bytes(k, plain, 2, 0) + routes_bytes(k, plain) +
                     ends * plain->balance_at + (shape->has_head ? bytes_of(k, plain, head) : 0) +
                     (shape->has_embedding && net->is_encoder ? bytes_of(k, plain, embedding) : 0);

    cr_assert(plain->saved_bytes == saved || plain->saved_bytes == saved + plain->balance_at,
              "%zu, not %zu", plain->saved_bytes, saved);
    return plain->saved_bytes - saved;
}

/* Statistics of the norm that makes the output of an encoder's block are kept. */
static void check_bytes(const struct pp_kernels *k, int variant, struct pp_stage_again again)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(6, variant);
    const int count = again.modules ? 2 : again.blocks;
    const struct remade kept = {.g = net.is_encoder && !again.modules ? 2 * count : 0};

    for (int s = 0; s < 3; s++) {
        const struct pp_stage_again none = {0};
        const struct pp_stage *plain = stage_of(arena, k, &net, s, false, none),
                              *some = stage_of(arena, k, &net, s, false, again),
                              *plain_w = stage_of(arena, k, &net, s, true, none),
                              *some_w = stage_of(arena, k, &net, s, true, again);
        const size_t added = added_bytes(k, plain),
                     bytes =
                         blocks_bytes(k, plain, count, again.modules) - bytes_of(k, plain, kept);
        cr_assert_eq(some->saved_bytes, bytes + added,
                     "variant %d, modules %u, blocks %d, stage %d: %zu, not %zu + %zu", variant,
                     again.modules, again.blocks, s, some->saved_bytes, bytes, added);
        cr_assert_eq(some->kept_bytes + some->saved_bytes, plain->kept_bytes + plain->saved_bytes);
        /* no block may have a module */
        cr_assert(bytes == 0 || some->kept_bytes < plain->kept_bytes + plain->saved_bytes);
        /* what gradients need next to it is what they need without */
        cr_assert_eq(some_w->kept_bytes + some_w->saved_bytes,
                     plain_w->kept_bytes + plain_w->saved_bytes);
        cr_assert_eq(some_w->kept_bytes, some->kept_bytes);
    }
}

Test(stage_again, saved_bytes_are_those_of_the_modules)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 1))
        for (size_t i = 0; i < PP_COUNT(choices); i++)
            check_bytes(tables[(variant + (int)i) % 2], variant, choices[i]);
}

/* Only blocks that have a module take time. A mixture is routed once, and the share of whole blocks
 * counts blocks of both kinds. */
Test(stage_again, layers_that_run_are_those_with_a_module)
{
    static const struct {
        struct pp_stage_again again;
        int dense, mixtures;
    } cases[] = {
        {{.modules = PP_AGAIN_CORE}, 1, 1},
        {{.modules = PP_AGAIN_ACT}, 1, 1},
        {{.modules = PP_AGAIN_MLP}, 1, 0},
        {{.modules = PP_AGAIN_MOE}, 0, 1},
        {{.blocks = 1}, 1, 0},
        {{.blocks = 2}, 1, 1},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_net net = rig_net(6);

    rig_switch(&net);
    for (size_t i = 0; i < PP_COUNT(cases); i++) {
        const struct pp_stage *stage =
            stage_of(arena, &pp_kernels_reference, &net, 1, false, cases[i].again);
        cr_assert_eq(pp_stage_layers_again(stage, PP_PART_BLOCK), cases[i].dense, "%zu", i);
        cr_assert_eq(pp_stage_layers_again(stage, PP_PART_EXPERTS), cases[i].mixtures, "%zu", i);
        for (int n = 0; n < stage->graph->node_count; n++)
            cr_assert(stage->graph->nodes[n].kind != &pp_node_route ||
                      !stage->graph->nodes[n].is_again);
    }
}

/* ---- share of a stage ------------------------------------------------------------------------ */

Test(stage_again, blocks_are_the_share_of_a_stage_rounded_up)
{
    const struct pp_recompute_choice half = {.how = PP_RECOMPUTE_STAGE, .first_stage_ratio = 0.5},
                                     third = {.how = PP_RECOMPUTE_STAGE, .first_stage_ratio = 0.3},
                                     all = {.how = PP_RECOMPUTE_FULL};

    /* 1 - (1 - 0.5) 3 / 3, 1 - 0.5 * 3 / 2, 1 - 0.5 * 3 < 0, none on the last */
    cr_assert_eq(pp_recompute_blocks(&half, 4, 0, 6), 3);
    cr_assert_eq(pp_recompute_blocks(&half, 4, 1, 6), 2);
    cr_assert_eq(pp_recompute_blocks(&half, 4, 2, 6), 0);
    cr_assert_eq(pp_recompute_blocks(&half, 4, 3, 6), 0);
    cr_assert_eq(pp_recompute_blocks(&third, 2, 0, 10), 3);
    cr_assert_eq(pp_recompute_blocks(&all, 4, 3, 6), 6);
}
