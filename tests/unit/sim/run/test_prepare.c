/* What a simulation takes from an earlier one is of the same configuration, or made anew. */
#include "sim/run/prepare.h"
#include "sim/run/simulate.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <stddef.h>

/* A small run, so that a simulation takes little. */
static const char *const BASE[] = {"--model gpt2-64",   "--pp 2",  "--tp 1",          "--dp 2",
                                   "--micro-batches 4", "--mbs 2", "--schedule 1f1b", "--zero 0",
                                   "--recompute none"};

static void simulate(struct pp_arena *arena, const struct pp_config *config, enum pp_depth depth,
                     struct pp_prepared *prepared, struct pp_result *result)
{
    struct pp_error err = {0};

    cr_assert_eq(pp_simulate(arena, config, depth, prepared, result, &err), PP_OK, "%s",
                 err.message);
}

/* BASE with these words, of which the first option takes the place of the same one there. */
static const struct pp_config *config_of(struct pp_arena *arena, const char *words)
{
    struct pp_result *result = PP_NEW(arena, struct pp_result);
    struct pp_error err = {0};
    const char *line = pp_arena_printf(arena, "run --engine dag %s", words);
    const size_t name = strcspn(words, " ");

    for (size_t i = 0; i < sizeof(BASE) / sizeof(*BASE); i++)
        if (strcspn(BASE[i], " ") != name || strncmp(BASE[i], words, name) != 0)
            line = pp_arena_printf(arena, "%s %s", line, BASE[i]);
    cr_assert_eq(sim_run_at(arena, line, PP_MEMORY, result, &err), PP_OK, "%s: %s", line,
                 err.message);
    return &result->config;
}

/* One bit of the remembered configuration after another is another. Bytes of `origin` may
 * differ. */
Test(prepare, any_bit_of_the_configuration_that_differs_is_seen)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_config *config = config_of(arena, "");
    const size_t from = offsetof(struct pp_config, origin);
    struct pp_prepared prepared = {0};
    struct pp_result result;

    simulate(arena, config, PP_MEMORY, &prepared, &result);
    for (size_t i = 0; i < sizeof(*config); i++) {
        const struct pp_arena_mark mark = pp_arena_mark(arena);
        struct pp_prepared other = prepared;
        ((unsigned char *)&other.known.config)[i] ^= (unsigned char)(1 << i % 8);
        simulate(arena, config, PP_MEMORY, &other, &result);
        cr_assert_eq(other.known.costs == prepared.known.costs, i >= from, "byte %zu of %zu", i,
                     from);
        cr_assert_eq(other.known.program == prepared.known.program, i >= from, "byte %zu of %zu", i,
                     from);
        cr_assert(result.costs == other.known.costs && result.program == other.known.program,
                  "byte %zu", i);
        if (i < from)
            cr_assert(!memcmp(&other.known.config, config, from), "byte %zu", i);
        pp_arena_release(arena, mark);
    }
}

/* Each differs from BASE in one thing. */
static const char *const OTHERS[] = {
    "--micro-batches 8",
    "--mbs 4",
    "--seq 256",
    "--schedule gpipe",
    "--schedule interleaved",
    "--order eager",
    "--model llama2-7b",
    "--layers 48",
    "--cluster a100",
    "--precision fp32",
    "--attention unfused",
    "--recompute full",
    "--recompute selective",
    "--zero 1",
    "--zero 3",
    "--zero 3 --gather chunk",
    "--offload os=host",
    "--act-bits 8",
    "--grad-sync eager --buckets 3",
    "--dp-overlap on",
    "--head balanced",
    "--framework megatron",
    "--collectives flows",
    "--collective-algorithm tree",
    "--link-bw node=0.1",
    "--post jit",
    "--recv-slots 1",
    "--p2p buffered:2",
    "--steps 3",
    "--jitter 0.05",
    "--slow 1=0.8",
    "--flops palm",
    "--map pp,tp,cp,dp",
};

static void expect_same(const struct pp_result *a, const struct pp_result *b, const char *line)
{
    cr_assert_eq(a->metrics.iteration_s, b->metrics.iteration_s, "%s: %.17g %.17g", line,
                 a->metrics.iteration_s, b->metrics.iteration_s);
    cr_assert_eq(a->mfu, b->mfu, "%s", line);
    cr_assert_eq(a->memory[a->peak_rank].peak_bytes, b->memory[b->peak_rank].peak_bytes, "%s",
                 line);
    cr_assert_eq(a->fits, b->fits, "%s", line);
    cr_assert_eq(pp_program_hash(a->program), pp_program_hash(b->program), "%s", line);
}

Test(prepare, what_was_made_of_another_configuration_is_not_used)
{
    static const enum pp_depth depths[] = {PP_MEMORY, PP_QUICK, PP_METRICS, PP_FULL};
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_config *base = config_of(arena, "");

    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++)
        for (size_t k = 0; k < sizeof(depths) / sizeof(*depths); k++) {
            PP_ARENA_AUTO struct pp_arena *own = pp_arena_create();
            const struct pp_config *config = config_of(own, OTHERS[i]);
            struct pp_prepared prepared = {0};
            struct pp_result ignored, after, alone;

            simulate(own, base, PP_QUICK, &prepared, &ignored);
            simulate(own, config, depths[k], &prepared, &after);
            simulate(own, config, depths[k], NULL, &alone);
            expect_same(&after, &alone, OTHERS[i]);
        }
}

/* Programs of other configurations change no figure, nor do their compiled forms. Each of OTHERS
 * runs several times with programs that all share, and alone. */
Test(prepare, known_programs_change_no_figure)
{
    static const enum pp_depth depths[] = {PP_QUICK, PP_METRICS, PP_PROVED};
    struct pp_known_programs known = {0};

    for (int k = 0; k < 6; k++)
        for (size_t i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_config *config = config_of(arena, OTHERS[i]);
            struct pp_prepared prepared = {.programs = &known};
            struct pp_result after, alone;

            simulate(arena, config, depths[k % 3], &prepared, &after);
            simulate(arena, config, depths[k % 3], NULL, &alone);
            expect_same(&after, &alone, OTHERS[i]);
            for (int part = 0; part < PP_TIME_PARTS && k % 3; part++)
                cr_assert_eq(after.metrics.time_frac[part], alone.metrics.time_frac[part], "%s",
                             OTHERS[i]);
        }
    pp_known_programs_drop(&known);
}

/* A program that is completed after a quick run is the one that would be built at once. */
Test(prepare, quick_programs_are_completed)
{
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_config *config = config_of(arena, OTHERS[i]);
        struct pp_prepared prepared = {0};
        struct pp_result ignored, after, alone;

        simulate(arena, config, PP_QUICK, &prepared, &ignored);
        simulate(arena, config, PP_FULL, &prepared, &after);
        simulate(arena, config, PP_FULL, NULL, &alone);
        expect_same(&after, &alone, OTHERS[i]);
    }
}
