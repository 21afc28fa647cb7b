/* Runs a command of the shell: its group, its output, its limits, how it ended. */
#define _GNU_SOURCE /* pipe2 */
#include "core/process/shell.h"

#include "core/clock.h"
#include "core/printable.h"
#include "core/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 16, NAP_MS = 5, LOG_LINES = 6, LOG_BYTES = 4096 };
enum { NOT_FOUND = 127 }; /* exit code of a shell; 128 and more: a signal */

enum outcome { ENDED, TOO_LONG, TOO_MUCH, INTERRUPTED, UNREADABLE };
struct child {
    const struct pp_shell_command *command;
    pid_t pid;          /* also its group */
    int output, errors; /* pipes that do not block: its stdout and stderr */
    int signals;        /* SIGINT and SIGTERM of this process that are not ignored */
    double end_s;
    char *data; /* malloc: of stdout */
    size_t length, room;
    char log[LOG_BYTES]; /* the end of stderr */
    size_t log_length;
    siginfo_t info; /* how it ended */
};

/* ---- the child ------------------------------------------------------------------------------- */

static _Noreturn void become(const char *command, pid_t parent, int output, int errors,
                             const sigset_t *mask)
{
    const int input = open("/dev/null", O_RDONLY);

    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (pp_process_follow(parent) && dup2(input, STDIN_FILENO) >= 0 &&
        dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0)
        execl("/bin/sh", "sh", "-c", "--", command, (char *)NULL);
    _exit(NOT_FOUND);
}

