/* Peak memory against what was measured: maxima that PyTorch's allocator reports, so that context
 * and fragments are left out. All rows and errors: docs/accuracy.md. */
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>

#define GIB (1024.0 * 1024.0 * 1024.0)

#define GPT                                                                                        \
    "--model gpt3-175b --cluster a100 --recompute none --zero 0 --framework megatron --precision " \
    "bf16 --engine dag --dp 1 "

/* Qi et al. 2024 (Zero Bubble), table 4, 1F1B: the first and the last stage hold one layer fewer;
 * their scripts of 2023 do not ask for FlashAttention. */
#define ZB GPT "--attention unfused --schedule 1f1b --tp 1 --seq 1024 "

/* Yeung et al. 2025 (Vocabulary Parallelism), artifact, full-exp.txt: 1F1B on 8 A100. */
#define VP                                                                                         \
    GPT "--attention fused --schedule 1f1b --tp 1 --pp 8 --layers 32 --hidden 3072 --heads 24 "    \
        "--seq 2048 --positions 2048 --mbs 1 --gbs 128 --embedding untied --vocab "

static const struct row {
    const char *line;
    double published_gib, tolerance;
} rows[] = {
    {ZB "--pp 8 --layers 22 --hidden 2304 --heads 24 --mbs 6 --gbs 144", 30, 0.07},
    {ZB "--pp 8 --layers 30 --hidden 4096 --heads 32 --mbs 3 --gbs 72", 39, 0.03},
    {ZB "--pp 16 --layers 46 --hidden 5120 --heads 40 --mbs 1 --gbs 48", 32, 0.03},
    {ZB "--pp 32 --layers 62 --hidden 6144 --heads 48 --mbs 1 --gbs 96", 43, 0.03},
    {VP "32000", 16.01, 0.03},
    {VP "64000", 17.74, 0.03},
    {VP "128000", 21.00, 0.03},
    {VP "256000", 27.63, 0.05},
};

static double tensors_gib(const char *line)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result run;
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, line, PP_QUICK, &run, &err), PP_OK, "%s: %s", line, err.message);
    const struct pp_rank_memory *m = &run.memory[run.peak_rank];
    return (m->peak_bytes - m->other_bytes) / GIB;
}

Test(memory_published, peaks_are_those_measured)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double gib = tensors_gib(rows[i].line);
        cr_expect_float_eq(gib / rows[i].published_gib, 1, rows[i].tolerance, "%s: %.2f, %.2f GiB",
                           rows[i].line, gib, rows[i].published_gib);
    }
}

/* Each doubling of the vocabulary adds the first stage's matrix at 18 bytes a parameter. */
Test(memory_published, a_vocabulary_costs_its_state)
{
    const double more_bytes = (tensors_gib(VP "128000") - tensors_gib(VP "64000")) * GIB;

    cr_assert_float_eq(more_bytes / (64000.0 * 3072), 18, 0.01);
}
