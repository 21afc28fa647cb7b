/* Offloading: bytes and times of closed forms, and what no offloading may do. */
#include "core/units.h"
#include "sim/config/gathers.h"
#include "sim/config/tiers.h"
#include "tests/unit/support/cost_inputs.h"
#include "tests/unit/support/sim_run.h"

#include <math.h>
#include <string.h>

/* ---- costs --------------------------------------------------------------------------------------
 */

static struct pp_cost_inputs gpt(struct pp_arena *arena, struct pp_model *model,
                                 struct pp_cluster *cluster)
{
    const struct setting setting = {"gpt-7.5b", "a100", 2, 4, 2, 1, 1, 2048};
    struct pp_cost_inputs in = inputs_of(arena, setting, model, cluster);

    in.state = pp_state_spec_zero(0, pp_cost_replicas(&in));
    return in;
}

static double state_bytes(const struct pp_stage_memory *m)
{
    return m->params_bytes + m->grads_bytes + m->optimizer_bytes;
}

/* 16 bytes a parameter, of which 12 go. Three buckets of 16 M parameters are in transit at a time
 * (Singh and Bhatele 2022, AxoNN, section IV-B: 20 to 4, with one bucket). */
Test(tiers, state_on_the_host_leaves_four_bytes_a_parameter)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);
    const double bucket_bytes = 16e6 * 12;

    const struct pp_costs *here = costs_of(arena, &in);
    in.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    const struct pp_costs *away = costs_of(arena, &in);
    for (int s = 0; s < in.stages; s++) {
        const double params = pp_cost_stage_params(&in, s);
        const double rate = fmin(25e9, fmin(130e9, 409.6e9) / 8);
        cr_assert_float_eq(state_bytes(&here->memory[s]), 16 * params, 1);
        cr_assert_float_eq(state_bytes(&away->memory[s]), 4 * params, 1);
        cr_assert_float_eq(away->memory[s].away_bytes[PP_TIER_HOST], 12 * params, 1);
        cr_assert_float_eq(away->memory[s].fetched_bytes, 3 * bucket_bytes, 1);
        cr_assert_float_eq(away->purpose[PP_FOR_FETCH][s].bytes, bucket_bytes, 1);
        cr_assert_float_eq(away->purpose[PP_FOR_STORE][s].bytes, bucket_bytes, 1);
        cr_assert_float_eq(pp_units_s(away->op[PP_U][s].ps), (12 * params - bucket_bytes) / rate,
                           1e-9);
        cr_assert_eq(away->op[PP_U][s].ps - away->op[PP_U][s].copy_ps, here->op[PP_U][s].ps);
    }
}

/* AxoNN has 20 bytes a parameter on the device, or 4 and a bucket of 16 M parameters: a quarter. */
Test(tiers, one_bucket_of_the_optimizer_is_a_quarter_of_the_state)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);

    in.framework = framework_of("axonn");
    const struct pp_costs *here = costs_of(arena, &in);
    in.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    const struct pp_costs *away = costs_of(arena, &in);
    for (int s = 0; s < in.stages; s++) {
        const struct pp_stage_memory *m = &away->memory[s];
        const double params = pp_cost_stage_params(&in, s);
        cr_assert_float_eq(state_bytes(&here->memory[s]), 20 * params, 1);
        cr_assert_float_eq(state_bytes(m) + m->fetched_bytes, 4 * params + 16 * 16e6, 1);
        cr_assert_float_eq(m->away_bytes[PP_TIER_HOST], 16 * params, 1);
    }
}

/* Three buckets: one comes, one is updated, one goes. Two: one comes after another has gone. One:
 * nothing overlaps. */
