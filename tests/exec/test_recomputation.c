/* Recomputation changes no bit. Every executable schedule, with its splits, trains random nets as
 * without it, whatever modules or blocks its stages compute again. A replay of its durations gives
 * its times. Its memory is as predicted, and on one stage a rank no more than without. */
#include "core/cost/recompute.h"
#include "core/random.h"
#include "tests/exec/equal.h"

#include <criterion/criterion.h>

enum { RUNS_EACH = 3, BLOCKS = 2 };

/* A set of modules, never none; or blocks, which no splits can compute again. */
static struct pp_stage_again draw_again(uint64_t seed, bool may_have_blocks)
{
    static const unsigned MODULES[] = {PP_AGAIN_CORE, PP_AGAIN_NORM, PP_AGAIN_ACT, PP_AGAIN_MLP};
    const uint64_t bits = pp_random_bits(seed, 0) % 16;
    struct pp_stage_again again = {0};

    for (size_t m = 0; m < PP_COUNT(MODULES); m++)
        again.modules |= bits >> m & 1 ? MODULES[m] : 0;
    if (again.modules == 0 && may_have_blocks)
        again.blocks = 1;
    else if (again.modules == 0)
        again.modules = PP_AGAIN_NORM | PP_AGAIN_ACT;
    return again;
}

static struct exec_case draw(const struct exec_case *usual, uint64_t seed)
{
    struct exec_case c = *usual;
    const uint64_t bits = pp_random_bits(seed, 1);
    struct pp_shape shape = c.shape; /* with the usual splits of the schedule */
    struct pp_error err = {0};

    cr_assert_eq(pp_schedule_check(pp_schedule_find(c.schedule), &shape, &err), PP_OK, "%s",
                 err.message);
    c.is_recomputed = true;
    c.is_gated = bits & 1;
    c.has_rope = bits & 2;
    c.is_untied = bits & 4;
    c.is_bf16 = bits >> 3 & 1;
    c.is_double = !c.is_bf16 && bits >> 4 & 1;
    c.replicas = 1 + (int)(bits >> 5 & 1);
    c.zero = c.replicas > 1 ? (int)(bits >> 6 & 1) : 0;
    c.again = draw_again(seed, shape.splits <= 1);
    return c;
}

static void check_less_memory(struct pp_arena *arena, const struct exec_case *c,
                              const struct exec_run *run)
{
    struct exec_case plain = *c;
    struct exec_run without;

    if (run->program->stages > run->program->ranks || run->program->pipelines > 1)
        return;
    plain.is_recomputed = false;
    plain.again = (struct pp_stage_again){0};
    cr_assert(exec_run(arena, &plain, &without));
    for (int rank = 0; rank < run->program->ranks; rank++)
        cr_assert_leq(run->result.layout[rank].activations_bytes,
                      without.result.layout[rank].activations_bytes, "%s: rank %d",
                      exec_case_text(arena, c), rank);
}

static int visit(const struct exec_case *usual)
{
    for (int k = 0; k < RUNS_EACH; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct exec_case c = draw(usual, usual->seed * RUNS_EACH + (uint64_t)k);
        struct exec_run run;

        cr_assert(exec_run(arena, &c, &run), "%s was refused", exec_case_text(arena, &c));
        check_run(arena, &c, &run);
        check_less_memory(arena, &c, &run);
    }
    return 1;
}

static int every_schedule(int ranks, int splits)
{
    const struct exec_case usual = {.shape = {.ranks = ranks, .micro_batches = 4, .splits = splits},
                                    .replicas = 1,
                                    .mbs = 2,
                                    .steps = 3,
                                    .layers = BLOCKS * 2 * ranks,
                                    .is_exact = true,
                                    .clip = 1};

    return each_schedule(&usual, visit);
}

Test(recomputation, every_schedule_trains_to_the_same_bits)
{
    cr_assert_geq(every_schedule(2, 0), 15);
}

Test(recomputation, sequence_splits_train_to_the_same_bits)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        const struct exec_case usual = {
            .schedule = "seq1f1b",
            .shape = {.ranks = 2, .micro_batches = 4, .splits = seed % 2 ? 4 : 2},
            .replicas = 1,
            .mbs = 2,
            .steps = 3,
            .is_exact = true,
            .clip = 1,
            .seed = 100 + seed};
        visit(&usual);
    }
}
