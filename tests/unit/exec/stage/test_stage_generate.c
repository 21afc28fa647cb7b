/* Stages that generate: logits against those of whole prefixes, against the loss of training, and
 * between divisions into stages, pieces and devices. */
#include "tests/unit/exec/stage/generate_rig.h"

#include <criterion/criterion.h>

enum { LAYERS = 3, ROWS = 4, PROMPT = 3 };
static const int whole[] = {LAYERS}, divided[] = {1, 0, 2, 0};
static const struct pp_kernels *const plain[] = {&pp_kernels_reference, &pp_kernels_bf16};

static const int32_t *sample(struct pp_arena *arena, const struct pp_net *net)
{
    int32_t *ids = PP_ARRAY(arena, int32_t, ROWS * net->seq);

    for (int i = 0; i < ROWS * net->seq; i++)
        ids[i] = (int32_t)(fabs(rig_random(1000, (uint64_t)i)) * net->vocab);
    return ids;
}

static double distance(const struct gen *a, const struct gen *b)
{
    double most = 0;

    for (int i = 0; i < a->rows * a->net->vocab; i++)
        most = fmax(most, fabs(a->logits[i] - b->logits[i]));
    return most;
}

/* ---- against recomputation ------------------------------------------------------------------- */

static double cached_error(const struct pp_kernels *k, const struct pp_net *net, int prompt)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const int32_t *ids = sample(arena, net);
    struct gen *g = gen_create(arena, k, net, 1, whole, 1, ROWS, 1, prompt, ids);
    double most = 0;

    gen_prompts(g);
    for (int position = prompt; position < net->seq; position++) {
        struct gen *again = gen_create(arena, k, net, 1, whole, 1, ROWS, 1, position + 1, ids);
        gen_prompts(again);
        gen_token(g, position);
        most = fmax(most, distance(g, again));
    }
    return most;
}

Test(stage_generate, cached_tokens_have_the_logits_of_their_whole_prefix)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 3)) {
        const struct pp_net net = rig_variant(LAYERS, variant);
        if (net.is_encoder)
            continue;
        const double in_double = cached_error(&pp_kernels_reference, &net, PROMPT),
                     in_single = cached_error(pp_kernels_fp32(false), &net, PROMPT),
                     in_few = cached_error(&pp_kernels_bf16, &net, PROMPT);
        cr_expect_leq(in_double, 1e-12, "variant %d: %g", variant, in_double);
        cr_expect_leq(in_single, 1e-4, "variant %d: %g", variant, in_single);
        cr_expect_leq(in_few, 0.25, "variant %d: %g", variant, in_few);
    }
}

/* Prompts are shorter than the window, as long, and longer. */
Test(stage_generate, a_block_with_a_window_keeps_its_last_positions)
{
    for (int keys = 1; keys <= 7; keys++)
        for (int prompt = 1; prompt <= 7; prompt++) {
            struct pp_net net = rig_variant(LAYERS, 3);
            net.window = (struct pp_window){.keys = keys, .full_every = 2};
            const double error = cached_error(plain[0], &net, prompt);
            cr_expect_leq(error, 1e-12, "window %d, prompt %d: %g", keys, prompt, error);
        }
}

/* ---- against the loss of training ------------------------------------------------------------ */

static double loss_of(const struct gen *g, int row, int32_t target)
{
    const double *logits = g->logits + row * g->net->vocab;
    double max = -INFINITY, sum = 0;

    for (int i = 0; i < g->net->vocab; i++)
        max = fmax(max, logits[i]);
    for (int i = 0; i < g->net->vocab; i++)
        sum += exp(logits[i] - max);
    return log(sum) + max - logits[target];
}

Test(stage_generate, logits_have_the_loss_of_training)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 2)) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        struct pp_net net = rig_variant(LAYERS, variant);
        if (net.is_encoder)
            continue;
        net.capacity = 0;
        net.balance_loss = 0;
        struct rig *r = rig_create(arena, &pp_kernels_reference, &net, 1, whole, ROWS, 1, false);
        rig_forward(r);
        struct gen *g = gen_create(arena, r->k, &net, 1, whole, 1, ROWS, 1, PROMPT, r->ids);
        gen_prompts(g);
        for (int position = PROMPT - 1; position < net.seq; position++) {
            if (position >= PROMPT)
                gen_token(g, position);
            for (int row = 0; row < ROWS; row++) {
                const int at = row * net.seq + position;
                cr_assert_float_eq(loss_of(g, row, r->targets[at]), r->loss[at], 1e-12,
                                   "variant %d, position %d, row %d", variant, position, row);
            }
        }
    }
}

/* ---- divisions ------------------------------------------------------------------------------- */

static void check_divisions(const struct pp_kernels *k, const struct pp_net *net, int pieces)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const int32_t *ids = sample(arena, net);
    struct gen *a = gen_create(arena, k, net, 1, whole, 1, ROWS, pieces, PROMPT, ids),
               *b = gen_create(arena, k, net, 4, divided, 1, ROWS, pieces, PROMPT, ids);

    gen_prompts(a);
    gen_prompts(b);
    cr_assert_eq(distance(a, b), 0);
    for (int position = PROMPT; position < net->seq; position++) {
        gen_token(a, position);
        gen_token(b, position);
        cr_assert_eq(distance(a, b), 0);
    }
}

Test(stage_generate, stages_and_pieces_have_the_same_bits)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 7)) {
        const struct pp_net net = rig_variant(LAYERS, variant);
        for (int pieces = 1; pieces <= ROWS && !net.is_encoder; pieces *= 2) {
            check_divisions(pp_kernels_fp32(false), &net, pieces);
            for (size_t i = 0; i < PP_COUNT(plain); i++)
                check_divisions(plain[i], &net, pieces);
        }
    }
}

