/* Mixtures of experts in a stage: which tokens an expert takes, what they are worth, what a stage
 * keeps of them. */
#include "exec/stage/graph.h"
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>

enum { ROWS = 2 };

static struct pp_net mixture(int layers)
{
    struct pp_net net = rig_net(layers);

    rig_mixtral(&net);
    return net;
}

static struct rig *whole_of(struct pp_arena *arena, const struct pp_kernels *k,
                            const struct pp_net *net, int splits)
{
    return rig_create(arena, k, net, 1, &net->layers, ROWS, splits, false);
}

/* Sets elements of the first layer's tensor `name`, from `from` on. */
static void set(struct rig *r, const char *name, int64_t from, int64_t count, double value)
{
    const struct pp_stage *stage = r->chunk[0].stage;

    for (int p = 0; p < stage->param_count; p++)
        if (strcmp(stage->params[p].name, name) == 0 && stage->params[p].layer == 1)
            for (int64_t i = from; i < from + count; i++)
                rig_put(r, r->chunk[0].weights, stage->params[p].offset + i, value);
}

/* Runs F with a place for counts; returns them. */
static const double *counts_of(struct pp_arena *arena, struct rig *r)
{
    const struct pp_net *net = r->net;
    double *counts = PP_ARRAY(arena, double, (net->experts + PP_EXPERT_MORE) * net->layers);

    for (int split = 0; split < r->splits; split++) {
        struct pp_stage_work work = rig_work(r, 0, split);
        work.expert_tokens = counts;
        pp_stage_forward(r->k, NULL, &work);
    }
    return counts;
}

/* Equal logits: the experts of smallest index have all tokens. */
Test(stage_experts, ties_are_broken_by_index)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = mixture(1);
    struct rig *r = whole_of(arena, &pp_kernels_reference, &net, 1);

    set(r, "router.weight", 0, (int64_t)net.experts * net.hidden, 0);
    const double *counts = counts_of(arena, r);
    const double all[] = {ROWS * net.seq, ROWS * net.seq, 0, 0, 0};
    cr_assert_arr_eq(counts, all, sizeof all);
}

/* An expert takes the first tokens of each sample, however the sample is split. */
Test(stage_experts, a_capacity_is_of_a_sample_whatever_its_splits)
{
    for (int splits = 1; splits <= 4; splits *= 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_net net = mixture(1);

        net.capacity = 5;
        struct rig *r = whole_of(arena, &pp_kernels_reference, &net, splits);
        set(r, "router.weight", 0, (int64_t)net.experts * net.hidden, 0);
        const double *counts = counts_of(arena, r);
        const double held[] = {ROWS * 5, ROWS * 5, 0, 0, 2 * ROWS * (net.seq - 5)};
        cr_assert_arr_eq(counts, held, sizeof held, "%d splits", splits);
    }
}

/* Experts that are all alike are a dense layer, as the weights of a token add up to 1. */
Test(stage_experts, equal_experts_are_a_dense_layer)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = mixture(1);
    struct pp_net dense = net;

    dense.experts = 0;
    dense.ffn = net.expert_ffn;
    struct rig *r = whole_of(arena, &pp_kernels_reference, &net, 1),
               *d = whole_of(arena, &pp_kernels_reference, &dense, 1);
    const struct chunk *from = &d->chunk[0], *to = &r->chunk[0];
    for (int p = 0; p < from->stage->param_count; p++) {
        const struct pp_param *ours = &from->stage->params[p];
        const bool is_up = strcmp(ours->name, "up.weight") == 0,
                   is_down = strcmp(ours->name, "down.weight") == 0;
        for (int e = 0; e < (is_up || is_down ? net.experts : 0); e++)
            for (int64_t i = 0; i < ours->count; i++)
                set(r, is_up ? "experts.up.weight" : "experts.down.weight", e * ours->count + i, 1,
                    rig_weight(d, from->weights, ours->offset + i));
    }
    for (int p = 0; p < to->stage->param_count; p++) {
        const struct pp_param *same = rig_find(from, to->stage->params[p].id);
        const bool is_common = strncmp(to->stage->params[p].name, "experts", 7) != 0 &&
                               strncmp(to->stage->params[p].name, "router", 6) != 0;
        cr_assert(!is_common || same, "%s", to->stage->params[p].name);
    }
    cr_assert_float_eq(rig_forward(r), rig_forward(d), 1e-12);
}

/* What a block has beyond its attention, in elements of T for each token, and what of G. */
static size_t saved_of(const struct pp_net *net, int tokens)
{
    const size_t t = (size_t)tokens, h = (size_t)net->hidden, f = (size_t)net->expert_ffn,
                 rows = (size_t)pp_routes_rows(
                     net, &(struct pp_stage_shape){.rows = ROWS, .tokens = net->seq}),
                 attention = (size_t)(net->heads + 2 * net->kv_heads) * (size_t)net->head_dim +
                             (size_t)(net->heads * net->head_dim),
                 of_rows = rows * (h + 3 * f + h), of_tokens = t * (attention + 3 * h),
                 logits = t * (size_t)net->experts, stats = t * (size_t)(4 + net->heads),
                 gates = t * (size_t)net->top_k,
                 limits = net->capacity > 0 ? ROWS * (size_t)net->experts : 0,
                 integers = 2 * gates + rows + (size_t)net->experts + 1 + limits;

    return sizeof(double) * (of_rows + of_tokens + logits + stats + gates) +
           sizeof(int32_t) * (integers + integers % 2);
}

/* Input and gate of each expert, its halves, its output: 2 hidden + 3 width for each row. */
Test(stage_experts, saved_bytes_by_a_formula)
{
    static const int capacities[] = {0, 1, 3, 8};

    for (size_t i = 0; i < PP_COUNT(capacities); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_net net = mixture(1);
        const struct pp_stage_shape shape = {
            .blocks = 1, .rows = ROWS, .tokens = net.seq, .splits = 1};

        net.capacity = capacities[i];
        const struct pp_stage *stage = pp_stage_create(arena, &net, &shape, &pp_kernels_reference);
        const int rows = pp_routes_rows(&net, &shape), choices = ROWS * net.seq * net.top_k,
                  held = ROWS * net.experts * net.capacity;
        cr_assert_eq(rows, net.capacity > 0 && held < choices ? held : choices);
        cr_assert_eq(stage->saved_bytes, saved_of(&net, ROWS * net.seq),
                     "capacity %d: %zu, not %zu", net.capacity, stage->saved_bytes,
                     saved_of(&net, ROWS * net.seq));
    }
}

/* A segment has a timing at its begin, and one at its end. */
Test(stage_experts, timings_have_room_for_shared_experts)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = mixture(4);
    const struct pp_stage_shape shape = {.blocks = net.layers,
                                         .has_embedding = true,
                                         .has_head = true,
                                         .rows = ROWS,
                                         .tokens = net.seq,
                                         .splits = 1,
                                         .ep = 2};
    const struct pp_stage *stage = pp_stage_create(arena, &net, &shape, &pp_kernels_reference);
    const int exchanges = pp_stage_exchange_count(stage, PP_CALL_BACKWARD),
              parts = 2 * (net.layers + 2);

    cr_assert_gt(exchanges, 0);
    cr_assert_geq(pp_stage_timings(stage), 1 + parts + 2 * exchanges);
}
