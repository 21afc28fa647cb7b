/* A child process that runs one function and reports its status. */
#define _GNU_SOURCE /* strsignal */
#include "sim/simgrid/child.h"

#include "core/process/process.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REASON_BYTES = 1024, LINE_BYTES = 8192 };

/* Text of an error line; NULL for other lines, and for those that only announce the end. */
static const char *error_text(const char *line)
{
    static const char *const levels[] = {"/CRITICAL] ", "/ERROR] "};
    static const char *const empty[] = {"Exiting now", "Backtrace", "Current backtrace"};

    for (int i = 0; i < 2; i++) {
        const char *found = strstr(line, levels[i]);
        if (!found)
            continue;
        found += strlen(levels[i]);
        for (int k = 0; k < 3; k++)
            if (!strncmp(found, empty[k], strlen(empty[k])))
                return NULL;
        return found;
    }
    return NULL;
}

/* Skips `text` and all up to `until`, if the line begins with `text` and has `until`. */
static const char *skip(const char *line, const char *text, const char *until)
{
    const char *found =
        strncmp(line, text, strlen(text)) ? NULL : strstr(line + strlen(text), until);

    return found ? found + strlen(until) : line;
}

/* SimGrid's lines look like
 *   [0.000000] ./src/xbt/exception.cpp:95: [xbt_exception/ERROR] Parse error at a.xml:7: unknown
 *   unit: GByte
 *   [0.000000] ./src/xbt/exception.cpp:48: [xbt_exception/CRITICAL] Uncaught exception std::X by Y:
 *   Z */
void pp_child_reason(const char *log, char *text, size_t size)
{
    char line[LINE_BYTES];
    const char *reason = NULL;

    for (size_t length; *log && !reason; log += length + (log[length] == '\n')) {
        length = strcspn(log, "\n");
        snprintf(line, sizeof(line), "%.*s", (int)length, log);
        reason = error_text(line);
    }
    reason = reason ? skip(reason, "Parse error at", " ") : "";
    snprintf(text, size, "%s", skip(reason, "Uncaught exception ", ": "));
    for (char *c = text; *c; c++)
        *c = isprint((unsigned char)*c) ? *c : '?';
}

struct pp_child_answer {
    bool is_given; /* the function has returned; else the process ended inside */
    enum pp_status status;
    struct pp_error err;
};

/* ---- the child ------------------------------------------------------------------------------- */

static _Noreturn void child_main(const struct pp_child *child, int channel, pid_t parent,
                                 pp_child_function run, void *job)
{
    struct pp_child_answer *answer = child->answer;

    if (signal(SIGINT, SIG_DFL) == SIG_IGN) /* SIGINT stays ignored in the background */
        signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_DFL);
    if (!pp_process_follow(parent) || dup2(child->log, STDOUT_FILENO) < 0 ||
        dup2(child->log, STDERR_FILENO) < 0)
        _exit(PP_EFAIL);
    close(child->channel);
    answer->status = run(job, channel, &answer->err);
    answer->is_given = true;
    _exit(PP_OK);
}

/* ---- the parent ------------------------------------------------------------------------------ */

static void close_all(struct pp_child *child)
{
    if (child->channel >= 0)
        close(child->channel);
    if (child->log >= 0)
        close(child->log);
    if (child->answer)
        munmap(child->answer, sizeof(*child->answer));
    *child = (struct pp_child){.channel = -1, .log = -1};
}

static bool open_all(struct pp_child *child, int *childs_end)
{
    int ends[2];

    child->log = pp_process_log();
    if (child->log < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    child->channel = ends[0];
    *childs_end = ends[1];
    void *shared = mmap(NULL, sizeof(*child->answer), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return false;
    child->answer = shared;
    return true;
}

enum pp_status pp_child_start(struct pp_child *child, pp_child_function run, void *job,
                              struct pp_error *err)
{
    const pid_t parent = getpid();
    int childs_end = -1;

    *child = (struct pp_child){.channel = -1, .log = -1};
    child->pid = open_all(child, &childs_end) ? fork() : -1;
    if (child->pid == 0)
        child_main(child, childs_end, parent, run, job);
    const int why = errno;
    if (childs_end >= 0)
        close(childs_end);
    if (child->pid > 0)
        return PP_OK;
    close_all(child);
    return pp_error_set(err, PP_EFAIL, "cannot start a process for SimGrid: %s", strerror(why));
}

void pp_child_log(const struct pp_child *child, char *text, size_t size)
{
    const off_t written = lseek(child->log, 0, SEEK_CUR);
    const size_t want = written < 0 ? 0 : (size_t)written;
    const ssize_t got = pread(child->log, text, want < size ? want : size - 1, 0);

    text[got > 0 ? got : 0] = '\0';
}

/* Describes the end of a process inside the function. */
static enum pp_status describe_crash(const struct pp_child *child, int wait_status,
                                     struct pp_error *err)
{
    static char log[PP_PROCESS_LOG_BYTES];
    char reason[REASON_BYTES];
    const int sig = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;

    if (sig == SIGINT || sig == SIGTERM)
        return pp_error_set(err, PP_EINTR, "interrupted");
    pp_child_log(child, log, sizeof(log));
    pp_child_reason(log, reason, sizeof(reason));
    if (reason[0])
        return pp_error_set(err, PP_EFAIL, "%s", reason);
    if (sig == SIGKILL)
        return pp_error_set(err, PP_EFAIL, "SimGrid was killed (out of memory?)");
    if (sig)
        return pp_error_set(err, PP_EFAIL, "SimGrid crashed (%s)", strsignal(sig));
    return pp_error_set(err, PP_EFAIL, "SimGrid ended with exit code %d", WEXITSTATUS(wait_status));
}

enum pp_status pp_child_finish(struct pp_child *child, struct pp_error *err)
{
    enum pp_status status = PP_OK;
    int wait_status = 0;
    pid_t ended;

    close(child->channel);
    child->channel = -1;
    do
        ended = waitpid(child->pid, &wait_status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        status = pp_error_set(err, PP_EFAIL, "cannot wait for SimGrid: %s", strerror(errno));
    else if (!child->answer->is_given)
        status = describe_crash(child, wait_status, err);
    else if (child->answer->status != PP_OK)
        status = pp_error_set(err, child->answer->status, "%s", child->answer->err.message);
    close_all(child);
    return status;
}

/* Calls `tick` until the child ends, when its channel, which has no data, becomes readable. */
static void watch(const struct pp_child *child, void (*tick)(void *job), void *job)
{
    enum { TICK_MS = 200 };
    struct pollfd end = {.fd = child->channel, .events = POLLIN};

    while (poll(&end, 1, TICK_MS) == 0)
        tick(job);
}

enum pp_status pp_child_run(pp_child_function run, void *job, void (*tick)(void *job),
                            struct pp_error *err)
{
    struct pp_child child;

    PP_TRY(pp_child_start(&child, run, job, err));
    if (tick)
        watch(&child, tick, job);
    return pp_child_finish(&child, err);
}
