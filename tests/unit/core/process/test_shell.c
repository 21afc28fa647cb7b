/* Commands of the shell: what they print, how they end, their limits; texts made once. */
#include "core/process/memo.h"
#include "core/process/shell.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct pp_arena *arena;
static struct pp_error err;
static struct pp_bytes printed;

static void open_arena(void)
{
    arena = pp_arena_create();
}

static void close_arena(void)
{
    pp_arena_destroy(arena);
}
TestSuite(shell, .init = open_arena, .fini = close_arena);

static enum pp_status run(const char *text, double seconds, size_t bytes)
{
    const struct pp_shell_command command = {text, seconds, bytes};

    err = (struct pp_error){0};
    return pp_shell_run(arena, &command, &printed, &err);
}

Test(shell, returns_all_that_is_printed)
{
    cr_assert_eq(run("echo a; echo hidden >&2; printf b; cat", 0, 0), PP_OK, "%s", err.message);
    cr_expect_str_eq(printed.data, "a\nb");
    cr_expect_eq(printed.length, 3);
    cr_assert_eq(run("true", 0, 0), PP_OK);
    cr_expect_str_eq(printed.data, "");
    cr_assert_eq(run("head -c 1000000 /dev/zero; exec >&-; sleep 0.05", 0, 1000000), PP_OK);
    cr_expect_eq(printed.length, 1000000);
}

static void expect_refused(const char *text, enum pp_status status, const char *message)
{
    cr_expect_eq(run(text, 0.3, 1 << 20), status, "%s", text);
    cr_expect_str_eq(err.message, message);
}

Test(shell, says_how_a_command_ended)
{
    expect_refused("echo no >&2; exit 3", PP_EINVAL,
                   "the command 'echo no >&2; exit 3' has ended with exit code 3\n  no");
    expect_refused("exit 126", PP_EINVAL, "the command 'exit 126' has ended with exit code 126");
    expect_refused("kill -9 $$", PP_EFAIL,
                   "the command 'kill -9 $$' was ended by signal 9 (Killed)");
    expect_refused("sleep 100", PP_EFAIL,
                   "the command 'sleep 100' took more than 0.3 seconds and was ended");
    expect_refused("yes", PP_EFAIL, "the command 'yes' printed more than 1 MiB and was ended");
    expect_refused("sleep 100 & exit 0", PP_EFAIL,
                   "the command 'sleep 100 & exit 0' took more than 0.3 seconds and was ended");
}

/* Much on stderr blocks nothing, and its last lines are kept. */
Test(shell, keeps_the_end_of_the_errors)
{
    cr_expect_eq(run("seq 1 100000 >&2; printf 'a\\033b\\n' >&2; exit 1", 0, 0), PP_EINVAL);
    const char *lines = strchr(err.message, '\n');
    cr_assert_not_null(lines);
    cr_expect_str_eq(lines, "\n  99996\n  99997\n  99998\n  99999\n  100000\n  a\\x1bb");
}

static volatile sig_atomic_t handled;
static void handle(int signal_number)
{
    handled = signal_number;
}

/* Is true if a process still runs after a second; a zombie does not. */
static bool is_running(int process)
{
    char path[64], line[256], state = 'R';

    snprintf(path, sizeof(path), "/proc/%d/stat", process);
    for (int i = 0; i < 100 && state != 'Z'; i++) {
        FILE *file = fopen(path, "r");
        if (!file)
            return false;
        const char *end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
        state = end ? end[2] : 'Z';
        fclose(file);
        usleep(10000);
    }
    return state != 'Z';
}

Test(shell, a_signal_ends_the_command_and_its_children)
{
    char path[] = "/tmp/pipesim-shell-XXXXXX", text[128];
    const int file = mkstemp(path);

    cr_assert_geq(file, 0);
    signal(SIGTERM, handle);
    snprintf(text, sizeof(text), "sleep 100 & echo $! >%s; kill -TERM %d; sleep 100", path,
             (int)getpid());
    cr_expect_eq(run(text, 30, 0), PP_EINTR);
    cr_expect_eq(handled, SIGTERM);
    char number[16] = "";
    cr_assert_gt(read(file, number, sizeof(number) - 1), 0);
    cr_expect_not(is_running(atoi(number)));
    signal(SIGTERM, SIG_IGN); /* an ignored signal ends nothing */
    cr_expect_eq(run(text, 0.2, 0), PP_EFAIL);
    unlink(path);
}

/* ---- texts made once ------------------------------------------------------------------------- */

static enum pp_status make(void *context, struct pp_arena *own, const char *name,
                           struct pp_bytes *text, struct pp_error *error)
{
    const int *log = context;

    usleep(20000);
    if (write(*log, ".", 1) != 1 || *name == 'x')
        return pp_error_set(error, PP_EINVAL, "no %s", name);
    text->data = pp_arena_printf(own, "text of %s", name);
    text->length = strlen(text->data);
    return PP_OK;
}

static void get(struct pp_memo *memo, int log, int i)
{
    const struct pp_memo_maker maker = {make, &log};
    const char *name = pp_arena_printf(arena, "%s%d", i % 3 ? "name" : "x", i);
    struct pp_bytes text;

    err = (struct pp_error){0};
    const enum pp_status status = pp_memo_get(memo, arena, name, &maker, &text, &err);
    const bool is_right = i % 3 ? status == PP_OK && strstr(text.data, name) && text.length == 13
                                : status == PP_EINVAL && strstr(err.message, name);
    if (!is_right)
        _exit(1);
}

Test(shell, a_text_is_made_once_by_all_processes)
{
    enum { WORKERS = 4, NAMES = 9 };
    struct pp_memo *memo = pp_memo_create(arena);
    int ends[2], status;

    cr_assert(memo && pipe(ends) == 0);
    get(memo, ends[1], 1);
    for (int w = 0; w < WORKERS; w++)
        if (fork() == 0) {
            for (int i = 0; i < 3 * NAMES; i++)
                get(memo, ends[1], (i * (w + 1) + w) % NAMES);
            for (int i = 0; i < NAMES; i++)
                get(memo, ends[1], i);
            _exit(0);
        }
    for (int w = 0; w < WORKERS; w++) {
        cr_assert_gt(wait(&status), 0);
        cr_expect_eq(status, 0);
    }
    close(ends[1]);
    char marks[64];
    cr_expect_eq(read(ends[0], marks, sizeof(marks)), NAMES);
    get(memo, -1, 4);
}
