/* Saved activations in few bits. Every executable schedule without split backwards trains to the
 * bits of a loop that saves alike. Its times replay, its memory is as predicted, and no rank needs
 * more than with full activations. The gap to those is small, and falls with more bits. */
#include "core/cost/recompute.h"
#include "core/random.h"
#include "exec/program/stages.h"
#include "exec/report/report.h"
#include "tests/exec/equal.h"

#include <math.h>
#include <string.h>

static void check_no_more_memory(struct pp_arena *arena, const struct exec_case *c,
                                 const struct exec_run *few)
{
    struct exec_case plain = *c;
    struct exec_run full;

    plain.act_bits = 0;
    plain.steps = 1;
    cr_assert(exec_run(arena, &plain, &full));
    for (int rank = 0; rank < few->program->ranks; rank++)
        cr_assert_leq(few->result.layout[rank].peak_bytes, full.result.layout[rank].peak_bytes,
                      "%s: rank %d", exec_case_text(arena, c), rank);
}

/* The forward of the first step is exact. */
static void check_gap(struct pp_arena *arena, const struct exec_case *c, const struct exec_run *run)
{
    const struct pp_training_result *r = &run->result;
    const char *name = exec_case_text(arena, c);

    cr_assert(r->losses[0] == r->plain_losses[0], "%s", name);
    cr_assert(pp_difference_rel_l2(&r->gap) > 0 && isfinite(pp_difference_rel_l2(&r->gap)), "%s",
              name);
    if (c->act_bits == 8)
        cr_assert_geq(pp_difference_cosine(&r->gap), 0.999, "%s: %g", name,
                      pp_difference_cosine(&r->gap));
}

static bool has_split_backwards(struct pp_arena *arena, const struct exec_case *c)
{
    struct exec_case plain = *c;
    struct pp_error err = {0};
    struct exec_run run;

    plain.act_bits = 0;
    cr_assert_eq(exec_run_make(arena, &plain, &run, &err), PP_OK, "%s: %s",
                 exec_case_text(arena, c), err.message);
    return pp_program_has_kind(run.program, PP_W);
}

static int check(const struct exec_case *c)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct exec_run run;

    if (has_split_backwards(arena, c))
        return 0;
    cr_assert(exec_run(arena, c, &run), "%s was refused", exec_case_text(arena, c));
    if (c->is_exact)
        check_run(arena, c, &run);
    check_gap(arena, c, &run);
    check_no_more_memory(arena, c, &run);
    return 1;
}

/* ---- schedules ------------------------------------------------------------------------------- */

static int every_schedule(int ranks, int act_bits)
{
    const struct exec_case usual = {.shape = {.ranks = ranks, .micro_batches = 4},
                                    .replicas = 1,
                                    .mbs = 2,
                                    .steps = 3,
                                    .act_bits = act_bits,
                                    .is_exact = true,
                                    .clip = 1};

    return each_schedule(&usual, check);
}

Test(act_bits, every_schedule_has_one_set_of_bits)
{
    cr_assert_geq(every_schedule(2, 8), 8);
    cr_assert_geq(every_schedule(4, 8), 8);
    cr_assert_geq(every_schedule(2, 4), 8);
    cr_assert_geq(every_schedule(2, 2), 8);
}

