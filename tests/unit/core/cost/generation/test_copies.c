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

/* One stage without ends would be exact; its blocks share the time of both ends alike. */
Test(copies, a_pass_takes_the_closed_form)
{
    static const double shares[] = {1, 0.5, 0.01};

    for (size_t k = 0; k < PP_COUNT(shares); k++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct served s;
        const struct pp_costs *costs = moved_costs(arena, runs[0], shares[k], &s);
        const double n = s.model.layers, rate = rate_of(&s),
                     token = 8 * 2.0 * 7168 * 2 * shares[k] / rate; /* of a block */
        for (int t = 0; t < costs->stages; t++) {
            const double c = pp_generation_pass(&s.in, 0, t).s / n, u = t ? token * (512 + t) : 0,
                         d = t ? token : token * 512;
            const double most = fmax(u, fmax(c, d)), s_of = u + c + d + (n - 1) * most;
            cr_expect_float_eq(pp_units_s(costs->op[PP_F][t].ps) / s_of, 1, 1e-9);
            cr_expect(s_of <= n * most + u + d + fmin(c, u + d) + 1e-12);
        }
    }
}

/* Never faster than on the device, nor than the link; more on the host never takes less time. */
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
                const struct pp_cost *op = &costs->op[PP_F][v];
                cr_assert(!before || op->ps >= before->op[PP_F][v].ps);
                for (int stream = 0; stream < 2 && k > 0; stream++) {
                    const struct pp_cost *copy = &costs->cached[stream][v];
                    cr_assert(pp_units_s(op->ps) >= copy->bytes / rate_of(&s) * (1 - 1e-9));
                    cr_assert_eq(copy->bytes == 0, stream == PP_COPY_UP && v < s.in.stages);
                }
            }
            before = costs;
        }
    }
}

/* Up goes what attention reads, down what is new; the cache is on the device or on the host. */
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
                const double up = pp_generation_pass(&s.in, v % s.in.stages, t).cache_bytes;
                cr_assert_float_eq(on_host->cached[PP_COPY_UP][v].bytes, up / 4, 1e-6 * up);
                cr_assert_float_eq(a->kv_bytes, 0.75 * b->kv_bytes, 1e-6);
                cr_assert_float_eq(a->away_bytes[PP_TIER_HOST],
                                   0.25 * s.generation.groups * b->kv_bytes, 1e-3);
                cr_assert(a->forward_bytes > b->forward_bytes);
            }
        }
}
