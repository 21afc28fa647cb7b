/* Saved values in few bits: bytes at rest, bits of losses and gradients, and the gap to full ones.
 */
#include "tests/unit/exec/stage/stage_rig.h"

#include "core/cost/recompute.h"
#include "exec/stage/graph.h"

#include <criterion/criterion.h>

enum { LAYERS = 3, STAGES = 4, ROWS = 2 };
static const int blocks[STAGES] = {1, 0, 2, 0}, all_blocks[] = {LAYERS};
static const struct pp_kernels *const tables[] = {&pp_kernels_reference, &pp_kernels_bf16};

/* ---- gradients ------------------------------------------------------------------------------- */

/* Trains a granule: F fills all, or keeps, and R fills the rest right before its backward. */
static void train(struct pp_arena *arena, struct rig *r)
{
    const bool has_r = r->few.has_r;

    for (int split = 0; split < r->splits; split++)
        for (int s = 0; s < r->stages; s++)
            rig_call_stage(r, has_r ? pp_stage_keep : pp_stage_forward, s, split);
    for (int split = r->splits - 1; split >= 0; split--)
        for (int s = r->stages - 1; s >= 0; s--) {
            struct chunk *c = &r->chunk[s];
            if (has_r) {
                c->saved[split] = rig_memory(arena, c->stage->saved_bytes);
                rig_call_stage(r, pp_stage_recompute, s, split);
            }
            rig_call_stage(r, pp_stage_backward, s, split);
            cr_assert_eq(rig_untouched(c->kept[split], c->stage->kept_bytes), 0);
            cr_assert_eq(rig_untouched(c->saved[split], c->stage->saved_bytes), 0);
            cr_assert(rig_is_guarded(c->saved[split], c->stage->saved_bytes));
            cr_assert(rig_is_guarded(c->kept[split], c->stage->kept_bytes));
            cr_assert(rig_is_guarded(r->scratch, r->scratch_bytes));
        }
}

static struct rig *trained(struct pp_arena *arena, const struct pp_kernels *k,
                           const struct pp_net *net, bool is_cut, int splits,
                           struct pp_stage_again again, struct rig_bits few)
{
    struct rig *r = rig_create_of(arena, k, net, is_cut ? STAGES : 1, is_cut ? blocks : all_blocks,
                                  ROWS, splits, false, again, false, few);

    train(arena, r);
    return r;
}

static void check_equal(const struct rig *a, const struct rig *b, const char *what, int variant)
{
    cr_assert_arr_eq(a->loss, b->loss, sizeof(double) * (size_t)(ROWS * a->net->seq), "%s: %d",
                     what, variant);
    for (int s = 0; s < b->stages; s++)
        for (int p = 0; p < b->chunk[s].stage->param_count; p++) {
            const struct pp_param *param = &b->chunk[s].stage->params[p];
            for (int64_t i = 0; i < param->count && !param->is_tied; i++)
                cr_assert_eq(rig_gradient(a, param->id, i), rig_gradient(b, param->id, i),
                             "%s: variant %d, %s of layer %d", what, variant, param->name,
                             param->layer);
        }
}

/* Recomputation, and where stages begin, changes no bit. */
static void check_bits(const struct pp_kernels *k, int variant, int splits, int act_bits)
{
    static const struct pp_stage_again choices[] = {
        {0},
        {.modules = PP_AGAIN_CORE},
        {.modules = PP_AGAIN_NORM | PP_AGAIN_MOE},
        {.modules = PP_AGAIN_ACT},
        {.modules = PP_AGAIN_CORE | PP_AGAIN_NORM | PP_AGAIN_ACT | PP_AGAIN_MLP | PP_AGAIN_MOE},
        {.blocks = 1}};
    const struct rig_bits few = {act_bits, false, false},
                          again[] = {{act_bits, true, false}, {act_bits, true, true}};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, variant);
    const struct rig *whole = trained(arena, k, &net, false, splits, choices[0], few);

    check_equal(whole, trained(arena, k, &net, true, splits, choices[0], few), "cut", variant);
    check_equal(
        whole,
        trained(arena, k, &net, true, splits, choices[0], (struct rig_bits){act_bits, false, true}),
        "rounded", variant);
    for (size_t i = 0; i < PP_COUNT(choices); i++)
        if (splits == 1 || choices[i].modules != 0)
            for (int is_rounded = 0; is_rounded < 2; is_rounded++)
                check_equal(whole,
                            trained(arena, k, &net, true, splits, choices[i], again[is_rounded]),
                            "again", variant);
}

