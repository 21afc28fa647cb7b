/* The same tokens on one rank, to the bit; and nearly the same logits without a cache. */
#include "exec/generate/parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Logits of all tokens of a group, and how they were chosen. */
struct heard {
    struct pp_generate *g;
    int first; /* sequence */
    double *logits;
    int32_t *tokens; /* [sequences of the group][passes] */
};

static double *row_of(const struct heard *h, int sequence, int pass)
{
    return h->logits + ((int64_t)sequence * h->g->of.passes + pass) * h->g->config.net.vocab;
}

static int32_t hear(void *closure, int sequence, int position, const double *logits, int words)
{
    const struct heard *h = closure;

    memcpy(row_of(h, sequence - h->first, position - h->g->of.prompt_tokens), logits,
           (size_t)words * sizeof *logits);
    const int32_t token = pp_sampler_choose(&h->g->sampler, sequence, position, logits, words);
    return token < 0 ? 0 : token; /* a fault, which is found after the run */
}

static struct heard heard_of(struct pp_arena *arena, struct pp_generate *g)
{
    const int64_t tokens = (int64_t)pp_generate_group(g) * g->of.passes;

    return (struct heard){.g = g,
                          .logits = PP_ARRAY(arena, double, tokens * g->config.net.vocab),
                          .tokens = PP_ARRAY(arena, int32_t, tokens)};
}

static enum pp_status decode(struct pp_decoder *decoder, struct heard *h, const int32_t *prompts,
                             int first, struct pp_error *err)
{
    h->first = first;
    PP_TRY(
        pp_decoder_run(decoder, &(struct pp_decoder_run){prompts, first, hear, h, h->tokens}, err));
    return pp_sampler_check(&h->g->sampler, err);
}

/* Compares the tokens of the run, and its logits, with those of one rank. */
static void compare_alone(const struct heard *alone, struct pp_generate_difference *d)
{
    const struct pp_generate *g = alone->g;

    for (int s = 0; s < pp_generate_group(g); s++)
        for (int pass = 0; pass < g->of.passes; pass++, d->compared++) {
            const int64_t at = (int64_t)(alone->first + s) * g->of.passes + pass;
            const struct pp_generate_token token = {
                .sequence = alone->first + s,
                .position = g->of.prompt_tokens + pass,
                .token = g->result.tokens[at],
                .expected = alone->tokens[(int64_t)s * g->of.passes + pass],
                .logits = g->result.logits[at],
                .expected_logits = pp_hash_of_logits(row_of(alone, s, pass), g->config.net.vocab)};

            if (d->first.sequence < 0 &&
                (token.token != token.expected || token.logits != token.expected_logits))
                d->first = token;
        }
}

/* Notes the logits of a token that differ most. */
static void compare_rows(const double *a, const double *b, int words, struct pp_generate_logit at,
                         struct pp_generate_difference *d)
{
    double largest = 0;

    for (int i = 0; i < words; i++) {
        largest = fmax(largest, fabs(b[i]));
        if (fabs(a[i] - b[i]) > at.most) {
            at.most = fabs(a[i] - b[i]);
            at.word = i;
            at.value = a[i];
            at.expected = b[i];
        }
    }
    if (at.most > d->any.most)
        d->any = at;
    at.most = largest > 0 ? at.most / largest : 0;
    if (at.most > d->frac.most)
        d->frac = at;
}

/* Compares a run that reads all tokens again with one that has a cache, as long as their tokens are
 * the same. */
static void compare_again(const struct heard *alone, const struct heard *again,
                          struct pp_generate_difference *d)
{
    const struct pp_generate *g = alone->g;

    for (int s = 0; s < pp_generate_group(g); s++)
        for (int pass = 0; pass < g->of.passes; pass++, d->compared++) {
            const int64_t at = (int64_t)s * g->of.passes + pass;
            const int sequence = alone->first + s, position = g->of.prompt_tokens + pass;

            compare_rows(row_of(alone, s, pass), row_of(again, s, pass), g->config.net.vocab,
                         (struct pp_generate_logit){.sequence = sequence, .position = position}, d);
            if (alone->tokens[at] == again->tokens[at])
                continue;
            if (d->first.sequence < 0)
                d->first = (struct pp_generate_token){.sequence = sequence,
                                                      .position = position,
                                                      .token = alone->tokens[at],
                                                      .expected = again->tokens[at]};
            break;
        }
}

/* ---- verdict --------------------------------------------------------------------------------- */

static enum pp_status judge_alone(const struct pp_generate_token *t, struct pp_error *err)
{
    if (t->sequence < 0)
        return PP_OK;
    pp_error_set(err, PP_ETOLERANCE, "sequence %d, position %d: ", t->sequence, t->position);
    if (t->token != t->expected)
        return pp_error_append(err, "the token is %d, and %d on one rank", t->token, t->expected);
    return pp_error_append(err,
                           "the logits are not those of one rank: their hash is %016" PRIx64
                           ", and %016" PRIx64 " there",
                           t->logits, t->expected_logits);
}

struct pp_generate_bound pp_generate_bound(const struct pp_generate *g)
{
    const size_t bytes = g->config.kernels->element_bytes;

    return bytes == sizeof(double)  ? (struct pp_generate_bound){1e-10, false}
           : bytes == sizeof(float) ? (struct pp_generate_bound){1e-4, true}
                                    : (struct pp_generate_bound){(double)INFINITY, true};
}

/* Other numbers of rows round differently, so 16-bit numbers are only compared, not judged. */
static enum pp_status judge_again(const struct pp_generate *g, struct pp_error *err)
{
    const struct pp_generate_difference *d = &g->result.again;
    const struct pp_generate_bound bound = pp_generate_bound(g);
    const struct pp_generate_logit *l = bound.is_frac ? &d->frac : &d->any;

    if (isinf(bound.most))
        return PP_OK;
    if (d->first.sequence >= 0)
        return pp_error_set(
            err, PP_ETOLERANCE, "sequence %d, position %d: the token is %d, and %d without a cache",
            d->first.sequence, d->first.position, d->first.token, d->first.expected);
    if (l->most > bound.most)
        return pp_error_set(err, PP_ETOLERANCE,
                            "sequence %d, position %d: the logit of token %d is %.9g, and %.9g "
                            "without a cache: %.1e%s, and %.0e is allowed",
                            l->sequence, l->position, l->word, l->value, l->expected, l->most,
                            bound.is_frac ? " of the largest" : "", bound.most);
    return PP_OK;
}

enum pp_status pp_generate_check(struct pp_arena *arena, struct pp_generate *g,
                                 struct pp_error *err)
{
    struct pp_generate_result *r = &g->result;
    const int each = pp_generate_group(g), groups = g->of.groups * g->config.replicas;
    struct heard alone = heard_of(arena, g), again = heard_of(arena, g);
    struct pp_decoder *with, *without;

    PP_TRY(pp_generate_alone(arena, g, false, &with, err));
    PP_TRY(pp_generate_alone(arena, g, true, &without, err));
    r->alone = r->again = (struct pp_generate_difference){.is_done = true, .first.sequence = -1};
    for (int group = 0; group < groups; group++) {
        const int32_t *prompts = pp_generate_prompts_of(arena, g, group * each, each);

        PP_TRY(decode(with, &alone, prompts, group * each, err));
        PP_TRY(decode(without, &again, prompts, group * each, err));
        compare_alone(&alone, &r->alone);
        compare_again(&alone, &again, &r->again);
    }
    PP_TRY(judge_alone(&r->alone.first, err));
    return judge_again(g, err);
}
