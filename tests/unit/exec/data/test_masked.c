/* Hidden words: how many, where, and what is in their place. */
#include "exec/data/masked.h"

#include <criterion/criterion.h>
#include <string.h>

enum { SEQ = 40, WORDS = 6, VOCAB = 50, MASK = 49, SAMPLES = 4000 };

static const struct pp_masking masking = {.words = WORDS, .mask = MASK, .seed = 7};

static void draw(int64_t step, int64_t index, int32_t *ids, int32_t *targets)
{
    for (int t = 0; t < SEQ; t++)
        ids[t] = t; /* below the mask */
    pp_mask_words(&masking, step, index, SEQ, VOCAB, ids, targets);
}

Test(masked, as_many_as_wanted_everywhere_alike)
{
    int hidden[SEQ] = {0}, masks = 0, same = 0;

    for (int i = 0; i < SAMPLES; i++) {
        int32_t ids[SEQ], targets[SEQ];
        int words = 0;
        draw(i / 100, i % 100, ids, targets);
        for (int t = 0; t < SEQ; t++) {
            if (targets[t] < 0) {
                cr_assert_eq(targets[t], -1);
                cr_assert_eq(ids[t], t);
                continue;
            }
            cr_assert_eq(targets[t], t);
            cr_assert(ids[t] >= 0 && ids[t] < VOCAB);
            words++;
            hidden[t]++;
            masks += ids[t] == MASK;
            same += ids[t] == t;
        }
        cr_assert_eq(words, WORDS);
    }
    for (int t = 0; t < SEQ; t++) /* 600 are expected, with a deviation of 23 */
        cr_assert(hidden[t] > 480 && hidden[t] < 720, "%d of place %d", hidden[t], t);
    /* 80 % and 10 %, and a fiftieth of 10 % for each of both; the deviation is 0.3 % */
    cr_assert_float_eq(masks / (double)(SAMPLES * WORDS), 0.802, 0.015);
    cr_assert_float_eq(same / (double)(SAMPLES * WORDS), 0.102, 0.015);
}

Test(masked, a_sample_depends_on_step_index_and_seed)
{
    int32_t ids[4][SEQ], targets[4][SEQ];
    struct pp_masking other = masking;

    draw(3, 5, ids[0], targets[0]);
    draw(3, 5, ids[1], targets[1]);
    cr_assert_eq(memcmp(ids[0], ids[1], sizeof(ids[0])), 0);
    cr_assert_eq(memcmp(targets[0], targets[1], sizeof(targets[0])), 0);
    draw(3, 6, ids[1], targets[1]);
    draw(4, 5, ids[2], targets[2]);
    other.seed++;
    for (int t = 0; t < SEQ; t++)
        ids[3][t] = t;
    pp_mask_words(&other, 3, 5, SEQ, VOCAB, ids[3], targets[3]);
    for (int i = 1; i < 4; i++)
        cr_assert_neq(memcmp(targets[0], targets[i], sizeof(targets[0])), 0);
}

Test(masked, all_words_can_be_hidden)
{
    const struct pp_masking all = {.words = SEQ, .mask = MASK};
    int32_t ids[SEQ] = {0}, targets[SEQ];

    pp_mask_words(&all, 0, 0, SEQ, VOCAB, ids, targets);
    for (int t = 0; t < SEQ; t++)
        cr_assert_eq(targets[t], 0);
}
