/* Data in the memory of idle devices: bytes, room and times of whole runs. */
#include "core/units.h"
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

/* Returns the seconds that `batch` prompts of 64 tokens take in 40 blocks of hidden size 12288. */
static double energon_s(struct pp_arena *arena, int batch, const char *flags)
{
    return run(arena, pp_arena_printf(arena,
                                      "--mode infer --hidden 12288 --heads 96 --layers 40 --gpus 1 "
                                      "--prompt 64 --tokens 1 --cluster a100 --batch %d %s",
                                      batch, flags))
        .metrics.iteration_s;
}

/* EnergonAI (Du et al. 2022): a quarter of the weights in an idle device, three layers ahead. A
 * batch of four prompts hides the loads; one prompt takes about half as long again. */
Test(peers, compute_hides_a_quarter_of_the_weights)
{
    static const struct {
        int batch;
        double peer_least, peer_most, host_least, host_most; /* more than all on the device */
    } rows[] = {{1, 0.4, 0.55, 13, 17}, {4, 0, 0.05, 6.5, 7.5}, {8, 0, 0.05, 2.5, 4}};

    for (size_t i = 0; i < PP_COUNT(rows); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const double plain_s = energon_s(arena, rows[i].batch, ""),
                     peer = energon_s(arena, rows[i].batch,
                                      "--offload p=peer:25% --peers 1 --gather-buffers 4") /
                                plain_s -
                            1,
                     host = energon_s(arena, rows[i].batch,
                                      "--offload p=host:25% --gather-buffers 4") /
                                plain_s -
                            1;
        cr_expect(peer >= rows[i].peer_least && peer <= rows[i].peer_most, "%d: %g", rows[i].batch,
                  peer);
        cr_expect(host >= rows[i].host_least && host <= rows[i].host_most, "%d: %g", rows[i].batch,
                  host);
    }
}

/* Rate of a node on a switch: a device's own link, or its part of those of the peers. */
static double switched_rate(const struct pp_cluster *c, int peers, int devices)
{
    return c->intra.bytes_per_s * c->eta_link * fmin(1, (double)peers / devices);
}

/* A pass takes the longer of compute and loads, and at most one load more, in all of its passes. */
Test(peers, a_pass_is_its_compute_or_its_loads)
{
    static const int batches[] = {1, 4, 16};

    for (int devices = 1; devices <= 4; devices *= 2)
        for (int peers = 1; peers <= 4; peers += 3)
            for (int percent = 25; percent <= 100; percent += 75)
                for (size_t b = 0; b < PP_COUNT(batches); b++) {
                    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                    const char *line = pp_arena_printf(
                        arena,
                        "--mode infer --model llama2-13b --vocab 256 --gpus %d --tp %d --batch %d "
                        "--prompt 64 --tokens 3 --cluster a100",
                        devices, devices, batches[b]);
                    const struct pp_result here = run(arena, line),
                                           away =
                                               run(arena,
                                                   pp_arena_printf(
                                                       arena, "%s --offload p=peer:%d%% --peers %d",
                                                       line, percent, peers));
                    const double rate = switched_rate(&away.config.cluster, peers, devices),
                                 moved = here.memory[0].params_bytes * percent / 100,
                                 loads_s = moved / rate;
                    for (int v = 0; v < 3; v++) {
                        const double compute_s = pp_units_s(here.costs->op[PP_F][v].ps),
                                     first_s = pp_units_s(away.costs->purpose[PP_FOR_LOAD][v].ps),
                                     all_s = first_s + pp_units_s(away.costs->op[PP_F][v].ps),
                                     least_s = fmax(compute_s, loads_s);
                        cr_expect(all_s >= least_s * (1 - 1e-9) && all_s <= least_s + first_s,
                                  "%s, %d peers, %d %%: %g of %g and %g", line, peers, percent,
                                  all_s, compute_s, loads_s);
                    }
                    cr_expect_geq(away.metrics.iteration_s, 3 * loads_s * (1 - 1e-9));
                }
}

