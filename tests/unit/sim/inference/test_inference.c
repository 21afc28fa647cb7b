/* Figures of runs that generate, each found a second way. Times follow from closed forms, room from
 * a walk over all batches, reads from the sizes of the model. */
#include "sim/inference/inference.h"

#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>

/* Runs a command line and finds the figures of the result. */
static struct pp_result run(struct pp_arena *arena, const char *line, struct pp_inference **f)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, line, PP_METRICS, &result, &err), PP_OK, "%s: %s", line,
                 err.message);
    cr_assert_eq(pp_inference_find(arena, &result, f, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

Test(inference, times_are_those_of_the_closed_form)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_inference *f;

    for (int ranks = 1; ranks <= 4; ranks++)
        for (int groups = 1; groups <= 8; groups++)
            for (int passes = 1; passes <= 5; passes += 2) {
                const int turn = groups > ranks ? groups : ranks;
                run(arena,
                    pp_arena_printf(arena,
                                    "--mode infer --unit F=1 --pp %d --groups %d --tokens %d",
                                    ranks, groups, passes),
                    &f);
                cr_expect_float_eq(f->latency_s, groups + ranks - 1 + (passes - 1) * turn, 1e-9);
                /* group m ends its prompt at m + ranks; the median of these */
                cr_expect_float_eq(f->first_token_s, ranks + (groups - 1) / 2.0, 1e-9);
                cr_expect_float_eq(f->prompts_s, ranks + groups - 1, 1e-9);
                if (passes == 1)
                    cr_expect(isnan(f->token_s));
                else
                    cr_expect_float_eq(f->token_s, turn, 1e-9, "P %d, N %d: %g", ranks, groups,
                                       f->token_s);
            }
}

static const char *const LINES[] = {
    "--mode infer --model llama3-8b --gpus 1 --batch 1 --tokens 16",
    "--mode infer --model llama3-8b --cluster a100-40 --gpus 1 --batch 8 --prompt 512 --tokens 64",
    "--mode infer --model llama2-7b --tp 2 --gpus 2 --batch 4 --kv-bits 8 --tokens 8",
    "--mode infer --model llama2-70b --cluster a100 --tp 2 --pp 4 --batch 8 --tokens 8",
    "--mode infer --model gpt2 --pp 2 --groups 2 --prompt-groups 4 --batch 8 --tokens 9",
    "--mode infer --model mixtral-8x7b --tp 8 --batch 2 --tokens 8 --weight-bits 8",
};

Test(inference, no_token_is_faster_than_reads_of_all_weights)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_inference *f;

    for (size_t i = 0; i < PP_COUNT(LINES); i++) {
        const struct pp_result r = run(arena, LINES[i], &f);
        const struct pp_config *c = &r.config;
        const int devices = c->layout.tp * c->layout.pp;
        cr_expect_gt(f->memory_bandwidth_frac, 0, "%s", LINES[i]);
        cr_expect_leq(f->memory_bandwidth_frac, 1, "%s", LINES[i]);
        if (c->model.experts.count > 0)
            continue; /* reads what its tokens choose */
        /* rank for rank the weights of blocks pass once for each group; tables of positions and
         * tokens are left out */
        const double bits = c->generation.weight_bits ? c->generation.weight_bits : 16;
        const double embedding = (double)c->model.vocab * c->model.hidden;
        const double read_bytes =
            (pp_model_params(&c->model) - 2 * embedding) * bits / 8 / devices * 0.98;
        cr_expect_geq(f->token_s, read_bytes / c->cluster.device.memory_bytes_per_s, "%s",
                      LINES[i]);
    }
}

Test(inference, rates_follow_from_times)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_inference *f;

    for (size_t i = 0; i < PP_COUNT(LINES); i++) {
        const struct pp_result r = run(arena, LINES[i], &f);
        const struct pp_generation *g = &r.config.generation;
        const double sequences = (double)g->batch * r.config.layout.dp;
        cr_expect_float_eq(f->tokens_per_s * f->latency_s, sequences * g->passes, 1e-6);
        cr_expect_float_eq(f->prompt_tokens_per_s * f->prompts_s, sequences * g->prompt_tokens,
                           1e-6);
        cr_expect_float_eq(f->tokens_per_s_per_gpu * r.config.layout.gpus, f->tokens_per_s, 1e-6);
        cr_expect_float_eq(f->matrix_frac + f->attention_frac + f->kernels_frac + f->host_frac, 1,
                           1e-12);
        cr_expect_leq(f->first_token_s, f->first_token_p90_s);
        cr_expect_leq(f->token_s, f->token_p90_s);
    }
}