/* Results of plain kernels do not depend on the rows of a call. */
Test(stage_generate, pieces_do_not_matter_to_plain_kernels)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, 3);
    const int32_t *ids = sample(arena, &net);
    struct gen *a = gen_create(arena, plain[0], &net, 1, whole, 1, ROWS, 1, PROMPT, ids),
               *b = gen_create(arena, plain[0], &net, 1, whole, 1, ROWS, 2, PROMPT, ids);

    gen_prompts(a);
    gen_prompts(b);
    cr_assert_eq(distance(a, b), 0);
    gen_token(a, PROMPT);
    gen_token(b, PROMPT);
    cr_assert_eq(distance(a, b), 0);
}

/* All devices have the logits of all words. */
Test(stage_generate, devices_share_heads_and_words)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 5)) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net = rig_variant(LAYERS, variant);
        if (net.is_encoder)
            continue;
        const int32_t *ids = sample(arena, &net);
        struct gen *one = gen_create(arena, plain[0], &net, 1, whole, 1, ROWS, 2, PROMPT, ids),
                   *two = gen_create(arena, plain[0], &net, 4, divided, 2, ROWS, 2, PROMPT, ids);
        gen_prompts(one);
        gen_prompts(two);
        for (int position = PROMPT; position < net.seq; position++) {
            gen_token(one, position);
            gen_token(two, position);
            cr_assert_leq(distance(one, two), 1e-12, "variant %d: %g", variant, distance(one, two));
            gen_read(two, 1, -1);
            cr_assert_leq(distance(one, two), 1e-12, "variant %d: %g", variant, distance(one, two));
        }
    }
}

/* ---- memory ---------------------------------------------------------------------------------- */

Test(stage_generate, only_positions_of_the_call_are_written)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_net net = rig_variant(LAYERS, 3);
    const struct pp_kernels *k = &pp_kernels_reference;
    struct gen *g = gen_create(arena, k, &net, 4, divided, 1, ROWS, 2, PROMPT, sample(arena, &net));
    const size_t position_bytes = 2 * (size_t)(net.kv_heads * net.head_dim) * k->element_bytes;

    gen_prompts(g);
    gen_token(g, PROMPT);
    for (int s = 0; s < g->stages; s++) {
        const struct gen_part *p = &g->part[s][0];
        const size_t bytes = pp_stage_cache_bytes(p->token, ROWS),
                     positions = (size_t)(ROWS * divided[s] * net.seq);
        cr_assert_eq(bytes, positions * position_bytes);
        for (size_t i = 0; i < positions; i++)
            cr_assert_eq(rig_untouched(p->cache + i * position_bytes, position_bytes) > 0,
                         i % (size_t)net.seq > PROMPT, "stage %d, position %zu", s, i);
        cr_assert(rig_is_guarded(p->cache, bytes));
        cr_assert(rig_is_guarded(p->logits, pp_stage_logits_bytes(p->token)));
        cr_assert_eq(p->token->kept_bytes + p->token->saved_bytes + p->prompt->kept_bytes +
                         p->prompt->saved_bytes + p->token->grad_scratch_bytes,
                     0);
    }
    cr_assert(rig_is_guarded(g->scratch[0], g->scratch_bytes));
}

/* Every second block has a window. */
Test(stage_generate, a_cache_has_no_more_positions_than_a_window)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_net net = rig_net(LAYERS);
    const size_t position_bytes = 2 * (size_t)(net.kv_heads * net.head_dim) * sizeof(double);

    rig_mistral(&net);
    for (int context = 1; context <= net.seq; context++) {
        const struct pp_stage *stage = pp_stage_whole_generating(
            arena, &net, 1, 1, context, (struct pp_stage_share){.tp = 1}, plain[0]);
        const int near = context < net.window.keys ? context : net.window.keys;
        int positions = 0;
        for (int block = 0; block < LAYERS; block++)
            positions += pp_net_window(&net, block) > 0 ? near : context;
        cr_assert_eq(pp_stage_cache_bytes(stage, ROWS), ROWS * (size_t)positions * position_bytes);
    }
}

Test(stage_generate, parameters_are_those_of_training)
{
    for (int variant = 0; variant < RIG_VARIANTS; variant = rig_next(variant, 7)) {
        PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
        const struct pp_net net = rig_variant(LAYERS, variant);
        const struct pp_kernels *k = &pp_kernels_reference;
        const struct pp_stage *a = pp_stage_whole(arena, &net, 2, 1, k), *b;
        if (net.is_encoder)
            continue;
        b = pp_stage_whole_generating(arena, &net, 3, 1, 5, (struct pp_stage_share){.tp = 1}, k);
        cr_assert_eq(a->elements, b->elements);
        cr_assert_eq(a->param_count, b->param_count);
        for (int i = 0; i < a->param_count; i++)
            cr_assert(a->params[i].id == b->params[i].id &&
                      a->params[i].offset == b->params[i].offset &&
                      a->params[i].count == b->params[i].count);
    }
}

Test(stage_generate, encoders_and_long_contexts_are_refused)
{
    struct pp_net net = rig_net(LAYERS);
    struct pp_error err = {0};

    cr_assert_eq(pp_net_check_context(&net, net.seq, &err), PP_OK);
    cr_assert_eq(pp_net_check_context(&net, net.seq + 1, &err), PP_EINVAL);
    cr_assert(strstr(err.message, "at most 8"), "%s", err.message);
    rig_bert(&net);
    cr_assert_eq(pp_net_check_context(&net, 2, &err), PP_EINVAL);
    cr_assert(strstr(err.message, "encoder"), "%s", err.message);
}