Test(tiers, fewer_buckets_overlap_less)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);
    const int64_t update_ps = costs_of(arena, &in)->op[PP_U][0].ps;
    const double params = pp_cost_stage_params(&in, 0);

    in.state.home[PP_STATE_OPTIMIZER] = PP_TIER_HOST;
    for (int rate = 0; rate < 8; rate++) /* copies, or the update, last longest */
        for (int buckets = 1; buckets <= 4; buckets++) {
            in.state.update_bucket_params = 1e6 * (1 + rate);
            in.state.update_buckets = buckets;
            cluster.tiers[PP_TIER_HOST].link_bytes_per_s = pow(10, 8 + rate);
            cluster.tiers[PP_TIER_HOST].bytes_per_s = pow(10, 11 + rate);
            cluster.tiers[PP_TIER_HOST].uplink_bytes_per_s = 0;
            const struct pp_costs *costs = costs_of(arena, &in);
            const double bucket = in.state.update_bucket_params * 12,
                         fetch_ps = 1e12 * (12 * params - bucket) / pow(10, 8 + rate),
                         ps = buckets == 1
                                  ? (double)update_ps + 2 * fetch_ps
                                  : fmax((double)update_ps, (buckets == 2 ? 2 : 1) * fetch_ps);
            cr_assert_float_eq((double)costs->op[PP_U][0].ps, ps, 2 + 1e-9 * ps);
            cr_assert_float_eq(costs->memory[0].fetched_bytes, fmin(12 * params, buckets * bucket),
                               1);
            cr_assert_float_eq(costs->purpose[PP_FOR_STORE][0].bytes, bucket, 1);
        }
}

/* Gradients down, parameters up, each 2 bytes; all devices of a node share its processors and its
 * drives. */
Test(tiers, the_host_updates_at_the_rate_of_its_processors_or_drives)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);
    const double params = pp_cost_stage_params(&in, 1) / 2; /* of one of two replicas */

    in.state = pp_state_spec_zero(1, in.state.replicas);
    in.state.is_cpu_update = true;
    for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++) {
        in.state.home[PP_STATE_OPTIMIZER] = (enum pp_tier)tier;
        const struct pp_costs *costs = costs_of(arena, &in);
        const double by_drives_s = tier == PP_TIER_NVME ? 8 * 12 * params / (8 * 3.2e9) : 0,
                     by_processors_s = 8 * params / (409.6e9 / 72);
        cr_assert_float_eq(costs->purpose[PP_FOR_GRADS][1].bytes, 2 * params, 1);
        cr_assert_float_eq(costs->purpose[PP_FOR_PARAMS][1].bytes, 2 * params, 1);
        cr_assert_float_eq(pp_units_s(costs->purpose[PP_FOR_GRADS][1].ps), 2 * params / (130e9 / 8),
                           1e-9);
        cr_assert_float_eq(pp_units_s(costs->op[PP_U][1].ps), fmax(by_drives_s, by_processors_s),
                           1e-9);
        cr_assert_float_eq(costs->memory[1].away_bytes[tier],
                           (tier == PP_TIER_HOST ? 14 : 12) * params, 1);
        cr_assert_eq(costs->memory[1].fetched_bytes, 0);
    }
}

/* Half of the bytes and 4 for each 128 values of 2 (Pan et al. 2021, Mesa). */
Test(tiers, bits_and_scales)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_model model;
    struct pp_cluster cluster;
    struct pp_cost_inputs in = gpt(arena, &model, &cluster);

    for (int bits = 2; bits <= 8; bits *= 2) {
        in.state.activation_bits = bits;
        in.has_bits_apart = true; /* a program with Q and DQ of its own */
        const struct pp_costs *costs = costs_of(arena, &in);
        const struct pp_stage_memory *m = &costs->memory[1];
        const double frac = (32 * (bits / 16.0 + 4.0 / (128 * 2)) + 2) / 34, /* two masks */
            rate = cluster.device.memory_bytes_per_s * cluster.device.memory_eta;
        cr_assert_float_eq(m->resting_frac, frac, 1e-12);
        cr_assert_float_eq(pp_units_s(costs->op[PP_Q][1].ps),
                           (in.blocks_per_stage[1] + 1) * cluster.device.launch_s +
                               (1 + frac) * m->saved_bytes / rate,
                           1e-11);
        cr_assert_eq(costs->op[PP_Q][1].ps, costs->op[PP_DQ][1].ps);
    }
}

/* ---- runs ---------------------------------------------------------------------------------------
 */

#define BASE                                                                                       \
    "--model gpt-7.5b --gpus 16 --tp 2 --pp 4 --dp 2 --cp 1 --mbs 1 --micro-batches 8 "            \
    "--engine dag "

