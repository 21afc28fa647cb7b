/* Every item once, whatever happens to the workers, and nothing of them left behind. */
#include "core/pool.h"

#include <assert.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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
};

static struct job job;
static struct pp_error err;

static bool is_crash(int64_t item)
{
    return job.crash_every > 0 && item % job.crash_every == 1;
}

static void work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
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

static void check_text(const struct job *j, int64_t item, const char *text, size_t length)
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

static enum pp_status done(void *context, int64_t item, const char *text, size_t length,
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

static void tick(void *context)
{
    ((struct job *)context)->ticks++;
}

static enum pp_status run(int64_t items, int workers)
{
    const struct pp_pool pool = {
        .items = items, .workers = workers, .context = &job, .work = work, .done = done};

    err = (struct pp_error){0};
    return pp_pool_run(&pool, &err);
}

static void check_nothing_left(void)
{
    cr_assert(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/* All items, once, and the crashing ones as crashed. */
static void check_all(int64_t items, int workers)
{
    cr_assert(run(items, workers) == PP_OK, "%s", err.message);
    cr_assert(job.count == items);
    for (int64_t i = 0; i < items; i++)
        cr_assert(job.dead[i] == is_crash(i), "item %lld", (long long)i);
    check_nothing_left();
}

Test(pool, all_items_once)
{
    static const struct {
        int64_t items;
        int workers;
    } cases[] = {{0, 1}, {0, 0}, {1, 1}, {1, 8}, {3, 16}, {100, 1}, {1000, 3}, {20000, 0}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        job = (struct job){0};
        check_all(cases[i].items, cases[i].workers);
    }
}

Test(pool, results_of_megabytes)
{
    job = (struct job){.result_bytes = 5 << 20};
    check_all(7, 3);
}

Test(pool, results_as_big_as_what_a_pipe_holds)
{
    for (size_t bytes = (1 << 16) - 20; bytes < (1 << 16) + 4; bytes++) {
        job = (struct job){.result_bytes = bytes};
        check_all(4, 2);
    }
}

Test(pool, cores)
{
    cr_assert(pp_pool_cores() >= 1);
}

/* ---- workers that end ------------------------------------------------------------------------ */

static void segfault(void)
{
    signal(SIGSEGV, SIG_DFL); /* not what a sanitizer makes of it */
    raise(SIGSEGV);
}

static void be_killed(void)
{
    raise(SIGKILL);
}

static void leave(void)
{
    _exit(3);
}

static void leave_as_if_all_were_well(void)
{
    exit(0);
}

static void assert_falsely(void)
{
    signal(SIGABRT, SIG_DFL);
    assert(job.crash_every == 0);
}

static void complain(void)
{
    for (int i = 0; i < 10000; i++)
        fprintf(stderr, "much ado\n");
    lseek(STDERR_FILENO, 0, SEEK_SET);
    fprintf(stderr, "a warning\nerror: out of \x01\n\n");
    _exit(1);
}

static void check_crashes(void (*crash)(void), const char *death)
{
    job = (struct job){.crash_every = 7, .crash = crash};
    check_all(100, 3);
    cr_assert(!strncmp(job.death, death, strlen(death)), "%s", job.death);
}

Test(pool, a_worker_that_ends_costs_its_item)
{
    check_crashes(segfault, "ended by signal 11 (Segmentation fault)");
    check_crashes(be_killed, "ended by signal 9 (Killed; out of memory?)");
    check_crashes(leave, "ended with exit code 3");
    check_crashes(leave_as_if_all_were_well, "ended with exit code 0");
    check_crashes(complain, "ended with exit code 1: error: out of ?");
    check_crashes(assert_falsely, "ended by signal 6 (Aborted): ");
    cr_assert(strstr(job.death, "job.crash_every == 0"), "%s", job.death);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need address space */
/* What the arena does when there is no memory: a message and exit(1). */
static void eat_memory(void)
{
    const struct rlimit little = {256 << 20, 256 << 20};

    if (setrlimit(RLIMIT_AS, &little) != 0)
        _exit(9);
    struct pp_arena *arena = pp_arena_create();
    for (;;)
        memset(pp_arena_alloc_raw(arena, 1 << 20), 1, 1 << 20);
}

Test(pool, a_worker_without_memory_costs_its_item)
{
    check_crashes(eat_memory, "ended with exit code 1: ");
    cr_assert(strstr(job.death, ": error: out of memory"), "%s", job.death);
}
#endif

Test(pool, every_item_crashes)
{
    job = (struct job){.crash_every = 1, .crash = be_killed};
    cr_assert(run(200, 4) == PP_OK);
    cr_assert(job.count == 200);
    check_nothing_left();
}

/* A pipe is held open by a child of the worker that outlives it. */
static void leave_a_child(void)
{
    if (fork() == 0) {
        sleep(3);
        _exit(0);
    }
    _exit(5);
}

Test(pool, a_child_left_behind_by_a_worker_hides_nothing)
{
    job = (struct job){.crash_every = 50, .crash = leave_a_child};
    check_all(150, 2);
    cr_assert_str_eq(job.death, "ended with exit code 5");
}

/* Frames that are none: of an item that does not exist, of one that is done, too long, cut off. */
static void send_rubbish(void)
{
    static const int64_t kinds[][2] = {{-1, 0},        {ITEMS_MAX, 1}, {0, -1},
                                       {2, INT64_MAX}, {0, 0},         {2, 1 << 30}};
    struct stat info;
    int results = 0;

    for (int fd = 3; fd < 1024; fd++) /* the last pipe that can be written to */
        if (fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) &&
            (fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
            results = fd;
    if (write(results, kinds[getpid() % 6], 16) != 16 || write(results, "", 1) != 1)
        abort();
    if (getpid() % 6 == 5)
        _exit(0);
    pause();
}

Test(pool, rubbish_is_no_result, .timeout = 60)
{
    job = (struct job){.crash_every = 3, .crash = send_rubbish};
    check_all(60, 1);
}

/* Killed from outside at any moment, again and again. */
static void slow_work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    (void)context;
    (void)scratch;
    usleep(300);
    fprintf(out, "result %lld", (long long)item);
}

static pid_t hunter(int every_us)
{
    const pid_t parent = getpid(), pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int round = 0;; round++) {
        char path[64], list[4096];
        snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
        FILE *file = fopen(path, "r");
        if (!file)
            _exit(0);
        const size_t got = fread(list, 1, sizeof(list) - 1, file);
        list[got] = '\0';
        fclose(file);
        long children[64];
        int count = 0;
        for (char *at = list, *end; count < 64; at = end) {
            const long child = strtol(at, &end, 10);
            if (end == at)
                break;
            if (child != getpid())
                children[count++] = child;
        }
        if (count > 0)
            kill((pid_t)children[round % count], SIGKILL);
        usleep((useconds_t)every_us);
    }
}

Test(pool, workers_are_killed_at_any_moment, .timeout = 60)
{
    job = (struct job){0};
    const struct pp_pool pool = {
        .items = 4000, .workers = 3, .context = &job, .work = slow_work, .done = done};
    const pid_t pid = hunter(7000);

    cr_assert(pp_pool_run(&pool, &err) == PP_OK, "%s", err.message);
    cr_assert(job.count == 4000);
    int64_t dead = 0;
    for (int64_t i = 0; i < 4000; i++)
        dead += job.dead[i];
    cr_assert(dead > 0 && dead < 4000, "%lld", (long long)dead);
    kill(pid, SIGKILL);
    cr_assert(waitpid(pid, NULL, 0) == pid); /* another child was not touched */
    check_nothing_left();
}

/* ---- refused results, signals, ticks --------------------------------------------------------- */

Test(pool, done_may_end_the_run)
{
    job = (struct job){.refused = 5};
    cr_assert(run(10000, 3) == PP_EFAIL);
    cr_assert_str_eq(err.message, "no more of this");
    cr_assert(job.count == 5);
    check_nothing_left();
}

Test(pool, nothing_is_printed_by_workers, .timeout = 20)
{
    char name[] = "/tmp/test_pool_XXXXXX", text[64] = "";
    const int fd = mkstemp(name);

    cr_assert(fd >= 0);
    unlink(name);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        printf("buffered before, ");
        job = (struct job){.crash_every = 3, .crash = leave_as_if_all_were_well};
        const enum pp_status status = run(20, 2);
        printf("and behind\n");
        fflush(stdout);
        _exit(status == PP_OK && job.count == 20 ? 0 : 1);
    }
    int how;
    cr_assert(waitpid(pid, &how, 0) == pid && how == 0);
    cr_assert(pread(fd, text, sizeof(text) - 1, 0) > 0);
    cr_assert_str_eq(text, "buffered before, and behind\n");
}

static void endless_work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    const struct job *j = context;

    (void)scratch;
    fprintf(out, "result %lld", (long long)item);
    if (item < 10)
        return;
    const pid_t child = fork();
    if (child == 0) { /* as SimGrid's */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && write(j->pipe_end, "r", 1) == 1)
            for (;;)
                pause();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static int handled;

static void handler(int signal_number)
{
    handled = signal_number;
}

/* In a process of its own group: all of it gets the signal, as by Ctrl-C, or the parent alone. */
static void interrupted_parent(int signal_number, int pipe_end)
{
    const struct pp_pool pool = {
        .items = 1000, .workers = 3, .context = &job, .work = endless_work, .done = done};

    setpgid(0, 0);
    signal(SIGINT, handler);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL); /* ignored under nohup, and SIGQUIT in the background */
    signal(SIGQUIT, SIG_DFL);
    job = (struct job){.pipe_end = pipe_end};
    const enum pp_status status = pp_pool_run(&pool, &err);
    int64_t dead = 0;
    for (int i = 0; i < 1000; i++)
        dead += job.dead[i];
    if (status != PP_EINTR || strcmp(err.message, "interrupted") != 0 || handled)
        _exit(11);
    if (job.count != 10 || dead != 0)
        _exit(12);
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        _exit(13);
    raise(SIGINT); /* the former handler is back */
    if (handled != SIGINT)
        _exit(14);
    raise(signal_number == SIGINT ? SIGTERM : signal_number);
    _exit(15);
}

static void check_interrupt(int signal_number, bool is_for_all)
{
    int ends[2], how;
    char byte;

    cr_assert(pipe(ends) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        interrupted_parent(signal_number, ends[1]);
    }
    close(ends[1]);
    for (int i = 0; i < 3; i++) /* all workers are at an item without an end */
        cr_assert(read(ends[0], &byte, 1) == 1);
    cr_assert(kill(is_for_all ? -pid : pid, signal_number) == 0);
    cr_assert(waitpid(pid, &how, 0) == pid);
    cr_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM, "%d", WEXITSTATUS(how));
    cr_assert(read(ends[0], &byte, 1) == 0); /* no grandchild holds it any more */
    close(ends[0]);
}

