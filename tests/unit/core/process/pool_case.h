/* Items whose results are checked, and workers that end at some of them. */
#ifndef PP_TESTS_UNIT_POOL_CASE_H
#define PP_TESTS_UNIT_POOL_CASE_H

#include "core/process/pool.h"

#include <assert.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ITEMS_MAX = 20000 };

/* What a worker does with an item; shared by all tests. */
struct job {
    int crash_every; /* 0: never */
    void (*crash)(void);
    size_t result_bytes;
    int pipe_end;    /* written to before an item is begun, when > 0 */
    int64_t refused; /* done() fails at the how-manieth; 0: never */
    unsigned char seen[ITEMS_MAX], dead[ITEMS_MAX];
    int64_t count;
    char death[512];
    int ticks;
    bool *is_hit; /* shared by the workers */
};

static struct job job;
static struct pp_error err;

static inline bool is_crash(int64_t item)
{
    return job.crash_every > 0 && item % job.crash_every == 1;
}

static inline void work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    const struct job *j = context;

    printf("item %lld\n", (long long)item);
    if (is_crash(item))
        j->crash();
    if (j->result_bytes > 0) {
        char *bytes = pp_arena_alloc(scratch, j->result_bytes + 1);
        memset(bytes, 'a' + (int)(item % 26), j->result_bytes);
        fputs(bytes, out);
    } else {
        fprintf(out, "result %lld", (long long)item);
    }
}

static inline void check_text(const struct job *j, int64_t item, const char *text, size_t length)
{
    char expected[64];

    cr_assert(text[length] == '\0' && strlen(text) == length);
    if (j->result_bytes > 0) {
        cr_assert(length == j->result_bytes);
        for (size_t i = 0; i < length; i++)
            cr_assert(text[i] == 'a' + (int)(item % 26));
        return;
    }
    snprintf(expected, sizeof(expected), "result %lld", (long long)item);
    cr_assert_str_eq(text, expected);
}

static inline enum pp_status done(void *context, int64_t item, const char *text, size_t length,
                                  const char *death, struct pp_error *e)
{
    struct job *j = context;

    cr_assert(item >= 0 && item < ITEMS_MAX && !j->seen[item], "item %lld", (long long)item);
    j->seen[item] = 1;
    j->count++;
    if (death) {
        cr_assert(length == 0 && text[0] == '\0');
        j->dead[item] = 1;
        snprintf(j->death, sizeof(j->death), "%s", death);
    } else {
        check_text(j, item, text, length);
    }
    return j->count == j->refused ? pp_error_set(e, PP_EFAIL, "no more of this") : PP_OK;
}

static inline void tick(void *context)
{
    ((struct job *)context)->ticks++;
}

static inline enum pp_status run(int64_t items, int workers)
{
    const struct pp_pool pool = {
        .items = items, .workers = workers, .context = &job, .work = work, .done = done};

    err = (struct pp_error){0};
    return pp_pool_run(&pool, &err);
}

static inline void check_nothing_left(void)
{
    cr_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/* All items, once, and the crashing ones as crashed. */
static inline void check_all(int64_t items, int workers)
{
    cr_assert(run(items, workers) == PP_OK, "%s", err.message);
    cr_assert(job.count == items);
    for (int64_t i = 0; i < items; i++)
        cr_assert(job.dead[i] == is_crash(i), "item %lld", (long long)i);
    check_nothing_left();
}

/* ---- workers that end ------------------------------------------------------------------------ */

static inline void segfault(void)
{
    signal(SIGSEGV, SIG_DFL); /* not what a sanitizer makes of it */
    raise(SIGSEGV);
}

static inline void be_killed(void)
{
    raise(SIGKILL);
}

static inline void leave(void)
{
    _exit(3);
}

static inline void leave_as_if_all_were_well(void)
{
    exit(0);
}

static inline void assert_falsely(void)
{
    signal(SIGABRT, SIG_DFL);
    assert(job.crash_every == 0);
}

static inline void complain(void)
{
    for (int i = 0; i < 10000; i++)
        fprintf(stderr, "much ado\n");
    lseek(STDERR_FILENO, 0, SEEK_SET);
    fprintf(stderr, "a warning\nerror: out of \x01\n\n");
    _exit(1);
}

static inline void check_crashes(void (*crash)(void), const char *death)
{
    job = (struct job){.crash_every = 7, .crash = crash};
    check_all(100, 3);
    cr_assert(!strncmp(job.death, death, strlen(death)), "%s", job.death);
}

#endif