/* What is moved is on the peers, which K idle devices have room for. */
Test(peers, the_room_is_the_free_memory_of_the_peers)
{
    for (int devices = 1; devices <= 4; devices *= 2)
        for (int peers = 1; peers + devices <= 8; peers++)
            for (int usable = 60; usable <= 100; usable += 20) {
                PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
                const struct pp_result r = run(
                    arena,
                    pp_arena_printf(arena,
                                    "--mode infer --model gpt3-175b --gpus %d --tp %d --batch 1 "
                                    "--tokens 2 --cluster a100 --offload p=peer --peers %d "
                                    "--usable device=%d%%",
                                    devices, devices, peers, usable));
                const struct pp_cluster *c = &r.config.cluster;
                const double room = peers *
                                    (c->device.memory_bytes * usable / 100 - c->other_bytes) /
                                    devices,
                             bytes = pp_tiers_bytes(&r, PP_TIER_PEER);
                cr_expect_float_eq(bytes * devices,
                                   2 * devices * pp_cost_stage_params(&r.cost_inputs, 0), 1e3);
                cr_expect_float_eq(pp_tiers_room_bytes(&r, PP_TIER_PEER), room, 1);
                cr_expect_eq(pp_tiers_full(&r) == PP_TIER_PEER, bytes > room);
                cr_expect(r.fits == (bytes <= room), "%d, %d: %g of %g", devices, peers, bytes,
                          room);
            }
}

/* Returns the rate of one of two devices from a tier. */
static double rate_of(const struct pp_result *r, enum pp_tier tier)
{
    return pp_tier_rate(r->config.cluster.tiers, pp_tier_route(tier, PP_TIER_DEVICE), 2);
}

/* The same bytes as on the host. No run is slower where the links of the node are faster than those
 * to the host. */
Test(peers, a_faster_link_is_never_slower)
{
    static const char *const clusters[] = {"a100", "v100-dgx2", "mi300x", "gh200", "rtx4090"};
    static const struct {
        const char *line, *classes;
    } runs[] = {
        {"--mode infer --model llama3-8b --tp 2 --batch 8 --tokens 4", "p"},
        {"--mode infer --model llama3-8b --pp 2 --batch 8 --tokens 4", "p"},
        {"--mode infer --model llama3-8b --tp 2 --batch 8 --tokens 4", "kv"},
        {"--schedule 1f1b --model gpt2-xl --pp 2 --micro-batches 8 --recompute none", "p"},
        {"--schedule gpipe --model gpt2-xl --pp 2 --micro-batches 8 --recompute none", "a"},
        {"--schedule gpipe --model gpt2-xl --pp 2 --micro-batches 8 --recompute none", "p,os"},
        {"--schedule 1f1b --model gpt2-xl --pp 2 --micro-batches 8 --recompute none --sum device",
         "g,os"}};

    for (size_t c = 0; c < PP_COUNT(clusters); c++)
        for (size_t i = 0; i < PP_COUNT(runs); i++) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct pp_result results[2];
            for (int k = 0; k < 2; k++)
                results[k] =
                    run(arena, pp_arena_printf(arena,
                                               "%s --gpus 2 --cluster %s --engine dag "
                                               "--no-alternatives --offload %s=%s%s",
                                               runs[i].line, clusters[c], runs[i].classes,
                                               k ? "peer" : "host", k ? " --peers 2" : ""));
            cr_expect_eq(pp_tiers_bytes(&results[0], PP_TIER_HOST),
                         pp_tiers_bytes(&results[1], PP_TIER_PEER));
            cr_expect_gt(pp_tiers_bytes(&results[1], PP_TIER_PEER), 0);
            cr_expect_eq(pp_tiers_copied_bytes(&results[0], 0, 1),
                         pp_tiers_copied_bytes(&results[1], 0, 1));
            const int fast = rate_of(&results[1], PP_TIER_PEER) >=
                             rate_of(&results[1], PP_TIER_HOST) * (1 - 1e-9);
            cr_expect_eq(fast, clusters[c][0] != 'g'); /* a GH200 is nearer to its host */
            cr_expect_leq(results[fast].metrics.iteration_s,
                          results[!fast].metrics.iteration_s * (1 + 1e-9), "%s: %s", clusters[c],
                          runs[i].line);
        }
}
