/* The choice of tokens: ties, distributions against a direct computation, faults. */
#include "exec/generate/sample.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct pp_error err;

static struct pp_sampler sampler_of(const char *how, double temperature, uint64_t seed)
{
    struct pp_sampler s = {.temperature = temperature, .seed = seed};

    cr_assert_eq(pp_sampler_read(how, &s, &err), PP_OK, "%s: %s", how, err.message);
    return s;
}

Test(sample, greedy_takes_the_first_of_the_largest)
{
    static const double LOGITS[] = {-3, 2, 5, 5, 1, 5};
    struct pp_sampler s = sampler_of("greedy", 1, 0);

    for (int position = 0; position < 9; position++)
        cr_assert_eq(pp_sampler_choose(&s, position % 3, position, LOGITS, 6), 2);
    cr_assert_eq(pp_sampler_check(&s, &err), PP_OK);
}

Test(sample, a_tiny_share_is_greedy)
{
    static const double LOGITS[] = {0, 1, 1, 0.5};
    struct pp_sampler s = sampler_of("top-p=1e-9", 1, 7);

    for (int position = 0; position < 100; position++)
        cr_assert_eq(pp_sampler_choose(&s, 0, position, LOGITS, 4), 1);
}

Test(sample, a_draw_depends_on_seed_sequence_and_position_alone)
{
    static const double LOGITS[8] = {0};
    struct pp_sampler a = sampler_of("top-p=1", 1, 3), b = sampler_of("top-p=1", 1, 3),
                      other = sampler_of("top-p=1", 1, 4);
    int same = 0, along = 0, across = 0;
    enum { DRAWS = 400 };

    for (int i = 0; i < DRAWS; i++) /* b draws in another order */
        pp_sampler_choose(&b, 5, DRAWS - i, LOGITS, 8);
    for (int i = 0; i < DRAWS; i++) {
        const int token = pp_sampler_choose(&a, 2, i, LOGITS, 8);
        cr_assert_eq(token, pp_sampler_choose(&b, 2, i, LOGITS, 8));
        same += token == pp_sampler_choose(&other, 2, i, LOGITS, 8);
        along += token == pp_sampler_choose(&a, 2, i + 1, LOGITS, 8);
        across += token == pp_sampler_choose(&a, 3, i, LOGITS, 8);
    }
    /* an eighth of them, +- 4 deviations of 6.6 */
    cr_assert(abs(same - DRAWS / 8) < 27, "%d", same);
    cr_assert(abs(along - DRAWS / 8) < 27, "%d", along);
    cr_assert(abs(across - DRAWS / 8) < 27, "%d", across);
}

/* Probabilities by definition: sort by selection, cut off after the share, divide by what is left.
 */
static void define(const double *logits, int words, double share, double temperature, double *p)
{
    double sum = 0, kept = 0;
    bool is_in[16] = {false};

    for (int i = 0; i < words; i++)
        sum += p[i] = exp(logits[i] / temperature);
    while (kept < share * sum) {
        int best = -1;
        for (int i = 0; i < words; i++)
            if (!is_in[i] && (best < 0 || p[i] > p[best]))
                best = i;
        if (best < 0)
            break;
        is_in[best] = true;
        kept += p[best];
    }
    for (int i = 0; i < words; i++)
        p[i] = is_in[i] ? p[i] / kept : 0;
}

Test(sample, draws_have_the_distribution_of_the_definition)
{
    static const double LOGITS[] = {0.1, 2, -1, 2, 0.7, 1.5, -4, 1};
    static const struct {
        const char *how;
        double share, temperature;
    } cases[] = {{"top-p=1", 1, 1},       {"top-p=0.9", 0.9, 1},   {"top-p=90%", 0.9, 2},
                 {"top-p=0.5", 0.5, 0.7}, {"top-p=0.2", 0.2, 0.5}, {"top-p=0.999", 0.999, 5}};
    enum { WORDS = 8, DRAWS = 20000 };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct pp_sampler s = sampler_of(cases[c].how, cases[c].temperature, 11 + c);
        int count[WORDS] = {0};
        double p[WORDS];

        define(LOGITS, WORDS, cases[c].share, cases[c].temperature, p);
        for (int i = 0; i < DRAWS; i++)
            count[pp_sampler_choose(&s, i % 7, i / 7, LOGITS, WORDS)]++;
        for (int w = 0; w < WORDS; w++) {
            const double bound = 4.5 * sqrt(DRAWS * p[w] * (1 - p[w])) + 1e-9;
            cr_assert_leq(fabs(count[w] - DRAWS * p[w]), bound, "%s: token %d: %d of %g",
                          cases[c].how, w, count[w], DRAWS * p[w]);
        }
    }
}

Test(sample, logits_that_are_no_numbers_are_a_fault)
{
    static const double BAD[] = {(double)NAN, (double)INFINITY};

    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct pp_sampler s = sampler_of(i ? "top-p=0.9" : "greedy", 1, 0);
        const double good[] = {1, -(double)INFINITY, 0}, bad[] = {1, BAD[i], 0};

        cr_assert_eq(pp_sampler_choose(&s, 0, 3, good, 3), 0);
        cr_assert_eq(pp_sampler_check(&s, &err), PP_OK);
        cr_assert_eq(pp_sampler_choose(&s, 4, 9, bad, 3), -1);
        cr_assert_eq(pp_sampler_choose(&s, 5, 9, bad, 3), -1);
        cr_assert_eq(pp_sampler_check(&s, &err), PP_EFAIL);
        cr_assert(strstr(err.message, "sequence 4, position 9"), "%s", err.message);
    }
    struct pp_sampler s = sampler_of("greedy", 1, 0);
    const double none[] = {-(double)INFINITY, -(double)INFINITY};
    pp_sampler_choose(&s, 0, 0, none, 2);
    cr_assert_eq(pp_sampler_check(&s, &err), PP_EFAIL);
}

Test(sample, other_words_are_refused)
{
    static const struct {
        const char *how, *says;
    } bad[] = {{"top-k=5", "expected greedy"},
               {"Greedy", "expected greedy"},
               {"top-p", "expected greedy"},
               {"top-p=", "not a"},
               {"top-p=x", "not a"},
               {"top-p=0", "nearest: greedy"},
               {"top-p=1.5", "nearest: top-p=1"}};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct pp_sampler s;
        cr_assert_eq(pp_sampler_read(bad[i].how, &s, &err), PP_EINVAL, "%s", bad[i].how);
        cr_assert(strstr(err.message, bad[i].says), "%s: %s", bad[i].how, err.message);
    }
}
