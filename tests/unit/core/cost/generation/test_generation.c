/* Costs of passes: closed forms and laws. */
#include "core/units.h"
#include "tests/unit/support/generation_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct serving llama = {"llama2-70b", "a100", 4, 2, 16, 2, 2, 128, 64};

static int64_t ps_of(const struct pp_costs *costs, int stages, int stage, int pass)
{
    return costs->op[PP_F][pass * stages + stage].ps;
}

/* A later pass reads all weights of its rank and the cache of all earlier tokens. */
Test(generation, a_token_takes_at_least_the_bytes_that_it_reads)
{
    static const struct serving runs[] = {{"llama2-70b", "a100", 4, 2, 16, 2, 2, 128, 40},
                                          {"gpt2", "a100", 1, 1, 1, 1, 1, 8, 9},
                                          {"llama3-8b", "h100", 1, 4, 64, 4, 8, 2000, 9},
                                          {"opt-30b", "v100", 2, 1, 4, 1, 4, 60, 9},
                                          {"mixtral-8x7b", "h100", 2, 1, 2, 1, 1, 64, 9},
                                          {"deepseek-v3", "h100", 8, 4, 8, 4, 4, 99, 9}};

    for (size_t i = 0; i < PP_COUNT(runs); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct served s;
        serve(arena, runs[i], &s);
        const struct pp_costs *costs = served_costs(&s);
        const double bandwidth = s.cluster.device.memory_bytes_per_s,
                     peak = s.cluster.device.peak_flops_per_s * runs[i].tp;
        for (int v = 0; v < costs->stages; v++) {
            const struct pp_cost_inputs *in = &s.in;
            const struct pp_pass_cost pass = pp_generation_pass(in, v % in->stages, v / in->stages);
            const double pieces = v < in->stages ? pp_generation_pieces(&s.generation) : 1,
                         op_s = pp_units_s(costs->op[PP_F][v].ps);
            cr_assert(op_s / pieces * bandwidth >= pass.weight_bytes + pass.cache_bytes);
            cr_assert(costs->op[PP_F][v].flops <= op_s * peak);
            cr_assert_float_eq(op_s / pieces, pass.s, 1e-12);
            const double parts = pass.matrix_s + pass.attention_s + pass.kernels_s + pass.tp_s +
                                 pass.ep_s + pass.host_s;
            cr_assert_float_eq(parts / pass.s, 1, 1e-9);
        }
    }
}

/* Dense models read all weights but the embedding: those of memory. */
Test(generation, a_pass_reads_the_parameters_of_its_stage)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct served s;

    serve(arena, llama, &s);
    const struct pp_costs *costs = served_costs(&s);
    for (int stage = 0; stage < 2; stage++) {
        const double h = 8192, norms = (stage == 0 ? 80 : 81) * h,
                     ends = stage == 0 ? 32000 * h : 0,
                     read = pp_generation_pass(&s.in, stage, 5).weight_bytes;
        cr_expect_float_eq(read / (costs->memory[stage].params_bytes - 2 * (norms + ends) / 4), 1,
                           1e-9);
        cr_expect_eq(costs->memory[stage + 2].params_bytes, 0);
    }
}

Test(generation, a_token_takes_time_linear_in_the_keys_that_it_meets)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct served s;

    serve(arena, llama, &s);
    const struct pp_costs *costs = served_costs(&s);
    for (int stage = 0; stage < 2; stage++)
        for (int pass = 1; pass + 2 < 64; pass++) {
            const int64_t a = ps_of(costs, 2, stage, pass), b = ps_of(costs, 2, stage, pass + 1),
                          c = ps_of(costs, 2, stage, pass + 2);
            cr_assert(b > a && llabs((c - b) - (b - a)) <= 2);
        }
    /* 8 sequences of 40 blocks: a key and a value of 2 heads of 128 */
    const double slope_s = pp_units_s(ps_of(costs, 2, 0, 63) - ps_of(costs, 2, 0, 1)) / 62,
                 bandwidth = s.cluster.device.memory_bytes_per_s * s.cluster.device.memory_eta;
    cr_expect_float_eq(slope_s * bandwidth / (8 * 40 * 2 * 2 * 128 * 2), 1, 1e-6);
}

/* Later passes do not depend on the pieces, and pass 0 loses by them. */
Test(generation, prompts_in_pieces_cost_at_least_as_much)
{
    int64_t before = 0, token = 0;

    for (int pieces = 1; pieces <= 8; pieces *= 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct served s;
        serve(arena, (struct serving){"llama3-8b", "a100", 1, 2, 16, 2, 2 * pieces, 300, 3}, &s);
        const struct pp_costs *costs = served_costs(&s);
        cr_expect_eq(costs->granules, pieces);
        cr_expect(ps_of(costs, 2, 0, 0) >= before);
        cr_expect(token == 0 || ps_of(costs, 2, 1, 2) == token);
        cr_expect_eq(ps_of(costs, 2, 0, 0) % pieces, 0);
        before = ps_of(costs, 2, 0, 0), token = ps_of(costs, 2, 1, 2);
    }
}

