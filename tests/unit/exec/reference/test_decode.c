/* Decoding on one rank: with a cache against whole prefixes, on small nets of all families. Groups,
 * pieces, devices and backends; what chooses tokens, and where weights come from. */
#include "exec/reference/decode.h"
#include "tests/unit/exec/stage/stage_rig.h"

#include <criterion/criterion.h>

enum { LAYERS = 3, BATCH = 4, PROMPT = 3, PASSES = 6 };
static const struct pp_generation plain = {
    .passes = PASSES, .batch = BATCH, .groups = 1, .prompt_groups = 1, .prompt_tokens = PROMPT};
static struct pp_error err;

/* ---- weights that bend softmax --------------------------------------------------------------- */

static void read_weights(const void *closure, const struct pp_param *param,
                         struct pp_slice_piece runs, float *values)
{
    (void)closure;
    for (int64_t run = 0; run < runs.runs; run++)
        for (int64_t i = 0; i < runs.run; i++) {
            const uint64_t at = (uint64_t)(runs.first + run * runs.stride + i);
            const double u = rig_random((uint64_t)param->id + 1, at);
            *values++ = (float)(param->init == PP_INIT_ONE ? 1 + 0.2 * u : 0.4 * u);
        }
}

static const struct pp_weights_source source = {read_weights, NULL};
static const struct pp_recipe recipe = {.source = &source};

/* ---- a run ----------------------------------------------------------------------------------- */

struct run {
    int words, called[BATCH][PROMPT + PASSES];
    int32_t tokens[BATCH * PASSES];
    double *logits; /* [BATCH][PASSES][words] */
};

static int32_t note(void *closure, int sequence, int position, const double *logits, int words)
{
    struct run *r = closure;

    cr_assert_eq(words, r->words);
    r->called[sequence][position]++;
    memcpy(r->logits + (size_t)(sequence * PASSES + position - PROMPT) * (size_t)words, logits,
           sizeof(double) * (size_t)words);
    return pp_choose_largest(NULL, sequence, position, logits, words);
}

static struct pp_decoder *decoder_of(struct pp_arena *arena, const struct pp_net *net,
                                     const struct pp_kernels *k, struct pp_place place,
                                     const struct pp_generation *of, bool is_again)
{
    const struct pp_decoding decoding = {net, k, &place, of, is_again};
    struct pp_decoder *decoder;

    cr_assert_eq(pp_decoder_create(arena, &decoding, &decoder, &err), PP_OK, "%s", err.message);
    return decoder;
}

static struct run *run_of(struct pp_arena *arena, struct pp_decoder *decoder,
                          const struct pp_net *net)
{
    struct run *r = PP_NEW(arena, struct run);
    int32_t prompts[BATCH * PROMPT];

    for (int i = 0; i < BATCH * PROMPT; i++)
        prompts[i] = (int32_t)(fabs(rig_random(1000, (uint64_t)i)) * net->vocab);
    r->words = net->vocab;
    r->logits = PP_ARRAY(arena, double, BATCH *PASSES * net->vocab);
    cr_assert_eq(
        pp_decoder_run(decoder,
                       &(struct pp_decoder_run){
                           .prompts = prompts, .choose = note, .closure = r, .tokens = r->tokens},
                       &err),
        PP_OK, "%s", err.message);
    for (int s = 0; s < BATCH; s++)
        for (int p = 0; p < PROMPT + PASSES; p++)
            cr_assert_eq(r->called[s][p], p >= PROMPT);
    return r;
}

static struct run *decode_of(struct pp_arena *arena, const struct pp_net *net,
                             const struct pp_kernels *k, struct pp_place place,
                             const struct pp_generation *of, bool is_again)
{
    struct pp_decoder *decoder = decoder_of(arena, net, k, place, of, is_again);

    pp_decoder_draw(decoder, &recipe);
    return run_of(arena, decoder, net);
}

static const struct pp_place on_cpu = {.backend = &pp_backend_cpu};

static void check_tokens(const struct run *a, const struct run *b)
{
    cr_assert_arr_eq(a->tokens, b->tokens, sizeof a->tokens);
}

/* Largest difference of two logits, over the largest logit. */
static double distance(const struct run *a, const struct run *b)
{
    double most = 0, largest = 0;

    for (int i = 0; i < BATCH * PASSES * a->words; i++) {
        most = fmax(most, fabs(a->logits[i] - b->logits[i]));
        largest = fmax(largest, fabs(b->logits[i]));
    }
    return most / largest;
}

/* ---- with and without a cache ---------------------------------------------------------------- */

