/* Keys and values on another tier, in whole runs: copies next to other groups, bounds, bytes, and
 * both engines. */
#include "core/cost/generation/generation.h"
#include "core/units.h"
#include "schedules/memory/copied.h"
#include "sim/config/tiers.h"
#include "sim/inference/inference.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>

static const char *const LINES[] = {
    "--mode infer --model opt-30b --cluster a100 --gpus 1 --batch 64 --groups 4 --prompt 256 "
    "--tokens 6 --offload kv=host",
    "--mode infer --model opt-30b --cluster a100 --gpus 1 --batch 64 --groups 2 --prompt-groups 8 "
    "--prompt 256 --tokens 6 --offload kv=host:10%",
    "--mode infer --model gpt2 --cluster h100 --pp 4 --batch 32 --groups 8 --prompt 400 --tokens 5 "
    "--offload kv=nvme --kv-bits 8",
    "--mode infer --model llama2-70b --cluster a100 --tp 4 --pp 2 --batch 64 --groups 4 --prompt "
    "900 --tokens 5 --offload kv=host --gather-buffers 3",
    "--mode infer --model opt-30b --cluster a100 --gpus 1 --batch 8 --groups 2 --prompt 256 "
    "--tokens 4 --offload p,kv=host",
};

static struct pp_result run(struct pp_arena *arena, const char *line)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run_at(arena, line, PP_FULL, &result, &err), PP_OK, "%s: %s", line,
                 err.message);
    return result;
}

/* Copies of F and those before and after it, seconds at the rate of the link; bytes of all. */
static double copies_s(const struct pp_result *r, int v, int stream, double *bytes)
{
    const int purpose = stream == PP_COPY_UP ? PP_FOR_KV_UP : PP_FOR_KV_DOWN;
    const struct pp_cost all =
        pp_cost_sum(r->costs->cached[stream][v], r->costs->purpose[purpose][v]);

    *bytes += all.bytes;
    return pp_units_s(all.ps);
}

static int64_t end_of(const struct pp_result *r, int stage, int group)
{
    const struct pp_program *p = r->program;

    for (int i = 0; i < pp_program_size(p); i++)
        if (p->kind[i] == PP_F && p->stage[i] == stage && p->mb[i] == group * p->granules)
            return r->times->end_ps[i];
    return -1;
}

/* On one device all groups pass between two passes of one group. Each takes its compute or its
 * copies, within one block's copies. */
Test(kv_copies, a_pass_is_compute_or_copies)
{
    for (int k = 0; k < 2; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r = run(arena, LINES[k]);
        const int groups = r.program->micro_batches, blocks = r.config.model.layers;
        for (int t = 2; t < r.config.generation.passes; t++) {
            double up_bytes = 0, down_bytes = 0;
            const double up = copies_s(&r, t, PP_COPY_UP, &up_bytes),
                         down = copies_s(&r, t, PP_COPY_DOWN, &down_bytes),
                         most = fmax(pp_generation_pass(&r.cost_inputs, 0, t).s, fmax(up, down)),
                         turn =
                             pp_units_s(end_of(&r, t, groups - 1) - end_of(&r, t - 1, groups - 1));
            cr_expect_geq(turn, groups * most - most / blocks, "%s, pass %d", LINES[k], t);
            cr_expect_leq(turn, groups * most + (most + up + down) / blocks, "%s, pass %d: %g, %g",
                          LINES[k], t, turn, groups * most);
        }
    }
}

/* Bytes of a rank by the sizes of model and run: up go all earlier tokens of each sequence, down
 * its new one. */
Test(kv_copies, bytes_and_bounds)
{
    for (size_t k = 0; k < PP_COUNT(LINES); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r = run(arena, LINES[k]);
        const struct pp_generation *g = &r.config.generation;
        const struct pp_model *m = &r.config.model;
        const double block = 2.0 * fmax(m->kv_heads / (double)r.config.layout.tp, 1) * m->head_dim *
                             (g->kv_bits ? g->kv_bits : 16) / 8 *
                             pp_state_moved(&r.config.state, PP_STATE_CACHE);
        struct pp_copied copied[PP_STATE_CLASSES], all = {0};
        for (int rank = 0; rank < r.program->ranks; rank++) {
            const double rate =
                pp_tier_rate(r.config.cluster.tiers,
                             pp_tier_route(PP_TIER_DEVICE, r.config.state.home[PP_STATE_CACHE]),
                             pp_analytic_node_devices(&r.cost_inputs));
            pp_copied_of_rank(r.program, r.costs, rank, copied);
            all.up_bytes += copied[PP_STATE_CACHE].up_bytes;
            all.down_bytes += copied[PP_STATE_CACHE].down_bytes;
            cr_expect_geq(r.metrics.iteration_s,
                          (copied[PP_STATE_CACHE].up_bytes + copied[PP_STATE_PARAMS].up_bytes) /
                              rate * (1 - 1e-9),
                          "%s", LINES[k]);
        }
        double up = 0, down = g->prompt_tokens;
        for (int t = 1; t < g->passes; t++)
            up += g->prompt_tokens + t - 1, down++;
        cr_expect_float_eq(all.up_bytes / (block * m->layers * g->batch * up), 1, 1e-9);
        cr_expect_float_eq(all.down_bytes / (block * m->layers * g->batch * down), 1, 1e-9);
    }
}

