/* No layout is faster, and none needs less memory, than its bounds say: random points of many
 * spaces, over all schedules of the registry. */
#include "tests/property/search_case.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const char *const LINES[] = {
    "--gpus 16 --model llama2-7b --seq 2048 --gbs 32",
    "--gpus 32 --model gpt-18b --cluster a100 --gbs 64 --schedule all",
    "--gpus 24 --model gpt2-64 --cluster v100-dgx1 --gbs 48 --schedule all --seq 512",
    "--gpus 16 --model mixtral-8x7b --gbs 32 --seq 4096",
    "--gpus 16 --model llama2-7b --gbs 32 --free tp,pp,schedule,modules,zero",
    "--gpus 16 --model deepseek-v2-lite --gbs 32 --free tp,pp,ep,schedule,modules,recompute",
    "--gpus 32 --model deepseek-v3 --gbs 32 --seq 4096 --free pp,ep,schedule,recompute",
    "--gpus 16 --model llama2-7b --gbs 32 --framework megatron",
    "--gpus 16 --model llama3-8b --gbs 32 --framework torchtitan",
    "--gpus 16 --model mixtral-8x7b --gbs 32 --framework megatron --seq 4096",
    "--gpus 16 --model gpt-oss-20b --gbs 32 --framework nemo",
    "--gpus 16 --model llama2-7b --gbs 32 --zero 3",
    "--gpus 16 --model llama2-7b --gbs 32 --zero 2 --dp-overlap on",
    "--gpus 16 --model llama2-7b --gbs 32 --shard os=4",
    "--gpus 16 --model llama2-7b --gbs 32 --offload a=host,os=host --act-bits 8",
    "--gpus 16 --model llama2-7b --gbs 32 --order eager --schedule 1f1b,gpipe,zbv,interleaved",
    "--gpus 16 --model llama2-7b --gbs 32 --head balanced",
    "--gpus 16 --model llama2-7b --gbs 32 --head counted",
    "--gpus 16 --model llama2-7b --gbs 32 --head parallel",
    "--gpus 16 --model llama2-7b --gbs 32 --head ignored --first-stage-layers 3",
    "--gpus 8 --model gemma-2b --gbs 32 --cluster v100-dgx1 --head ignored --schedule all",
    "--gpus 32 --model gpt-18b --seq 2048 --gbs 192 --schedule zbv,eager-1f1b,zb-h2 --cluster "
    "v100-dgx1 --collectives flows",
    "--gpus 8 --model gemma-2b --gbs 32 --cluster v100-dgx1 --schedule seq1f1b",
    "--gpus 8 --model gemma-2b --gbs 32 --cluster v100-dgx1 --schedule seq1f1b --splits 4",
    "--gpus 16 --model llama2-7b --gbs 32 --steps 3 --step-barrier off",
    "--gpus 32 --model llama2-7b --gbs 16 --schedule zbv,zb-h2 --free tp,pp,cp,mbs,schedule,zero",
    "--gpus 16 --model gpt2-64 --seq 512 --gbs 64 --steps 2 --step-barrier off --zero 0",
    "--gpus 32 --model gpt-18b --cluster a100 --gbs 64 --schedule zbv,zb-h2,zb-auto --steps 6",
    "--gpus 16 --model llama2-7b --gbs 32 --p2p buffered:2 --map pp,tp,cp,dp",
    "--gpus 16 --model llama2-7b --micro-batches 12 --recompute stage-aware=0.5",
    "--gpus 16 --model llama2-7b --micro-batches 12 --recompute full,late,skip",
    "--gpus 16 --model llama2-7b --gbs 32 --tp-split 4",
    "--gpus 16 --model gpt2-64 --seq 512 --gbs 64 --schedule chimera --concat halving",
    "--gpus 16 --model gpt2-64 --seq 512 --gbs 64 --schedule chimera,gems --pipelines 4",
    "--gpus 16 --model gpt2-64 --seq 512 --gbs 64 --schedule seq1f1b,bfs --splits 4",
};
enum { DRAWS = 60, LONG_DRAWS = 2000 };

static void check_point(const struct pp_search *search, int64_t k, const char *line, int *checked)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_search_point p = pp_search_point(&search->space, k);
    struct pp_search_bounds bounds;
    struct pp_config config;
    struct pp_result result;
    struct pp_error err;
    char again[PP_RECOMPUTE_TEXT_BYTES];

    if (search->board.status[k] != PP_SEARCH_OPEN ||
        pp_search_config(arena, &search->space, k, &config, &err) != PP_OK ||
        pp_simulate(arena, &config, PP_QUICK, NULL, &result, &err) != PP_OK)
        return;
    cr_assert_eq(pp_search_bounds(arena, &config, &bounds, &err), PP_OK, "%s: %s", line,
                 err.message);
    const char *where = pp_arena_printf(
        arena, "plan %s: %s tp %d pp %d cp %d dp %d ep %d vp %d mbs %d N %d zero %d %s", line,
        p.order->base.schedule_name, p.frame->tp, p.frame->pp, p.frame->cp, p.frame->dp,
        p.frame->ep, p.order->base.shape.chunks, p.frame->mbs, p.frame->micro_batches, p.zero,
        pp_recompute_print(p.again.recompute, p.again.modules, again));
    const double step_s = result.metrics.iteration_s, gbs = (double)p.frame->gbs,
                 peak_bytes = result.memory[result.peak_rank].peak_bytes;
    cr_expect_leq(bounds.step_s, step_s, "%s", where);
    cr_expect_leq((double)search->board.bound_s[k] * gbs, step_s, "%s", where);
    cr_expect_leq(bounds.peak_bytes, peak_bytes, "%s", where);
    cr_expect_leq((double)search->board.bound_bytes[k], peak_bytes, "%s", where);
    ++*checked;
}

static void check_line(const char *line, uint64_t seed)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_search *search = PP_NEW(arena, struct pp_search);
    const int draws = getenv("PIPESIM_LONG") ? LONG_DRAWS : DRAWS;
    struct pp_error err;
    int checked = 0;

    cr_assert_eq(search_open(arena, line, search, &err), PP_OK, "%s: %s", line, err.message);
    cr_assert_eq(pp_search_screen(arena, &search->space, true, &search->board, &err), PP_OK);
    for (int i = 0; i < draws; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        check_point(search, (int64_t)(seed >> 16) % search->space.points, line, &checked);
    }
    cr_assert_gt(checked, 5, "%s: hardly anything is legal", line);
}

Test(search_bounds, no_layout_beats_them)
{
    const char *seed = getenv("PIPESIM_SEED");

    for (size_t i = 0; i < sizeof(LINES) / sizeof(*LINES); i++)
        check_line(LINES[i], (seed ? strtoull(seed, NULL, 10) : 1) * 1000003 + i);
}