Test(generation, fewer_bits_take_less_time_and_memory)
{
    static const int bits[] = {0, 8, 4};
    int64_t ps = INT64_MAX;
    double params = INFINITY, kv = INFINITY;

    for (size_t i = 0; i < PP_COUNT(bits); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct served s;
        serve(arena, llama, &s);
        s.generation.weight_bits = s.generation.kv_bits = bits[i];
        const struct pp_costs *costs = served_costs(&s);
        cr_expect(ps_of(costs, 2, 0, 9) < ps);
        cr_expect(costs->memory[0].params_bytes < params && costs->memory[0].kv_bytes < kv);
        ps = ps_of(costs, 2, 0, 9);
        params = costs->memory[0].params_bytes, kv = costs->memory[0].kv_bytes;
    }
}

Test(generation, tokens_meet_experts)
{
    const struct {
        double tokens, experts, met;
        int top_k;
    } golden[] = {{1, 128, 1, 1},
                  {8, 128, 7.78, 1},
                  {64, 128, 50.5, 1},
                  {128, 128, 81.1, 1},
                  {512, 128, 125.7, 1}};

    for (size_t i = 0; i < PP_COUNT(golden); i++) {
        const struct pp_experts e = {.count = (int)golden[i].experts, .top_k = golden[i].top_k};
        cr_expect_float_eq(pp_generation_experts_met(&e, golden[i].tokens), golden[i].met, 0.05,
                           "%g tokens meet %g", golden[i].tokens,
                           pp_generation_experts_met(&e, golden[i].tokens));
    }
}

/* Top-p sorts the probabilities of all tokens on every device: 154 bytes each, greedily 6. */
Test(generation, top_p_costs_more_than_greedy_and_grows_with_the_vocabulary)
{
    enum { TP = 4, BATCH = 16, TOP_P_BYTES = 154, GREEDY_BYTES = 6 };
    double more_s = 0;

    for (int vocab = 32000; vocab <= 256000; vocab *= 2) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct served s;
        serve(arena, (struct serving){"llama2-70b", "a100", TP, 1, BATCH, 1, 1, 128, 9}, &s);
        s.model.vocab = vocab;
        const struct pp_pass_cost greedy = pp_generation_pass(&s.in, 0, 5);
        s.generation.sampling = PP_SAMPLE_TOP_P;
        const struct pp_pass_cost drawn = pp_generation_pass(&s.in, 0, 5);
        cr_expect_float_eq(drawn.bytes - greedy.bytes,
                           (double)BATCH * vocab * (TOP_P_BYTES - GREEDY_BYTES / (double)TP), 1);
        cr_expect(drawn.s - greedy.s > 1.5 * more_s);
        more_s = drawn.s - greedy.s;
    }
    cr_expect(more_s > 0);
}

/* One kernel starts soon and reads 7 times the values. So few tokens take it on a switch, and many
 * take rings. Where there is no switch nothing changes. */
Test(generation, sums_of_few_tokens_take_one_kernel)
{
    static const char *const clusters[] = {"h100", "a100", "v100-dgx1", "l40s"};
    static const int batches[] = {1, 16, 4096};

    for (size_t i = 0; i < PP_COUNT(clusters) * PP_COUNT(batches); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const int batch = batches[i % PP_COUNT(batches)];
        const size_t cluster = i / PP_COUNT(batches);
        struct served s;
        serve(arena, (struct serving){"llama2-70b", clusters[cluster], 8, 1, batch, 1, 1, 8, 3},
              &s);
        const double rings_s = pp_generation_pass(&s.in, 0, 1).tp_s;
        s.in.framework = framework_of("vllm");
        const double start_s = s.in.framework->one_shot_s,
                     tp_s = pp_generation_pass(&s.in, 0, 1).tp_s,
                     bytes = 7.0 * batch * 2 * (161.0 * 8192 + 32000.0 / 8),
                     one_s = 162 * start_s +
                             bytes / pp_collective_links_of(&s.cluster).intra.bytes_per_s;
        if (cluster >= 2 || batch == 4096)
            cr_expect_float_eq(tp_s, rings_s, 1e-12 * rings_s, "%s %d", clusters[cluster], batch);
        else
            cr_expect_float_eq(tp_s, one_s, 1e-9 * one_s, "%s %d", clusters[cluster], batch);
        cr_expect(tp_s <= rings_s);
    }
}

/* lmdeploy reads all of a prompt but its last token, then that one. Stages without logits take
 * the sum, and the last one computes logits once. */