Test(inference, the_bound_is_the_largest_part_of_the_pass)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_inference *f;

    run(arena, "--mode infer --model llama3-8b --gpus 1 --batch 1 --tokens 4", &f);
    cr_expect_eq(f->token_bound, PP_LIMIT_MEMORY);
    run(arena, "--mode infer --model llama3-8b --gpus 1 --batch 16 --prompt 2048 --tokens 4", &f);
    cr_expect_eq(f->prompt_bound, PP_LIMIT_COMPUTE);
    run(arena, "--mode infer --model llama2-70b --pp 8 --groups 1 --batch 8 --tokens 4", &f);
    cr_expect_eq(f->token_bound, PP_LIMIT_WAITING);
    /* one rank has no other: tokens wait for prompts of other groups */
    run(arena,
        "--mode infer --model llama3-8b --gpus 1 --groups 8 --batch 64 --prompt 2048 --tokens 2",
        &f);
    cr_expect_eq(f->token_bound, PP_LIMIT_MEMORY);
    run(arena, "--mode infer --model llama3-8b --gpus 1 --batch 4 --tokens 1", &f);
    cr_expect_eq(f->token_bound, PP_LIMIT_NONE);
}

/* Typed with that batch, the run fits. */
static bool fits(struct pp_arena *arena, const char *line, int batch)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, pp_arena_printf(arena, "%s --batch %d", line, batch), PP_METRICS,
                            &result, &err),
                 PP_OK, "%s: %s", line, err.message);
    return result.fits;
}

/* Bisection finds what a walk over all batches finds. */
Test(inference, room_is_the_last_batch_that_fits)
{
    static const struct {
        const char *line;
        int step;
    } runs[] = {
        {"--mode infer --model llama3-8b --cluster a100-40 --gpus 1 --prompt 4000 --tokens 96", 1},
        {"--mode infer --model llama2-7b --cluster a100-40 --gpus 1 --prompt 1900 --tokens 100 "
         "--kv-bits 8",
         1},
        {"--mode infer --model llama2-7b --cluster a100-40 --tp 1 --pp 2 --groups 2 "
         "--prompt-groups 4 --prompt 3000 --tokens 8",
         4},
        /* the cache on another tier: the device is full first, or the host */
        {"--mode infer --model llama2-7b --cluster a100-40 --gpus 1 --prompt 1900 --tokens 100 "
         "--offload kv=host",
         1},
        {"--mode infer --model llama2-7b --cluster a100-40,ram:64GB --gpus 1 --prompt 1900 "
         "--tokens 100 --offload kv=host",
         1},
        {"--mode infer --model opt-30b --cluster a100 --gpus 1 --groups 3 --prompt-groups 6 "
         "--prompt 700 --tokens 20 --offload kv=host:50% --kv paged:16",
         6},
        /* each batch has its own share, or its own cache of parameters */
        {"--mode infer --model llama2-7b --cluster a100-40,ram:64GB --gpus 1 --prompt 1900 "
         "--tokens 100 --offload kv=host:auto",
         1},
        {"--mode infer --model llama2-13b --cluster v100-16 --gpus 1 --groups 2 --prompt 900 "
         "--tokens 9 --offload p=host:auto",
         2},
        {"--mode infer --model llama2-13b --cluster v100-16 --gpus 1 --groups 2 --prompt 900 "
         "--tokens 9 --offload p=host --cache auto",
         2},
    };

    for (size_t i = 0; i < PP_COUNT(runs); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_inference *f;
        const struct pp_result r =
            run(arena, pp_arena_printf(arena, "%s --batch %d", runs[i].line, runs[i].step), &f);
        const int tokens = r.config.generation.prompt_tokens + r.config.generation.passes;
        const int room = pp_inference_room(&r, tokens).sequences;
        int walked = 0;

        while (walked < 1000 && fits(arena, runs[i].line, walked + runs[i].step))
            walked += runs[i].step;
        cr_expect_gt(room, runs[i].step, "%s", runs[i].line);
        cr_expect_eq(room, walked, "%s: %d by bisection, %d by a walk", runs[i].line, room, walked);
    }
}

