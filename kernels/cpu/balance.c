/* The loss of balance of experts. Sums are of double whatever the type, and over tokens in their
 * order. */
#include "kernels/cpu/balance.h"

#include "kernels/numbers.h"

#include <math.h>

/* Sums may begin at a multiple of 4 bytes. */
static double sum_at(const struct pp_balance *b, int i)
{
    double sum;

    memcpy(&sum, (const char *)b->sums + sizeof sum * (size_t)i, sizeof sum);
    return sum;
}

static void add_at(const struct pp_balance *b, int i, double value)
{
    const double sum = sum_at(b, i) + value;

    memcpy((char *)b->sums + sizeof sum * (size_t)i, &sum, sizeof sum);
}

/* The softmax of a token's logits. */
struct odds {
    double max, sum;
};

static double logit(const struct pp_balance *b, int token, int expert)
{
    return pp_number_get(b->logits, b->element_bytes, (int64_t)token * b->experts + expert);
}

static struct odds odds_of(const struct pp_balance *b, int token)
{
    struct odds odds = {.max = logit(b, token, 0)};

    for (int e = 1; e < b->experts; e++)
        odds.max = fmax(odds.max, logit(b, token, e));
    for (int e = 0; e < b->experts; e++)
        odds.sum += exp(logit(b, token, e) - odds.max);
    return odds;
}

static double probability(const struct pp_balance *b, int token, int expert, struct odds odds)
{
    return exp(logit(b, token, expert) - odds.max) / odds.sum;
}

void pp_balance_sums(void *stream, const struct pp_balance *b)
{
    (void)stream;
    for (int t = 0; t < b->tokens; t++) {
        const struct odds odds = odds_of(b, t);
        for (int k = 0; k < b->top_k; k++)
            add_at(b, b->expert[t * b->top_k + k], 1);
        for (int e = 0; e < b->experts; e++)
            add_at(b, b->experts + e, probability(b, t, e, odds));
    }
}

/* Choices do not change with the logits: the gradient of expert e is p (choices - the mean of
 * choices by p). */
void pp_balance_grad(void *stream, const struct pp_balance *b, void *grad)
{
    (void)stream;
    for (int t = 0; t < b->tokens; t++) {
        const struct odds odds = odds_of(b, t);
        double mean = 0;
        for (int e = 0; e < b->experts; e++)
            mean += probability(b, t, e, odds) * sum_at(b, e);
        for (int e = 0; e < b->experts; e++)
            pp_number_put(grad, b->gradient_bytes, (int64_t)t * b->experts + e,
                          b->factor * probability(b, t, e, odds) * (sum_at(b, e) - mean));
    }
}

void pp_balance_add(void *stream, const struct pp_balance *b, const void *grad, void *x)
{
    (void)stream;
    for (int64_t i = 0; i < (int64_t)b->tokens * b->experts; i++)
        pp_number_put(x, b->element_bytes, i,
                      pp_number_get(x, b->element_bytes, i) +
                          pp_number_get(grad, b->gradient_bytes, i));
}

void pp_balance_loss(void *stream, const struct pp_balance *b, int64_t count, double *loss)
{
    double sum = 0;

    (void)stream;
    for (int e = 0; e < b->experts; e++)
        sum += sum_at(b, e) * sum_at(b, b->experts + e);
    for (int64_t i = 0; i < count; i++)
        loss[i] += b->factor * sum;
}