Test(kv_copies, engines_agree)
{
    for (size_t k = 0; k < PP_COUNT(LINES); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result dag =
                                   run(arena, pp_arena_printf(arena, "%s --engine dag", LINES[k])),
                               net = run(arena,
                                         pp_arena_printf(arena, "%s --engine simgrid", LINES[k]));
        cr_expect_eq(dag.times->makespan_ps, net.times->makespan_ps, "%s", LINES[k]);
        for (int i = 0; i < pp_program_size(dag.program); i++)
            cr_assert_eq(dag.times->end_ps[i], net.times->end_ps[i], "%s: %d", LINES[k], i);
    }
}

/* Twice the share, twice the bytes; and no run takes less time with more of the cache away. */
Test(kv_copies, shares)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    double before_s = 0, whole = 0;

    for (int percent = 100; percent >= 25; percent /= 2) {
        const struct pp_result r =
            run(arena, pp_arena_printf(arena,
                                       "--mode infer --model gpt2 --cluster a100 --pp 2 --batch 32 "
                                       "--groups 4 --prompt 500 --tokens 4 --offload kv=host:%d%%",
                                       percent));
        struct pp_copied copied[PP_STATE_CLASSES];
        pp_copied_of_rank(r.program, r.costs, 0, copied);
        whole = percent == 100 ? copied[PP_STATE_CACHE].up_bytes : whole;
        cr_expect_float_eq(copied[PP_STATE_CACHE].up_bytes / whole, percent / 100.0, 1e-9);
        cr_expect(before_s == 0 || r.metrics.iteration_s <= before_s);
        before_s = r.metrics.iteration_s;
    }
}

Test(kv_copies, a_cluster_without_host_memory_is_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_result r = run(arena, LINES[0]);
    struct pp_wish wish = {.offload = "kv=host"};
    struct pp_state_spec state = {0};
    struct pp_error err = {0};

    r.config.cluster.tiers[PP_TIER_HOST] = (struct pp_tier_memory){0};
    cr_expect_eq(pp_tiers_resolve(&wish, &r.config.cluster, &state, &err), PP_EINVAL);
    cr_expect_str_eq(err.message, "--offload kv=host: cluster a100 has no host memory: add ram:1TB "
                                  "and h2d:25GBps to its text");
}

Test(kv_copies, bounds_of_passes)
{
    static const struct {
        const char *offload;
        enum pp_limit prompt, token;
    } rows[] = {{"kv=host", PP_LIMIT_COMPUTE, PP_LIMIT_COPIES},
                {"kv=host:1%", PP_LIMIT_COMPUTE, PP_LIMIT_MEMORY},
                {"p=host", PP_LIMIT_COPIES, PP_LIMIT_COPIES}};

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_error err = {0};
        struct pp_inference *f;
        const struct pp_result r =
            run(arena, pp_arena_printf(arena,
                                       "--mode infer --model opt-30b --cluster a100 --gpus 1 "
                                       "--batch 8 --groups 2 --prompt 512 --tokens 5 --offload %s",
                                       rows[i].offload));
        cr_assert_eq(pp_inference_find(arena, &r, &f, &err), PP_OK, "%s", err.message);
        cr_expect_eq(f->prompt_bound, rows[i].prompt, "%s", rows[i].offload);
        cr_expect_eq(f->token_bound, rows[i].token, "%s", rows[i].offload);
        if (f->token_bound == PP_LIMIT_COPIES) {
            cr_expect_eq(f->token_copies.tier, PP_TIER_HOST);
            cr_expect_eq(f->token_copies.bytes_per_s, 25e9);
        }
    }
}
