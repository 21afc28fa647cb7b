/* tests/fuzz/fuzz.h — the one function of a fuzz target (libFuzzer's name). A target feeds the
 * bytes to a reader and aborts when a law is broken; it returns 0 always. */
#ifndef PP_TESTS_FUZZ_H
#define PP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A law, checked in every build. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
