/* The parent of the worker pool: forks, collects results, handles deaths and signals. */
#define _GNU_SOURCE /* ppoll, CPU_ALLOC */
#include "core/printable.h"
#include "core/process/worker.h"

#include "core/clock.h"
#include "core/process/process.h"

#include <errno.h> /* program_invocation_short_name */
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CHUNK_BYTES = 1 << 16,
    TICK_MS = 200,
    CORES_MAX = 1 << 16,
    IDLE_DEATHS_MAX = 100,
    HALTED_TICKS = 50
};

int pp_pool_cores(void)
{
    int cores = 0;

    for (int size = 1024; cores == 0 && size <= CORES_MAX; size *= 2) {
        cpu_set_t *set = CPU_ALLOC(size);
        if (set && sched_getaffinity(0, CPU_ALLOC_SIZE(size), set) == 0)
            cores = CPU_COUNT_S(CPU_ALLOC_SIZE(size), set);
        CPU_FREE(set);
    }
    return cores > 0 ? cores : 1;
}

/* ---- signals --------------------------------------------------------------------------------- */

static const int SIGNALS[] = {SIGINT, SIGTERM};
enum { SIGNAL_COUNT = PP_COUNT(SIGNALS) };

static volatile sig_atomic_t is_interrupted;
static struct sigaction former[SIGNAL_COUNT], former_child;

static void give_back(void)
{
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sigaction(SIGNALS[i], &former[i], NULL);
}

static void interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
    give_back();
}

/* Resets an ignored SIGCHLD, which would hide how workers end. */
static void show_ends(void)
{
    const struct sigaction plain = {.sa_handler = SIG_DFL};

    sigaction(SIGCHLD, NULL, &former_child);
    if (former_child.sa_handler == SIG_IGN)
        sigaction(SIGCHLD, &plain, NULL);
}

/* A second SIGINT or SIGTERM meets the former handlers. Ignored signals stay ignored. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};

    is_interrupted = 0;
    show_ends();
    sigfillset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        sigaction(SIGNALS[i], NULL, &former[i]);
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (former[i].sa_handler != SIG_IGN)
            sigaction(SIGNALS[i], &action, NULL);
}

static void release_signals(void)
{
    give_back();
    if (former_child.sa_handler == SIG_IGN)
        sigaction(SIGCHLD, &former_child, NULL);
}

/* ---- the run --------------------------------------------------------------------------------- */

struct run {
    const struct pp_pool *pool;
    struct pp_arena *arena;
    struct pp_worker_board *board;
    struct pp_pool_worker *workers;
    struct pollfd *polls;
    int count, poll_count; /* most workers; 1 + index of the last one */
    unsigned char *seen;   /* a bit for every item passed to done() */
    int64_t seen_count;
    double tick_s;   /* time of the last tick */
    bool is_short;   /* no more processes can be started for now */
    bool is_last;    /* items run for the second time */
    int idle_deaths; /* in a row, of workers without an item */
    char death[PP_WORKER_DEATH_BYTES];
};

/* Waits for one of `count`, or a signal, at most TICK_MS. */
static int wait_for(struct pollfd *polls, int count)
{
    const struct timespec patience = {.tv_nsec = TICK_MS * 1000000L};
    sigset_t before;

    pp_process_hold(&before); /* no signal comes between check and wait */
    const int ready = is_interrupted ? 0 : ppoll(polls, (nfds_t)count, &patience, &before);
    pp_process_release(&before);
    return ready;
}

static bool is_open_item(const struct run *run, int64_t item)
{
    return item >= 0 && item < run->pool->items && !(run->seen[item / 8] & 1 << item % 8);
}

static enum pp_status finish_item(struct run *run, int64_t item, const char *text, size_t length,
                                  const char *death, struct pp_error *err)
{
    run->seen[item / 8] |= (unsigned char)(1 << item % 8);
    run->seen_count++;
    run->idle_deaths = 0;
    return run->pool->done ? run->pool->done(run->pool->context, item, text, length, death, err)
                           : PP_OK;
}

/* Passes on complete frames. Checks them: a crashing worker may have sent anything. */
static enum pp_status hand_on(struct run *run, struct pp_pool_worker *worker, bool *is_sound,
                              struct pp_error *err)
{
    enum pp_status status = PP_OK;
    struct pp_worker_frame frame;
    size_t at = 0;

    while (status == PP_OK && worker->length - at >= sizeof(frame)) {
        const char *text = worker->data + at + sizeof(frame);
        memcpy(&frame, worker->data + at, sizeof(frame));
        *is_sound = is_open_item(run, frame.item) && frame.length <= PP_WORKER_TEXT_MAX;
        if (!*is_sound || worker->length - at - sizeof(frame) <= frame.length)
            break;
        status = finish_item(run, frame.item, text, (size_t)frame.length, NULL, err);
        at += sizeof(frame) + (size_t)frame.length + 1;
    }
    worker->length -= at;
    if (at > 0)
        memmove(worker->data, worker->data + at, worker->length);
    return status;
}