/* Also splits, recomputation of all that can be, groups, replicas that shard, other numbers. */
Test(act_bits, variants)
{
    static const struct exec_case cases[] = {
        EXEC_CASE("1f1b", 2, 4, .is_recomputed = true),
        EXEC_CASE("gpipe", 2, 4, .is_recomputed = true, .again.modules = PP_AGAIN_CORE),
        EXEC_CASE("1f1b", 2, 4, .is_recomputed = true,
                  .again.modules = PP_AGAIN_NORM | PP_AGAIN_ACT),
        EXEC_CASE("1f1b", 2, 4, .is_recomputed = true, .again.modules = PP_AGAIN_MLP,
                  .is_gated = true),
        EXEC_CASE("interleaved", 2, 4, .is_recomputed = true, .again.blocks = 1),
        EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 2),
        EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 4, .has_rope = true, .has_qk_norm = true),
        EXEC_CASE("seq1f1b", 2, 4, .shape.splits = 2, .is_recomputed = true,
                  .again.modules = PP_AGAIN_CORE | PP_AGAIN_NORM),
        EXEC_CASE("chimera", 4, 8, .replicas = 2, .zero = 1),
        EXEC_CASE("1f1b", 2, 4, .replicas = 2, .zero = 2),
        EXEC_CASE("1f1b", 2, 4, .replicas = 2, .zero = 3, .is_bf16 = true),
        EXEC_CASE("1f1b", 2, 4, .tp = 2),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .is_sequence_parallel = true),
        EXEC_CASE("1f1b", 2, 4, .tp = 4, .heads = 4, .vocab = 49, .is_sequence_parallel = true,
                  .is_recomputed = true, .is_gated = true, .has_qk_norm = true),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .is_sequence_parallel = true, .is_recomputed = true,
                  .again.modules = PP_AGAIN_NORM | PP_AGAIN_MLP),
        EXEC_CASE("chimera", 2, 4, .tp = 2, .transport = &pp_transport_tcp),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .is_sequence_parallel = true,
                  .transport = &pp_transport_shm),
        EXEC_CASE("gpipe", 2, 4, .is_bf16 = true, .is_gated = true, .has_rope = true),
        EXEC_CASE("1f1b", 2, 4, .is_double = true),
        EXEC_CASE("bfs", 2, 4, .shape.chunks = 4, .is_untied = true),
        EXEC_CASE("1f1b", 8, 8, .layers = 3),
        EXEC_CASE("gpipe", 1, 3),
        EXEC_CASE("1f1b", 1, 4, .tp = 2, .is_bf16 = true),
        EXEC_CASE("hanayo", 2, 4, .backend = &pp_backend_fake),
        EXEC_CASE("interleaved", 2, 4, .backend = &pp_backend_fake, .is_recomputed = true),
        EXEC_CASE("1f1b", 2, 4, .tp = 2, .is_sequence_parallel = true, .backend = &pp_backend_fake),
        EXEC_CASE("1f1b", 2, 4, .clock = PP_CLOCK_WALL),
        /* few values are in few bits, so that stages round: ends alone, and what R makes again */
        EXEC_CASE("1f1b", 4, 4, .layers = 2, .is_bf16 = true),
        EXEC_CASE("chimera", 4, 4, .layers = 2, .is_bf16 = true),
        EXEC_CASE("1f1b", 2, 4, .layers = 2, .is_bf16 = true, .is_recomputed = true,
                  .again.modules = PP_AGAIN_CORE | PP_AGAIN_NORM | PP_AGAIN_ACT | PP_AGAIN_MLP),
        EXEC_CASE("hanayo", 2, 4, .is_bf16 = true, .is_recomputed = true,
                  .again.modules = PP_AGAIN_NORM | PP_AGAIN_ACT),
    };

    for (size_t i = 0; i < PP_COUNT(cases); i++)
        for (int is_exact = 0; is_exact < 2; is_exact++) {
            struct exec_case c = exact_case(cases[i], 2, 3);
            c.seed = i;
            c.act_bits = i % 3 == 0 ? 4 : 8;
            c.is_exact = is_exact;
            cr_assert_eq(check(&c), 1, "case %zu was refused", i);
        }
}

/* ---- the gap --------------------------------------------------------------------------------- */

Test(act_bits, more_bits_are_nearer_and_eight_train_alike)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    double cosine = 0, rel_l2 = HUGE_VAL;
    struct exec_run run;

    for (int act_bits = 2; act_bits <= 8; act_bits *= 2) {
        const struct exec_case c =
            EXEC_CASE("1f1b", 2, 4, .mbs = 2, .steps = 20, .hidden = 64, .seq = 16,
                      .act_bits = act_bits, .is_exact = true, .clip = 1);
        cr_assert(exec_run(arena, &c, &run));
        check_run(arena, &c, &run);
        const struct pp_difference *gap = &run.result.gap;
        cr_assert_gt(pp_difference_cosine(gap), cosine);
        cr_assert_lt(pp_difference_rel_l2(gap), rel_l2 / 4);
        cosine = pp_difference_cosine(gap);
        rel_l2 = pp_difference_rel_l2(gap);
    }
    cr_assert_geq(cosine, 0.999);
    for (int k = 0; k < 20; k++)
        cr_assert_lt(fabs(run.result.losses[k] / run.result.plain_losses[k] - 1), 0.01,
                     "step %d: %g, not %g", k + 1, run.result.losses[k],
                     run.result.plain_losses[k]);
}

/* ---- rounding -------------------------------------------------------------------------------- */

/* A head alone has its input and a norm of it, of which bf16 in 8 bits frees less than a half. With
 * a micro-batch in flight that is less than what its backward has in full. With four it is more. */
Test(act_bits, a_stage_rounds_where_packing_takes_more)
{
    static const struct {
        const char *schedule;
        bool is_rounded;
    } cases[] = {{"1f1b", true}, {"gpipe", false}};
    static const int blocks[] = {0, 1, 1, 0};
    const struct pp_stage_again again[4] = {{0}};

    for (size_t i = 0; i < PP_COUNT(cases); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct exec_case c = EXEC_CASE(cases[i].schedule, 4, 4, .mbs = 4, .layers = 2,
                                             .hidden = 128, .seq = 64, .vocab = 256, .steps = 1);
        struct exec_run run;
        struct pp_error err;

        cr_assert_eq(exec_run_make(arena, &c, &run, &err), PP_OK);
        const struct pp_stages_wish wish = {.net = &run.training.net,
                                            .kernels = &pp_kernels_bf16,
                                            .batch = &run.batch,
                                            .blocks = blocks,
                                            .again = again,
                                            .shape = {.act_bits = 8}};
        const struct pp_stage **stages = pp_stages_make(arena, run.program, &wish);
        for (int s = 1; s < 4; s++)
            cr_assert_eq(stages[s]->shape.is_rounded, s == 3 && cases[i].is_rounded, "%s: stage %d",
                         c.schedule, s);
    }
}
