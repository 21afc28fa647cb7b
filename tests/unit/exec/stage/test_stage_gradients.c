/* Gradients of a whole model against finite differences of its loss, in double. */
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Central difference of fourth order: truncation falls with step^4, rounding is 1e-16 / step. */
static double slope(struct rig *r, int64_t i)
{
    static const double step = 2e-3;
    char *weights = r->chunk[0].weights;
    const double at = rig_weight(r, weights, i);
    double loss[4];

    for (int j = 0; j < 4; j++) {
        rig_put(r, weights, i, at + step * (j < 2 ? j - 2 : j - 1));
        loss[j] = rig_forward(r);
    }
    rig_put(r, weights, i, at);
    return (loss[0] - 8 * loss[1] + 8 * loss[2] - loss[3]) / (12 * step);
}

/* Worst difference of a tensor, relative to its largest gradient; every 29th element, or every
 * third of a small tensor or in a long run. Which ones depends on the variant. */
static double worst_of(struct rig *r, const struct pp_param *param, int variant)
{
    const int each = param->count < 64 || getenv("PIPESIM_LONG") ? 3 : 29;
    double worst = 0, largest = 0;

    for (int64_t i = 0; i < param->count; i++) {
        const double gradient = rig_get(r, r->chunk[0].sum, param->offset + i);
        largest = fmax(largest, fabs(gradient));
        if ((i + variant) % each == 0)
            worst = fmax(worst, fabs(gradient - slope(r, param->offset + i)));
    }
    cr_assert_gt(largest, 0, "%s of layer %d has no gradient", param->name, param->layer);
    return worst / largest;
}

static void check_net(const struct pp_net *net, int variant, int splits)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct rig *r =
        rig_create(arena, &pp_kernels_reference, net, 1, &net->layers, 2, splits, false);
    double worst = 0;

    rig_forward(r);
    rig_backward(r, RIG_I_W);
    for (int p = 0; p < r->chunk[0].stage->param_count; p++) {
        const struct pp_param *param = &r->chunk[0].stage->params[p];
        const double error = worst_of(r, param, variant);
        cr_assert_leq(error, 1e-6, "variant %d, %s of layer %d: relative error %g", variant,
                      param->name, param->layer, error);
        worst = fmax(worst, error);
    }
    cr_log_info("variant %d: worst relative error %g", variant, worst);
}

Test(stage_gradients, agree_with_differences_of_the_loss)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 1)) {
        const struct pp_net net = rig_variant(2, variant);
        check_net(&net, variant, 1);
    }
}

Test(stage_gradients, agree_when_sequences_are_split)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 5)) {
        const struct pp_net net = rig_variant(2, variant);
        check_net(&net, variant, 4);
    }
}
