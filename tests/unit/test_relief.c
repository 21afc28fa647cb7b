/* What would help a run that does not fit, against the same runs typed by hand. */
#include "sim/relief.h"

#include "sim_run.h"

#include <criterion/criterion.h>
#include <math.h>

static const char *const lines[] = {
    "--schedule 1f1b --model gpt3-175b --gpus 64 --tp 8 --pp 4 --dp 2 --cp 1 --mbs 4 --gbs 256 "
    "--recompute none --zero 0 --engine dag",
    "--schedule gpipe --model llama3-70b --gpus 16 --tp 4 --pp 4 --dp 1 --cp 1 --mbs 1 --gbs 64 "
    "--recompute none --zero 0 --framework megatron --engine dag",
    "--schedule interleaved --vp 2 --model llama3-8b --gpus 32 --cluster v100-dgx1 --tp 1 --pp 4 "
    "--dp 8 --cp 1 --mbs 2 --gbs 256 --recompute none --zero 1 --engine dag",
    "--schedule 1f1b --model gpt3-175b --gpus 32 --tp 8 --pp 4 --dp 1 --cp 1 --mbs 2 --gbs 64 "
    "--sequence-parallel off --recompute none --zero 0 --engine dag",
};

/* `line` with `flags` in place of what it says of the same options. */
static const char *with(struct pp_arena *arena, const char *line, const char *flags)
{
    const char *out = flags;
    char *text = pp_arena_strdup(arena, line);

    for (char *word = strtok(text, " "), *value; word; word = strtok(NULL, " ")) {
        value = strtok(NULL, " ");
        if (!strstr(pp_arena_printf(arena, "%s ", flags), pp_arena_printf(arena, "%s ", word)))
            out = pp_arena_printf(arena, "%s %s %s", out, word, value);
    }
    return out;
}

static bool changes_schedule(const struct pp_relief *relief)
{
    return strstr(relief->flags, "--schedule") != NULL;
}

Test(relief, each_flag_does_what_is_said)
{
    int count = 0, fitting = 0;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result run, other;
        struct pp_error err = {0};

        cr_assert_eq(sim_run_at(arena, lines[i], PP_QUICK, &run, &err), PP_OK, "%s", err.message);
        cr_assert_not(run.fits, "%s", lines[i]);
        const struct pp_oom *oom = pp_oom_find(arena, &run);
        cr_assert_gt(oom->relief_count, 2, "%s", lines[i]);
        for (int k = 0; k < oom->relief_count; k++) {
            const struct pp_relief *relief = &oom->reliefs[k];
            if (changes_schedule(relief) && strstr(lines[i], "--vp"))
                continue; /* options of the other schedule go */
            const char *line = with(arena, lines[i], relief->flags);
            cr_assert_eq(sim_run_at(arena, line, PP_QUICK, &other, &err), PP_OK, "%s: %s", line,
                         err.message);
            cr_assert_eq(other.memory[other.peak_rank].peak_bytes, relief->peak_bytes, "%s", line);
            cr_assert_eq(other.metrics.iteration_s, relief->iteration_s, "%s", line);
            cr_assert_eq(other.fits, relief->fits, "%s", line);
            cr_assert_lt(relief->peak_bytes, run.memory[run.peak_rank].peak_bytes);
            count++;
            fitting += relief->fits;
        }
        cr_assert(oom->reliefs[0].fits, "%s", lines[i]);
    }
    cr_assert_gt(count, 20);
    cr_assert_gt(fitting, 3);
}

Test(relief, holders_are_the_peak)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result run;
        struct pp_error err = {0};
        double sum = 0;

        cr_assert_eq(sim_run_at(arena, lines[i], PP_QUICK, &run, &err), PP_OK, "%s", err.message);
        const struct pp_oom *oom = pp_oom_find(arena, &run);
        for (int k = 0; k < oom->holder_count; k++) {
            sum += oom->holders[k].bytes;
            cr_assert(k == 0 || oom->holders[k].bytes <= oom->holders[k - 1].bytes);
        }
        const double peak = run.memory[run.peak_rank].peak_bytes;
        cr_assert_float_eq(sum / peak, 1, 1e-12, "%s: %g of %g", lines[i], sum, peak);
        cr_assert_float_eq(oom->needed_bytes, peak - run.config.cluster.device.memory_bytes, 1);
    }
}

Test(relief, what_fits_needs_none)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result run;
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, "--schedule 1f1b --model gpt2 --gpus 4 --pp 4 --engine dag",
                            PP_QUICK, &run, &err),
                 PP_OK, "%s", err.message);
    cr_assert_null(pp_oom_find(arena, &run));
    cr_assert_eq(sim_run_at(arena, "--schedule 1f1b --unit F=1 --pp 4 --micro-batches 4", PP_QUICK,
                            &run, &err),
                 PP_OK, "%s", err.message);
    cr_assert_null(pp_oom_find(arena, &run));
}
