/* Every item once, whatever happens to the workers, and no process of them remains. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/unit/core/process/pool_case.h"

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

/* Ends the first worker of an item; the second finds the mark of the first. */
static void be_killed_once(void)
{
    if (!*job.is_hit)
        *job.is_hit = true, raise(SIGKILL);
}

Test(pool, an_item_whose_worker_was_killed_runs_again)
{
    bool *is_hit = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    job = (struct job){.crash_every = 100, .crash = be_killed_once, .is_hit = is_hit};
    cr_assert(run(100, 3) == PP_OK && job.count == 100 && *is_hit);
    for (int i = 0; i < 100; i++)
        cr_assert(!job.dead[i], "%d", i);
    check_nothing_left();
    munmap(is_hit, 1);
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

Test(pool, a_child_that_outlives_a_worker_hides_nothing)
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

Test(pool, rubbish_is_no_result)
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

Test(pool, workers_are_killed_at_any_moment)
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
    cr_assert(dead < 100, "%lld", (long long)dead); /* those that were hit twice */
    kill(pid, SIGKILL);
    cr_assert(waitpid(pid, NULL, 0) == pid); /* another child was not touched */
    check_nothing_left();
}

Test(pool, nothing_is_printed_by_workers)
{
    char name[] = "/tmp/test_pool_XXXXXX", text[64] = "", warnings[1024] = "";
    const int fd = mkstemp(name);

    cr_assert(fd >= 0);
    unlink(name);
    const int log = memfd_create("warnings", 0);
    cr_assert(log >= 0);
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        printf("buffered before, ");
        job = (struct job){.crash_every = 3, .crash = leave_as_if_all_were_well};
        const enum pp_status status = run(20, 2);
        printf("and after\n");
        fflush(stdout);
        _exit(status == PP_OK && job.count == 20 ? 0 : 1);
    }
    int how;
    cr_assert(waitpid(pid, &how, 0) == pid && how == 0);
    cr_assert(pread(fd, text, sizeof(text) - 1, 0) > 0);
    cr_assert(pread(log, warnings, sizeof(warnings) - 1, 0) > 0);
    cr_assert_str_eq(text, "buffered before, and after\n");
    const char *end = strchr(warnings, '\n');
    /* in between, sanitizers may have said why they could not look for leaks */
    cr_assert(
        strstr(warnings, ": warning: 7 workers ended early, the last one ended with exit code 0") &&
            strstr(warnings, "; their work is done, one by one, again\n") && end && !end[1],
        "%s", warnings);
}
