/* What would help a run that does not fit, against the same runs typed by hand. */
#include "sim/fit/fit.h"

#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>

/* What the planner is left: nothing, replicas, all degrees, experts, state and recomputation. */
static const char *const lines[] = {
    "--schedule 1f1b --model gpt3-175b --gpus 64 --tp 8 --pp 4 --dp 2 --cp 1 --mbs 4 --gbs 256 "
    "--recompute none --zero 0 --engine dag",
    "--schedule gpipe --model llama3-70b --gpus 16 --tp 4 --pp 4 --dp 1 --cp 1 --mbs 1 --gbs 64 "
    "--recompute none --zero 0 --framework megatron --engine dag",
    "--schedule interleaved --vp 2 --model llama3-8b --gpus 32 --cluster v100-dgx1 --tp 1 --pp 4 "
    "--dp 8 --cp 1 --mbs 2 --gbs 256 --recompute none --zero 1 --engine dag",
    "--schedule 1f1b --model gpt3-175b --gpus 32 --tp 8 --pp 4 --dp 1 --cp 1 --mbs 2 --gbs 64 "
    "--sequence-parallel off --recompute none --zero 0 --engine dag",
    "--schedule 1f1b --model llama3-70b --gpus 8 --gbs 64 --engine dag",
    "--schedule 1f1b --model gpt3-175b --gpus 8 --tp 4 --pp 2 --gbs 8",
    "--schedule gpipe --model llama3-70b --gpus 16 --micro-batches 64 --framework megatron "
    "--engine dag",
    "--schedule interleaved --vp 2 --model gpt3-175b --gpus 64 --tp 4 --pp 4 --micro-batches 16 "
    "--recompute none --zero 0 --mbs 4",
    "--schedule 1f1b --model llama3-405b --gpus 64 --pp 4 --zero 3 --mbs 2 --seq 131072 --gbs 64",
    "--preset bfs-52b --gpus 16 --tp 2 --pp 4",
    "--schedule 1f1b --model mixtral-8x7b --gpus 8 --gbs 64 --engine dag",
    "--schedule zb-h1 --model gpt3-175b --gpus 32 --pp 8 --slow 1=0.7 --recompute none --gbs 64 "
    "--engine dag",
    "--schedule 1f1b --model llama3-70b --tp 2 --dp 2 --pp 4 --mbs 2 --gbs 32 --shard os=2x1 "
    "--recompute selective=layernorm --engine dag",
    "--schedule 1f1b --model gpt3-175b --gpus 16 --zero 1 --dp 2 --gbs 32 --engine dag",
    "--schedule 1f1b --model llama3-405b --gpus 64 --pp 4 --tp 8 --gbs 64 --recompute none "
    "--zero 0 --engine dag",
    /* state and activations that already live on the host, with more to follow */
    "--schedule 1f1b --model llama3-70b --gpus 16 --tp 4 --pp 2 --dp 2 --gbs 32 --mbs 2 "
    "--recompute none --zero 0 --offload os=host --engine dag",
    "--schedule 1f1b --model opt-30b --gpus 1 --gbs 16 --mbs 16 --cluster a100-40 "
    "--offload os=host --engine dag",
    "--schedule 1f1b --model llama3-70b --gpus 4 --pp 1 --tp 4 --gbs 8 --mbs 8 --recompute none "
    "--offload a=host --cluster h200 --engine dag",
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

/* The command with the flags, typed: what was promised, to the bit. */
static void check(const char *line, const struct pp_result *run, const struct pp_relief *relief)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *typed = with(arena, line, relief->flags);
    struct pp_result other;
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, typed, PP_METRICS, &other, &err), PP_OK, "%s: %s", typed,
                 err.message);
    cr_expect_eq(other.memory[other.peak_rank].peak_bytes, relief->peak_bytes, "%s", typed);
    cr_expect_eq(other.metrics.iteration_s, relief->iteration_s, "%s: %.17g, not %.17g", typed,
                 other.metrics.iteration_s, relief->iteration_s);
    cr_expect_eq(other.fits, relief->fits, "%s", typed);
    cr_expect_eq(other.config.layout.gbs, run->config.layout.gbs, "%s", typed);
    cr_expect_lt(relief->peak_bytes, run->memory[run->peak_rank].peak_bytes);
}

