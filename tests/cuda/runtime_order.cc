/* tests/cuda/runtime_order.cc — runs the work that waits in streams, in a legal but adverse order.
 *
 * Records and waits are passed as soon as possible. Then the work at the heads of streams may run,
 * and any choice among these is legal. Until all queues have run empty, one stream is held back: it
 * runs only when nothing else can. Then another stream is held back, and after a round of all
 * streams the others have another order. An attempt that is not over comes after all other work. */
#include "core/random.h"
#include "tests/cuda/runtime.h"

#include <algorithm>
#include <chrono>
#include <time.h>

static const std::chrono::microseconds ATTEMPTS_APART(50);

/* ---- orders ---------------------------------------------------------------------------------- */

static uint64_t drawn(const CUstream_st *, uint64_t random, int stream)
{
    return pp_random_bits(random, (uint64_t)stream);
}

static uint64_t issued_last_first(const CUstream_st *s, uint64_t, int)
{
    return s->nodes.front().number;
}

static uint64_t issued_first_first(const CUstream_st *s, uint64_t, int)
{
    return UINT64_MAX - s->nodes.front().number;
}

/* The same until the queues have run empty: the first runs whenever it can. */
static uint64_t fixed_priorities(const CUstream_st *, uint64_t, int stream)
{
    const struct runtime &r = pp_runtime();
    return pp_random_bits(pp_random_stream(r.seed, r.turn), (uint64_t)stream);
}

static uint64_t (*const orders[])(const CUstream_st *stream, uint64_t random, int number) = {
    drawn,
    issued_last_first,
    fixed_priorities,
    issued_first_first,
};
enum { ORDERS = sizeof orders / sizeof *orders };

/* ---- what may run ---------------------------------------------------------------------------- */

static const CUstream_st *default_stream(const CUstream_st *s)
{
    return pp_runtime().streams[(size_t)s->device];
}

static bool comes_first(const CUstream_st *s, uint64_t number)
{
    return s->nodes.empty() || s->nodes.front().number > number;
}

/* The default stream waits for all that was issued before to streams that are not
 * cudaStreamNonBlocking, and these for it. */
static bool is_in_turn(const CUstream_st *s)
{
    const struct runtime &r = pp_runtime();
    const uint64_t number = s->nodes.front().number;

    if (s != default_stream(s))
        return (s->flags & cudaStreamNonBlocking) || comes_first(default_stream(s), number);
    return std::all_of(r.streams.begin(), r.streams.end(), [&](const CUstream_st *other) {
        return other == s || other->device != s->device || (other->flags & cudaStreamNonBlocking) ||
               comes_first(other, number);
    });
}

/* By the law, a stream runs what is at its head once this was issued and all before is over. */
static double begin_s(const CUstream_st *s)
{
    return std::max(s->law_s, s->nodes.front().issued_s);
}

static void record(CUstream_st *s)
{
    const struct runtime &r = pp_runtime();
    const struct node &head = s->nodes.front();

    s->law_s = begin_s(s);
    head.event->passed = head.record;
    head.event->passed_s = r.law > 0 ? s->law_s : r.clock_s;
}

static void end_wait(CUstream_st *s)
{
    const double passed_s = s->nodes.front().event->passed_s;

    s->law_s = std::max(begin_s(s), passed_s) + pp_runtime().law * pp_law_wait_s();
}

static bool is_free(const CUstream_st *s)
{
    return !s->nodes.empty() && !s->is_busy && is_in_turn(s);
}

/* Pass the head if it is a record, or a wait that is over. */
static bool pass(CUstream_st *s)
{
    if (!is_free(s))
        return false;
    const struct node &head = s->nodes.front();
    if (head.kind == NODE_RECORD)
        record(s);
    else if (head.kind == NODE_WAIT && head.event->passed >= head.record)
        end_wait(s);
    else
        return false;
    s->nodes.pop_front();
    return true;
}

static void settle(void)
{
    bool has_passed = true;

    while (has_passed) {
        has_passed = false;
        for (CUstream_st *s : pp_runtime().streams)
            while (pass(s))
                has_passed = true;
    }
}

static bool is_work(const CUstream_st *s)
{
    return is_free(s) && s->nodes.front().kind != NODE_WAIT && !s->has_tried;
}

