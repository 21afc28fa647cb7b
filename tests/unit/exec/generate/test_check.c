/* The verdict of --check: what it finds, and how it says so. */
#include "exec/generate/generate.h"
#include "exec/passes/passes.h"
#include "exec/reference/decode.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { BATCH = 4, GROUPS = 2, PROMPT = 3, PASSES = 5, VOCAB = 48 };

static const struct pp_net net = {.name = "test",
                                  .layers = 2,
                                  .hidden = 16,
                                  .heads = 4,
                                  .kv_heads = 4,
                                  .head_dim = 4,
                                  .ffn = 32,
                                  .vocab = VOCAB,
                                  .seq = 16,
                                  .has_positions = true,
                                  .activation = PP_GELU_TANH,
                                  .is_tied = true,
                                  .has_bias_qkv = true,
                                  .has_bias_out = true,
                                  .has_bias_mlp = true,
                                  .has_bias_norm = true,
                                  .norm_epsilon = 1e-5};

/* A run whose tokens and logits are those of one rank. */
struct run {
    struct pp_generate g;
    int32_t prompts[BATCH * PROMPT], tokens[BATCH * PASSES];
    uint64_t logits[BATCH * PASSES];
};

static int32_t note(void *closure, int sequence, int position, const double *logits, int words)
{
    struct run *r = closure;

    r->logits[sequence * PASSES + position - PROMPT] = pp_hash_of_logits(logits, words);
    return pp_choose_largest(NULL, sequence, position, logits, words);
}

static void make(struct pp_arena *arena, const struct pp_kernels *kernels, struct run *r)
{
    const struct pp_place place = {.backend = &pp_backend_cpu, .share.tp = 1};
    struct pp_decoder *decoder;
    struct pp_error err = {0};

    *r = (struct run){.g = {.of = {.passes = PASSES,
                                   .batch = BATCH,
                                   .groups = GROUPS,
                                   .prompt_groups = GROUPS,
                                   .prompt_tokens = PROMPT},
                            .is_checked = true}};
    r->g.config.net = net;
    r->g.config.kernels = kernels;
    r->g.config.backend = &pp_backend_cpu;
    r->g.config.replicas = r->g.config.tp = 1;
    r->g.config.recipe.seed = 3;
    for (int i = 0; i < BATCH * PROMPT; i++)
        r->prompts[i] = i * 7 % VOCAB;
    r->g.prompts = (struct pp_prompts){.count = BATCH, .ids = r->prompts, .tokens = PROMPT};
    const struct pp_decoding decoding = {&net, kernels, &place, &r->g.of, false};
    cr_assert_eq(pp_decoder_create(arena, &decoding, &decoder, &err), PP_OK, "%s", err.message);
    pp_decoder_draw(decoder, &r->g.config.recipe);
    const struct pp_decoder_run run = {
        .prompts = r->prompts, .choose = note, .closure = r, .tokens = r->tokens};
    cr_assert_eq(pp_decoder_run(decoder, &run, &err), PP_OK, "%s", err.message);
    r->g.result.tokens = r->tokens;
    r->g.result.logits = r->logits;
}

static void check(struct pp_arena *arena, struct run *r, const char *message)
{
    struct pp_error err = {0};
    const enum pp_status status = pp_generate_check(arena, &r->g, &err);

    cr_expect_eq(status, message ? PP_ETOLERANCE : PP_OK, "%d: %s", status, err.message);
    cr_expect(!message || strstr(err.message, message), "%s", err.message);
}

/* ---- against one rank ------------------------------------------------------------------------ */

Test(check, a_token_or_logit_that_differs_from_one_rank)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char message[128];
    struct run r;

    make(arena, &pp_kernels_reference, &r);
    check(arena, &r, NULL);
    cr_expect_eq(r.g.result.alone.compared, BATCH * PASSES);
    r.logits[3 * PASSES + 2] ^= 1;
    snprintf(message, sizeof message,
             "sequence 3, position 5: the logits are not those of one rank: their hash is %016llx, "
             "and %016llx there",
             (unsigned long long)r.logits[3 * PASSES + 2],
             (unsigned long long)r.logits[3 * PASSES + 2] ^ 1);
    check(arena, &r, message);
    r.tokens[PASSES + 4] ^= 1;
    snprintf(message, sizeof message, "sequence 1, position 7: the token is %d, and %d on one rank",
             r.tokens[PASSES + 4], r.tokens[PASSES + 4] ^ 1);
    check(arena, &r, message);
}

/* ---- against whole prefixes ------------------------------------------------------------------ */

static double error; /* of the second sequence of a group, at position 4 */

static void attend_wrongly(void *stream, const struct pp_attention_cached *a)
{
    const size_t width = (size_t)(a->heads * a->head_dim);

    pp_kernels_reference.attention_cached(stream, a);
    for (size_t i = 0; i < width && a->context == 5; i++)
        ((double *)a->out)[width + i] += error * (i % 2 ? 1 : -1);
}

Test(check, logits_that_a_wrong_cache_changes)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_kernels kernels = pp_kernels_reference;
    struct run r;

    kernels.attention_cached = attend_wrongly;
    error = 1e-13;
    make(arena, &kernels, &r);
    check(arena, &r, NULL);
    cr_expect(r.g.result.again.any.most > 0);
    error = 1e-6;
    make(arena, &kernels, &r);
    check(arena, &r, "without a cache: ");
    check(arena, &r, "sequence 1, position 5: the logit of token ");
    check(arena, &r, ", and 1e-10 is allowed");
    cr_expect_eq(r.g.result.again.first.sequence, -1);
    const struct pp_generate_logit *logit = &r.g.result.again.any;
    cr_expect_eq(logit->most, fabs(logit->value - logit->expected));
    error = 10;
    make(arena, &kernels, &r);
    check(arena, &r, "sequence 1, position 5: the token is ");
    check(arena, &r, " without a cache");
}
