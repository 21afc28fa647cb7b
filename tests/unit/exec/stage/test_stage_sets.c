/* Sets of experts of a tensor-parallel group, and replicas that share them: who has which weights,
 * rows and messages. */
#include "exec/stage/graph.h"
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>

enum { ROWS = 2, EXPERTS = 8, TOP_K = 3 };

static const struct division {
    int tp, etp, ep;
} divisions[] = {{1, 1, 1}, {1, 1, 4}, {2, 2, 1}, {2, 1, 1}, {2, 1, 2}, {4, 2, 1},
                 {4, 2, 2}, {4, 1, 1}, {4, 1, 2}, {2, 1, 4}, {4, 4, 2}};

static struct pp_net mixture(void)
{
    struct pp_net net = rig_net(2);

    rig_mixtral(&net);
    net.experts = EXPERTS;
    net.top_k = TOP_K;
    net.heads = net.kv_heads = 4;
    net.head_dim = net.hidden / 4;
    net.expert_ffn = 12;
    net.has_bias_mlp = true;
    return net;
}

static struct pp_stage *stage_of(struct pp_arena *arena, const struct pp_net *net,
                                 struct division d, int device)
{
    const struct pp_stage_shape shape = {.blocks = net->layers,
                                         .rows = ROWS,
                                         .tokens = net->seq,
                                         .splits = 1,
                                         .tp = d.tp,
                                         .tp_index = device / d.ep,
                                         .etp = d.etp,
                                         .ep = d.ep,
                                         .ep_index = device % d.ep};

    return pp_stage_create(arena, net, &shape, &pp_kernels_reference);
}

/* Marks the elements of a device's part, and compares their weights. */
static void mark(const struct pp_param *part, const double *weights, const struct pp_param *whole,
                 const double *all, int *seen)
{
    for (int64_t i = 0; i < part->count; i++) {
        int64_t run;
        const int64_t at = pp_slice_at(&part->slice, i, &run);

        cr_assert(at >= 0 && at < whole->count, "%s", part->name);
        cr_assert(weights[part->offset + i] == all[whole->offset + at], "%s", part->name);
        seen[at]++;
    }
}

/* Biases of the second matrix are whole on all devices that share an expert. */
Test(stage_sets, experts_are_once_among_all_devices)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = mixture();
    const struct pp_stage *whole = stage_of(arena, &net, divisions[0], 0);
    const double *all =
        (const double *)(const void *)rig_weights(arena, whole, &pp_kernels_reference);
    int compared = 0;

    for (size_t i = 0; i < PP_COUNT(divisions); i++)
        for (int p = 0; p < whole->param_count; p++) {
            const struct division d = divisions[i];
            const struct pp_param *param = &whole->params[p];
            int *seen = PP_ARRAY(arena, int, param->count);
            const bool is_whole = strcmp(param->name, "experts.down.bias") == 0;
            if (param->experts == 0)
                continue;
            for (int device = 0; device < d.tp * d.ep; device++) {
                const struct pp_stage *stage = stage_of(arena, &net, d, device);
                const struct pp_param *part = pp_stage_find(stage, param->id);
                cr_assert_eq(part->experts, EXPERTS / (d.tp / d.etp) / d.ep);
                mark(part,
                     (const double *)(const void *)rig_weights(arena, stage, &pp_kernels_reference),
                     param, all, seen);
            }
            for (int64_t e = 0; e < param->count; e++)
                cr_assert_eq(seen[e], is_whole ? d.etp : 1, "%zu: %s", i, param->name);
            compared++;
        }
    cr_assert_eq(compared, (int)PP_COUNT(divisions) * 2 * 4); /* matrices and biases of 2 blocks */
}

/* Choices that are spread evenly: each set has its share, and a replica sends each an equal part.
 */
Test(stage_sets, messages_at_balance)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = mixture();
    int messages = 0;

    for (size_t i = 0; i < PP_COUNT(divisions); i++) {
        const struct division d = divisions[i];
        const struct pp_stage *stage = stage_of(arena, &net, d, d.tp * d.ep - 1);
        const int count = pp_stage_exchange_count(stage, PP_CALL_FORWARD);
        struct pp_group_exchange *e = PP_ARRAY(arena, struct pp_group_exchange, count + 1);
        char any;
        void *at = &any;

        pp_stage_exchanges(
            &(struct pp_stage_work){
                .stage = stage, .kept = &at, .saved = &at, .out = at, .scratch = at},
            PP_CALL_FORWARD, e);
        for (int k = 0; k < count; k++) {
            const struct pp_rows_exchange *rows = &e[k].rows;
            if (rows->way != PP_ROWS_OUT && rows->way != PP_ROWS_BACK)
                continue;
            const double choices = (double)ROWS * net.seq * TOP_K / (d.tp / d.etp);
            cr_assert_float_eq(rows->step_bytes, choices / d.ep * net.hidden * sizeof(double),
                               1e-9);
            messages++;
        }
    }
    cr_assert_eq(messages, 6 * 2 * 2); /* of six divisions with replicas: out and back, 2 blocks */
}

static int64_t exchanges_ps(struct division d, enum pp_exchange_among among)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = mixture();
    int64_t alpha_ps[] = {1000000};
    double s_per_byte[] = {1e-9};
    const struct pp_costs costs = {.alpha_ps = alpha_ps, .s_per_byte = s_per_byte};

    return pp_stage_exchanges_ps(arena, stage_of(arena, &net, d, 0), PP_CALL_BACKWARD, among,
                                 &pp_kernels_reference, &costs);
}

/* Exchanges of either group take the time that they take without the other group. */
Test(stage_sets, each_exchange_is_of_one_group)
{
    cr_assert_eq(exchanges_ps((struct division){2, 2, 2}, PP_AMONG_TP),
                 exchanges_ps((struct division){2, 2, 1}, PP_AMONG_TP));
    cr_assert_eq(exchanges_ps((struct division){2, 2, 2}, PP_AMONG_EP),
                 exchanges_ps((struct division){1, 1, 2}, PP_AMONG_EP));
    cr_assert_gt(exchanges_ps((struct division){2, 2, 2}, PP_AMONG_TP), 0);
    cr_assert_gt(exchanges_ps((struct division){2, 2, 2}, PP_AMONG_EP), 0);
    cr_assert_eq(exchanges_ps((struct division){4, 1, 1}, PP_AMONG_EP), 0);
}

/* A token goes to each expert of a set once. */
Test(stage_sets, rows_have_room_for_the_worst_choices)
{
    const struct pp_net net = mixture();

    for (size_t i = 0; i < PP_COUNT(divisions); i++) {
        const struct division d = divisions[i];
        const struct pp_stage_shape shape = {
            .rows = ROWS, .tokens = net.seq, .tp = d.tp, .etp = d.etp, .ep = d.ep};
        const int of_set = EXPERTS / (d.tp / d.etp), here = of_set / d.ep,
                  sent = of_set < TOP_K ? of_set : TOP_K, held = here < TOP_K ? here : TOP_K;

        cr_assert_eq(pp_routes_rows(&net, &shape), ROWS * net.seq * sent);
        cr_assert_eq(pp_routes_held_rows(&net, &shape), d.ep * ROWS * net.seq * held);
    }
}
