/* tests/exec/tiers.h — runs with memory tiers: compared with the same runs without, bit by bit, and
 * with what the layout and the program predict. */
#ifndef PP_TESTS_EXEC_TIERS_H
#define PP_TESTS_EXEC_TIERS_H

#include "tests/exec/equal.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Folder of files on NVMe, for tests with `.init = begin_files, .fini = end_files`. */
static char tier_files[] = "/tmp/test_tiers_XXXXXX";

static inline void begin_files(void)
{
    cr_assert(mkdtemp(tier_files));
}

static inline void end_files(void)
{
    cr_assert_eq(rmdir(tier_files), 0, "a file was left over");
}

static inline struct exec_case without_tiers(const struct exec_case *c)
{
    struct exec_case plain = *c;

    memset(plain.homes, 0, sizeof(plain.homes));
    plain.is_cpu_update = plain.is_early = false;
    plain.moved_optimizer = plain.bucket = 0;
    plain.cached = plain.bucket_count = 0;
    return plain;
}

/* Expects bytes that were written and copied as predicted, and a replay without error. */
static inline void check_figures(const struct exec_run *run, const char *name)
{
    const struct pp_training_result *r = &run->result;

    cr_assert(run->training.machine.clock == PP_CLOCK_WALL || r->structural_error_s == 0,
              "%s: structural error %g s", name, r->structural_error_s);
    for (int rank = 0; rank < run->program->ranks; rank++) {
        const struct pp_tier_figures *is = &r->tiers[rank], *predicted = &r->predicted_tiers[rank];

        cr_assert(r->touched_bytes[rank] == (double)r->layout[rank].peak_bytes,
                  "%s: rank %d touched %.0f bytes, predicted %zu", name, rank,
                  r->touched_bytes[rank], r->layout[rank].peak_bytes);
        for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++)
            cr_assert_eq(is->written_bytes[tier], predicted->written_bytes[tier],
                         "%s: rank %d wrote %llu bytes of tier %d, predicted %llu", name, rank,
                         (unsigned long long)is->written_bytes[tier], tier,
                         (unsigned long long)predicted->written_bytes[tier]);
        for (int class = 0; class < PP_STATE_CLASSES; class ++) {
            cr_assert_eq(is->copied[class].down_bytes, predicted->copied[class].down_bytes,
                         "%s: rank %d, class %d: %.0f down, predicted %.0f", name, rank, class,
                         is->copied[class].down_bytes, predicted->copied[class].down_bytes);
            cr_assert_eq(is->copied[class].up_bytes, predicted->copied[class].up_bytes,
                         "%s: rank %d, class %d: %.0f up, predicted %.0f", name, rank, class,
                         is->copied[class].up_bytes, predicted->copied[class].up_bytes);
        }
    }
}

static inline void expect_same(const struct exec_case *c, const struct pp_training_result *a,
                               const struct pp_training_result *b, const char *name)
{
    const size_t bytes = sizeof(double) * (size_t)c->steps;

    cr_assert_arr_eq(a->losses, b->losses, bytes, "%s", name);
    cr_assert_arr_eq(a->grad_norms, b->grad_norms, bytes, "%s", name);
    cr_assert_eq(memcmp(a->valid_losses, b->valid_losses, bytes), 0, "%s", name);
    cr_assert_eq(a->gradients.differing, b->gradients.differing, "%s", name);
    cr_assert_eq(a->weights.differing, b->weights.differing, "%s", name);
    cr_assert_eq(a->weights.max_abs, b->weights.max_abs, "%s", name);
}

/* Runs a case and the same without tiers, and expects equal results. False: it is refused.
 * `refuses` says which programs are; NULL = none. */
static inline bool run_with_tiers(struct pp_arena *arena, const struct exec_case *c,
                                  bool (*refuses)(const struct pp_program *), struct exec_run *run)
{
    const struct exec_case plain = without_tiers(c);
    const char *name = exec_case_text(arena, c);
    struct exec_run without;

    if (!exec_run(arena, &plain, &without) || (refuses && refuses(without.program)))
        return false;
    cr_assert(exec_run(arena, c, run), "%s", name);
    expect_same(c, &without.result, &run->result, name);
    check_figures(run, name);
    return true;
}

#endif
