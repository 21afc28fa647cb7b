/* Frameworks that compute nothing while stages exchange messages. */
#include "core/cost/analytic/parts.h"
#include "core/cost/framework.h"
#include "core/units.h"
#include "tests/unit/support/cost_inputs.h"

#include <stdlib.h>

static const struct setting gpt3 = {"gpt3-175b", "a100", 8, 4, 2, 1, 2, 2048};

/* Returns the time that exchanges add to an op of a stage. */
static int64_t added_ps(struct pp_arena *arena, struct pp_cost_inputs in, const char *name,
                        enum pp_op_kind kind, int stage)
{
    struct pp_framework *hidden = PP_NEW(arena, struct pp_framework);

    *hidden = *framework_of(name);
    hidden->exchange = PP_EXCHANGE_HIDDEN;
    in.framework = framework_of(name);
    const int64_t all_ps = costs_of(arena, &in)->op[kind][stage].ps;
    in.framework = hidden;
    return all_ps - costs_of(arena, &in)->op[kind][stage].ps;
}

/* Returns the time of a message from stage 1 to stage 2, as engines take it. */
static int64_t message_ps(struct pp_arena *arena, struct pp_cost_inputs in, const char *name)
{
    const struct pp_op send = {.kind = PP_SEND_F, .stage = 1, .peer = 2, .granules = 1};

    in.framework = framework_of(name);
    const struct pp_costs *costs = costs_of(arena, &in);
    struct pp_op whole = send;
    whole.granules = (uint16_t)costs->granules;
    return pp_costs_p2p(costs, &whole, 1).ps;
}

/* Megatron-LM sends both ways at once, so an op takes the message that it sends. The last stage has
 * none after its forward, the first none after its backward. */
Test(exchanges, an_op_takes_the_message_that_it_sends)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const int64_t c = message_ps(arena, in, "megatron-v2");

    cr_assert_gt(c, 0);
    for (int stage = 0; stage < in.stages; stage++) {
        const bool is_first = stage == 0, is_last = stage == in.stages - 1;
        cr_assert_eq(added_ps(arena, in, "megatron-v2", PP_F, stage), is_last ? 0 : c);
        cr_assert_eq(added_ps(arena, in, "megatron-v2", PP_I, stage), is_first ? 0 : c);
        cr_assert_eq(added_ps(arena, in, "megatron-v2", PP_B, stage), is_first ? 0 : c);
        cr_assert_eq(added_ps(arena, in, "megatron-v2", PP_W, stage), 0);
    }
}

/* DeepSpeed receives before an op, too, one message after the other. */
Test(exchanges, deepspeed_receives_before_it_sends)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const int64_t c = message_ps(arena, in, "deepspeed");

    for (int stage = 0; stage < in.stages; stage++) {
        const int neighbours = (stage > 0) + (stage < in.stages - 1);
        cr_assert_eq(added_ps(arena, in, "deepspeed", PP_F, stage), neighbours * c);
        cr_assert_eq(added_ps(arena, in, "deepspeed", PP_B, stage), neighbours * c);
    }
}

/* Without sequence parallelism the receiver gathers its devices' parts. In 2020 each device sent
 * the whole message, and nothing was gathered. */
Test(exchanges, parts_are_gathered_unless_messages_are_whole)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);
    const struct pp_device_group group = {.members = 8, .per_node = 8, .nodes = 1};
    const double alpha_s = cluster.inter.alpha_s,
                 part_s = pp_units_s(message_ps(arena, in, "megatron-v2")) - alpha_s;

    in.is_tp_only = true;
    in.framework = framework_of("megatron-v2");
    const double gather_s =
        pp_analytic_collective_s(&in, PP_AG, group, 2.0 * 2048 * model.hidden * 2);
    cr_assert_float_eq(pp_units_s(added_ps(arena, in, "megatron-v2", PP_F, 1)),
                       alpha_s + part_s + gather_s, 1e-9);
    cr_assert_float_eq(pp_units_s(added_ps(arena, in, "megatron-2020", PP_F, 1)),
                       alpha_s + 8 * part_s, 1e-9);
}

/* The framework of today hides its messages. */
Test(exchanges, messages_are_hidden_by_default)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = inputs_of(arena, gpt3, &model, &cluster);

    cr_assert_eq(added_ps(arena, in, "megatron", PP_F, 1), 0);
    cr_assert_eq(added_ps(arena, in, "plain", PP_B, 1), 0);
}
