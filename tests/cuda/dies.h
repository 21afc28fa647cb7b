/* tests/cuda/dies.h — what must end the program, and what it says then. */
#ifndef PP_TESTS_CUDA_DIES_H
#define PP_TESTS_CUDA_DIES_H

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* AddressSanitizer ends a process with an exit code where the signal would have. */
static inline bool has_died(int status, int signal)
{
#ifdef __SANITIZE_ADDRESS__
    if (WIFEXITED(status) && signal == SIGSEGV)
        return WEXITSTATUS(status) != 0;
#endif
    return WIFSIGNALED(status) && WTERMSIG(status) == signal;
}

/* `act` in a child dies of `signal`, and has said all of `words` by then. */
static inline void dies(void (*act)(void), int signal, const char *words)
{
    char said[4096] = "";
    size_t length = 0;
    int ends[2], status;

    cr_assert_eq(pipe(ends), 0);
    const pid_t child = fork();
    cr_assert_neq(child, -1);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        act();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    waitpid(child, &status, 0);
    cr_assert(has_died(status, signal), "status %#x, said: %s", status, said);
    cr_assert(strstr(said, words), "said: %s", said);
}

#endif