/* Reads once; `*has_more` is false if nothing can come, at least now. */
static enum pp_status receive(struct run *run, struct pp_pool_worker *worker, bool *has_more,
                              bool *is_sound, struct pp_error *err)
{
    if (worker->room - worker->length < CHUNK_BYTES) {
        const size_t room = 2 * worker->room + 2 * CHUNK_BYTES;
        worker->data = pp_arena_grow(run->arena, worker->data, worker->length, room);
        worker->room = room;
    }
    const ssize_t got =
        read(worker->results, worker->data + worker->length, worker->room - worker->length);
    *has_more = got > 0 || (got < 0 && errno == EINTR);
    if (got <= 0)
        return PP_OK;
    worker->length += (size_t)got;
    return hand_on(run, worker, is_sound, err);
}

static enum pp_status drain(struct run *run, struct pp_pool_worker *worker, bool *is_sound,
                            struct pp_error *err)
{
    bool has_more = true;

    while (has_more && *is_sound)
        PP_TRY(receive(run, worker, &has_more, is_sound, err));
    return PP_OK;
}

/* A signal to the whole process group reaches the workers too, maybe first. */
static bool was_everybody_meant(int wait_status)
{
    if (WIFSIGNALED(wait_status) &&
        (WTERMSIG(wait_status) == SIGINT || WTERMSIG(wait_status) == SIGTERM))
        wait_for(NULL, 0);
    return is_interrupted;
}

/* Handles the end of a worker: its results count, its unfinished item runs again or is lost. */
static enum pp_status bury(struct run *run, int index, int wait_status, bool is_sound,
                           struct pp_error *err)
{
    struct pp_pool_worker *worker = &run->workers[index];
    const int64_t item = atomic_load(&run->board->slots[index].item);
    enum pp_status status = drain(run, worker, &is_sound, err);

    if (wait_status != 0 || !is_sound || is_open_item(run, item))
        pp_worker_death(worker, wait_status, run->death);
    if (worker->halted >= HALTED_TICKS)
        snprintf(run->death, sizeof(run->death), "was stopped for 10 s");
    if (!is_sound)
        snprintf(run->death, sizeof(run->death), "sent data that is no result");
    pp_worker_close(worker);
    if (status != PP_OK || was_everybody_meant(wait_status))
        return status;
    if (is_open_item(run, item) && run->is_last)
        return finish_item(run, item, "", 0, run->death, err);
    if (!is_open_item(run, item) && wait_status != 0 && ++run->idle_deaths > IDLE_DEATHS_MAX)
        return pp_error_set(err, PP_EFAIL, "workers end before they begin: the last one %s",
                            run->death);
    return PP_OK;
}

static int wait_end(pid_t pid, int options, int *wait_status)
{
    pid_t ended;

    do
        ended = waitpid(pid, wait_status, options);
    while (ended < 0 && errno == EINTR);
    return ended != 0;
}

/* Reads from a worker that has sent data, or has closed its end by ending. */
static enum pp_status listen_to(struct run *run, int index, struct pp_error *err)
{
    struct pp_pool_worker *worker = &run->workers[index];
    bool has_more = true, is_sound = true;
    int wait_status = 0;

    PP_TRY(receive(run, worker, &has_more, &is_sound, err));
    if (has_more && is_sound)
        return PP_OK;
    kill(worker->pid, SIGKILL); /* no effect on a process that ends */
    wait_end(worker->pid, 0, &wait_status);
    return bury(run, index, wait_status, is_sound, err);
}

/* Ends a worker that others have stopped for 10 s: it would never end. Time counts in ticks, as
 * this process may be stopped, too. */
static void end_if_halted(struct pp_pool_worker *worker)
{
    worker->halted = pp_worker_is_halted(worker) ? worker->halted + 1 : 0;
    if (worker->halted >= HALTED_TICKS)
        kill(worker->pid, SIGKILL);
}

/* Finds ended workers whose pipe a child of theirs holds open, and those that are stopped. */
static enum pp_status look_after_all(struct run *run, struct pp_error *err)
{
    for (int i = 0; i < run->count; i++) {
        int wait_status = 0;
        if (run->workers[i].pid != 0)
            end_if_halted(&run->workers[i]);
        if (run->workers[i].pid != 0 && wait_end(run->workers[i].pid, WNOHANG, &wait_status))
            PP_TRY(bury(run, i, wait_status, true, err));
    }
    return PP_OK;
}