static struct pp_result run_recomputed(struct pp_arena *arena, const char *schedule,
                                       const char *flags)
{
    struct pp_result result;
    struct pp_error err = {0};
    const char *line = pp_arena_printf(arena, BASE "--schedule %s %s", schedule, flags);

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

static struct pp_result run(struct pp_arena *arena, const char *schedule, const char *flags)
{
    return run_recomputed(arena, schedule, pp_arena_printf(arena, "--recompute none %s", flags));
}

static double peak(const struct pp_result *r, int rank)
{
    return r->memory[rank].peak_bytes;
}

/* Is false where an order was searched by costs, and differs. */
static bool is_same_order(const struct pp_result *a, const struct pp_result *b)
{
    const struct pp_program *p = a->program, *q = b->program;
    const size_t size = (size_t)pp_program_size(p);

    return pp_program_size(q) == pp_program_size(p) && !memcmp(p->kind, q->kind, size) &&
           !memcmp(p->stage, q->stage, size * sizeof *p->stage) &&
           !memcmp(p->mb, q->mb, size * sizeof *p->mb);
}

static const char *const schedules[] = {
    "gpipe", "1f1b",    "interleaved --vp 2", "bfs --vp 2", "zb-h1",         "zb-h2",
    "zbv",   "chimera", "dualpipe",           "v-half",     "hanayo --vp 2", "seq1f1b"};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

Test(tiers, offloading_never_takes_more_of_the_device)
{
    static const char *const more[] = {"", "--offload a=host", "--offload a=host,os=host",
                                       "--offload a=nvme,os=nvme",
                                       "--offload p=nvme,a=nvme,os=nvme"};

    for (int s = 0; s < SCHEDULES; s++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result last = run(arena, schedules[s], more[0]);
        for (int k = 1; k < 5; k++) {
            const struct pp_result r = run(arena, schedules[s], more[k]);
            for (int rank = 0; rank < r.program->ranks; rank++)
                cr_assert_leq(peak(&r, rank), peak(&last, rank), "%s %s rank %d", schedules[s],
                              more[k], rank);
            last = r;
        }
    }
}

#define BY_LAYER " --offload-unit layer"

/* Blocks that leave while the next one computes never take more than a forward that leaves whole.
 */
Test(tiers, layers_never_take_more_of_the_device_than_ops)
{
    static const char *const recomputed[] = {"none", "selective", "full", "stage-aware=0.6"},
                             *const homes[] = {"a=host", "a=nvme:40%", "p=host,a=host",
                                               "a=host --act-bits 4"};
    enum { LEVELS = PP_COUNT(recomputed), HOMES = PP_COUNT(homes) };

    for (size_t k = 0; k < SCHEDULES * LEVELS * HOMES; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k / HOMES / LEVELS],
                   *flags = pp_arena_printf(arena, "--zero 1 --recompute %s --offload %s",
                                            recomputed[k / HOMES % LEVELS], homes[k % HOMES]);
        const struct pp_result op = run_recomputed(arena, schedule, flags),
                               layer = run_recomputed(arena, schedule,
                                                      pp_arena_printf(arena, "%s" BY_LAYER, flags));
        for (int rank = 0; rank < op.program->ranks; rank++)
            if (is_same_order(&op, &layer))
                cr_assert_leq(peak(&layer, rank), peak(&op, rank), "%s %s rank %d", schedule, flags,
                              rank);
    }
}

/* With one micro-batch a stage of n blocks holds two of them. A pass lasts as long as one block and
 * the copies of the others, if its compute is shorter. */
