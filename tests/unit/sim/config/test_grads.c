/* Gradients on another tier: bytes and times of closed forms, laws over schedules, what fits. */
#include "core/units.h"
#include "sim/config/copies.h"
#include "sim/config/tiers.h"
#include "tests/unit/support/cost_inputs.h"
#include "tests/unit/support/sim_run.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* ---- costs --------------------------------------------------------------------------------------
 */

static struct pp_cost_inputs gpt(struct pp_arena *arena, struct pp_model *model,
                                 struct pp_cluster *cluster, int seq)
{
    const struct setting setting = {"gpt-7.5b", "a100", 1, 4, 1, 1, 1, seq};
    struct pp_cost_inputs in = inputs_of(arena, setting, model, cluster);

    in.state = pp_state_spec_zero(0, pp_cost_replicas(&in));
    in.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    in.state.is_cpu_update = true;
    return in;
}

static void send_grads(struct pp_cost_inputs *in, double frac)
{
    in->state.home[PP_STATE_GRADS] = PP_TIER_HOST;
    in->state.moved_frac[PP_STATE_GRADS] = frac;
}

/* 2 of 16 bytes a parameter leave; DeepSpeed's host keeps 6 for them, so 20 in all. */
Test(grads, bytes_of_the_host_by_framework)
{
    static const struct {
        const char *framework;
        double host_bytes;
    } rows[] = {{"plain", 16}, {"deepspeed", 20}, {"fsdp", 16}};

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = gpt(arena, &model, &cluster, 2048);
        in.framework = framework_of(rows[i].framework);
        send_grads(&in, 0);
        in.state.home[PP_STATE_PARAMS] = PP_TIER_HOST;
        const struct pp_costs *costs = costs_of(arena, &in);
        for (int s = 0; s < in.stages; s++) {
            const struct pp_stage_memory *m = &costs->memory[s];
            const double params = pp_cost_stage_params(&in, s);
            cr_assert_float_eq(m->away_bytes[PP_TIER_HOST], rows[i].host_bytes * params, 1, "%s",
                               rows[i].framework);
            cr_assert_float_eq(m->params_bytes + m->grads_bytes + m->optimizer_bytes, 0, 1);
            cr_assert_eq(costs->purpose[PP_FOR_GRADS][s].bytes, 0);
        }
    }
}

/* A copy has the rate of its link, or a third of the devices' share of host memory. */
Test(grads, parts_of_a_visit)
{
    static const double ram_bytes_per_s[] = {409.6e9, 60e9, 0};

    for (size_t i = 0; i < PP_COUNT(ram_bytes_per_s); i++)
        for (int device = 0; device < 2; device++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_model model;
            struct pp_cluster cluster;
            struct pp_cost_inputs in = gpt(arena, &model, &cluster, 2048);
            send_grads(&in, 0);
            in.state.is_summed_on_device = device;
            cluster.tiers[PP_TIER_HOST].bytes_per_s = ram_bytes_per_s[i];
            const struct pp_costs *costs = costs_of(arena, &in);
            const double ram = ram_bytes_per_s[i] / 4, link = ram > 0 ? fmin(25e9, ram) : 25e9,
                         rate = ram > 0 && !device ? fmin(link, ram / 3) : link;
            for (int s = 0; s < in.stages; s++) {
                const struct pp_stage_gathers *g = &costs->gathers[s];
                const bool is_tied = s == 0 || s == in.stages - 1;
                const double params = pp_cost_stage_params(&in, s);
                const struct pp_cost part = costs->purpose[PP_FOR_GRAD_DOWN][s];
                cr_assert_eq(g->part_units, is_tied ? 1 : in.blocks_per_stage[s]);
                cr_assert_float_eq(part.bytes + g->part_bytes, 2 * params, 1);
                cr_assert_float_eq(pp_units_s(part.ps), part.bytes / rate, 1e-9);
                cr_assert_float_eq(pp_units_s(g->part_ps), g->part_bytes / rate, 1e-9);
                cr_assert_float_eq(costs->purpose[PP_FOR_GRAD_UP][s].bytes + g->sum_bytes,
                                   device || is_tied ? 2 * params : part.bytes, 1);
                cr_assert_eq(g->units, 0);
            }
        }
}

/* With one buffer a backward over n layers lasts as long as its compute and its n - 1 copies. With
 * more it lasts as long as one of them, and at most a copy more. More buffers never slow it. */
