/* Keys and values on the host: closed form of a pass, laws, bytes, and memory. */
#include "core/units.h"
#include "tests/unit/support/generation_inputs.h"

#include <math.h>
#include <stdlib.h>

static const struct serving runs[] = {{"opt-30b", "a100", 1, 1, 8, 1, 1, 512, 9},
                                      {"llama2-70b", "a100", 4, 2, 16, 2, 4, 128, 12},
                                      {"gpt2", "a100", 1, 2, 6, 3, 3, 100, 5},
                                      {"deepseek-v3", "h100", 8, 4, 8, 4, 4, 99, 5}};

/* Serves a run with a share of its cache on the host; 0 = none of it. */
static struct pp_costs *moved_costs(struct pp_arena *arena, struct serving run, double moved,
                                    struct served *s)
{
    serve(arena, run, s);
    s->in.state.buffers = 2;
    s->in.state.home[PP_STATE_CACHE] = moved > 0 ? PP_TIER_HOST : PP_TIER_DEVICE;
    s->in.state.moved_frac[PP_STATE_CACHE] = moved;
    return served_costs(s);
}

static double rate_of(const struct served *s)
{
    return pp_tier_rate(s->cluster.tiers, pp_tier_route(PP_TIER_DEVICE, PP_TIER_HOST),
                        pp_analytic_node_devices(&s->in));
}

/* Seconds of the copies of one block, and of those inside of a pass, in one direction. */
static double block_s(const struct pp_costs *costs, int stream, int v)
{
    const int purpose = stream == PP_COPY_UP ? PP_FOR_KV_UP : PP_FOR_KV_DOWN;

    return pp_units_s(costs->purpose[purpose][v].ps);
}

/* All bytes of a pass in one direction. */
static double moved_bytes(const struct pp_costs *costs, int stream, int v)
{
    const int purpose = stream == PP_COPY_UP ? PP_FOR_KV_UP : PP_FOR_KV_DOWN;

    return costs->purpose[purpose][v].bytes + costs->cached[stream][v].bytes;
}

/* The first block has come up, and the last one's part leaves afterwards. One stage without ends
 * would be exact; its blocks share the time of both ends alike. */
Test(copies, a_pass_takes_the_closed_form)
{
    static const double shares[] = {1, 0.5, 0.01};

    for (size_t k = 0; k < 2 * PP_COUNT(shares); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const double share = shares[k / 2];
        struct served s;
        const struct pp_costs *costs = moved_costs(arena, runs[0], share, &s);
        s.in.state.buffers = 1 + (int)(k % 2);
        costs = served_costs(&s);
        const double n = s.model.layers, rate = rate_of(&s),
                     token = 8 * 2.0 * 7168 * 2 * share / rate; /* of a block */
        for (int t = 0; t < costs->stages; t++) {
            const double c = pp_generation_pass(&s.in, 0, t).s / n,
                         u = t ? token * (512 + t - 1) : 0, d = t ? token : token * 512;
            const double s_of = s.in.state.buffers == 1 ? n * c + (n - 1) * fmax(u, d)
                                                        : c + (n - 1) * fmax(c, fmax(u, d));
            cr_expect_float_eq(pp_units_s(costs->op[PP_F][t].ps) / s_of, 1, 1e-9);
            cr_expect_float_eq(block_s(costs, PP_COPY_UP, t), u, 1e-12);
            cr_expect_float_eq(block_s(costs, PP_COPY_DOWN, t), d, 1e-12);
        }
    }
}

/* A pass is never faster than on the device, and never faster with more on the host. With a copy
 * before or after it, it takes all bytes over the rate of the link. It takes the longest of compute
 * and copies, and two blocks more at most. */
