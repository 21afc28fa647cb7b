/* exec/data/masked.h — hidden words of a sample, which a masked language model has to find
 * (Devlin et al. 2019, section 3.1). */
#pragma once

#include <stdint.h>

struct pp_masking {
    int words;    /* of a sample that are hidden; 0 = targets are the next tokens */
    int32_t mask; /* token in place of a hidden word */
    uint64_t seed;
};

/* Hides words of a sample: `ids` and `targets` have its `seq` tokens. Of the hidden words, 80 %
 * become the mask, 10 % any token, and 10 % stay. Targets of all others become -1. The result
 * depends only on the arguments. */
void pp_mask_words(const struct pp_masking *masking, int64_t step, int64_t index, int seq,
                   int vocab, int32_t *ids, int32_t *targets);
