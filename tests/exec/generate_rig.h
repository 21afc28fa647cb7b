/* tests/exec/generate_rig.h — small runs of generation: a random net, a program, a machine, and the
 * tokens and logits of decoding on one rank. */
#ifndef PP_TESTS_EXEC_GENERATE_RIG_H
#define PP_TESTS_EXEC_GENERATE_RIG_H

#include "core/random.h"
#include "exec/machine/generate.h"
#include "exec/predict/predict.h"
#include "exec/program/stages.h"
#include "exec/reference/decode.h"
#include "exec/transport/transports.h"
#include "schedules/lower/lower.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"
#include "traces/compare/compare.h"

#include <criterion/criterion.h>
#include <string.h>

struct generate_case {
    int ranks, groups, pieces, rows; /* pieces of a group; sequences of a piece */
    int prompt, passes, replicas, tp, ep, experts;
    bool is_double, is_bf16, has_rope, is_gated;
    int layers;                       /* 0 = 4 */
    const struct pp_program *compute; /* NULL: the schedule `generate` */
    const struct pp_backend *backend;
    const struct pp_kernels *kernels; /* NULL: those of the CPU, as the next ones say */
    const struct pp_transport *transport;
    enum pp_clock_kind clock;
    struct pp_inject inject;
    pp_tokens_fn on_tokens;
    void *closure;
    double timeout_s;
    uint64_t seed;
};

struct generate_run {
    struct pp_net net;
    struct pp_generation of;
    struct pp_machine_generation generation;
    const struct pp_kernels *kernels;
    struct pp_program *program;
    struct pp_batch batch;
    struct pp_recipe recipe;
    struct pp_machine_options options;
    int32_t *prompts;
    int sequences;
};

#define OR(a, b) ((a) ? (a) : (b))

static inline struct pp_net generate_net(const struct generate_case *c)
{
    return (struct pp_net){.name = "test",
                           .layers = OR(c->layers, 4),
                           .hidden = 16,
                           .heads = 4,
                           .kv_heads = c->has_rope ? 2 : 4,
                           .head_dim = 4,
                           .ffn = 32,
                           .vocab = 48,
                           .seq = c->prompt + c->passes + 3,
                           .has_positions = !c->has_rope,
                           .is_gated = c->is_gated,
                           .activation = c->is_gated ? PP_SILU : PP_GELU_TANH,
                           .is_tied = true,
                           .is_rms = c->is_gated,
                           .has_bias_qkv = !c->is_gated,
                           .has_bias_out = !c->is_gated,
                           .has_bias_mlp = !c->is_gated,
                           .has_bias_norm = !c->is_gated,
                           .norm_epsilon = 1e-5,
                           .rotary.theta = 10000,
                           .experts = c->experts,
                           .every = 2,
                           .expert_ffn = 8,
                           .top_k = c->experts > 0 ? 2 : 0};
}

static inline enum pp_status generate_program(struct pp_arena *arena, const struct generate_case *c,
                                              struct pp_program **program, struct pp_error *err)
{
    struct pp_shape shape = {.ranks = c->ranks,
                             .chunks = c->passes,
                             .micro_batches = c->groups,
                             .granules = OR(c->pieces, 1)};
    const struct pp_lower_options options = {.recv_slots = 2};
    const struct pp_verify_options strict = {0};
    struct pp_program *compute;

    if (c->compute == NULL) {
        PP_TRY(pp_schedule_check(pp_schedule_find("generate"), &shape, err));
        PP_TRY(
            pp_schedule_program(arena, pp_schedule_find("generate"), &shape, NULL, &compute, err));
    }
    PP_TRY(pp_lower(arena, c->compute ? c->compute : compute, &options, program, err));
    return pp_verify(*program, &strict, err);
}

static inline const struct pp_stage **generate_stages(struct pp_arena *arena,
                                                      const struct generate_case *c,
                                                      const struct generate_run *run)
{
    const int model = pp_program_model_stages(run->program);
    int *blocks = PP_ARRAY(arena, int, model);

    for (int s = 0; s < model; s++)
        blocks[s] = run->net.layers * (s + 1) / model - run->net.layers * s / model;
    return pp_stages_make(arena, run->program,
                          &(struct pp_stages_wish){.net = &run->net,
                                                   .kernels = run->kernels,
                                                   .batch = &run->batch,
                                                   .blocks = blocks,
                                                   .generation = &run->of,
                                                   .shape = {.tp = OR(c->tp, 1), .ep = c->ep}});
}