static void check_holders(const char *line, const struct pp_result *run, const struct pp_oom *oom)
{
    const double peak = run->memory[run->peak_rank].peak_bytes;
    double sum = 0;

    for (int k = 0; k < oom->holder_count; k++) {
        sum += oom->holders[k].bytes;
        cr_assert(k == 0 || oom->holders[k].bytes <= oom->holders[k - 1].bytes);
    }
    cr_assert_float_eq(sum / peak, 1, 1e-12, "%s: %g of %g", line, sum, peak);
}

/* Of two ways to move state off as many devices each is better in time or in memory. */
static void check_moves(const char *line, const struct pp_oom *oom)
{
    for (int i = 0; i < oom->relief_count; i++)
        for (int k = 0; k < oom->relief_count; k++) {
            const struct pp_relief *a = &oom->reliefs[i], *b = &oom->reliefs[k];
            if (i != k && strstr(a->flags, "--offload") && strstr(b->flags, "--offload") &&
                a->gpus == b->gpus && a->fits == b->fits)
                cr_expect(a->iteration_s < b->iteration_s || a->peak_bytes < b->peak_bytes,
                          "%s: %s is no better than %s", line, a->flags, b->flags);
        }
}

Test(relief, each_flag_does_what_is_said_and_holders_are_the_peak)
{
    int count = 0, fitting = 0;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result run;
        struct pp_error err = {0};

        cr_assert_eq(sim_run_at(arena, lines[i], PP_METRICS, &run, &err), PP_OK, "%s: %s", lines[i],
                     err.message);
        cr_assert_not(run.fits, "%s", lines[i]);
        const struct pp_oom *oom = pp_oom_find(arena, &run);
        cr_assert_gt(oom->relief_count, 2, "%s", lines[i]);
        cr_assert_not(oom->is_contention_free, "%s", lines[i]);
        cr_assert_eq(oom->iteration_s, run.metrics.iteration_s);
        check_holders(lines[i], &run, oom);
        check_moves(lines[i], oom);
        for (int k = 0; k < oom->relief_count; k++) {
            check(lines[i], &run, &oom->reliefs[k]);
            fitting += oom->reliefs[k].fits;
        }
        count += oom->relief_count;
        cr_assert(oom->reliefs[0].fits, "%s", lines[i]);
    }
    cr_assert_gt(count, 60);
    cr_assert_gt(fitting, 15);
}

