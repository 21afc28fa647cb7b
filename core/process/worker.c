/* A worker of the pool: takes items and writes their results to a pipe. */
#define _GNU_SOURCE /* pipe2 */
#include "core/process/worker.h"

#include "core/process/process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LINE_BYTES = 240 };

/* ---- the worker ------------------------------------------------------------------------------ */

/* Drops a handler. Ignored signals stay ignored, as in a program in the background. */
static void drop_handler(int signal_number)
{
    struct sigaction action;

    if (sigaction(signal_number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
        signal(signal_number, SIG_DFL);
}

/* Makes a worker end with the parent, and its messages go to the log. */
static bool settle(pid_t parent, int log)
{
    const int nothing = open("/dev/null", O_RDWR);

    drop_handler(SIGINT);
    drop_handler(SIGTERM);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    return pp_process_follow(parent) && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
           dup2(nothing, STDOUT_FILENO) >= 0 && dup2(log >= 0 ? log : nothing, STDERR_FILENO) >= 0;
}

static bool send_all(int fd, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t sent = writev(fd, parts, count);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return false;
        for (; count > 0 && (size_t)sent >= parts->iov_len; parts++, count--)
            sent -= (ssize_t)parts->iov_len;
        if (count > 0)
            *parts = (struct iovec){(char *)parts->iov_base + sent, parts->iov_len - (size_t)sent};
    }
    return true;
}

static bool do_item(const struct pp_pool *pool, struct pp_arena *scratch, int64_t item, int results)
{
    const struct pp_arena_mark mark = pp_arena_mark(scratch);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return false;
    pool->work(pool->context, scratch, item, out);
    pp_arena_release(scratch, mark);
    if (fclose(out) != 0 || length > PP_WORKER_TEXT_MAX) {
        fprintf(stderr, "no memory for the result\n");
        return false;
    }
    struct pp_worker_frame frame = {item, length};
    const bool is_sent =
        send_all(results, (struct iovec[]){{&frame, sizeof(frame)}, {text, length + 1}}, 2);
    free(text);
    return is_sent;
}

static _Noreturn void worker_main(const struct pp_pool *pool, struct pp_worker_board *board,
                                  int index, int results)
{
    _Atomic int64_t *mine = &board->slots[index].item;
    struct pp_arena *scratch = pp_arena_create();

    while (atomic_load(&board->next) < board->end) { /* else `next` would grow without bound */
        const int64_t item = atomic_fetch_add(&board->next, 1);

        if (item >= board->end)
            break;
        atomic_store(mine, item);
        lseek(STDERR_FILENO, 0, SEEK_SET);
        if (!do_item(pool, scratch, item, results))
            _exit(PP_EFAIL);
        atomic_store(mine, -1);
    }
    _exit(PP_OK);
}

/* ---- the parent ------------------------------------------------------------------------------ */

bool pp_worker_start(struct pp_pool_worker *worker, const struct pp_pool *pool,
                     struct pp_worker_board *board, int index, const sigset_t *mask)
{
    const pid_t parent = getpid();
    int ends[2] = {-1, -1};

    worker->results = -1;
    worker->length = 0;
    worker->halted = 0;
    worker->pid = -1;
    worker->log = pp_process_log();
    if (pipe2(ends, O_CLOEXEC) == 0) {
        worker->results = ends[0];
        atomic_store(&board->slots[index].item, -1);
        fflush(NULL); /* else both could write what is buffered */
        if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0)
            worker->pid = fork();
    }
    if (worker->pid == 0) {
        if (!settle(parent, worker->log))
            _exit(PP_EFAIL);
        sigprocmask(SIG_SETMASK, mask, NULL);
        worker_main(pool, board, index, ends[1]);
    }
    const int why = errno;
    if (ends[1] >= 0)
        close(ends[1]);
    if (worker->pid > 0)
        return true;
    pp_worker_close(worker);
    errno = why;
    return false;
}

void pp_worker_close(struct pp_pool_worker *worker)
{
    if (worker->results >= 0)
        close(worker->results);
    if (worker->log >= 0)
        close(worker->log);
    worker->pid = 0;
    worker->results = worker->log = -1;
    worker->length = 0;
}

/* Returns the state of a process as /proc has it, 'T' for stopped; 0 if it is not there. */
static char state_of(pid_t pid)
{
    char path[64], text[512] = "";

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    const size_t got = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
    const char *name_end = got > 0 ? strrchr(text, ')') : NULL;
    if (file)
        fclose(file);
    return name_end && name_end[1] ? name_end[2] : '\0';
}

bool pp_worker_is_halted(const struct pp_pool_worker *worker)
{
    bool is_halted = state_of(worker->pid) == 'T';
    char path[64];
    int child;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)worker->pid, (int)worker->pid);
    FILE *file = fopen(path, "re");
    while (file && !is_halted && fscanf(file, "%d", &child) == 1)
        is_halted = state_of(child) == 'T';
    if (file)
        fclose(file);
    return is_halted;
}

/* Copies the last line of the log, with '?' for what does not print. */
static void last_line(int log, char line[LINE_BYTES])
{
    char text[4096];
    const off_t end = lseek(log, 0, SEEK_CUR);
    const off_t begin = end > (off_t)sizeof(text) ? end - (off_t)sizeof(text) : 0;
    const ssize_t got = end > 0 ? pread(log, text, (size_t)(end - begin), begin) : 0;
    ssize_t stop = got > 0 ? got : 0;

    while (stop > 0 && isspace((unsigned char)text[stop - 1]))
        stop--;
    ssize_t start = stop;
    while (start > 0 && text[start - 1] != '\n')
        start--;
    int length = 0;
    for (; start < stop && length < LINE_BYTES - 1; start++)
        line[length++] = (char)(isprint((unsigned char)text[start]) ? text[start] : '?');
    line[length] = '\0';
}

void pp_worker_death(const struct pp_pool_worker *worker, int wait_status,
                     char text[PP_WORKER_DEATH_BYTES])
{
    const int sig = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    char line[LINE_BYTES];

    last_line(worker->log, line);
    const char *between = line[0] ? ": " : "";
    if (sig)
        snprintf(text, PP_WORKER_DEATH_BYTES, "ended by signal %d (%s%s)%s%s", sig, strsignal(sig),
                 sig == SIGKILL ? "; out of memory?" : "", between, line);
    else
        snprintf(text, PP_WORKER_DEATH_BYTES, "ended with exit code %d%s%s",
                 WEXITSTATUS(wait_status), between, line);
}
