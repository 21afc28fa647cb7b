/* schedules/v-half.c — controllable memory, half of 1F1B's activations. With a limit, other
 * building blocks are tried, and ops move earlier as far as it allows (Qi et al. call this V-auto).
 */
#include "schedules/order/closed_form.h"
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
    const struct pp_vmem_rule rule = {
        .block = block, .is_split = true, .cap = shape->option[PP_LIMIT_AT]};

    (void)err;
    return pp_vmem_generate(arena, shape, costs, &rule, out);
}

static int published_peak(const struct pp_shape *shape)
{
    return 2 * (shape->ranks / 2) + 2;
}

static bool is_legal_limit(const struct pp_shape *shape, int limit)
{
    return limit == 0 || limit >= published_peak(shape);
}

static enum pp_status accepts(const struct pp_shape *shape, struct pp_error *err)
{
    const int limit = shape->option[PP_LIMIT_AT], least = published_peak(shape);

    return pp_want_legal(err, shape, (struct pp_wanted){limit, 1, least, is_legal_limit},
                         "--max-activations %d: v-half on %d ranks needs at least %d; v-min takes "
                         "less",
                         limit, shape->ranks, least);
}

const struct pp_schedule pp_schedule_v_half = {
    .name = "v-half",
    .summary = "V placement, half the activations of 1f1b, split backward",
    .rule =
        "one building block per micro-batch: chunk 0 descends at half speed, chunk 1 returns at "
        "full speed; W fill gaps; warm-up and cool-down moved earlier at equal memory; within M, "
        "the best of many blocks",
    .when = "half of the activation memory of 1f1b, and less idle time",
    .source = "Qi et al., NeurIPS'24 (Pipeline Parallelism with Controllable Memory), section 3; "
              "AMD Primus zbv_greedy.py; M: sail-sg v_auto_schedule.py",
    .placement = PP_PLACE_VEE,
    .splits_backward = true,
    .chunks = 2,
    .options = {[PP_LIMIT_AT] = &pp_limit_option},
    .limits = "M, --max-activations, at least 2 floor(D/2) + 2, the default; zbv has 2D",
    .accepts = accepts,
    .generate = generate,
    .bubble_frac = {"about half of 1f1b's", false, NULL},
    .peak = {"about D+2, or at most M", false, NULL},
};
