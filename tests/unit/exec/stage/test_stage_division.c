/* One model, divided into stages in several ways: losses and gradients do not change by a bit. */
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>

enum { LAYERS = 3, ROWS = 2 };
static const struct {
    int stages, blocks[RIG_STAGES];
    bool has_edges;
} divisions[] = {
    {2, {2, 1}, false},       {2, {0, 3}, false},      {2, {3, 0}, true},
    {4, {1, 1, 1, 0}, false}, {4, {0, 3, 0, 0}, true}, {8, {0, 1, 0, 0, 1, 0, 1, 0}, true},
};
enum { DIVISIONS = sizeof divisions / sizeof *divisions };

static struct rig *trained(struct pp_arena *arena, const struct pp_net *net, int division,
                           int splits, bool is_exact)
{
    static const int whole[] = {LAYERS};
    struct rig *r =
        rig_create(arena, &pp_kernels_reference, net, division < 0 ? 1 : divisions[division].stages,
                   division < 0 ? whole : divisions[division].blocks, ROWS, splits,
                   division >= 0 && divisions[division].has_edges);

    r->is_exact = is_exact;
    for (int granule = 0; granule < 2; granule++) {
        rig_sample(r, granule);
        rig_forward(r);
        rig_backward(r, RIG_I_W);
    }
    cr_assert_eq(r->status, PP_FIXED_OK);
    return r;
}

static void compare(const struct rig *whole, const struct rig *divided, int variant, int division)
{
    const struct pp_stage *stage = whole->chunk[0].stage;

    for (int i = 0; i < ROWS * whole->net->seq; i++)
        cr_assert_eq(whole->loss[i], divided->loss[i], "variant %d, division %d, token %d", variant,
                     division, i);
    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_param *param = &stage->params[p];
        for (int64_t i = 0; i < param->count; i++)
            if (whole->is_exact)
                cr_assert_eq(rig_exact_gradient(whole, param->id, i),
                             rig_exact_gradient(divided, param->id, i));
            else
                cr_assert_float_eq(rig_gradient(whole, param->id, i),
                                   rig_gradient(divided, param->id, i), param->is_tied ? 1e-14 : 0,
                                   "variant %d, division %d, %s", variant, division, param->name);
    }
}

static void check_divisions(int splits, bool is_exact)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 3)) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net = rig_variant(LAYERS, variant);
        const struct rig *whole = trained(arena, &net, -1, splits, is_exact);

        for (int division = 0; division < DIVISIONS; division++)
            compare(whole, trained(arena, &net, division, splits, is_exact), variant, division);
    }
}

/* A tied matrix is summed in another order: its copies apart, then together. */
Test(stage_division, changes_no_bit_of_losses_and_gradients)
{
    check_divisions(1, false);
}

Test(stage_division, changes_no_bit_of_exact_gradients_even_of_tied_matrices)
{
    check_divisions(1, true);
}

Test(stage_division, changes_no_bit_when_sequences_are_split)
{
    check_divisions(2, true);
}

/* A stage without any layer needs no memory. */
Test(stage_division, stages_without_layers_keep_nothing)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, 0);
    struct pp_stage_shape shape = {.rows = ROWS, .tokens = net.seq, .splits = 1};
    const struct pp_stage *stage = pp_stage_create(arena, &net, &shape, &pp_kernels_reference);

    cr_assert_eq(stage->kept_bytes + stage->saved_bytes + stage->scratch_bytes, 0);
    cr_assert_eq(stage->elements, 0);
    shape.has_edge = true;
    stage = pp_stage_create(arena, &net, &shape, &pp_kernels_reference);
    cr_assert_eq(stage->kept_bytes, stage->boundary_bytes);
    cr_assert_eq(stage->edge_offset, 0);
}