Test(generation, the_last_token_of_prompts_has_a_pass_of_its_own)
{
    static const struct serving runs[] = {{"llama2-70b", "a100", 4, 2, 16, 2, 4, 128, 9},
                                          {"mistral-7b", "a100", 1, 2, 2, 1, 1, 6000, 9},
                                          {"mixtral-8x7b", "h100", 2, 2, 4, 1, 1, 2, 9},
                                          {"gpt2", "a100", 1, 2, 1, 1, 1, 1, 9}};

    for (size_t i = 0; i < PP_COUNT(runs); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct serving earlier = runs[i], last = runs[i];
        struct served s, e, l;
        earlier.prompt = (int)fmax(1, runs[i].prompt - 1);
        last.prompt = runs[i].prompt - 1;
        last.batch = runs[i].batch / runs[i].prompt_groups;
        last.groups = last.prompt_groups = 1;
        serve(arena, runs[i], &s);
        serve(arena, earlier, &e);
        serve(arena, last, &l);
        s.in.framework = framework_of("lmdeploy");
        for (int stage = 0; stage < 2; stage++) {
            const struct pp_pass_cost got = pp_generation_pass(&s.in, stage, 0),
                                      rest = pp_generation_pass(&e.in, stage, 0),
                                      one = pp_generation_pass(&l.in, stage, 1);
            const bool has_rest = runs[i].prompt > 1;
            const double head_bytes = 2.0 * s.model.vocab * s.model.hidden / runs[i].tp;
            if (stage == 0)
                cr_expect_float_eq(got.s, has_rest * rest.s + one.s, 1e-12, "%s", runs[i].model);
            cr_expect_float_eq(got.weight_bytes,
                               one.weight_bytes +
                                   has_rest * (rest.weight_bytes - stage * head_bytes),
                               1, "%s", runs[i].model);
            cr_expect_eq(got.cache_bytes, one.cache_bytes);
        }
    }
}

/* Messages carry hidden vectors, and chosen tokens from the last stage to the first. */
Test(generation, messages_are_hidden_vectors_and_tokens)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct served s;

    serve(arena, llama, &s);
    const struct pp_costs *costs = served_costs(&s);
    cr_expect_eq(costs->memory[0].boundary_bytes, 8.0 * 128 * 8192 * 2 / 4);
    cr_expect_eq(costs->memory[1].boundary_bytes, 8 * 4);
    cr_expect_eq(costs->memory[2].boundary_bytes, 8.0 * 8192 * 2 / 4);
    cr_expect_eq(costs->memory[costs->stages - 1].boundary_bytes, 0);
}

Test(generation, more_stages_than_a_program_has_are_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_error err = {0};
    struct pp_costs *costs;
    struct served s;

    serve(arena, llama, &s);
    s.generation.passes = 32768;
    cr_assert_eq(pp_costs_generation(arena, &s.in, &costs, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "at most --tokens 32767"), "%s", err.message);
}

/* Loads of parameters from the host take a pass at least their time. They run during compute,
 * but for one of them. */
Test(generation, a_pass_takes_the_longer_of_compute_and_loads)
{
    static const struct serving runs[] = {{"opt-30b", "v100-dgx2", 1, 1, 4, 1, 1, 64, 4},
                                          {"opt-30b", "a100", 2, 2, 512, 2, 4, 256, 4}};
    static const double shares[] = {1, 0.3};

    for (size_t i = 0; i < 2 * PP_COUNT(runs); i++) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct served s;
        serve(arena, runs[i / 2], &s);
        const struct pp_costs *plain = served_costs(&s);
        s.in.state.home[PP_STATE_PARAMS] = PP_TIER_HOST;
        s.in.state.moved_frac[PP_STATE_PARAMS] = shares[i % 2];
        s.in.state.buffers = 2;
        const struct pp_costs *costs = served_costs(&s);
        for (int v = 0; v < costs->stages; v++) {
            const int stage = v % s.in.stages, pieces = v < s.in.stages ? costs->granules : 1;
            const double moved = shares[i % 2] * plain->memory[stage].params_bytes,
                         rate = pp_tier_rate(s.cluster.tiers,
                                             pp_tier_route(PP_TIER_HOST, PP_TIER_DEVICE),
                                             runs[i / 2].tp * runs[i / 2].pp),
                         loads_s = moved / rate,
                         compute_s = pp_units_s(plain->op[PP_F][v].ps) / pieces,
                         first_s = pp_units_s(costs->purpose[PP_FOR_LOAD][v].ps),
                         op_s = pp_units_s(costs->op[PP_F][v].ps) / pieces,
                         least_s = fmax(compute_s, loads_s), all_s = first_s + op_s;
            cr_assert(all_s >= least_s * (1 - 1e-9));
            cr_assert(all_s <= least_s + 2 * first_s);
            cr_assert_float_eq(costs->purpose[PP_FOR_LOAD][v].bytes + costs->gathers[v].load_bytes,
                               moved, 1e-6 * moved);
        }
    }
}