Test(grads, a_backward_is_its_compute_or_its_copies)
{
    for (int seq = 32; seq <= 8192; seq *= 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_model model;
        struct pp_cluster cluster;
        struct pp_cost_inputs in = gpt(arena, &model, &cluster, seq);
        const int n = in.blocks_per_stage[1];
        const double c = pp_units_s(costs_of(arena, &in)->op[PP_B][1].ps),
                     w = pp_units_s(costs_of(arena, &in)->op[PP_W][1].ps),
                     layer = 2 * pp_cost_stage_params(&in, 1) / n / 25e9, x = (n - 1) * layer;
        double last = INFINITY;
        send_grads(&in, 0);
        for (int k = 1; k <= 4; k++) {
            in.state.buffers = k;
            const struct pp_costs *costs = costs_of(arena, &in);
            const double b = pp_units_s(costs->op[PP_B][1].ps);
            const struct pp_cost *f = &costs->op[PP_F][1];
            cr_assert_leq(b, last + 1e-9);
            cr_assert_float_eq(pp_units_s(costs->op[PP_B][1].copy_ps), b - c, 1e-9);
            cr_assert_eq(f->copy_ps, 0);
            if (k == 1)
                cr_assert_float_eq(b, c + x, 1e-9, "seq %d: %g, %g", seq, b, c + x);
            else
                cr_assert(b >= fmax(c, x) - 1e-9 && b <= fmax(c + layer / n, x + c / n) + 1e-9,
                          "seq %d, %d buffers: %g, %g, %g", seq, k, b, c, x);
            cr_assert_geq(pp_units_s(costs->op[PP_W][1].ps), fmax(w, x) - 1e-9);
            last = b;
        }
    }
}

/* ---- runs ---------------------------------------------------------------------------------------
 */

#define BASE                                                                                       \
    "--model gpt-7.5b --tp 1 --pp 4 --cp 1 --mbs 1 --micro-batches 8 --seq 512 --recompute none "  \
    "--no-alternatives "

static struct pp_result run(struct pp_arena *arena, const char *schedule, const char *flags)
{
    struct pp_result result;
    struct pp_error err = {0};
    const char *line = pp_arena_printf(arena, BASE "--schedule %s %s", schedule, flags);

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

static const char *const schedules[] = {"gpipe",      "1f1b",          "interleaved --vp 2",
                                        "bfs --vp 2", "zb-h1",         "interleaved-zb --vp 2",
                                        "zbv",        "chimera",       "dualpipe",
                                        "v-half",     "hanayo --vp 2", "seq1f1b"};
static const char *const replicas[] = {"--gpus 4 --dp 1 --zero 0", "--gpus 8 --dp 2 --zero 3",
                                       "--gpus 8 --dp 2 --zero 2", "--gpus 8 --dp 2 --zero 1"};
static const char *const sums[] = {"", "--sum device", "--gather-buffers 1",
                                   "--sum device --gather-buffers 3"};

/* Returns flags of case number k of all, or NULL where the schedule refuses them. */
static const char *flags_of(struct pp_arena *arena, size_t k, const char *schedule,
                            const char *offload)
{
    const char *copies = replicas[k % PP_COUNT(replicas)];
    const bool has_two = !strcmp(schedule, "chimera") || !strcmp(schedule, "dualpipe");

    if (has_two && !strstr(copies, "zero 0")) /* cuts fewer classes over its pipelines */
        return NULL;
    return pp_arena_printf(arena, "--engine %s %s %s %s %s", k % 3 ? "dag" : "simgrid", copies,
                           offload, strstr(offload, "g,") ? sums[k / 4 % PP_COUNT(sums)] : "",
                           k % 5 < 2 ? "" : "--cpu-optimizer");
}

/* Returns the largest gradients of a rank that leave as one unit. */
static double whole_part(const struct pp_result *r, int rank)
{
    double most = 0;

    for (int pipe = 0; pipe < r->program->pipelines; pipe++)
        for (int s = 0; s < r->program->stages; s++)
            if (pp_program_rank_of(r->program, pipe, s) == rank &&
                r->costs->gathers[s].part_units == 1)
                most = fmax(most, r->costs->purpose[PP_FOR_GRAD_DOWN][s].bytes);
    return most;
}

/* Gradients that live on the host leave the device. No rank needs more, but for a buffer of a chunk
 * that leaves as one unit while its next gradients are made. */
Test(grads, leave_the_device)
{
    int runs = 0;

    for (size_t k = 0; k < PP_COUNT(schedules) * PP_COUNT(replicas) * PP_COUNT(sums); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k % PP_COUNT(schedules)];
        const char *flags = flags_of(arena, k, schedule, "--offload g,os=host");
        if (!flags)
            continue;
        const struct pp_result away = run(arena, schedule, flags),
                               here = run(arena, schedule,
                                          flags_of(arena, k, schedule, "--offload os=host"));
        for (int rank = 0; rank < here.program->ranks; rank++) {
            cr_assert_eq(away.memory[rank].grads_bytes, 0);
            cr_assert_leq(away.memory[rank].peak_bytes,
                          here.memory[rank].peak_bytes + whole_part(&away, rank) + 1e3,
                          "%s %s rank %d: %g, %g", schedule, flags, rank,
                          away.memory[rank].peak_bytes, here.memory[rank].peak_bytes);
        }
        runs++;
    }
    cr_assert_gt(runs, 150);
}

