/* Who ends a run, and how: refusals, signals, no processes to be had. */
#include "tests/unit/core/process/pool_case.h"

/* ---- refused results, signals, ticks --------------------------------------------------------- */

Test(pool_signals, done_may_end_the_run)
{
    job = (struct job){.refused = 5};
    cr_assert(run(10000, 3) == PP_EFAIL);
    cr_assert_str_eq(err.message, "no more of this");
    cr_assert(job.count == 5);
    check_nothing_left();
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

/* Returns when all workers are at an item without an end; `*held` closes with the last of them. */
static pid_t start_parent(int signal_number, int *held)
{
    int ends[2];
    char byte;

    cr_assert(pipe(ends) == 0);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        interrupted_parent(signal_number, ends[1]);
    }
    close(ends[1]);
    for (int i = 0; i < 3; i++)
        cr_assert(read(ends[0], &byte, 1) == 1);
    *held = ends[0];
    return pid;
}

static void check_interrupt(int signal_number, bool is_for_all)
{
    int held, how;
    char byte;

    const pid_t pid = start_parent(signal_number, &held);
    cr_assert(kill(is_for_all ? -pid : pid, signal_number) == 0);
    cr_assert(waitpid(pid, &how, 0) == pid);
    cr_assert(WIFSIGNALED(how) && WTERMSIG(how) == SIGTERM, "%d", WEXITSTATUS(how));
    cr_assert(read(held, &byte, 1) == 0); /* no grandchild holds it any more */
    close(held);
}

Test(pool_signals, an_interrupt_ends_the_run_and_not_the_program)
{
    for (int i = 0; i < 5; i++) {
        check_interrupt(SIGINT, false);
        check_interrupt(SIGINT, true);
        check_interrupt(SIGTERM, false);
        check_interrupt(SIGTERM, true);
    }
}

/* Whatever ends the parent: the pipe that workers and their children hold closes. */
Test(pool_signals, all_die_with_the_parent)
{
    static const int signals[] = {SIGKILL, SIGHUP, SIGQUIT};

    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
        int held;
        char byte;
        const pid_t pid = start_parent(SIGINT, &held);
        kill(pid, signals[i]);
        cr_assert(read(held, &byte, 1) == 0);
        waitpid(pid, NULL, 0);
        close(held);
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

Test(pool_signals, what_is_ignored_stays_ignored)
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

Test(pool_signals, crashes_are_seen_though_ends_are_ignored)
{
    signal(SIGCHLD, SIG_IGN);
    check_crashes(leave, "ended with exit code 3");
}

Test(pool_signals, ticks)
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

Test(pool_signals, fewer_workers_where_no_more_can_be_had)
{
    const struct rlimit few = {16, 16};

    cr_assert(setrlimit(RLIMIT_NOFILE, &few) == 0);
    job = (struct job){0};
    check_all(500, 40);
}

Test(pool_signals, no_worker_at_all)
{
    const struct rlimit none = {3, 3};

    cr_assert(setrlimit(RLIMIT_NOFILE, &none) == 0);
    job = (struct job){0};
    cr_assert(run(5, 2) == PP_EFAIL);
    cr_assert_str_eq(err.message, "cannot start a worker: Too many open files");
    cr_assert(job.count == 0);
}

Test(pool_signals, a_small_limit_of_files_loses_messages_only)
{
    const struct rlimit small = {1000, 1000};

    signal(SIGXFSZ, SIG_IGN);
    cr_assert(setrlimit(RLIMIT_FSIZE, &small) == 0);
    check_crashes(complain, "ended with exit code 1");
    cr_assert_str_eq(job.death, "ended with exit code 1");
}