Test(tiers, layers_of_one_micro_batch_by_hand)
{
    enum { BLOCKS = 12 };
    static const double rates[] = {1e9, 25e9, 1e15};
    static const int kinds[] = {PP_F, PP_B};
    const char *line = "--schedule 1f1b --gpus 1 --pp 1 --model gpt-7.5b --layers 12 --mbs 1 "
                       "--micro-batches 1 --engine dag --recompute none --zero 0 --head ignored "
                       "--cluster a100\th2d:%gGBps\tram:1000TB@1e9GBps\tuplink:%gGBps%s";

    for (size_t i = 0; i < PP_COUNT(rates); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result here, away;
        struct pp_error err = {0};
        const double rate = rates[i] / 1e9;
        cr_assert_eq(sim_run(arena, pp_arena_printf(arena, line, rate, rate, ""), &here, &err),
                     PP_OK, "%s", err.message);
        cr_assert_eq(sim_run(arena,
                             pp_arena_printf(arena, line, rate, rate, " --offload a=host" BY_LAYER),
                             &away, &err),
                     PP_OK, "%s", err.message);
        const double bytes = here.costs->memory[0].saved_bytes,
                     inner = bytes * (BLOCKS - 1) / BLOCKS, step_s = here.metrics.iteration_s;
        double expected_s = step_s;
        for (size_t k = 0; k < PP_COUNT(kinds); k++) {
            const double s = pp_units_s(here.costs->op[kinds[k]][0].ps);
            expected_s += fmax(0, s / BLOCKS + inner / rates[i] - s);
        }
        cr_expect_float_eq(away.metrics.iteration_s, expected_s, 1e-10 * step_s);
        cr_expect_float_eq(away.metrics.moves_frac[PP_STATE_ACTIVATIONS] * away.metrics.iteration_s,
                           expected_s - step_s, 1e-9 * step_s);
        cr_expect_float_eq(peak(&here, 0) - peak(&away, 0), bytes * (BLOCKS - 2) / BLOCKS, 2);
        cr_expect_float_eq(away.memory[0].away_bytes[PP_TIER_HOST], inner, 1);
        for (int stream = 0; stream <= PP_COPY_UP; stream++)
            cr_expect_float_eq(pp_tiers_copied_bytes(&away, 0, stream), inner, 1);
    }
}

/* Fewer bits never raise the peak of a rank. Schedules have whole and split backwards. Precision,
 * framework, recomputation and the home of activations vary. */
Test(tiers, bits_never_take_more_of_the_device)
{
    static const char *const machines[] = {"--cluster a100 --precision bf16",
                                           "--cluster v100-dgx1 --precision fp32",
                                           "--cluster v100-dgx1 --framework autocast",
                                           "--cluster h100 --precision fp8 --framework megatron",
                                           "--cluster gb200 --precision nvfp4 --framework nemo",
                                           "--cluster a100 --framework deepspeed",
                                           "--cluster h100 --framework fsdp --head parallel"},
                             *const recomputed[] = {"none", "selective", "full", "stage-aware=0.6"},
                             *const homes[] = {"", "--offload a=host", "--offload a=nvme:40%",
                                               "--offload a=host" BY_LAYER},
                             *const bits[] = {"", "--act-bits 8", "--act-bits 4", "--act-bits 2"};
    enum { MACHINES = PP_COUNT(machines), LEVELS = PP_COUNT(recomputed), BITS = PP_COUNT(bits) };

    for (size_t k = 0; k < SCHEDULES * MACHINES * LEVELS; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k / LEVELS / MACHINES];
        struct pp_result last = {0};
        for (size_t b = 0; b < BITS; b++) {
            const char *flags = pp_arena_printf(
                arena, "%s --zero 1 --recompute %s %s %s", machines[k / LEVELS % MACHINES],
                recomputed[k % LEVELS], homes[k % 7 % PP_COUNT(homes)], bits[b]);
            const struct pp_result r = run_recomputed(arena, schedule, flags);
            for (int rank = 0; b > 0 && rank < r.program->ranks; rank++)
                if (is_same_order(&r, &last))
                    cr_assert_leq(peak(&r, rank), peak(&last, rank), "%s %s rank %d", schedule,
                                  flags, rank);
            cr_assert_not(pp_program_has_kind(r.program, PP_Q));
            last = r;
        }
    }
}

/* A wide head is all in full while it runs. Where blocks leave one by one, little else is here. */
Test(tiers, bits_never_take_more_of_the_device_where_blocks_leave_one_by_one)
{
    static const char *const recomputed[] = {"none", "full", "stage-aware=0.6", "full,skip"},
                             *const homes[] = {"a=host", "a=nvme:40%"},
                             *const bits[] = {"--act-bits 8", "--act-bits 4", "--act-bits 2"};
    enum { LEVELS = PP_COUNT(recomputed), HOMES = PP_COUNT(homes) };

    for (size_t k = 0; k < SCHEDULES * LEVELS * HOMES; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k / HOMES / LEVELS],
                   *flags =
                       pp_arena_printf(arena, "--vocab 200000 --recompute %s --offload %s" BY_LAYER,
                                       recomputed[k / HOMES % LEVELS], homes[k % HOMES]);
        const struct pp_result whole = run_recomputed(arena, schedule, flags);
        for (size_t b = 0; b < PP_COUNT(bits); b++) {
            const struct pp_result r =
                run_recomputed(arena, schedule, pp_arena_printf(arena, "%s %s", flags, bits[b]));
            for (int rank = 0; rank < r.program->ranks; rank++)
                if (is_same_order(&r, &whole))
                    cr_assert_leq(peak(&r, rank), peak(&whole, rank), "%s %s %s rank %d", schedule,
                                  flags, bits[b], rank);
        }
    }
}

