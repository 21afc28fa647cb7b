/* --gather BYTES, --cache, --evict: loads of closed forms, bytes, times and memory. */
#include "core/units.h"
#include "schedules/registry.h"
#include "sim/config/gathers.h"
#include "sim/config/tiers.h"
#include "tests/unit/support/sim_run.h"

#include <criterion/criterion.h>
#include <math.h>

static struct pp_result run(struct pp_arena *arena, const char *line)
{
    struct pp_result result;
    struct pp_error err = {0};

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

enum { LAYERS = 6, GPUS = 8 };

/* One rank, with all layers: parameters on the host, or cut over replicas, or both. */
static const char *const homes[] = {"--zero 0 --offload p=host", "--zero 3",
                                    "--zero 3 --offload p=host"};

static struct pp_result run_layers(struct pp_arena *arena, size_t home, int micro_batches,
                                   const char *flags)
{
    return run(arena,
               pp_arena_printf(arena,
                               "--schedule 1f1b --model llama3-8b --layers %d --gpus %d --pp 1 "
                               "--tp 1 --dp %d --mbs 1 --gbs %d --engine dag --no-alternatives "
                               "--recompute none %s %s",
                               LAYERS, GPUS, GPUS, GPUS * micro_batches, homes[home], flags));
}

/* A pass through n layers loads n - R, and R are loaded once a step. */
Test(sim_cache, layers_are_loaded_as_the_closed_form_says)
{
    for (size_t home = 0; home < PP_COUNT(homes); home++)
        for (int m = 1; m <= 4; m += 3)
            for (int r = 1; r <= LAYERS; r++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const struct pp_result result =
                    run_layers(arena, home, m,
                               pp_arena_printf(arena, "--cluster a100 --cache %d --evict %s", r,
                                               pp_evict_names[r % 3]));
                const struct pp_cache_counts count = pp_cache_count(&result);
                cr_assert_eq(count.cached, r);
                cr_assert_eq(count.loads, 2 * m * (LAYERS - r) + r, "%s, R %d", homes[home], r);
                cr_assert_eq(count.loads + count.hits, 2 * m * (LAYERS - 1) + 1);
            }
}

/* Bytes up: all of a pass but the R layers at the end of the pass before it. */
Test(sim_cache, bytes_are_those_of_the_layers_that_are_loaded)
{
    for (int r = 1; r <= LAYERS; r++) {
        enum { M = 3 };
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result result =
            run_layers(arena, 0, M, pp_arena_printf(arena, "--cluster a100 --cache %d", r));
        const struct pp_model *m = &result.config.model;
        const double block = pp_model_layer_params(m, PP_LAYER_BLOCK),
                     embedding = pp_model_layer_params(m, PP_LAYER_EMBEDDING),
                     head = pp_model_layer_params(m, PP_LAYER_HEAD),
                     all = LAYERS * block + embedding + head,
                     first = r * block + embedding + (r == LAYERS ? head : 0),
                     last = r * block + head + (r == LAYERS ? embedding : 0),
                     up = M * (all - first) + M * (all - last) + first;
        cr_assert_float_eq(pp_tiers_copied_bytes(&result, 0, PP_COPY_UP), 2 * up, 1e-9 * up,
                           "R %d: %g, %g", r, pp_tiers_copied_bytes(&result, 0, PP_COPY_UP),
                           2 * up);
    }
}

/* With slow links a step lasts as long as its copies, plus at most all of its compute. */
Test(sim_cache, a_step_is_its_copies_or_its_compute)
{
    for (int buffers = 2; buffers <= 4; buffers++)
        for (int r = 1; r <= LAYERS; r++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const char *flags =
                pp_arena_printf(arena,
                                "--cluster a100\th2d:0.5GBps\tram:1000TB@1000000GBps "
                                "--gather-buffers %d --cache %d",
                                buffers, r);
            const struct pp_result slow = run_layers(arena, 0, 2, flags);
            struct pp_result here;
            struct pp_error err;
            cr_assert_eq(sim_run(arena,
                                 pp_arena_printf(arena,
                                                 "--schedule 1f1b --model llama3-8b --layers %d "
                                                 "--gpus %d --pp 1 --tp 1 --dp %d --mbs 1 --gbs %d "
                                                 "--engine dag --no-alternatives --recompute none "
                                                 "--zero 0 --cluster a100",
                                                 LAYERS, GPUS, GPUS, 2 * GPUS),
                                 &here, &err),
                         PP_OK, "%s", err.message);
            const double copies_s = (pp_tiers_copied_bytes(&slow, 0, PP_COPY_UP) +
                                     pp_tiers_copied_bytes(&slow, 0, PP_COPY_DOWN)) /
                                    0.5e9;
            cr_assert_geq(slow.metrics.iteration_s, copies_s * (1 - 1e-9), "R %d: %g, %g", r,
                          slow.metrics.iteration_s, copies_s);
            cr_assert_leq(slow.metrics.iteration_s, copies_s + here.metrics.iteration_s,
                          "R %d: %g, %g", r, slow.metrics.iteration_s, copies_s);
        }
}

/* Each further unit takes its bytes on the device, and none is left at the end. */
Test(sim_cache, units_take_their_bytes)
{
    for (size_t home = 0; home < PP_COUNT(homes); home++)
        for (int r = 2; r < LAYERS; r++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_result less = run_layers(
                                       arena, home, 2,
                                       pp_arena_printf(arena, "--cluster a100 --cache %d", r - 1)),
                                   more = run_layers(
                                       arena, home, 2,
                                       pp_arena_printf(arena, "--cluster a100 --cache %d", r));
            const double unit = 2 * pp_model_layer_params(&more.config.model, PP_LAYER_BLOCK),
                         taken = more.memory[0].buffers_bytes - less.memory[0].buffers_bytes;
            cr_assert_float_eq(taken, unit, 1, "%s, R %d: %g of %g", homes[home], r, taken, unit);
        }
}

/* With k buffers R + k - 1 layers have room, at most all. This holds where the first ones of the
 * next pass come while the last ones of a pass are used, too. */
Test(sim_cache, layers_that_come_ahead_have_the_room_of_buffers)
{
    static const char *const schedules[] = {"1f1b", "gpipe", "eager-1f1b"};
    enum { OF_RANK = 8, MOST = 3, MIDDLE = 1 };

    for (size_t s = 0; s < PP_COUNT(schedules); s++)
        for (int k = 1; k <= MOST; k++)
            for (int r = 1; r <= OF_RANK; r++) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const char *line = pp_arena_printf(
                    arena,
                    "--schedule %s --model llama2-7b --gpus 4 --pp 4 --tp 1 --mbs 1 --seq 512 "
                    "--micro-batches 8 --engine dag --recompute none --cluster h200 "
                    "--no-alternatives --offload p=host --gather layer",
                    schedules[s]);
                const char *flags =
                    pp_arena_printf(arena, "%s --gather-buffers %d --cache %d", line, k, r);
                const struct pp_result one = run(arena, pp_arena_printf(
                                                            arena, "%s --gather-buffers 1", line)),
                                       more = run(arena, flags);
                const double unit = 2 * pp_model_layer_params(&one.config.model, PP_LAYER_BLOCK),
                             taken = more.memory[MIDDLE].buffers_bytes -
                                     one.memory[MIDDLE].buffers_bytes;
                const int units = r + k - 1 < OF_RANK ? r + k - 1 : OF_RANK;
                cr_assert_float_eq(taken, (units - 1) * unit, 2, "%s, k %d, R %d: %g of %g",
                                   schedules[s], k, r, taken / unit, units - 1.0);
            }
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static struct pp_result run_chunks(struct pp_arena *arena, const char *schedule, const char *flags)
{
    return run(arena,
               pp_arena_printf(arena,
                               "--schedule %s --model gpt2-64 --layers 32 --seq 512 --gpus 4 "
                               "--pp 4 --tp 1 --cluster a100 --mbs 1 --gbs 8 "
                               "--no-alternatives --offload p=host --gather chunk %s",
                               schedule, flags));
}

Test(sim_cache, chunks_of_interleaved_orders_are_loaded_as_published)
{
    static const int loads[3][8] = {{71, 26, 23, 20, 17, 14, 11, 8},
                                    {71, 28, 27, 24, 23, 20, 19, 8},
                                    {71, 34, 28, 26, 24, 20, 18, 8}};

    for (int k = 0; k < 3 * 8; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *flags =
            pp_arena_printf(arena, "--cache %d --evict %s", k % 8 + 1, pp_evict_names[k / 8]);
        const struct pp_result dag = run_chunks(arena, "interleaved --vp 8",
                                                pp_arena_printf(arena, "%s --engine dag", flags)),
                               sim =
                                   run_chunks(arena, "interleaved --vp 8",
                                              pp_arena_printf(arena, "%s --engine simgrid", flags)),
                               bfs = run_chunks(arena, "bfs --vp 8", flags);
        cr_assert_eq(pp_gathers_visits(&dag, 0), loads[k / 8][k % 8]);
        cr_assert_eq(pp_gathers_visits(&bfs, 0), 15 - k % 8);
        cr_assert_float_eq(sim.metrics.iteration_s, dag.metrics.iteration_s,
                           0.02 * dag.metrics.iteration_s, "%s: %g, %g", flags,
                           sim.metrics.iteration_s, dag.metrics.iteration_s);
        const struct pp_memory_changes c = pp_memory_changes(arena, dag.program, dag.costs);
        for (int rank = 0; rank < 4; rank++) {
            double left = 0;
            for (int i = dag.program->begin[rank]; i < dag.program->begin[rank + 1]; i++)
                left += c.taken_bytes[i] - c.given_bytes[i];
            cr_assert_eq(left, 0, "rank %d: %g bytes", rank, left);
        }
    }
}

/* Uses do not depend on the cache: with one unit all of them load, and with more the rest are hits.
 * Both counts are made apart: of units by op, and of instructions. */
Test(sim_cache, uses_are_the_loads_of_one_unit)
{
    static const char *const more[] = {"--recompute none --gather chunk",
                                       "--recompute full --gather layer",
                                       "--recompute stage-aware=50% --gather 64MiB"};
    int counted = 0;

    for (int k = 0; pp_schedules[k]; k++)
        for (size_t m = 0; m < PP_COUNT(more); m++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_result r[2];
            struct pp_error err = {0};
            bool is_legal = true;
            for (int c = 0; c < 2 && is_legal; c++)
                is_legal =
                    sim_run(arena,
                            pp_arena_printf(
                                arena,
                                "--schedule %s --model llama3-8b --layers 32 --gpus 8 --pp 4 "
                                "--tp 1 --cluster a100 --mbs 1 --gbs 32 --engine dag "
                                "--no-alternatives --zero 3 %s --cache %d",
                                pp_schedules[k]->name, more[m], c + 1),
                            &r[c], &err) == PP_OK;
            for (int rank = 0; is_legal && rank < 4; rank++) {
                const int64_t loads = pp_gathers_visits(&r[0], rank);
                cr_assert_eq(pp_cache_uses(&r[0], rank), loads, "%s %s, rank %d: %lld, %lld",
                             pp_schedules[k]->name, more[m], rank,
                             (long long)pp_cache_uses(&r[0], rank), (long long)loads);
                cr_assert_eq(pp_cache_uses(&r[1], rank), loads);
                cr_assert_leq(pp_gathers_visits(&r[1], rank), loads);
                counted++;
            }
        }
    cr_assert_gt(counted, 60, "%d", counted);
}

/* ---- units of bytes -------------------------------------------------------------------------- */

Test(sim_cache, units_of_bytes_are_pieces_of_a_stage)
{
    static const double mib[] = {1, 64, 100, 1000, 100000};

    for (size_t k = 0; k < PP_COUNT(mib); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r = run_layers(
            arena, k % 3, 2, pp_arena_printf(arena, "--cluster a100 --gather %gMiB", mib[k]));
        const double bytes = 2 * pp_cost_stage_params(&r.cost_inputs, 0);
        const int64_t units = (int64_t)ceil(bytes / (mib[k] * 1024 * 1024));
        cr_assert_eq(r.costs->gathers[0].units, units, "%g MiB: %d, %lld", mib[k],
                     r.costs->gathers[0].units, (long long)units);
        cr_assert_eq(pp_gathers_visits(&r, 0), units > 1 ? 4 * (units - 1) + 1 : 1);
    }
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result whole = run_layers(arena, 0, 2, "--cluster a100 --gather chunk"),
                           large = run_layers(arena, 0, 2, "--cluster a100 --gather 1TiB");
    cr_assert_eq(whole.metrics.iteration_s, large.metrics.iteration_s);
    cr_assert_eq(whole.memory[0].peak_bytes, large.memory[0].peak_bytes);
}

/* Room in bytes is whole units of the largest size. */
Test(sim_cache, room_in_bytes_is_rounded_down_to_units)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result plain = run_layers(arena, 0, 2, "--cluster a100 --gather 64MiB");
    const double unit =
        2 * pp_cost_stage_params(&plain.cost_inputs, 0) / plain.costs->gathers[0].units;