/* What follows from the rest is not said again; what was said of it is replaced. */
Test(relief, flags_are_few)
{
    static const struct {
        const char *line, *flags;
    } cases[] = {
        {"--schedule 1f1b --model gpt3-175b --gpus 8 --tp 4 --pp 2 --gbs 8 --engine dag",
         "--gpus 16 --tp 8"},
        {"--schedule 1f1b --model gpt3-175b --tp 4 --pp 2 --gbs 8 --engine dag", "--tp 8"},
        {"--schedule 1f1b --model gpt3-175b --gpus 64 --tp 4 --pp 4 --gbs 64 --mbs 4 --zero 0 "
         "--recompute none --engine dag",
         "--tp 8"},
        {"--schedule 1f1b --model gpt3-175b --gpus 64 --tp 4 --dp 4 --pp 4 --gbs 64 --mbs 4 "
         "--zero 0 --recompute none --engine dag",
         "--tp 8 --dp 2"},
        {"--schedule 1f1b --model gpt3-175b --tp 4 --dp 4 --pp 4 --micro-batches 4 --mbs 4 "
         "--zero 0 --recompute none --engine dag",
         "--tp 8 --dp 2 --micro-batches 8"},
        /* the first level that has room */
        {"--schedule interleaved --model llama3-70b --gpus 64 --tp 4 --pp 4 --vp 5 --gbs 128 "
         "--recompute none --memory-margin 4% --engine dag",
         "--recompute selective=layernorm+act"},
        /* with another change, a milder level than the last is enough */
        {"--schedule 1f1b --model llama3-405b --gpus 64 --pp 4 --tp 8 --gbs 64 --recompute none "
         "--zero 0 --framework megatron --engine dag",
         "--offload os=host --recompute selective=layernorm+mlp --zero 2"},
        /* what leaves the device together, in one --offload */
        {"--schedule 1f1b --model llama3-405b --gpus 64 --pp 4 --tp 8 --gbs 64 --recompute none "
         "--zero 0 --engine dag",
         "--offload os=host,a=host --offload-unit layer"},
        {"--schedule 1f1b --model opt-30b --gpus 1 --gbs 16 --mbs 16 --cluster a100-40 --offload "
         "os=host --engine dag",
         "--offload os=host,g=host --cpu-optimizer"},
        {"--schedule 1f1b --model llama2-13b --gpus 1 --gbs 64 --recompute full --mbs 1 "
         "--engine dag",
         "--offload g=host,os=host --cpu-optimizer"},
        /* a part is enough, and costs less time than all */
        {"--schedule 1f1b --model gpt3-175b --gpus 64 --tp 8 --pp 4 --mbs 4 --gbs 256 "
         "--recompute none --zero 0 --engine dag",
         "--offload os=host:auto"},
        {"--schedule gpipe --model gpt3-175b --gpus 64 --tp 8 --pp 8 --gbs 256 --recompute none "
         "--engine dag",
         "--act-bits 8"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result run;
        struct pp_error err = {0};
        bool is_found = false;

        cr_assert_eq(sim_run_at(arena, cases[i].line, PP_METRICS, &run, &err), PP_OK, "%s: %s",
                     cases[i].line, err.message);
        const struct pp_oom *oom = pp_oom_find(arena, &run);
        for (int k = 0; k < oom->relief_count; k++)
            is_found |= !strcmp(oom->reliefs[k].flags, cases[i].flags);
        cr_expect(is_found, "%s: no %s", cases[i].line, cases[i].flags);
    }
}

/* The levels that help are the mildest that fits and the mildest with room, in any length. */
Test(relief, levels_are_the_mildest_that_help)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *const expected[] = {"--recompute selective=layernorm",
                                    "--recompute selective=layernorm+act"};
    struct pp_result run;
    struct pp_error err = {0};
    int count = 0;

    cr_assert_eq(sim_run_at(arena,
                            "--schedule interleaved --model llama3-70b --gpus 64 --tp 4 --pp 4 "
                            "--vp 5 --gbs 128 --recompute none --memory-margin 4% --engine dag",
                            PP_METRICS, &run, &err),
                 PP_OK, "%s", err.message);
    const struct pp_oom *oom = pp_oom_find(arena, &run);
    for (int k = 0; k < oom->relief_count; k++)
        if (!strncmp(oom->reliefs[k].flags, "--recompute", 11)) {
            cr_assert_lt(count, 2);
            cr_expect_str_eq(oom->reliefs[k].flags, expected[count++]);
            cr_expect(oom->reliefs[k].fits);
            cr_expect_lt(oom->reliefs[k].iteration_s, 1.02 * run.metrics.iteration_s);
        }
    cr_expect_eq(count, 2);
}

/* What leaves the device needs room elsewhere. */
Test(relief, nothing_goes_where_it_has_no_room)
{
    static const struct {
        const char *ram;
        bool has_room;
    } cases[] = {{"100GB", false}, {"2TB", true}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *line = pp_arena_printf(
            arena,
            "--schedule 1f1b --model llama3-70b --gpus 8 --gbs 64 --recompute none --engine dag "
            "--cluster node:8,gpu:8,device:h100,ram:%s@200GBps,h2d:25GBps,cpu:5e9",
            cases[i].ram);
        struct pp_result run;
        struct pp_error err = {0};
        int moved = 0;

        cr_assert_eq(sim_run_at(arena, line, PP_METRICS, &run, &err), PP_OK, "%s: %s", line,
                     err.message);
        const struct pp_oom *oom = pp_oom_find(arena, &run);
        cr_assert_gt(oom->relief_count, 2, "%s", line);
        for (int k = 0; k < oom->relief_count; k++)
            moved += strstr(oom->reliefs[k].flags, "--offload") != NULL;
        cr_expect_eq(moved > 0, cases[i].has_room, "%s: %d", line, moved);
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