Test(decode, a_cache_changes_no_token)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 3)) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net = rig_variant(LAYERS, variant);
        if (net.is_encoder)
            continue;
        const struct {
            const struct pp_kernels *k;
            double bound;
        } tables[] = {{&pp_kernels_reference, 1e-12}, {pp_kernels_fp32(false), 1e-5}};
        for (size_t i = 0; i < PP_COUNT(tables); i++) {
            const struct run *a = decode_of(arena, &net, tables[i].k, on_cpu, &plain, false),
                             *b = decode_of(arena, &net, tables[i].k, on_cpu, &plain, true);
            check_tokens(a, b);
            cr_assert_leq(distance(a, b), tables[i].bound, "variant %d: %g", variant,
                          distance(a, b));
        }
    }
}

/* ---- divisions ------------------------------------------------------------------------------- */

Test(decode, groups_pieces_and_backends_change_no_bit)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, 3);
    const struct pp_kernels *k = &pp_kernels_reference;
    const struct run *one = decode_of(arena, &net, k, on_cpu, &plain, false);

    for (int groups = 1; groups <= BATCH; groups *= 2)
        for (int prompts = groups; prompts <= BATCH; prompts *= 2) {
            struct pp_generation of = plain;
            of.groups = groups;
            of.prompt_groups = prompts;
            const struct run *r = decode_of(
                arena, &net, k,
                (struct pp_place){.backend = prompts % 2 ? &pp_backend_cpu : &pp_backend_fake}, &of,
                false);
            check_tokens(one, r);
            cr_assert_eq(distance(one, r), 0, "%d groups, %d pieces", groups, prompts);
        }
}

Test(decode, devices_of_a_group_make_the_same_tokens)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 7)) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net = rig_variant(LAYERS, variant);
        if (net.is_encoder)
            continue;
        const struct pp_kernels *k = &pp_kernels_reference;
        const struct pp_place shared = {.backend = &pp_backend_cpu, .share.tp = 2};
        const struct run *one = decode_of(arena, &net, k, on_cpu, &plain, false);
        for (int is_again = 0; is_again < 2; is_again++) {
            const struct run *two = decode_of(arena, &net, k, shared, &plain, is_again);
            check_tokens(one, two);
            cr_assert_leq(distance(one, two), 1e-12, "variant %d", variant);
        }
    }
}

/* ---- weights --------------------------------------------------------------------------------- */

/* Stages of two halves, as a machine has them, whose weights are drawn by themselves. */
Test(decode, weights_of_stages_are_taken)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, 6);
    const struct pp_kernels *k = &pp_kernels_reference;
    struct pp_decoder *decoder = decoder_of(arena, &net, k, on_cpu, &plain, false);

    for (int half = 0; half < 2; half++) {
        const struct pp_stage_shape shape = {.first_block = half,
                                             .blocks = 1 + half,
                                             .has_embedding = half == 0,
                                             .has_head = half == 1,
                                             .rows = 1,
                                             .tokens = net.seq,
                                             .splits = 1};
        const struct pp_stage *stage = pp_stage_create(arena, &net, &shape, k);
        const struct pp_range all = {0, stage->elements};
        const struct pp_state state = {
            .weights = pp_arena_alloc(arena, (size_t)stage->elements * k->element_bytes),
            .share = all,
            .held = all};
        pp_state_fill(stage, k, &recipe, &state);
        pp_decoder_take(decoder, 0, stage, &state);
    }
    const struct run *taken = run_of(arena, decoder, &net),
                     *drawn = decode_of(arena, &net, k, on_cpu, &plain, false);
    check_tokens(taken, drawn);
    cr_assert_eq(distance(taken, drawn), 0);
}

/* ---- limits ---------------------------------------------------------------------------------- */

Test(decode, cache_has_all_positions_but_the_last_token)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_net net = rig_variant(LAYERS, 3);
    const struct pp_kernels *k = pp_kernels_fp32(false);
    struct pp_generation of = plain;

    of.groups = of.prompt_groups = 2;
    const size_t position_bytes = 2 * (size_t)(net.kv_heads * net.head_dim) * k->element_bytes;
    cr_assert_eq(pp_decoder_cache_bytes(decoder_of(arena, &net, k, on_cpu, &of, false)),
                 (size_t)LAYERS * BATCH / 2 * (PROMPT + PASSES - 1) * position_bytes);
    cr_assert_eq(pp_decoder_cache_bytes(decoder_of(arena, &net, k, on_cpu, &of, true)), 0);
    net.seq = PROMPT + PASSES - 2;
    struct pp_decoder *decoder;
    const struct pp_decoding decoding = {&net, k, &on_cpu, &of, false};
    cr_assert_eq(pp_decoder_create(arena, &decoding, &decoder, &err), PP_EINVAL);
}