/* Where a walk would take long: the room fits, and the next batch does not. All agree on it. */
Test(inference, the_room_fits_and_the_next_batch_does_not)
{
    static const struct {
        const char *line;
        int step;
    } runs[] = {
        {"--mode infer --model gpt2 --prompt 1000 --kv-bits 4 --offload p=host:100% --cache auto "
         "--engine dag --tp 4 --pp 8 --groups 3 --tokens 5",
         3},
        {"--mode infer --model llama2-13b --cluster a100-40 --gpus 1 --groups 2 --prompt 900 "
         "--tokens 9 --offload p,kv=host --cache auto",
         2},
        {"--mode infer --model mixtral-8x7b --cluster v100-dgx2 --tp 2 --pp 4 --groups 1 "
         "--prompt-groups 2 --prompt 100 --tokens 2 --offload p,kv=host --cache auto",
         2},
        {"--mode infer --model gpt2 --cluster h100 --tp 2 --pp 2 --groups 4 --prompt 900 --tokens "
         "2 "
         "--offload p=host:auto --kv-bits 8",
         4},
        {"--mode infer --model llama3-8b --cluster h100 --tp 2 --pp 1 --groups 8 --prompt 900 "
         "--tokens 5 --offload kv=host:auto --kv paged:16",
         8},
        {"--mode infer --model llama2-70b --cluster a100 --tp 4 --pp 2 --groups 8 --prompt 900 "
         "--tokens 5 --offload kv=host",
         8},
    };

    for (size_t i = 0; i < PP_COUNT(runs); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_inference *f;
        const char *line = runs[i].line;
        const int step = runs[i].step;
        struct pp_result r = run(arena, pp_arena_printf(arena, "%s --batch %d", line, step), &f);
        const int tokens = r.config.generation.prompt_tokens + r.config.generation.passes;
        const int room = pp_inference_room(&r, tokens).sequences;
        cr_assert_gt(room, step, "%s", line);
        cr_expect(fits(arena, line, room), "%s: %d", line, room);
        cr_expect_not(fits(arena, line, room + step), "%s: %d", line, room);
        r = run(arena, pp_arena_printf(arena, "%s --batch %d", line, room), &f);
        cr_expect_eq(pp_inference_room(&r, tokens).sequences, room, "%s", line);
    }
}

/* The closed form is that of the tier that is full first, and says as much as the bisection. */
Test(inference, room_has_the_form_of_the_tier_that_limits)
{
    static const struct {
        const char *line;
        enum pp_tier tier;
    } rows[] = {
        {"--mode infer --model llama3-8b --cluster a100 --gpus 1 --batch 2", PP_TIER_DEVICE},
        {"--mode infer --model llama3-8b --cluster a100 --gpus 1 --batch 2 --offload kv=host",
         PP_TIER_DEVICE},
        {"--mode infer --model llama3-8b --cluster a100,ram:64GiB --gpus 1 --batch 2 --offload "
         "kv=host",
         PP_TIER_HOST},
        {"--mode infer --model llama3-8b --cluster a100,ram:64GiB --gpus 1 --batch 2 --offload "
         "p,kv=host",
         PP_TIER_HOST},
        {"--mode infer --model bert-large --cluster a100 --gpus 1 --batch 2", PP_TIER_DEVICE},
    };

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_inference *f;
        const struct pp_result r = run(arena, rows[i].line, &f);
        const struct pp_generation *g = &r.config.generation;
        const struct pp_room room = pp_inference_room(&r, g->prompt_tokens + g->passes);
        cr_expect_eq(room.tier, rows[i].tier, "%s", rows[i].line);
        cr_expect_float_eq((room.capacity_bytes - room.fixed_bytes) / room.sequence_bytes,
                           room.sequences, 1.5 * g->prompt_groups, "%s", rows[i].line);
    }
}

Test(inference, no_room_is_none)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_inference *f;
    const struct pp_result r =
        run(arena, "--mode infer --model llama3-70b --gpus 1 --batch 1 --tokens 4", &f);

    cr_expect_not(r.fits);
    cr_expect_eq(pp_inference_room(&r, 132).sequences, 0);
    cr_expect_eq(pp_inference_room(&r, 4).sequences, 0, "no prompt is left");
}