    for (int r = 1; r <= 5; r++)
        for (int more = 0; more < 2; more++) {
            const struct pp_result result =
                run_layers(arena, 0, 2,
                           pp_arena_printf(arena, "--cluster a100 --gather 64MiB --cache %.0fB",
                                           ceil((r + 0.9 * more) * unit)));
            cr_assert_eq(result.config.state.cached, r, "%d, %d", result.config.state.cached, r);
        }
}

/* ---- laws ------------------------------------------------------------------------------------ */

/* Units that stay make no step longer, whichever of compute and loads takes longest. Where a
 * forward follows a forward, several units are fetched at once, which may cost up to 1 %. */
Test(sim_cache, more_units_make_no_step_longer)
{
    static const char *const rates[] = {"0.5GBps", "4GBps", "12GBps", "1000GBps"},
                             *const schedules[] = {"gpipe", "1f1b", "interleaved --vp 2",
                                                   "bfs --vp 2", "zbv"},
                             *const units[] = {"layer", "chunk", "256MiB"};

    for (int k = 0; k < 4 * 5 * 3; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        double last_s = INFINITY;
        for (int r = 1; r <= 6; r++) {
            const char *line = pp_arena_printf(
                arena,
                "--schedule %s --model llama3-8b --layers 16 --gpus 32 --pp 4 --tp 1 --mbs 1 --gbs "
                "64 --engine dag --no-alternatives --recompute none --zero 3 --offload p=host "
                "--gather %s --cache %d --cluster a100\tram:1000TB@1000000GBps\th2d:%s",
                schedules[k / 4 % 5], units[k / 20], r, rates[k % 4]);
            struct pp_result result;
            struct pp_error err = {0};
            if (sim_run(arena, line, &result, &err) != PP_OK) {
                cr_assert(strstr(err.message, "nearest: --cache"), "%s: %s", line, err.message);
                break;
            }
            cr_assert_leq(result.metrics.iteration_s, last_s * 1.01, "%s: %.9g, %.9g", line,
                          result.metrics.iteration_s, last_s);
            last_s = result.metrics.iteration_s;
        }
    }
}