Test(stage_bits, stages_and_recomputation_change_no_bit)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 5))
        for (int splits = 1; splits <= 2; splits++)
            check_bits(tables[variant % 2], variant, splits, 2 << variant % 3);
}

Test(stage_bits, fp32_too)
{
    check_bits(pp_kernels_fp32(true), 1, 1, 8);
    check_bits(pp_kernels_fp32(true), 2, 2, 4);
}

/* ---- the gap --------------------------------------------------------------------------------- */

static double gap(const struct rig *full, const struct rig *few)
{
    const struct chunk *a = &full->chunk[0], *b = &few->chunk[0];
    double squares = 0, apart = 0;

    for (int64_t i = 0; i < a->stage->elements; i++) {
        const double x = rig_get(full, a->sum, i), d = x - rig_get(few, b->sum, i);
        squares += x * x;
        apart += d * d;
    }
    return sqrt(apart / squares);
}

Test(stage_bits, losses_are_those_of_full_values_and_gradients_near)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 5)) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net = rig_variant(LAYERS, variant);
        struct rig *full =
            rig_create(arena, &pp_kernels_reference, &net, 1, all_blocks, ROWS, 1, false);
        double before = HUGE_VAL;

        rig_forward(full);
        rig_backward(full, RIG_B);
        for (int act_bits = 2; act_bits <= 8; act_bits *= 2) {
            const struct rig *few =
                trained(arena, &pp_kernels_reference, &net, false, 1, (struct pp_stage_again){0},
                        (struct rig_bits){act_bits, false, false});
            const double g = gap(full, few);

            cr_assert_arr_eq(full->loss, few->loss, sizeof(double) * (size_t)(ROWS * net.seq));
            cr_assert(g > 0 && g < before / 4, "variant %d, %d bits: %g", variant, act_bits, g);
            before = g;
        }
        cr_assert_lt(before, 0.03, "variant %d: %g", variant, before);
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static struct pp_stage *stage_of(struct pp_arena *arena, const struct pp_net *net,
                                 const struct pp_kernels *k, int act_bits)
{
    const struct pp_stage_shape shape = {
        .blocks = LAYERS, .rows = ROWS, .tokens = net->seq, .splits = 1, .act_bits = act_bits};

    return pp_stage_create(arena, net, &shape, k);
}

/* Values in full are B-bit codes, and 4 bytes for 128 values: .2578 of fp32 in 8 bits. */
Test(stage_bits, bytes_at_rest)
{
    static const struct {
        int act_bits, of_fp32, of_bf16; /* in 128ths of the bytes in full */
    } laws[] = {{2, 9, 18}, {4, 17, 34}, {8, 33, 66}};

    for (int variant = 0; variant < RIG_VARIANTS; variant++)
        for (size_t i = 0; i < PP_COUNT(laws); i++)
            for (int is_bf16 = 0; is_bf16 < 2; is_bf16++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const struct pp_kernels *k = is_bf16 ? &pp_kernels_bf16 : pp_kernels_fp32(true);
                struct pp_net net = rig_variant(LAYERS, variant);
                net.seq = 64; /* any width has whole groups */
                const struct pp_stage *full = stage_of(arena, &net, k, 0),
                                      *few = stage_of(arena, &net, k, laws[i].act_bits);
                const size_t law = (size_t)(is_bf16 ? laws[i].of_bf16 : laws[i].of_fp32);

                if (net.experts > 0) /* rows of experts have any number */
                    continue;
                cr_assert_eq(few->packed_bytes * 128, few->unpacked_bytes * law);
                const size_t less =
                    full->kept_bytes + full->saved_bytes - few->kept_bytes - few->saved_bytes;
                const size_t more = less - (few->unpacked_bytes - few->packed_bytes);
                /* gradients for W have a place more in full */
                cr_assert(more == 0 || more == full->boundary_bytes, "variant %d", variant);
            }
}

