/* Cross entropy of words that several devices share, against that of one, for each type. */
#include "kernels/kernels.h"
#include "kernels/numbers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { DEVICES = 3, SHARED_ROWS = 4 };

/* Cuts rows of logits by words, makes the three steps on each device, and puts the rows together
 * again. Devices have different numbers of words, and a padded column each. */
static void share_entropy(const struct pp_kernels *k, int vocab, const int32_t *targets, double *x,
                          double loss[DEVICES][SHARED_ROWS])
{
    double parts[DEVICES][SHARED_ROWS * 64], max[DEVICES + 1][SHARED_ROWS],
        sums[DEVICES + 1][2 * SHARED_ROWS];
    const void *from[DEVICES], *from_sums[DEVICES];
    struct pp_entropy e[DEVICES];

    for (int d = 0; d < DEVICES; d++) {
        const int first = vocab * d / DEVICES, words = vocab * (d + 1) / DEVICES - first;
        e[d] = (struct pp_entropy){1,      SHARED_ROWS, 0,       SHARED_ROWS, first,
                                   words,  words + 1,   targets, 0.5,         parts[d],
                                   max[d], sums[d],     loss[d]};
        for (int r = 0; r < SHARED_ROWS; r++)
            for (int i = 0; i <= words; i++)
                pp_number_put(parts[d], k->element_bytes, r * e[d].ld + i,
                              i < words ? x[r * vocab + first + i] : 7);
        k->entropy_max(NULL, &e[d]);
        from[d] = max[d];
        from_sums[d] = sums[d];
    }
    k->max_of_g(NULL, SHARED_ROWS, DEVICES, from, max[DEVICES]);
    for (int d = 0; d < DEVICES; d++) {
        e[d].max = max[DEVICES];
        k->entropy_sums(NULL, &e[d]);
    }
    k->sum_of_g(NULL, 2 * SHARED_ROWS, DEVICES, from_sums, sums[DEVICES]);
    for (int d = 0; d < DEVICES; d++) {
        e[d].sums = sums[DEVICES];
        k->entropy_end(NULL, &e[d]);
        for (int r = 0; r < SHARED_ROWS; r++) {
            for (int i = 0; i < e[d].words; i++)
                x[r * vocab + e[d].first_word + i] =
                    pp_number_get(parts[d], k->element_bytes, r * e[d].ld + i);
            cr_assert_eq(pp_number_get(parts[d], k->element_bytes, r * e[d].ld + e[d].words), 0);
        }
    }
}

/* Sums of V positive terms in any order have a relative error of at most g = V u / (1 - V u):
 * Higham 2002, section 3.1. So logarithms of two of them differ by at most 2 g / (1 - g). */
static double loss_bound(double u, int vocab)
{
    const double g = vocab * u / (1 - vocab * u);

    return 2 * g / (1 - g) + 0x1p-48; /* of what else is computed in double */
}

static void compare_shared(const struct pp_kernels *k, double u, double tolerance, int vocab)
{
    const int32_t targets[SHARED_ROWS] = {vocab - 1, 0, -1, vocab / 2};
    double x[SHARED_ROWS * 130], whole[SHARED_ROWS * 130], expected[SHARED_ROWS],
        loss[DEVICES][SHARED_ROWS];

    for (int j = 0; j < SHARED_ROWS * vocab; j++) { /* exact in every type */
        x[j] = 0.125 * ((j * 7919 + vocab) % 61 - 30);
        pp_number_put(whole, k->element_bytes, j, x[j]);
    }
    k->cross_entropy(NULL, 1, SHARED_ROWS, 0, SHARED_ROWS, vocab, vocab, targets, 0.5, whole,
                     expected);
    share_entropy(k, vocab, targets, x, loss);
    for (int j = 0; j < SHARED_ROWS * vocab; j++)
        cr_assert_float_eq(x[j], pp_number_get(whole, k->element_bytes, j), tolerance,
                           "%s, %d words, logit %d: %g", k->name, vocab, j, x[j]);
    for (int d = 0; d < DEVICES; d++)
        for (int j = 0; j < SHARED_ROWS; j++)
            cr_assert_leq(fabs(loss[d][j] - expected[j]), loss_bound(u, vocab), "%s, %d words",
                          k->name, vocab);
    cr_assert(memcmp(loss[0], loss[1], sizeof loss[0]) == 0 &&
              memcmp(loss[0], loss[2], sizeof loss[0]) == 0);
}

/* Row 2 has no target. */
Test(kernels_entropy, cross_entropy_of_shared_words)
{
    for (int vocab = DEVICES; vocab <= 130; vocab += 1 + vocab / 3) {
        compare_shared(&pp_kernels_reference, 0x1p-53, 1e-15, vocab);
        compare_shared(&pp_kernels_bf16, 0x1p-24, 0x1p-9, vocab); /* of values up to 1/2 */
        compare_shared(pp_kernels_fp32(false), 0x1p-24, loss_bound(0x1p-24, vocab), vocab);
    }
}
