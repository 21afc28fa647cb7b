/* Futexes of Linux. */
#define _GNU_SOURCE /* syscall */
#include "exec/host/futex.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void pp_futex_wait(atomic_uint *word, unsigned seen, int64_t timeout_ns)
{
    const struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};

    syscall(SYS_futex, word, FUTEX_WAIT, seen, timeout_ns < 0 ? NULL : &timeout, NULL, 0);
}

void pp_futex_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void pp_futex_change(atomic_uint *word)
{
    atomic_fetch_add(word, 1);
    pp_futex_wake(word);
}
