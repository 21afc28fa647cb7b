/* tests/fuzz/mutate.h — mutants of texts and bytes. Bits, bytes, numbers, words, fields and lines
 * change, and parts of other inputs are pasted. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MUTANT_MOST_BYTES = 200000 };

struct blob {
    uint8_t *bytes; /* from malloc() */
    size_t length;
};

struct corpus {
    struct blob *inputs; /* [count] */
    size_t count;
};

/* Returns a mutant of one of the inputs; the same seed and trial give the same one. The caller
 * frees its bytes. */
struct blob mutant_of(const struct corpus *corpus, uint64_t seed, uint64_t trial);
