/* schedules/v-min.c — controllable memory, a third of 1F1B's activations. */
#include "schedules/search/vmem.h"

static void block(int ranks, int rank, int64_t tick[PP_VMEM_CHAIN])
{
    const int64_t d = ranks, r = rank, turn = d % 3 == 0 ? 2 : 0;

    tick[PP_VMEM_F0] = r;
    tick[PP_VMEM_F1] = 2 * d - r - 1;
    tick[PP_VMEM_I1] = 2 * d + turn + r;
    tick[PP_VMEM_I0] = 4 * d + turn - r - 1;
}

static enum pp_status generate(struct pp_arena *arena, const struct pp_shape *shape,
                               const struct pp_costs *costs, struct pp_orders *out,
                               struct pp_error *err)
{
    static const struct pp_vmem_rule rule = {.block = block, .is_split = true};

    (void)err;
    return pp_vmem_generate(arena, shape, costs, &rule, out);
}

const struct pp_schedule pp_schedule_v_min = {
    .name = "v-min",
    .summary = "V placement, a third of the activations of 1f1b, split backward",
    .rule = "one building block per micro-batch: down and up the V without a stop, twice; W fill "
            "gaps; warm-up and cool-down moved earlier at equal memory",
    .when = "the least memory of the V schedules, if F, I and W take about the same time",
    .source = "Qi et al., NeurIPS'24 (Pipeline Parallelism with Controllable Memory), section 3; "
              "AMD Primus zbv_greedy.py",
    .placement = PP_PLACE_VEE,
    .splits_backward = true,
    .chunks = 2,
    .limits = "none",
    .generate = generate,
    .bubble_frac = {"about 2/3 of 1f1b's, growing with N where F, I, W differ", false, NULL},
    .peak = {"about 2D/3+2", false, NULL},
};