/* Mesa's authors measured 1,858 of 4,171, 3,840 of 8,459 and 8,616 of 17,691 MB (their README). */
Test(tiers, bits_on_images_as_mesa_measured_them)
{
    static const struct {
        const char *model;
        double frac;
    } rows[] = {{"deit-ti", 0.445}, {"deit-s", 0.454}, {"deit-b", 0.487}};

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        double bytes[2];
        for (int k = 0; k < 2; k++) {
            struct pp_result r;
            struct pp_error err = {0};
            const char *line = pp_arena_printf(
                arena,
                "--schedule 1f1b --gpus 1 --pp 1 --cluster v100-dgx1 --mbs 128 --micro-batches 1 "
                "--recompute none --engine dag --framework autocast --model %s%s",
                rows[i].model, k ? " --act-bits 8" : "");
            cr_assert_eq(sim_run(arena, line, &r, &err), PP_OK, "%s", err.message);
            bytes[k] = peak(&r, 0);
        }
        cr_expect_float_eq(bytes[1] / bytes[0], rows[i].frac, 0.03, "%s: %.4f", rows[i].model,
                           bytes[1] / bytes[0]);
    }
}

/* Half of what is saved moves half of the bytes, and leaves the other half. */
Test(tiers, a_share_moves_that_share)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result none = run(arena, "1f1b", ""),
                           half = run(arena, "1f1b", "--offload a=host:50%"),
                           all = run(arena, "1f1b", "--offload a=host");

    for (int rank = 0; rank < 4; rank++) {
        const double here = peak(&none, rank), away = peak(&all, rank);
        cr_assert_float_eq(2 * pp_tiers_copied_bytes(&half, rank, 0),
                           pp_tiers_copied_bytes(&all, rank, 0), 1e3);
        cr_assert_float_eq(2 * half.memory[rank].away_bytes[PP_TIER_HOST],
                           all.memory[rank].away_bytes[PP_TIER_HOST], 1e3);
        cr_assert_float_eq(peak(&half, rank), (here + away) / 2, 1e3, "rank %d", rank);
    }
}

/* The same compute, with and without instructions that take no time. */
Test(tiers, copies_that_take_no_time_change_no_step)
{
    for (int s = 0; s < SCHEDULES; s++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result here = run(arena, schedules[s], "--cluster a100"),
                               away = run(arena, schedules[s],
                                          "--offload p=host,a=host,os=host --cluster "
                                          "a100\tram:1000000TB@1000000000GBps\th2d:1000000000GBps");
        const struct pp_result layers =
            run(arena, schedules[s],
                "--offload a=host,os=host" BY_LAYER
                " --cluster a100\tram:1000000TB@1000000000GBps\th2d:1000000000GBps");
        cr_assert_float_eq(away.metrics.iteration_s, here.metrics.iteration_s,
                           1e-6 * here.metrics.iteration_s, "%s: %.12g %.12g", schedules[s],
                           away.metrics.iteration_s, here.metrics.iteration_s);
        cr_assert_float_eq(layers.metrics.iteration_s, here.metrics.iteration_s,
                           1e-6 * here.metrics.iteration_s, "%s: %.12g %.12g", schedules[s],
                           layers.metrics.iteration_s, here.metrics.iteration_s);
    }
}

