/* exec/host/futex.h — sleep until a word changes, between threads or between processes that share
 * the memory. A sleeper holds no lock, so a killed process blocks no other. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Returns when the word is no longer `seen`, after a wake, or after timeout_ns (>= 0). Spurious
 * returns are possible: check again. */
void pp_futex_wait(atomic_uint *word, unsigned seen, int64_t timeout_ns);
/* Wakes all who sleep on it; the second one counts the word up before. */
void pp_futex_wake(atomic_uint *word);
void pp_futex_change(atomic_uint *word);
