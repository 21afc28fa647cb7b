/* Draws hidden words by counter: a sample has the same ones in every process. */
#include "exec/data/masked.h"

#include "core/random.h"

enum { MASK_PERCENT = 80, RANDOM_PERCENT = 10, DRAWS = 3 }; /* draws of a token */

/* Returns a uniform number below `count`, which is below 2^31. */
static int below(uint64_t stream, int counter, int count)
{
    return (int)(((pp_random_bits(stream, (uint64_t)counter) >> 32) * (uint64_t)count) >> 32);
}

static int32_t hidden(const struct pp_masking *m, uint64_t stream, int t, int vocab, int32_t word)
{
    const int percent = below(stream, DRAWS * t + 1, 100);

    return percent < MASK_PERCENT                    ? m->mask
           : percent < MASK_PERCENT + RANDOM_PERCENT ? below(stream, DRAWS * t + 2, vocab)
                                                     : word;
}

/* Each token is hidden with the share of words that are left (Knuth, volume 2, algorithm S). So
 * exactly `words` are, each set of places with equal probability. */
void pp_mask_words(const struct pp_masking *masking, int64_t step, int64_t index, int seq,
                   int vocab, int32_t *ids, int32_t *targets)
{
    static const uint64_t NAME = 0x6d61736b; /* apart from streams of weights and samples */
    const uint64_t stream = pp_random_stream(
        pp_random_stream(masking->seed ^ pp_random_mix(NAME), (uint64_t)step), (uint64_t)index);
    int left = masking->words;

    for (int t = 0; t < seq; t++) {
        if (below(stream, DRAWS * t, seq - t) >= left) {
            targets[t] = -1;
            continue;
        }
        targets[t] = ids[t];
        ids[t] = hidden(masking, stream, t, vocab, ids[t]);
        left--;
    }
}
