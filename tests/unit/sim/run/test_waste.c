/* What the allocator wastes where there is room, where there is little, and where there is none. */
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>

struct waste {
    double tensors_bytes, context_bytes, most_frac, least_frac;
};

static struct pp_rank_memory run_in(struct pp_arena *arena, const char *framework,
                                    double memory_bytes, struct pp_result *run)
{
    struct pp_error err = {0};
    const char *line = pp_arena_printf(
        arena,
        "--schedule 1f1b --model llama2-7b --gpus 8 --tp 4 --pp 2 --mbs 1 --gbs 8 --recompute "
        "none --zero 0 --engine dag --framework %s --cluster memory:%.0f",
        framework, memory_bytes);

    cr_assert_eq(sim_run_at(arena, line, PP_QUICK, run, &err), PP_OK, "%s: %s", line, err.message);
    return run->memory[run->peak_rank];
}

static struct waste waste_of(struct pp_arena *arena, const char *framework)
{
    struct pp_result run;
    const struct pp_rank_memory m = run_in(arena, framework, 1e12, &run);
    const struct waste w = {.tensors_bytes = m.peak_bytes - m.other_bytes,
                            .context_bytes = run.costs->other_bytes,
                            .most_frac = run.costs->fragment_frac,
                            .least_frac = run.costs->stuck_frac};

    cr_assert_not(m.is_strained);
    cr_assert_float_eq(m.peak_bytes, w.tensors_bytes * (1 + w.most_frac) + w.context_bytes, 2);
    return w;
}

static double between(const struct waste *w, double frac)
{
    return floor(w->tensors_bytes * (1 + frac) + w->context_bytes);
}

Test(waste, shrinks_only_where_there_is_no_room)
{
    static const char *const frameworks[] = {"amsp", "deepspeed", "nemo"};

    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result run;
        const struct waste w = waste_of(arena, frameworks[i]);
        const double middle = between(&w, (w.most_frac + w.least_frac) / 2);

        cr_assert_gt(w.most_frac, w.least_frac);
        struct pp_rank_memory m = run_in(arena, frameworks[i], between(&w, w.most_frac) + 2, &run);
        cr_expect(run.fits && !m.is_strained, "%s", frameworks[i]);
        m = run_in(arena, frameworks[i], middle, &run);
        cr_expect(run.fits && m.is_strained, "%s", frameworks[i]);
        cr_expect_float_eq(m.peak_bytes, middle, 2);
        m = run_in(arena, frameworks[i], between(&w, w.least_frac) - 1e6, &run);
        cr_expect(!run.fits && m.is_strained, "%s", frameworks[i]);
        cr_expect_float_eq(m.peak_bytes, between(&w, w.least_frac), 2);
    }
}

Test(waste, of_blocks_in_use_never_shrinks)
{
    static const char *const frameworks[] = {"plain", "fsdp", "megatron", "torchtitan"};

    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result run;
        const struct waste w = waste_of(arena, frameworks[i]);
        const struct pp_rank_memory m =
            run_in(arena, frameworks[i], between(&w, w.most_frac) - 1e6, &run);

        cr_expect_eq(w.most_frac, w.least_frac, "%s", frameworks[i]);
        cr_expect(!run.fits && !m.is_strained, "%s", frameworks[i]);
    }
}