/* Two chunks with two buffers need two, also while the sum of earlier visits comes up. */
Test(grads, sums_that_come_up_have_the_room_of_buffers)
{
    static const char *const orders[] = {"1f1b", "interleaved --vp 2", "interleaved-zb --vp 2",
                                         "bfs --vp 2"};

    for (size_t k = 0; k < PP_COUNT(orders) * 2; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *flags = k % 2 ? "--sum device" : "";
        const struct pp_result r =
            run(arena, orders[k / 2],
                pp_arena_printf(
                    arena, "--engine dag --gpus 8 --dp 2 --zero 1 --offload g,os=host %s", flags));
        for (int rank = 0; rank < r.program->ranks; rank++) {
            const double others = 0.1 * whole_part(&r, rank); /* messages, work of an op */
            cr_assert_leq(r.memory[rank].buffers_bytes, 2 * whole_part(&r, rank) + others,
                          "%s %s rank %d: %g of %g", orders[k / 2], flags, rank,
                          r.memory[rank].buffers_bytes, whole_part(&r, rank));
        }
    }
}

/* One replica: each micro-batch takes all its gradients down, and with sums on the device all but
 * the first bring up as many. */
Test(grads, copied_bytes_of_a_step)
{
    for (size_t k = 0; k < PP_COUNT(schedules); k++)
        for (int device = 0; device < 2; device++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_copied copied[PP_STATE_CLASSES];
            const struct pp_result r =
                run(arena, schedules[k],
                    device ? "--gpus 4 --zero 0 --offload g,os=host --cpu-optimizer --sum device"
                           : "--gpus 4 --zero 0 --offload g,os=host --cpu-optimizer");
            const bool is_split = strstr(schedules[k], "seq1f1b") != NULL;
            for (int rank = 0; rank < r.program->ranks; rank++) {
                double most = 0;
                bool is_end = false;
                for (int pipe = 0; pipe < r.program->pipelines; pipe++)
                    for (int s = 0; s < r.program->stages; s++)
                        if (pp_program_rank_of(r.program, pipe, s) == rank) {
                            most += 2 * pp_cost_stage_params(&r.cost_inputs, s) * 8 /
                                    r.program->pipelines * (is_split ? r.program->splits : 1);
                            is_end |= s == 0 || s == r.program->stages - 1;
                        }
                pp_copied_of_rank(r.program, r.costs, rank, copied);
                const double down = copied[PP_STATE_GRADS].down_bytes,
                             up = copied[PP_STATE_GRADS].up_bytes;
                if (is_end || r.program->pipelines > 1) { /* one unit: runs leave at once */
                    cr_assert_leq(down, most * 1.0001, "%s rank %d", schedules[k], rank);
                    continue;
                }
                const double visits = 8.0 * (is_split ? r.program->splits : 1);
                cr_assert_float_eq(down / most, 1, 1e-6, "%s rank %d: %g, %g", schedules[k], rank,
                                   down, most);
                cr_assert_float_eq(up / most, device ? (visits - 1) / visits : 0, 1e-6,
                                   "%s rank %d: %g, %g", schedules[k], rank, up, most);
            }
        }
}

