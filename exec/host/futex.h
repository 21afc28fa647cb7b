/* exec/host/futex.h — sleep until a word changes, between threads or processes that share memory. A
 * sleeper holds no lock, so a killed process blocks no other. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Returns when the word is not `seen`, after timeout_ns (>= 0) or a wake, maybe a spurious one. */
void pp_futex_wait(atomic_uint *word, unsigned seen, int64_t timeout_ns);
/* Wake all sleepers of a word; _change increments it before. */
void pp_futex_wake(atomic_uint *word);
void pp_futex_change(atomic_uint *word);
