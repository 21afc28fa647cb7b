/* Stages whose saved activations move. F leaves what struct pp_left says, and the rest need not
 * move. The backward has the bits of other stages, and no more scratch. */
#include "tests/unit/exec/stage/stage_rig.h"

#include "core/cost/recompute.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { LAYERS = 3, STAGES = 4, ROWS = 2 };
static const int blocks[STAGES] = {1, 0, 2, 0};
static const struct pp_kernels *const tables[] = {&pp_kernels_reference, &pp_kernels_bf16};

static bool is_left(struct pp_left left, size_t at)
{
    return at < left.first || (at >= left.second && at < left.until);
}

/* Checks what a forward has written. Then all else is lost. */
static void move(char *memory, size_t bytes, struct pp_left left, int variant)
{
    cr_assert(left.first <= left.second && left.second <= left.until && left.until <= bytes);
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        const bool is_touched = memcmp(memory + i, rig_poison, 4) != 0;
        cr_assert_eq(is_touched, is_left(left, i), "variant %d: byte %zu of %zu", variant, i,
                     bytes);
    }
    for (size_t i = 0; i < bytes; i++)
        memory[i] = is_left(left, i) ? memory[i] : (char)(i % 97 + 1);
}

static void check(const struct pp_kernels *k, int variant, int splits, struct pp_stage_again again,
                  enum rig_backward how)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, variant);
    struct rig *r[2];

    for (int is_moved = 0; is_moved <= 1; is_moved++) {
        r[is_moved] = rig_create_of(arena, k, &net, STAGES, blocks, ROWS, splits, false, again,
                                    is_moved, (struct rig_bits){0});
        rig_forward(r[is_moved]);
    }
    for (int s = 0; s < STAGES; s++)
        for (int split = 0; split < r[1]->splits; split++) {
            const struct chunk *c = &r[1]->chunk[s];
            move(c->kept[split], c->stage->kept_bytes, c->stage->kept_left, variant);
            move(c->saved[split], c->stage->saved_bytes, c->stage->saved_left, variant);
        }
    for (int is_moved = 0; is_moved <= 1; is_moved++)
        rig_backward(r[is_moved], how);
    for (int s = 0; s < STAGES; s++) {
        const struct pp_stage *stage = r[1]->chunk[s].stage;
        cr_assert_arr_eq(r[0]->chunk[s].sum, r[1]->chunk[s].sum,
                         (size_t)stage->elements * k->gradient_bytes, "variant %d, stage %d",
                         variant, s);
        cr_assert_leq(stage->scratch_bytes, r[0]->chunk[s].stage->scratch_bytes, "variant %d",
                      variant);
        cr_assert_eq(stage->kept_bytes + stage->saved_bytes,
                     r[0]->chunk[s].stage->kept_bytes + r[0]->chunk[s].stage->saved_bytes);
    }
}

Test(stage_moved, only_what_a_forward_leaves_has_to_move)
{
    static const struct pp_stage_again again[] = {
        {0}, {.modules = PP_AGAIN_CORE}, {.modules = PP_AGAIN_NORM | PP_AGAIN_MLP}, {.blocks = 2}};

    for (size_t t = 0; t < PP_COUNT(tables); t++)
        for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 7))
            for (int splits = 1; splits <= 2; splits++)
                for (size_t a = 0; a < PP_COUNT(again); a++)
                    for (int how = RIG_B; how <= RIG_ALL_I_THEN_W; how++)
                        check(tables[t], variant, splits, again[a], (enum rig_backward)how);
}
