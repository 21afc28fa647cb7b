/* schedules/v-half.c — controllable memory, half of 1F1B's activations. */
#include "schedules/search/vmem.h"

static void block(int ranks, int rank, int64_t tick[PP_VMEM_CHAIN])
{
    const int64_t d = ranks, r = rank, turn = d % 2 == 0 ? 3 : 0;

    tick[PP_VMEM_F0] = 2 * r;
    tick[PP_VMEM_F1] = 3 * d - r - 2;
    tick[PP_VMEM_I1] = 3 * d + turn + 2 * r - 1;
    tick[PP_VMEM_I0] = 6 * d + turn - r - 2;
}

static enum pp_status generate(struct pp_arena *arena, const struct pp_shape *shape,
                               const struct pp_costs *costs, struct pp_orders *out,
                               struct pp_error *err)
{
    static const struct pp_vmem_rule rule = {.block = block, .is_split = true};

    (void)err;
    return pp_vmem_generate(arena, shape, costs, &rule, out);
}

const struct pp_schedule pp_schedule_v_half = {
    .name = "v-half",
    .summary = "V placement, half the activations of 1f1b, split backward",
    .rule =
        "one building block per micro-batch: chunk 0 descends at half speed, chunk 1 returns at "
        "full speed; W fill gaps; warm-up and cool-down moved earlier at equal memory",
    .when = "half of the activation memory of 1f1b, and less idle time",
    .source = "Qi et al., NeurIPS'24 (Pipeline Parallelism with Controllable Memory), section 3; "
              "AMD Primus zbv_greedy.py",
    .placement = PP_PLACE_VEE,
    .splits_backward = true,
    .chunks = 2,
    .limits = "none",
    .generate = generate,
    .bubble_frac = {"about half of 1f1b's", false, NULL},
    .peak = {"about D+2", false, NULL},
};