/* Each is packed once, after all that is in full. */
Test(stage_bits, packed_tensors_share_no_bytes)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net = rig_variant(LAYERS, variant);
        const struct pp_stage *few = stage_of(arena, &net, &pp_kernels_bf16, 4);
        size_t end[PP_BASES] = {0};
        int count = 0;

        for (const struct pp_tensor *t = few->graph->tensors;
             t < few->graph->tensors + few->graph->tensor_count; t++) {
            if (!t->is_packed &&
                (t->place[PP_PASS_F].base == PP_SAVED || t->place[PP_PASS_F].base == PP_KEPT)) {
                size_t *e = &end[t->place[PP_PASS_F].base];
                *e =
                    t->place[PP_PASS_F].at + t->bytes > *e ? t->place[PP_PASS_F].at + t->bytes : *e;
            }
        }
        for (const struct pp_tensor *t = few->graph->tensors;
             t < few->graph->tensors + few->graph->tensor_count; t++) {
            if (!t->is_packed)
                continue;
            cr_assert_geq(t->packed.at, end[t->packed.base], "variant %d", variant);
            cr_assert_eq(t->packed.at % 4, 0);
            end[t->packed.base] = t->packed.at + pp_packed_bytes(4, (int64_t)(t->bytes / 2));
            count++;
        }
        cr_assert_leq(end[PP_SAVED], few->saved_bytes);
        cr_assert_leq(end[PP_KEPT], few->kept_bytes);
        cr_assert_geq(count, LAYERS * (net.experts > 0 ? 4 : 7));
    }
}

/* Rounded values take the places of full ones, and no others. */
Test(stage_bits, rounded_values_take_no_more_bytes)
{
    static const struct pp_stage_again choices[] = {
        {0},
        {.modules = PP_AGAIN_CORE},
        {.modules = PP_AGAIN_NORM},
        {.modules = PP_AGAIN_ACT | PP_AGAIN_MLP},
        {.modules = PP_AGAIN_CORE | PP_AGAIN_NORM | PP_AGAIN_ACT | PP_AGAIN_MLP | PP_AGAIN_MOE},
        {.blocks = 1}};

    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 3))
        for (int bits = 0; bits < 64; bits++)
            for (size_t a = 0; a < PP_COUNT(choices); a++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const struct pp_net net = rig_variant(LAYERS, variant);
                const int splits = bits & 8 && !net.is_encoder && a < 5 ? 2 : 1;
                struct pp_stage_shape shape = {.blocks = bits >> 4,
                                               .has_embedding = bits & 1,
                                               .has_head = bits & 2,
                                               .has_r = bits & 4 || a > 0,
                                               .again = choices[a],
                                               .rows = ROWS,
                                               .tokens = net.seq / splits,
                                               .splits = splits};
                const struct pp_stage *full =
                    pp_stage_create(arena, &net, &shape, tables[variant % 2]);
                shape.act_bits = 4;
                shape.is_rounded = true;
                const struct pp_stage *rounded =
                    pp_stage_create(arena, &net, &shape, tables[variant % 2]);
                cr_assert_eq(rounded->kept_bytes, full->kept_bytes);
                cr_assert_eq(rounded->saved_bytes, full->saved_bytes);
                cr_assert_leq(rounded->scratch_bytes, full->scratch_bytes);
                cr_assert_eq(rounded->packed_bytes, 0);
            }
}
