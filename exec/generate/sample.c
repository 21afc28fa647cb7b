/* Greedy choice, and draws from the most probable tokens (Holtzman et al. 2020, The curious case of
 * neural text degeneration, section 3.1: nucleus sampling). */
#include "exec/generate/sample.h"

#include "core/arena.h"
#include "core/random.h"
#include "core/units.h"
#include "exec/stage/generate.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------- */

enum pp_status pp_sampler_read(const char *how, struct pp_sampler *sampler, struct pp_error *err)
{
    static const char TOP_P[] = "top-p=";
    double p;

    sampler->top_p = 0;
    if (strcmp(how, "greedy") == 0)
        return PP_OK;
    if (strncmp(how, TOP_P, sizeof TOP_P - 1) != 0)
        return pp_error_set(err, PP_EINVAL, "expected greedy, or top-p=P such as top-p=0.9");
    PP_TRY(pp_units_parse(how + sizeof TOP_P - 1, PP_UNIT_FRAC, &p, err));
    if (!(p > 0 && p <= 1))
        return pp_error_set(err, PP_EINVAL, "P is above 0 and at most 1; nearest: %s",
                            p > 1 ? "top-p=1" : "greedy, which is the limit at 0");
    sampler->top_p = p;
    return PP_OK;
}

/* ---- choice ---------------------------------------------------------------------------------- */

struct candidate {
    double weight; /* exp of its logit, less the largest, over the temperature */
    int32_t token;
};

static int by_weight(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->weight < y->weight || x->weight > y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->token < y->token ? -1 : 1;
}

/* Returns the first of the largest logits; -1 if one is no number. */
static int32_t largest(const double *logits, int words)
{
    int32_t best = 0;

    for (int i = 0; i < words; i++) {
        if (isnan(logits[i]) || logits[i] == (double)INFINITY)
            return -1;
        best = logits[i] > logits[best] ? i : best;
    }
    return isinf(logits[best]) ? -1 : best;
}

/* Returns a number in [0, 1). */
static double draw(const struct pp_sampler *s, int sequence, int position)
{
    const uint64_t stream = pp_random_stream(s->seed, (uint64_t)sequence);

    return (double)(pp_random_bits(stream, (uint64_t)position) >> 11) * 0x1p-53;
}

/* Keeps the candidates that can be among the most probable ones: those that are left out have less
 * than 1 - top_p together. Returns their number. */
static int keep(const struct pp_sampler *s, double sum, int words, struct candidate *all)
{
    const double least = (1 - s->top_p) * sum / words;
    int count = 0;

    for (int i = 0; i < words; i++)
        if (all[i].weight >= least && all[i].weight > 0)
            all[count++] = all[i];
    return count;
}

/* Draws among the first candidates, which have `share` of the sum together. */
static int32_t pick(const struct candidate *all, int count, double share, double chance)
{
    double nucleus = 0, passed = 0;
    int last = 0;

    for (; last < count && nucleus < share; last++)
        nucleus += all[last].weight;
    for (int i = 0; i < last; i++) {
        passed += all[i].weight;
        if (chance * nucleus < passed)
            return all[i].token;
    }
    return all[last - 1].token;
}

static int32_t draw_token(const struct pp_sampler *s, double chance, double most,
                          const double *logits, int words)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct candidate *all = PP_ARRAY(arena, struct candidate, words);
    double sum = 0;

    for (int i = 0; i < words; i++) {
        all[i] = (struct candidate){exp((logits[i] - most) / s->temperature), i};
        sum += all[i].weight;
    }
    if (s->top_p >= 1) /* in any order */
        return pick(all, words, sum, chance);
    const int count = keep(s, sum, words, all);
    qsort(all, (size_t)count, sizeof *all, by_weight);
    return pick(all, count, s->top_p * sum, chance);
}

int32_t pp_sampler_choose(void *sampler, int sequence, int position, const double *logits,
                          int words)
{
    struct pp_sampler *s = sampler;
    const int32_t best = largest(logits, words);
    uint64_t none = 0;

    if (best < 0) {
        atomic_compare_exchange_strong(&s->fault, &none,
                                       (uint64_t)(sequence + 1) << 32 | (uint32_t)position);
        return -1;
    }
    if (!(s->top_p > 0))
        return best;
    return draw_token(s, draw(s, sequence, position), logits[best], logits, words);
}

enum pp_status pp_sampler_check(const struct pp_sampler *sampler, struct pp_error *err)
{
    const uint64_t fault = atomic_load(&sampler->fault);

    if (!fault)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, PP_LOGITS_FAULT, (int)(fault >> 32) - 1,
                        (int)(uint32_t)fault);
}
