/* exec/host/futex.h — sleep until a word changes: between threads, and between processes that share
 * the memory. Nobody holds anything while asleep, so whoever is killed blocks nobody. */
#ifndef PP_EXEC_HOST_FUTEX_H
#define PP_EXEC_HOST_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Returns when the word is no longer `seen`, after a wake, or, where timeout_ns >= 0, when that
 * time is over; also for no reason: ask again. */
void pp_futex_wait(atomic_uint *word, unsigned seen, int64_t timeout_ns);
/* Wakes all who sleep on it. */
void pp_futex_wake(atomic_uint *word);

#endif