/* A step lasts at least as long as what each device copies one way. */
Test(tiers, no_step_is_shorter_than_its_copies)
{
    static const char *const homes[] = {"a=host,os=host",        "p=host,os=host",
                                        "p=host,a=host",         "p=host,a=host,os=host",
                                        "p=host,a=host:10%",     "a=host,os=host" BY_LAYER,
                                        "p=host,a=host" BY_LAYER};
    enum { HOMES = sizeof homes / sizeof *homes };

    for (int k = 0; k < HOMES * SCHEDULES; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const char *schedule = schedules[k / HOMES];
        const struct pp_result slow = run(
            arena, schedule,
            pp_arena_printf(arena, "--offload %s --cluster a100\th2d:0.5GBps", homes[k % HOMES]));
        double most = 0;
        for (int rank = 0; rank < slow.program->ranks; rank++)
            for (int stream = 0; stream <= PP_COPY_UP; stream++)
                most = fmax(most, pp_tiers_copied_bytes(&slow, rank, stream));
        cr_assert_gt(most, 0);
        cr_assert_geq(slow.metrics.iteration_s, most / 0.5e9, "%s %s: %g, %g", schedule,
                      homes[k % HOMES], slow.metrics.iteration_s, most / 0.5e9);
        cr_assert_leq(slow.metrics.time_frac[PP_TIME_MOVES], 1);
        cr_assert_gt(slow.metrics.time_frac[PP_TIME_MOVES], 0.3, "%s", schedule);
    }
}

/* What is on another tier over time begins and ends with the state, and peaks as reported. */
Test(tiers, memory_over_time_has_the_peak_of_each_tier)
{
    for (int s = 0; s < SCHEDULES; s++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result r =
            run(arena, schedules[s],
                s % 2 ? "--offload a=host,os=nvme" : "--offload a=host,os=nvme" BY_LAYER);
        const struct pp_memory_changes c = pp_memory_changes(arena, r.program, r.costs);
        for (int rank = 0; rank < r.program->ranks; rank++) {
            double held = c.away_base_bytes[rank][PP_TIER_HOST], most = held;
            for (int i = r.program->begin[rank]; i < r.program->begin[rank + 1]; i++) {
                most = fmax(most, held += c.away_taken_bytes[i]);
                held -= c.away_given_bytes[i];
            }
            cr_assert_geq(most, held);
            cr_assert_eq(most, r.memory[rank].away_bytes[PP_TIER_HOST]);
            cr_assert_eq(held, c.away_base_bytes[rank][PP_TIER_HOST]);
            cr_assert_gt(r.memory[rank].away_bytes[PP_TIER_NVME], 0);
            cr_assert_eq(c.away_base_bytes[rank][PP_TIER_NVME],
                         r.memory[rank].away_bytes[PP_TIER_NVME]);
        }
    }
}

/* All of the state passes each way once a step. */
Test(tiers, state_moves_once_each_way)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result r = run(arena, "1f1b", "--offload os=host"),
                           host = run(arena, "1f1b", "--offload os=host --cpu-optimizer");

    for (int rank = 0; rank < 4; rank++) {
        const double params = pp_cost_stage_params(&r.cost_inputs, rank);
        for (int stream = 0; stream <= PP_COPY_UP; stream++) {
            cr_assert_float_eq(pp_tiers_copied_bytes(&r, rank, stream), 12 * params, 1);
            cr_assert_float_eq(pp_tiers_copied_bytes(&host, rank, stream), 2 * params, 1);
        }
    }
}

/* Both engines read the same costs. */
Test(tiers, both_engines_agree)
{
    static const char *const flags[] = {
        "--offload a=host,os=host",
        "--offload a=nvme,os=nvme --cpu-optimizer",
        "--act-bits 4 --offload a=host" BY_LAYER,
        "--offload p=host,os=host --cpu-optimizer",
        "--offload p=host,a=host,os=host --seq 512",
        "--offload p=host:50%,os=host:30% --cpu-optimizer",
        "--offload os=host --cpu-optimizer --update jit --schedule bfs --vp 2"};

    for (size_t k = 0; k < PP_COUNT(flags); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_result dag, simgrid;
        struct pp_error err = {0};
        const char *line =
            pp_arena_printf(arena,
                            "%s--model gpt-7.5b --gpus 4 --tp 1 --pp 4 --dp 1 --cp 1 --mbs 1 "
                            "--micro-batches 8 --recompute none --cluster a100 %s --engine ",
                            strstr(flags[k], "--schedule") ? "" : "--schedule 1f1b ", flags[k]);
        cr_assert_eq(sim_run_at(arena, pp_arena_printf(arena, "%sdag", line), PP_QUICK, &dag, &err),
                     PP_OK, "%s", err.message);
        if (sim_run_at(arena, pp_arena_printf(arena, "%ssimgrid", line), PP_QUICK, &simgrid,
                       &err) != PP_OK)
            return; /* not built in */
        cr_assert_float_eq(dag.metrics.iteration_s, simgrid.metrics.iteration_s,
                           1e-4 * dag.metrics.iteration_s, "%s: %.12g %.12g", flags[k],
                           dag.metrics.iteration_s, simgrid.metrics.iteration_s);
    }
}