Test(pool, an_interrupt_ends_the_run_and_not_the_program, .timeout = 60)
{
    for (int i = 0; i < 5; i++) {
        check_interrupt(SIGINT, false);
        check_interrupt(SIGINT, true);
        check_interrupt(SIGTERM, false);
        check_interrupt(SIGTERM, true);
    }
}

/* Whatever ends the parent: the pipe that workers and their children hold closes. */
Test(pool, all_die_with_the_parent, .timeout = 60)
{
    static const int signals[] = {SIGKILL, SIGHUP, SIGQUIT};

    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        int ends[2];
        char byte;
        cr_assert(pipe(ends) == 0);
        const pid_t pid = fork();
        if (pid == 0) {
            close(ends[0]);
            interrupted_parent(SIGINT, ends[1]);
        }
        close(ends[1]);
        for (int j = 0; j < 3; j++)
            cr_assert(read(ends[0], &byte, 1) == 1);
        kill(pid, signals[i]);
        cr_assert(read(ends[0], &byte, 1) == 0);
        waitpid(pid, NULL, 0);
        close(ends[0]);
    }
}

static void shoot(void *context)
{
    struct job *j = context;

    if (j->ticks++ == 0)
        kill(0, SIGINT);
}

static void half_second_work(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    (void)context;
    (void)scratch;
    usleep(500000);
    fprintf(out, "result %lld", (long long)item);
}

