/* tests/cuda/runtime_host.cc — the thread that runs host functions.
 *
 * A thread that reaches a host function waits for its end, so that orders are the same in every
 * run. The wait is short, as the function may itself wait for later work of that thread. */
#include "tests/cuda/runtime.h"

#include <chrono>
#include <thread>

static const std::chrono::milliseconds PATIENCE(20);

/* Lives forever, as the thread does. */
struct host {
    std::condition_variable has_more;
    std::deque<struct CUstream_st *> queue;
    uint64_t begun, ended;
};
static struct host &h = *new host();

static void run_host_functions(void)
{
    struct runtime &r = pp_runtime();
    std::unique_lock<std::mutex> lock(r.mutex);

    pp_is_in_host_function = true;
    for (;;) {
        h.has_more.wait(lock, [] { return !h.queue.empty(); });
        CUstream_st *s = h.queue.front();
        const std::function<void()> work = s->nodes.front().work;
        lock.unlock();
        work();
        lock.lock();
        h.queue.pop_front();
        s->nodes.pop_front();
        s->is_busy = false;
        h.ended++;
        r.host_function_over.notify_all();
    }
}

void pp_run_host_function(std::unique_lock<std::mutex> &lock, CUstream_st *s)
{
    const uint64_t number = ++h.begun;

    if (number == 1)
        std::thread(run_host_functions).detach();
    s->is_busy = true;
    h.queue.push_back(s);
    h.has_more.notify_one();
    pp_runtime().host_function_over.wait_for(lock, PATIENCE,
                                             [number] { return h.ended >= number; });
}