/* ---- parameters --------------------------------------------------------------------------------
 */

#define ALONE                                                                                      \
    "--schedule 1f1b --model llama2-7b --gpus %d --tp 1 --pp 1 --dp %d --cp 1 --mbs 1 "            \
    "--micro-batches 4 --recompute none --engine dag --no-alternatives --zero %d %s"

enum { N = 4 };

static struct pp_result run_alone(struct pp_arena *arena, int gpus, int zero, const char *flags)
{
    struct pp_result result;
    struct pp_error err = {0};
    const char *line = pp_arena_printf(arena, ALONE, gpus, gpus, zero, flags);

    cr_assert_eq(sim_run(arena, line, &result, &err), PP_OK, "%s: %s", line, err.message);
    return result;
}

/* Two bytes a parameter leave the device and come to the host, cut like the parameters are; a share
 * of them with a share. */
Test(tiers, parameters_elsewhere_leave_the_device)
{
    for (int zero = 0; zero <= 3; zero++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_result here = run_alone(arena, 8, zero, "--cluster a100"),
                               all = run_alone(arena, 8, zero, "--cluster a100 --offload p=host"),
                               part =
                                   run_alone(arena, 8, zero, "--cluster a100 --offload p=nvme:25%");
        const double bytes = 2 * pp_cost_stage_params(&here.cost_inputs, 0) / (zero == 3 ? 8 : 1);
        cr_assert_float_eq(here.memory[0].params_bytes, bytes, 1);
        cr_assert_float_eq(all.memory[0].params_bytes, 0, 1);
        cr_assert_float_eq(pp_tiers_bytes(&all, PP_TIER_HOST), bytes, 1);
        cr_assert_float_eq(part.memory[0].params_bytes, 0.75 * bytes, 1);
        cr_assert_float_eq(pp_tiers_bytes(&part, PP_TIER_NVME), 0.25 * bytes, 1);
        cr_assert_lt(all.memory[0].buffers_bytes - here.memory[0].buffers_bytes,
                     zero == 3 ? 0.05 * bytes * 8 : 0.2 * bytes);
        cr_assert_lt(peak(&all, 0), peak(&here, 0));
    }
}

/* Every layer comes up for each forward and each backward, except for the layer between the two,
 * which stays. That makes 2 N L - (2 N - 1) layers where a forward is followed by its backward.
 * Updated parameters go down once, unless the host has updated them. */
Test(tiers, parameters_come_up_twice_a_micro_batch)
{
    static const struct {
        const char *flags;
        double down, share;
    } rows[] = {{"--offload p=host", 2, 1},
                {"--offload p=host:50%", 1, 0.5},
                {"--offload p=host,os=host --cpu-optimizer", 2, 1}};

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (int zero = 0; zero <= 3; zero += 3) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const struct pp_result r = run_alone(
                arena, 8, zero, pp_arena_printf(arena, "--cluster a100 %s", rows[k].flags));
            const struct pp_model *m = &r.config.model;
            const double last = pp_model_layer_params(m, PP_LAYER_BLOCK) +
                                pp_model_layer_params(m, PP_LAYER_HEAD),
                         first = pp_model_layer_params(m, PP_LAYER_BLOCK) +
                                 pp_model_layer_params(m, PP_LAYER_EMBEDDING),
                         all = pp_cost_stage_params(&r.cost_inputs, 0), cut = zero == 3 ? 8 : 1;
            cr_assert_float_eq(pp_tiers_copied_bytes(&r, 0, 1),
                               2 * rows[k].share * (2 * N * all - N * last - (N - 1) * first) / cut,
                               1e-9 * all, "%s: %g", rows[k].flags,
                               pp_tiers_copied_bytes(&r, 0, 1));
            cr_assert_float_eq(pp_tiers_copied_bytes(&r, 0, 0), rows[k].down * all / cut,
                               1e-9 * all, "%s: %g", rows[k].flags,
                               pp_tiers_copied_bytes(&r, 0, 0));
            cr_assert_eq(pp_gathers_visits(&r, 0), 2 * N * m->layers - (2 * N - 1));
        }
}

