/* Devices of a group that share tokens: exchanges in the calls of each kind of block, and memory of
 * a device. */
#include "core/cost/recompute.h"
#include "exec/stage/stage.h"
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>

enum { TP = 2, ROWS = 2 };

static struct pp_net block_of(bool is_encoder, int experts, int shared_ffn)
{
    struct pp_net net = rig_net(1);

    net.is_encoder = is_encoder;
    net.experts = experts;
    net.top_k = experts > 0 ? 2 : 0;
    net.every = experts > 0 ? 1 : 0;
    net.expert_ffn = experts > 0 ? 8 : 0;
    net.shared_ffn = shared_ffn;
    return net;
}

static const struct pp_stage *stage_of(struct pp_arena *arena, const struct pp_net *net,
                                       const struct pp_kernels *k, unsigned modules, int tp,
                                       bool has_w)
{
    const struct pp_stage_shape shape = {.blocks = 1,
                                         .has_w = has_w,
                                         .has_r = modules != 0,
                                         .again.modules = modules,
                                         .rows = ROWS,
                                         .tokens = net->seq,
                                         .splits = 1,
                                         .tp = tp,
                                         .is_sequence_parallel = tp > 1};

    return pp_stage_create(arena, net, &shape, k);
}

/* F gathers tokens before two matrices and scatters two sums; I does so for their gradients. W
 * gathers both operands of a matrix that are shares. I of experts also adds up gradients of gates.
 * The shared expert and the router take one gather, and COMBINE has dy for the former. */
Test(stage_shares, each_call_gathers_what_it_reads_once)
{
    static const struct {
        bool is_encoder;
        int experts, shared_ffn, forward, input_grad, weight_grad;
    } blocks[] = {{false, 0, 0, 4, 6, 4},
                  {true, 0, 0, 4, 6, 4},
                  {false, 4, 0, 4, 7, 3},
                  {false, 4, 8, 4, 7, 4}};

    for (size_t i = 0; i < PP_COUNT(blocks); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net =
            block_of(blocks[i].is_encoder, blocks[i].experts, blocks[i].shared_ffn);
        const struct pp_stage *s = stage_of(arena, &net, &pp_kernels_reference, 0, TP, true);
        cr_assert_eq(pp_stage_exchange_count(s, PP_CALL_FORWARD), blocks[i].forward, "%zu", i);
        cr_assert_eq(pp_stage_exchange_count(s, PP_CALL_INPUT_GRAD), blocks[i].input_grad, "%zu",
                     i);
        cr_assert_eq(pp_stage_exchange_count(s, PP_CALL_WEIGHT_GRAD), blocks[i].weight_grad, "%zu",
                     i);
    }
}

/* R of an activation reads its kept input. Kernels that compute both at once read gathered tokens.
 */
Test(stage_shares, an_activation_alone_needs_no_tokens)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_kernels fused = pp_kernels_reference;

    fused.has_fast_epilogue = true;
    for (int is_encoder = 0; is_encoder < 2; is_encoder++) {
        const struct pp_net net = block_of(is_encoder, 0, 0);
        const struct pp_stage *s =
            stage_of(arena, &net, &pp_kernels_reference, PP_AGAIN_ACT, TP, false);
        cr_assert_eq(pp_stage_exchange_count(s, PP_CALL_RECOMPUTE), 0);
        s = stage_of(arena, &net, &fused, PP_AGAIN_ACT, TP, false);
        cr_assert_eq(pp_stage_exchange_count(s, PP_CALL_RECOMPUTE), 1);
    }
}

/* A tensor of all tokens that W gathers again is in scratch. */
Test(stage_shares, a_device_saves_its_share_of_a_block)
{
    for (int is_encoder = 0; is_encoder < 2; is_encoder++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net = block_of(is_encoder, 0, 0);
        const struct pp_stage *one = stage_of(arena, &net, &pp_kernels_reference, 0, 1, false),
                              *shared = stage_of(arena, &net, &pp_kernels_reference, 0, TP, false);
        cr_assert_eq(shared->boundary_bytes, one->boundary_bytes / TP);
        cr_assert_eq(shared->kept_bytes + shared->saved_bytes,
                     (one->kept_bytes + one->saved_bytes) / TP);
    }
}