Test(copies, laws)
{
    static const double shares[] = {0, 0.1, 0.5, 1};

    for (size_t i = 0; i < PP_COUNT(runs); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_costs *before = NULL;
        for (size_t k = 0; k < PP_COUNT(shares); k++) {
            struct served s;
            const struct pp_costs *costs = moved_costs(arena, runs[i], shares[k], &s);
            for (int v = 0; v < costs->stages; v++) {
                const double f = pp_units_s(costs->op[PP_F][v].ps);
                double most = before ? pp_units_s(before->op[PP_F][v].ps) : 0;
                cr_assert(f >= most);
                most = pp_generation_pass(&s.in, v % s.in.stages, v / s.in.stages).s;
                for (int stream = 0; stream < 2 && k > 0; stream++) {
                    const double all = moved_bytes(costs, stream, v) / rate_of(&s);
                    cr_assert(f + block_s(costs, stream, v) >= all * (1 - 1e-9));
                    cr_assert_eq(all == 0, stream == PP_COPY_UP && v < s.in.stages);
                    most = fmax(most, all);
                }
                const int blocks = s.model.layers / s.in.stages;
                if (v >= s.in.stages)
                    cr_assert(f <= most * (1 + 2.0 / blocks));
            }
            before = costs;
        }
    }
}

/* Up goes what attention reads but its own keys, down what is new, in proportion to the share. The
 * cache is on the device or on the host. */
Test(copies, bytes_and_memory_add_up)
{
    for (size_t i = 0; i < PP_COUNT(runs); i++)
        for (int page = 0; page <= 16; page += 16) {
            PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
            struct served s, here;
            serve(arena, runs[i], &s);
            const struct pp_costs *on_host = moved_costs(arena, runs[i], 0.25, &s);
            const struct pp_costs *on_device = moved_costs(arena, runs[i], 0, &here);
            s.generation.kv_page_tokens = here.generation.kv_page_tokens = page;
            on_host = served_costs(&s), on_device = served_costs(&here);
            for (int v = 0; v < on_host->stages; v++) {
                const struct pp_stage_memory *a = &on_host->memory[v], *b = &on_device->memory[v];
                const int t = v / s.in.stages;
                const double met = pp_generation_pass(&s.in, v % s.in.stages, t).cache_bytes,
                             up = t ? met * (runs[i].prompt + t - 1) / (runs[i].prompt + t) : 0;
                cr_assert_float_eq(moved_bytes(on_host, PP_COPY_UP, v), up / 4, 1e-6 * met);
                cr_assert_float_eq(a->kv_bytes, 0.75 * b->kv_bytes, 1e-6);
                cr_assert_float_eq(a->away_bytes[PP_TIER_HOST],
                                   0.25 * s.generation.groups * b->kv_bytes, 1e-3);
                cr_assert_eq(a->forward_bytes, b->forward_bytes);
                cr_assert_float_eq(a->kv_room_bytes, 2 * (a->kv_up_bytes + a->kv_down_bytes), 1e-6);
                cr_assert_float_eq(a->kv_up_bytes, on_host->purpose[PP_FOR_KV_UP][v].bytes, 1e-3);
                cr_assert_float_eq(a->kv_down_bytes, on_host->purpose[PP_FOR_KV_DOWN][v].bytes,
                                   1e-3);
            }
        }
}

/* A pass brings exactly what earlier ones have taken away, but only near keys for a window. */
Test(copies, up_comes_what_has_gone_down)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct served s;

    for (size_t i = 0; i < PP_COUNT(runs); i++) {
        const struct pp_costs *costs = moved_costs(arena, runs[i], 0.5, &s);
        for (int stage = 0; stage < s.in.stages; stage++) {
            double below = 0;
            for (int v = stage; v < costs->stages; v += s.in.stages) {
                cr_expect_float_eq(moved_bytes(costs, PP_COPY_UP, v), below, 1e-3 + 1e-9 * below);
                below += moved_bytes(costs, PP_COPY_DOWN, v);
            }
        }
    }
    /* Gemma 2: every second one of 42 blocks meets 4,096 keys, of which 4,095 are earlier ones */
    const struct pp_costs *costs =
        moved_costs(arena, (struct serving){"gemma2-9b", "a100", 1, 1, 1, 1, 1, 8000, 2}, 1, &s);
    cr_expect_float_eq(moved_bytes(costs, PP_COPY_UP, 1),
                       21 * pp_kv_block_bytes(&s.in) * (8000 + 4095), 1);
}
