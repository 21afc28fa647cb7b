/* schedules/v-1f1b.c — controllable memory, whole backwards. */
#include "schedules/search/vmem.h"

static void block(int ranks, int rank, int64_t tick[PP_VMEM_CHAIN])
{
    const int64_t d = ranks, r = rank, pause = (3 - (d + 2) % 3) % 3; /* 3 ticks every 3 steps */
    const int64_t turn = 2 * d + (d % 3 == 0 ? 4 : 1), back = 2 * d - 1 - r;

    tick[PP_VMEM_F0] = 6 + r + 1;
    tick[PP_VMEM_F1] = 6 + 2 * d - r;
    tick[PP_VMEM_I1] = 6 + turn + 2 * r + (r + pause) / 3 * 3;
    tick[PP_VMEM_I0] = 6 + turn + 2 * back + (back + pause) / 3 * 3;
}

static enum pp_status generate(struct pp_arena *arena, const struct pp_shape *shape,
                               const struct pp_costs *costs, struct pp_orders *out,
                               struct pp_error *err)
{
    static const struct pp_vmem_rule rule = {.block = block, .is_split = false};

    (void)err;
    return pp_vmem_generate(arena, shape, costs, &rule, out);
}

const struct pp_schedule pp_schedule_v_1f1b = {
    .name = "v-1f1b",
    .summary = "V placement, 3/4 of the activations of 1f1b, whole backward",
    .rule =
        "one building block per micro-batch: down and up the V, back at half speed; warm-up and "
        "cool-down moved earlier at equal memory",
    .when = "less memory than 1f1b, if the backward cannot be split",
    .source = "Qi et al., NeurIPS'24 (Pipeline Parallelism with Controllable Memory), section 3",
    .placement = PP_PLACE_VEE,
    .chunks = 2,
    .limits = "none",
    .generate = generate,
    .bubble_frac = {"not published", false, NULL},
    .peak = {"about 3D/2", false, NULL},
};
