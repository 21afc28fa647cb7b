/* tests/cuda/runner.h — Criterion, or with PP_BARE_TESTS a small replacement for GPU machines
 * without Criterion. The replacement has those functions that tests of kernels use. It runs in one
 * process, with tests in the order of the file, and prints TAP. A failed assertion ends its test.
 * The exit code is 1 if a test has failed. Arguments select tests whose names contain one of them;
 * the exit code is also 1 if they select no test. */
#ifndef PP_TESTS_CUDA_RUNNER_H
#define PP_TESTS_CUDA_RUNNER_H

#ifndef PP_BARE_TESTS
#include <criterion/criterion.h>
#else

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct bare_test {
    const char *name;
    void (*run)(void);
    struct bare_test *next;
};
static struct bare_test *bare_first, **bare_last = &bare_first;
static jmp_buf bare_end;

static inline void bare_add(struct bare_test *test)
{
    *bare_last = test;
    bare_last = &test->next;
}

__attribute__((noreturn, format(printf, 4, 5))) static inline void
bare_fail(const char *file, int line, const char *what, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    printf("# %s:%d: %s: ", file, line, what);
    vprintf(format, list);
    printf("\n");
    va_end(list);
    longjmp(bare_end, 1);
}

#define Test(suite, title, ...)                                                                    \
    static void suite##_##title(void);                                                             \
    __attribute__((constructor)) static void suite##_##title##_add(void)                           \
    {                                                                                              \
        static struct bare_test test = {#suite "/" #title, suite##_##title, NULL};                 \
        bare_add(&test);                                                                           \
    }                                                                                              \
    static void suite##_##title(void)

#define cr_assert(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            bare_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__);                            \
    } while (0)
#define cr_assert_eq(x, y, ...)     cr_assert((x) == (y), ##__VA_ARGS__)
#define cr_assert_null(x, ...)      cr_assert((x) == NULL, ##__VA_ARGS__)
#define cr_assert_str_eq(x, y, ...) cr_assert(strcmp(x, y) == 0, ##__VA_ARGS__)

static bool bare_is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strstr(name, argv[i]))
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    static int number, failed; /* not of the frame that longjmp returns to */
    static const struct bare_test *test;

    for (test = bare_first; test; test = test->next) {
        if (!bare_is_wanted(test->name, argc, argv))
            continue;
        number++;
        const int is_failed = setjmp(bare_end);
        if (!is_failed)
            test->run();
        failed += is_failed;
        printf("%s %d - %s\n", is_failed ? "not ok" : "ok", number, test->name);
        fflush(stdout);
    }
    printf("1..%d\n", number);
    return failed > 0 || number == 0;
}

#endif
#endif