static int open_signals(void)
{
    static const int ENDING[] = {SIGINT, SIGTERM};
    sigset_t wanted;

    sigemptyset(&wanted);
    for (size_t i = 0; i < PP_COUNT(ENDING); i++) {
        struct sigaction action;
        if (sigaction(ENDING[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&wanted, ENDING[i]);
    }
    return signalfd(-1, &wanted, SFD_CLOEXEC);
}

/* Opens a pipe whose reading end does not block; returns it, or -1 with errno. */
static int open_pipe(int *writing)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *writing = ends[1];
    return ends[0];
}

static void close_all(const int *files, size_t count)
{
    const int why = errno;

    for (size_t i = 0; i < count; i++)
        if (files[i] >= 0)
            close(files[i]);
    errno = why;
}

/* Starts the command; false with errno. */
static bool start(struct child *child, const sigset_t *mask)
{
    const pid_t parent = getpid();
    int writing[] = {-1, -1};

    child->signals = open_signals();
    child->output = open_pipe(&writing[0]);
    child->errors = open_pipe(&writing[1]);
    if (child->signals >= 0 && child->output >= 0 && child->errors >= 0)
        child->pid = fork();
    if (child->pid == 0)
        become(child->command->text, parent, writing[0], writing[1], mask);
    close_all(writing, PP_COUNT(writing));
    if (child->pid > 0)
        setpgid(child->pid, child->pid); /* whichever of both is first */
    return child->pid > 0;
}

/* ---- its output ------------------------------------------------------------------------------ */

/* Reads what is there. ENDED: nothing is wrong; *is_end after the last byte. */
static enum outcome take(struct child *child, bool *is_end)
{
    const size_t most = child->command->bytes ? child->command->bytes : (size_t)PP_SHELL_MIB << 20;

    if (child->room - child->length < CHUNK_BYTES) {
        child->room = 2 * child->room + CHUNK_BYTES;
        char *data = realloc(child->data, child->room);
        if (!data)
            return TOO_MUCH;
        child->data = data;
    }
    const ssize_t got = read(child->output, child->data + child->length, CHUNK_BYTES);
    *is_end = got == 0;
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? ENDED : UNREADABLE;
    child->length += (size_t)got;
    return child->length > most ? TOO_MUCH : ENDED;
}

/* Keeps the end of what is there of stderr. */
static void take_errors(struct child *child)
{
    char text[LOG_BYTES];
    ssize_t got;

    while ((got = read(child->errors, text, sizeof(text))) > 0) {
        const size_t size = (size_t)got, kept = size + child->log_length > LOG_BYTES
                                                    ? LOG_BYTES - size
                                                    : child->log_length;
        memmove(child->log, child->log + child->log_length - kept, kept);
        memcpy(child->log + kept, text, size);
        child->log_length = kept + size;
    }
}

static bool has_ended(struct child *child)
{
    child->info.si_pid = 0;
    return waitid(P_PID, (id_t)child->pid, &child->info, WEXITED | WNOHANG) == 0 &&
           child->info.si_pid == child->pid;
}

/* Waits for output, or for the end of a command that has closed it. */
static enum outcome collect(struct child *child)
{
    struct pollfd files[] = {
        {child->signals, POLLIN, 0}, {child->errors, POLLIN, 0}, {child->output, POLLIN, 0}};
    bool is_closed = false;

    for (;;) {
        const double left_s = child->end_s - pp_clock_s();
        if (left_s <= 0)
            return TOO_LONG;
        if (poll(files, PP_COUNT(files), is_closed ? NAP_MS : (int)(left_s * 1e3) + 1) < 0 &&
            errno != EINTR)
            return UNREADABLE;
        if (files[0].revents)
            return INTERRUPTED;
        take_errors(child);
        if (files[1].revents & POLLHUP)
            files[1].fd = -1;
        if (!is_closed && files[2].revents) {
            const enum outcome outcome = take(child, &is_closed);
            if (outcome != ENDED)
                return outcome;
            files[2].fd = is_closed ? -1 : child->output;
        }
        if (is_closed && has_ended(child)) {
            take_errors(child);
            return ENDED;
        }
    }
}

static void kill_all(const struct child *child)
{
    kill(-child->pid, SIGKILL);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- messages -------------------------------------------------------------------------------- */

/* Appends the last lines of stderr, each after a line break. */
static void append_log(struct pp_arena *arena, const struct child *child, struct pp_error *err)
{
    char *text = pp_arena_printf(arena, "%.*s", (int)child->log_length, child->log), *from = text;
    int lines = 0;

    for (char *at = text + strlen(text); at > text && lines < LOG_LINES; at--)
        if (at[-1] == '\n' && at[0] && ++lines == LOG_LINES)
            from = at;
    for (char *line; (line = strsep(&from, "\n")) != NULL;)
        if (*line)
            pp_error_append(err, "\n  %s", pp_printable(arena, line));
}

static enum pp_status tell(struct pp_arena *arena, const struct child *child, enum outcome outcome,
                           struct pp_error *err)
{
    const struct pp_shell_command *command = child->command;
    const int code = child->info.si_code == CLD_EXITED ? child->info.si_status : -1;
    const bool is_refusal = outcome == ENDED && code > 0 && code <= NOT_FOUND;

    if (outcome == ENDED && code == 0)
        return PP_OK;
    pp_error_set(err,
                 is_refusal               ? PP_EINVAL
                 : outcome == INTERRUPTED ? PP_EINTR
                                          : PP_EFAIL,
                 "the command '%s' ", command->text);
    if (outcome == ENDED)
        pp_process_tell_end(&child->info, err);
    else if (outcome == TOO_LONG)
        pp_error_append(err, "took more than %g seconds and was ended",
                        command->seconds > 0 ? command->seconds : PP_SHELL_SECONDS);
    else if (outcome == TOO_MUCH)
        pp_error_append(err, "printed more than %zu MiB and was ended",
                        command->bytes ? command->bytes >> 20 : PP_SHELL_MIB);
    else
        pp_error_append(err, "was interrupted");
    append_log(arena, child, err);
    return is_refusal ? PP_EINVAL : outcome == INTERRUPTED ? PP_EINTR : PP_EFAIL;
}

enum pp_status pp_shell_run(struct pp_arena *arena, const struct pp_shell_command *command,
                            struct pp_bytes *output, struct pp_error *err)
{
    const double seconds = command->seconds > 0 ? command->seconds : PP_SHELL_SECONDS;
    struct child child = {.command = command,
                          .pid = -1,
                          .output = -1,
                          .errors = -1,
                          .signals = -1,
                          .end_s = pp_clock_s() + seconds};
    const struct sigaction plain = {.sa_handler = SIG_DFL};
    struct sigaction former_child;
    enum pp_status status;
    sigset_t before;

    pp_process_hold(&before);
    sigaction(SIGCHLD, &plain, &former_child); /* ignored, it would hide how children end */
    if (start(&child, &before)) {
        const enum outcome outcome = collect(&child);
        if (outcome != ENDED)
            kill_all(&child);
        status = tell(arena, &child, outcome, err);
    } else {
        status = pp_error_set(err, PP_EFAIL, "the command '%s' cannot be started: %s",
                              command->text, strerror(errno));
    }
    if (status == PP_OK) {
        output->data = pp_arena_alloc_raw(arena, child.length + 1);
        output->length = child.length;
        memcpy(output->data, child.data, child.length);
        output->data[child.length] = '\0';
    }
    close_all((const int[]){child.output, child.errors, child.signals}, 3);
    free(child.data);
    sigaction(SIGCHLD, &former_child, NULL);
    pp_process_release(&before);
    return status;
}