static CUstream_st *choose(void)
{
    struct runtime &r = pp_runtime();
    const uint64_t turn = r.seed + r.turn, streams = r.streams.size();
    const uint64_t held_back = turn % streams, order = (turn + turn / streams) % ORDERS;
    const uint64_t random = pp_random_stream(r.seed, r.chosen++);
    CUstream_st *best = NULL;
    uint64_t highest = 0;

    for (size_t i = 0; i < streams; i++) {
        CUstream_st *s = r.streams[i];
        if (!is_work(s))
            continue;
        r.had_choice |= best != NULL;
        const uint64_t score = i == held_back ? 0 : 1 + orders[order](s, random, (int)i) / 2;
        if (!best || score > highest) {
            best = s;
            highest = score;
        }
    }
    return best;
}

/* ---- running --------------------------------------------------------------------------------- */

static double thread_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool attempt(CUstream_st *s)
{
    const bool is_over = s->nodes.front().attempt();

    s->has_tried = !is_over;
    return is_over;
}

static bool run_on_device(CUstream_st *s)
{
    const double start_s = thread_s();
    bool is_over = true;

    const bool is_everywhere = s->sm_count == 0 || s->nodes.front().is_everywhere;

    pp_runtime().first_sm = is_everywhere ? 0 : s->first_sm;
    pp_runtime().sm_count = is_everywhere ? 0 : s->sm_count;
    if (s->nodes.front().kind == NODE_TRY) {
        is_over = attempt(s);
    } else {
        pp_open_memory();
        s->nodes.front().work();
    }
    pp_runtime().clock_s += thread_s() - start_s;
    if (is_over)
        s->law_s = begin_s(s) + pp_runtime().law * s->nodes.front().law_s;
    return is_over;
}

static void run_head(std::unique_lock<std::mutex> &lock, CUstream_st *s)
{
    if (s->nodes.front().kind == NODE_HOST) {
        pp_close_memory();
        pp_run_host_function(lock, s);
    } else if (run_on_device(s)) {
        s->nodes.pop_front();
    }
}

/* After a fault nothing runs any more. */
static void drop_all(void)
{
    for (CUstream_st *s : pp_runtime().streams) {
        const bool keeps_head = s->is_busy;
        for (size_t i = keeps_head; i < s->nodes.size(); i++)
            if (s->nodes[i].kind == NODE_RECORD)
                s->nodes[i].event->passed = s->nodes[i].record;
        s->nodes.erase(s->nodes.begin() + keeps_head, s->nodes.end());
    }
}

/* False: nothing can run now. */
static bool run_next(std::unique_lock<std::mutex> &lock)
{
    CUstream_st *s = choose();

    if (!s)
        return false;
    run_head(lock, s);
    if (pp_runtime().broken != cudaSuccess)
        drop_all();
    settle();
    return true;
}

/* Whatever was tried in vain may be over now. False: nothing was. */
static bool forget_attempts(void)
{
    bool were_there = false;

    for (CUstream_st *s : pp_runtime().streams) {
        were_there |= s->has_tried;
        s->has_tried = false;
    }
    return were_there;
}

/* No work can run before a host function ends, or another process has done its part. */
static void wait_for_others(std::unique_lock<std::mutex> &lock)
{
    struct runtime &r = pp_runtime();

    pp_close_memory();
    if (forget_attempts())
        r.host_function_over.wait_for(lock, ATTEMPTS_APART);
    else if (std::any_of(r.streams.begin(), r.streams.end(),
                         [](const CUstream_st *s) { return s->is_busy; }))
        r.host_function_over.wait(lock);
    else
        pp_runtime_fail("streams wait for each other: the emulation is wrong");
}

/* A turn in which nothing was to choose does not count. */
static void count_turns(void)
{
    struct runtime &r = pp_runtime();

    if (!r.had_choice || !pp_is_idle(ALL_DEVICES))
        return;
    r.had_choice = false;
    r.turn++;
}

void pp_run_until(std::unique_lock<std::mutex> &lock, const std::function<bool()> &is_over)
{
    settle();
    while (!is_over()) {
        if (run_next(lock))
            continue;
        wait_for_others(lock);
        settle();
    }
    pp_close_memory();
    count_turns();
}

void pp_run_one(std::unique_lock<std::mutex> &lock)
{
    settle();
    if (!run_next(lock))
        forget_attempts();
    pp_close_memory();
}