Test(pool, what_is_ignored_stays_ignored, .timeout = 60)
{
    const struct pp_pool pool = {.items = 2,
                                 .workers = 2,
                                 .context = &job,
                                 .work = half_second_work,
                                 .done = done,
                                 .tick = shoot};

    setpgid(0, 0);
    signal(SIGINT, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    job = (struct job){0};
    cr_assert(pp_pool_run(&pool, &err) == PP_OK);
    cr_assert(job.count == 2 && !job.dead[0] && !job.dead[1]);
    cr_assert(signal(SIGINT, SIG_DFL) == SIG_IGN);
    cr_assert(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
}

Test(pool, crashes_are_seen_though_ends_are_ignored)
{
    signal(SIGCHLD, SIG_IGN);
    check_crashes(leave, "ended with exit code 3");
}

Test(pool, ticks)
{
    const struct pp_pool pool = {.items = 2,
                                 .workers = 2,
                                 .context = &job,
                                 .work = half_second_work,
                                 .done = done,
                                 .tick = tick};

    job = (struct job){0};
    cr_assert(pp_pool_run(&pool, &err) == PP_OK);
    cr_assert(job.ticks >= 1);
}

/* ---- no processes, no descriptors ------------------------------------------------------------ */

Test(pool, fewer_workers_where_no_more_can_be_had)
{
    const struct rlimit few = {16, 16};

    cr_assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
    job = (struct job){0};
    check_all(500, 40);
}

Test(pool, no_worker_at_all)
{
    const struct rlimit none = {3, 3};

    cr_assert(setrlimit(RLIMIT_NOFILE, &none) == 0);
    job = (struct job){0};
    cr_assert(run(5, 2) == PP_EFAIL);
    cr_assert_str_eq(err.message, "cannot start a worker: Too many open files");
    cr_assert(job.count == 0);
}

Test(pool, a_small_limit_of_files_loses_messages_only)
{
    const struct rlimit small = {1000, 1000};

    signal(SIGXFSZ, SIG_IGN);
    cr_assert(setrlimit(RLIMIT_FSIZE, &small) == 0);
    check_crashes(complain, "ended with exit code 1");
    cr_assert_str_eq(job.death, "ended with exit code 1");
}