static inline void generate_make(struct pp_arena *arena, const struct generate_case *c,
                                 struct generate_run *run)
{
    const struct pp_exec_wires wires = {.alpha_s = 10e-6, .bytes_per_s = 10e9};
    const int pieces = OR(c->pieces, 1), replicas = OR(c->replicas, 1);
    struct pp_error err = {0};

    *run = (struct generate_run){
        .net = generate_net(c),
        .kernels = c->kernels     ? c->kernels
                   : c->is_double ? &pp_kernels_reference
                   : c->is_bf16   ? &pp_kernels_bf16
                                  : pp_kernels_fp32(true),
        .of = {.passes = c->passes,
               .batch = c->groups * pieces * OR(c->rows, 1),
               .groups = c->groups,
               .prompt_groups = c->groups * pieces,
               .prompt_tokens = c->prompt},
        .batch = {.replicas = replicas,
                  .micro_batches = c->groups,
                  .mbs = pieces * OR(c->rows, 1),
                  .granules = pieces,
                  .splits = 1},
        .recipe = {.seed = c->seed + 1},
    };
    cr_assert_eq(generate_program(arena, c, &run->program, &err), PP_OK, "%s", err.message);
    run->generation = (struct pp_machine_generation){.of = run->of,
                                                     .on_tokens = c->on_tokens,
                                                     .tokens_closure = c->closure,
                                                     .hashes_logits = true};
    run->sequences = replicas * run->of.batch;
    run->prompts = PP_ARRAY(arena, int32_t, run->sequences * c->prompt);
    for (int i = 0; i < run->sequences * c->prompt; i++)
        run->prompts[i] =
            (int32_t)(pp_random_bits(c->seed, (uint64_t)i) % (uint64_t)run->net.vocab);
    run->options = (struct pp_machine_options){.program = run->program,
                                               .stages = generate_stages(arena, c, run),
                                               .tp = c->tp,
                                               .ep = c->ep,
                                               .generation = &run->generation,
                                               .batch = &run->batch,
                                               .recipe = &run->recipe,
                                               .kernels = run->kernels,
                                               .backend = OR(c->backend, &pp_backend_cpu),
                                               .transport = OR(c->transport, &pp_transport_local),
                                               .clock = c->clock,
                                               .inject = c->inject,
                                               .timeout_s = c->timeout_s,
                                               .kept_steps = 2,
                                               .is_poisoned = true,
                                               .seed = c->seed};
    run->options.costs = pp_exec_costs(arena, run->program, run->options.stages, &run->batch,
                                       run->kernels, &wires, false);
}

/* ---- the oracle ------------------------------------------------------------------------------ */

struct oracle {
    const struct pp_generation *of;
    uint64_t *hashes; /* [sequence][pass] */
};

static inline int32_t oracle_choose(void *closure, int sequence, int position, const double *logits,
                                    int words)
{
    const struct oracle *o = closure;

    o->hashes[sequence * o->of->passes + position - o->of->prompt_tokens] =
        pp_hash_of_logits(logits, words);
    return pp_choose_largest(NULL, sequence, position, logits, words);
}

/* Tokens and hashes of logits of all sequences, decoded on one rank. */
static inline void generate_oracle(struct pp_arena *arena, const struct generate_case *c,
                                   const struct generate_run *run, int32_t **tokens,
                                   uint64_t **hashes)
{
    const struct pp_place place = {.backend = c->kernels ? c->backend : &pp_backend_cpu,
                                   .share.tp = OR(c->tp, 1)};
    const struct pp_decoding decoding = {
        .net = &run->net, .kernels = run->kernels, .place = &place, .of = &run->of};
    struct pp_decoder *decoder;
    struct pp_error err = {0};

    *tokens = PP_ARRAY(arena, int32_t, run->sequences * c->passes);
    *hashes = PP_ARRAY(arena, uint64_t, run->sequences * c->passes);
    cr_assert_eq(pp_decoder_create(arena, &decoding, &decoder, &err), PP_OK, "%s", err.message);
    pp_decoder_draw(decoder, &run->recipe);
    for (int first = 0; first < run->sequences; first += run->of.batch) {
        struct oracle oracle = {&run->of, *hashes};
        const struct pp_decoder_run decode = {.prompts = run->prompts + first * c->prompt,
                                              .first_sequence = first,
                                              .choose = oracle_choose,
                                              .closure = &oracle,
                                              .tokens = *tokens + first * c->passes};
        cr_assert_eq(pp_decoder_run(decoder, &decode, &err), PP_OK, "%s", err.message);
    }
}

#endif