/* Starts all workers that it can; false with errno if none. Retries after the next tick. */
static bool fill(struct run *run)
{
    int living = 0, why = 0;
    sigset_t before;

    pp_process_hold(&before); /* no signal comes during a fork */
    for (int i = 0; i < run->count; i++) {
        struct pp_pool_worker *worker = &run->workers[i];
        const bool is_wanted = worker->pid == 0 && why == 0 && (!run->is_short || living == 0);
        if (is_wanted && atomic_load(&run->board->next) < run->board->end &&
            !pp_worker_start(worker, run->pool, run->board, i, &before))
            why = errno;
        run->polls[i] = (struct pollfd){.fd = worker->results, .events = POLLIN};
        living += worker->pid != 0;
        if (worker->pid != 0)
            run->poll_count = i + 1; /* poll() refuses more of them than descriptors */
    }
    pp_process_release(&before);
    run->is_short |= why != 0;
    errno = why;
    return living > 0;
}

static enum pp_status tick(struct run *run, struct pp_error *err)
{
    const double now = pp_clock_s();

    if (now - run->tick_s < 1e-3 * TICK_MS)
        return PP_OK;
    run->tick_s = now;
    run->is_short = false;
    if (run->pool->tick)
        run->pool->tick(run->pool->context);
    return look_after_all(run, err);
}

/* Runs until all is done, or a signal ends the run. */
static enum pp_status serve(struct run *run, struct pp_error *err)
{
    while (!is_interrupted) {
        if (!fill(run)) {
            if (errno == 0)
                return PP_OK;
            return pp_error_set(err, PP_EFAIL, "cannot start a worker: %s", strerror(errno));
        }
        const int ready = wait_for(run->polls, run->poll_count);
        for (int i = 0; i < run->poll_count && ready > 0 && !is_interrupted; i++)
            if (run->polls[i].revents)
                PP_TRY(listen_to(run, i, err));
        PP_TRY(tick(run, err));
    }
    return PP_OK;
}

/* Ends all workers; complete results count unless done() has refused one. */
static enum pp_status end_all(struct run *run, enum pp_status status, struct pp_error *err)
{
    for (int i = 0; i < run->count; i++)
        if (run->workers[i].pid != 0)
            kill(run->workers[i].pid, SIGKILL);
    for (int i = 0; i < run->count; i++) {
        struct pp_pool_worker *worker = &run->workers[i];
        bool is_sound = true;
        if (worker->pid == 0)
            continue;
        wait_end(worker->pid, 0, &(int){0});
        if (status == PP_OK)
            status = drain(run, worker, &is_sound, err);
        pp_worker_close(worker);
    }
    return status;
}

/* Runs the items of workers that ended early once more, each alone. */
static enum pp_status serve_again(struct run *run, struct pp_error *err)
{
    const int64_t open = run->pool->items - run->seen_count;

    if (open == 0 || is_interrupted)
        return PP_OK;
    run->is_last = true;
    run->count = run->poll_count = 1; /* all others have ended */
    pp_tell("%s: warning: %lld worker%s ended early, the last one %s; %s again",
            program_invocation_short_name, (long long)open, open == 1 ? "" : "s", run->death,
            open == 1 ? "its work is done" : "their work is done, one by one,");
    for (int64_t item = 0; run->seen_count < run->pool->items && !is_interrupted; item++) {
        if (!is_open_item(run, item))
            continue;
        run->board->end = item + 1;
        atomic_store(&run->board->next, item);
        PP_TRY(serve(run, err));
        if (is_open_item(run, item) && !is_interrupted) /* ended before it stored its item */
            PP_TRY(finish_item(run, item, "", 0, run->death, err));
    }
    return PP_OK;
}

static enum pp_status conduct(struct run *run, struct pp_error *err)
{
    catch_signals();
    enum pp_status status = serve(run, err);
    if (status == PP_OK)
        status = serve_again(run, err);
    status = end_all(run, status, err);
    if (status == PP_OK && is_interrupted)
        status = pp_error_set(err, PP_EINTR, "interrupted");
    release_signals();
    return status;
}

enum pp_status pp_pool_run(const struct pp_pool *pool, struct pp_error *err)
{
    const int wanted = pool->workers > 0 ? pool->workers : pp_pool_cores();
    const int count = wanted < pool->items ? wanted : (int)pool->items;

    if (pool->items <= 0)
        return PP_OK;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const size_t board_bytes =
        sizeof(struct pp_worker_board) + (size_t)count * sizeof(struct pp_worker_slot);
    void *board =
        mmap(NULL, board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED)
        return pp_error_set(err, PP_EFAIL, "no memory for %d workers: %s", count, strerror(errno));
    ((struct pp_worker_board *)board)->end = pool->items;
    struct run run = {.pool = pool,
                      .arena = arena,
                      .board = board,
                      .workers = PP_ARRAY(arena, struct pp_pool_worker, count),
                      .polls = PP_ARRAY(arena, struct pollfd, count),
                      .count = count,
                      .seen = PP_ARRAY(arena, unsigned char, pool->items / 8 + 1),
                      .tick_s = pp_clock_s()};
    for (int i = 0; i < count; i++)
        run.workers[i].results = run.workers[i].log = -1;
    const enum pp_status status = conduct(&run, err);
    munmap(board, board_bytes);
    return status;
}