/* With slow links a step lasts as long as its copies, plus at most all of its compute. No layer
 * that stays between two ops is charged. With fast links no copy is exposed. */
Test(tiers, a_step_is_its_copies_or_its_compute)
{
    for (int zero = 0; zero <= 3; zero += 3)
        for (int buffers = 2; buffers <= 4; buffers++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            const char *more =
                pp_arena_printf(arena, "--offload p=host --gather-buffers %d", buffers);
            const char *cluster = "--cluster a100\th2d:%s\tram:1000TB@1000000GBps %s";
            const struct pp_result here = run_alone(arena, 8, zero, "--cluster a100"),
                                   slow =
                                       run_alone(arena, 8, zero,
                                                 pp_arena_printf(arena, cluster, "0.5GBps", more)),
                                   fast = run_alone(
                                       arena, 8, zero,
                                       pp_arena_printf(arena, cluster, "1000000GBps", more));
            const double copies_s = pp_tiers_copied_bytes(&slow, 0, 1) / 0.5e9,
                         home_s = pp_tiers_copied_bytes(&slow, 0, 0) / 0.5e9,
                         most_s = copies_s + home_s + here.metrics.iteration_s;
            cr_assert_geq(slow.metrics.iteration_s, copies_s + home_s, "ZeRO %d, %d: %g, %g", zero,
                          buffers, slow.metrics.iteration_s, copies_s + home_s);
            cr_assert_leq(slow.metrics.iteration_s, most_s, "ZeRO %d, %d: %g, %g", zero, buffers,
                          slow.metrics.iteration_s, most_s);
            cr_assert_leq(fast.metrics.iteration_s, 1.05 * here.metrics.iteration_s,
                          "ZeRO %d, %d: %g, %g", zero, buffers, fast.metrics.iteration_s,
                          here.metrics.iteration_s);
            cr_assert_lt(fast.metrics.time_frac[PP_TIME_MOVES], 1e-3);
        }
}

/* From two on, more buffers never make a step longer, whichever of compute, gathers and loads takes
 * longest. */
Test(tiers, more_buffers_never_make_a_step_longer)
{
    static const char *const rates[] = {"0.5GBps", "4GBps", "12GBps", "1000GBps"};
    static const char *const schedules_cut[] = {"gpipe", "1f1b", "interleaved --vp 2",
                                                "bfs --vp 2"};

    for (int k = 0; k < 4 * 4; k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        double last_s = INFINITY;
        for (int buffers = 2; buffers <= 6; buffers++) {
            const struct pp_result r =
                run(arena, schedules_cut[k / 4],
                    pp_arena_printf(arena,
                                    "--zero 3 --offload p=host --gather-buffers %d --cluster "
                                    "a100\tram:1000TB@1000000GBps\th2d:%s",
                                    buffers, rates[k % 4]));
            cr_assert_leq(r.metrics.iteration_s, last_s * (1 + 1e-9), "%s %s, %d: %.9g, %.9g",
                          schedules_cut[k / 4], rates[k % 4], buffers, r.metrics.iteration_s,
                          last_s);
            last_s = r.metrics.iteration_s;
        }
    }
}

/* At the rates of a node: hidden where compute is long, so that only the first layer, and updated
 * parameters, show. */
Test(tiers, long_sequences_hide_loads)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_result here = run_alone(arena, 1, 0, "--cluster a100 --seq 16384"),
                           away = run_alone(arena, 1, 0,
                                            "--cluster a100 --seq 16384 --offload p=host");
    const struct pp_costs *costs = away.costs;
    const double shown_s =
        pp_units_s(costs->purpose[PP_FOR_LOAD][0].ps + costs->purpose[PP_FOR_HOME][0].ps);

    cr_assert_float_eq(away.metrics.iteration_s - here.metrics.iteration_s, shown_s, 1e-9, "%g, %g",
                       away.metrics.iteration_s - here.metrics.iteration_s, shown_s);
}