/* Copies that take no time change no step; those that do make none shorter than themselves. */
Test(grads, copies_that_take_no_time_change_no_step)
{
    for (size_t k = 0; k < PP_COUNT(schedules) * PP_COUNT(sums); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k % PP_COUNT(schedules)],
                   *sum = sums[k / PP_COUNT(schedules)];
        const struct pp_result here = run(arena, schedule,
                                          "--gpus 4 --zero 0 --engine dag --cluster a100"),
                               away =
                                   run(arena, schedule,
                                       pp_arena_printf(arena,
                                                       "--gpus 4 --zero 0 --engine dag "
                                                       "--offload g,os=host %s --cluster "
                                                       "a100\tram:1000000TB@1000000000GBps\t"
                                                       "h2d:1000000000GBps\tuplink:1000000000GBps",
                                                       sum)),
                               slow = run(arena, schedule,
                                          pp_arena_printf(arena,
                                                          "--gpus 4 --zero 0 --engine dag "
                                                          "--offload g,os=host %s --cluster "
                                                          "a100\th2d:1GBps",
                                                          sum));
        cr_assert_float_eq(away.metrics.iteration_s, here.metrics.iteration_s,
                           1e-5 * here.metrics.iteration_s, "%s %s", schedule, sum);
        for (int rank = 0; rank < slow.program->ranks; rank++)
            for (int stream = 0; stream < 2; stream++)
                cr_assert_geq(slow.metrics.iteration_s * 1.000001,
                              pp_tiers_copied_bytes(&slow, rank, stream) / 1e9, "%s %s rank %d",
                              schedule, sum, rank);
    }
}

/* ---- what fits ----------------------------------------------------------------------------------
 */

/* What ranks wait for, inside of ops too, is by class: only gradients move but for the update. */
Test(grads, exposed_time_is_theirs)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result slow = run(arena, "gpipe",
                                      "--gpus 4 --zero 0 --engine dag --offload g,os=host "
                                      "--cpu-optimizer --cluster a100\th2d:1GBps");
    const double *frac = slow.metrics.moves_frac;

    cr_assert_gt(frac[PP_STATE_GRADS], 0);
    cr_assert_gt(frac[PP_STATE_GRADS], 2 * frac[PP_STATE_PARAMS], "%g, %g", frac[PP_STATE_GRADS],
                 frac[PP_STATE_PARAMS]);
}

#define MIB (1024.0 * 1024)

/* ZeRO-Offload's 10 billion parameters ran on one V100 of 32 GB, in 32,290 MiB (DeepSpeed's
 * tutorial). With gradients on the device they would take 51,941. */
Test(grads, zero_offload_10b)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char path[] = "/tmp/gradsXXXXXX.json";
    const int fd = mkstemps(path, 5);
    struct pp_result away, here;
    struct pp_error err = {0};

    cr_assert_geq(fd, 0);
    dprintf(fd, "{\"model_type\": \"gpt2\", \"n_layer\": 50, \"n_embd\": 4096, \"n_head\": 32, "
                "\"vocab_size\": 50304, \"n_positions\": 1024}\n");
    close(fd);
    const char *line = pp_arena_printf(
        arena,
        "--schedule 1f1b --pp 1 --tp 1 --gpus 1 --cluster v100-dgx2 --model %s --seq 1024 --mbs 10 "
        "--gbs 10 --recompute full --framework deepspeed --engine dag --no-alternatives "
        "--cpu-optimizer --offload ",
        path);
    cr_assert_eq(sim_run(arena, pp_arena_printf(arena, "%sg,os=host", line), &away, &err), PP_OK,
                 "%s", err.message);
    cr_assert_eq(sim_run(arena, pp_arena_printf(arena, "%sos=host", line), &here, &err), PP_OK);
    unlink(path);
    cr_assert_float_eq(away.memory[0].peak_bytes / MIB / 32290, 1, 0.1, "%g",
                       away.memory[0].peak_bytes / MIB);
    cr_assert(away.fits && !here.fits);
    cr_assert_float_eq(here.memory[0].peak_bytes / MIB, 51941, 20, "%g",
                       here.memory[0].peak_bytes / MIB);
    const double params = pp_cost_stage_params(&away.cost_inputs, 0);
    cr_assert_float_eq(away.memory[0].away_bytes[PP_TIER_HOST] / params, 18, 1e-6);
}

/* OPT-30B trains on one A100 of 40 GB if all its state lives on the host, and not otherwise. */
Test(grads, opt_30b_on_one_device)
{
    static const char *const homes[] = {"p,g,os=host", "g,os=host", "p,os=host"};

    for (size_t i = 0; i < PP_COUNT(homes); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result r;
        struct pp_error err = {0};
        const char *line = pp_arena_printf(
            arena,
            "--schedule 1f1b --pp 1 --tp 1 --gpus 1 --cluster a100-40 --model opt-30b --seq 1024 "
            "--mbs 20 --gbs 20 --recompute full --engine dag --no-alternatives --cpu-optimizer "
            "--offload %s",
            homes[i]);
        cr_assert_eq(sim_run(arena, line, &r, &err), PP_OK, "%s", err.message);
        cr_assert_eq(r.memory[0].peak_bytes <= r.config.cluster.device.memory_bytes, i == 0,
                     "%s: %g", homes[i], r.memory[0].peak_bytes);
    }
}
