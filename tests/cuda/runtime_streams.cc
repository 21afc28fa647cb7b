/* tests/cuda/runtime_streams.cc — streams, events, launches, copies: what is written down. */
#include "core/random.h"
#include "tests/cuda/emulate_launch.h"
#include "tests/cuda/runtime.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_SHARED_BYTES = 48 << 10 };

static std::map<const void *, size_t> shared_bytes_allowed; /* by kernel */

/* A thread of the host has waited for what ended at `s` by the law. */
static void host_has_seen(double s)
{
    pp_runtime().host_s = std::max(pp_runtime().host_s, s);
}

/* ---- streams --------------------------------------------------------------------------------- */

struct CUstream_st *pp_find_stream(cudaStream_t stream)
{
    const struct runtime &r = pp_runtime();

    if (!stream)
        return r.streams[(size_t)pp_current_device()];
    return std::count(r.streams.begin(), r.streams.end(), stream) ? stream : NULL;
}

void pp_issue(struct CUstream_st *stream, struct node node)
{
    if (stream->capture) {
        stream->capture->nodes.push_back([node](CUstream_st *to) { pp_issue(to, node); });
        return;
    }
    node.number = ++pp_runtime().issued;
    node.issued_s = pp_runtime().host_s;
    stream->nodes.push_back(std::move(node));
}

void pp_issue_attempt(struct CUstream_st *stream, std::function<bool()> attempt)
{
    pp_issue(stream, {NODE_TRY, 0, nullptr, nullptr, 0, std::move(attempt)});
}

void pp_issue_launch(struct CUstream_st *stream, double law_s,
                     std::function<void(uint64_t seed)> work)
{
    if (stream->capture) {
        stream->capture->nodes.push_back(
            [law_s, work](CUstream_st *to) { pp_issue_launch(to, law_s, work); });
        return;
    }
    const uint64_t number = ++pp_runtime().launches;

    if (number == pp_runtime().hang) {
        pp_issue_attempt(stream, [] { return false; });
        return;
    }
    pp_issue(stream, {NODE_WORK, 0,
                      [number, work] {
                          struct runtime &now = pp_runtime();
                          if (number == now.fault)
                              now.broken = cudaErrorLaunchFailure;
                          else
                              work(pp_random_stream(now.seed, number));
                      },
                      nullptr, 0, nullptr, law_s});
}

cudaError_t pp_with_stream(cudaStream_t stream, const stream_body &body)
{
    return pp_call([&](auto &lock) {
        CUstream_st *s = pp_find_stream(stream);
        return s ? body(lock, s) : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t pp_with_work_for(cudaStream_t stream, const stream_body &body)
{
    return pp_with_stream(stream, [&](auto &lock, CUstream_st *s) {
        const cudaError_t error = pp_check_enqueue(s);
        return error == cudaSuccess ? body(lock, s) : error;
    });
}

bool pp_is_idle(int device)
{
    const auto &streams = pp_runtime().streams;

    return std::all_of(streams.begin(), streams.end(), [device](const CUstream_st *s) {
        return s->nodes.empty() || (device != ALL_DEVICES && s->device != device);
    });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority)
{
    return pp_call([&](auto &) {
        *stream = new CUstream_st{
            pp_current_device(), std::min(0, std::max(-5, priority)), flags, false, {}};
        pp_runtime().streams.push_back(*stream);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    return pp_with_stream(stream, [&](auto &, CUstream_st *s) {
        *priority = s->priority;
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return pp_with_stream(stream, [](auto &lock, CUstream_st *s) {
        const cudaError_t error = pp_check_wait(s);
        if (error == cudaSuccess) {
            pp_run_until(lock, [s] { return s->nodes.empty(); });
            host_has_seen(s->law_s);
        }
        return error;
    });
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return pp_with_stream(stream, [](auto &lock, CUstream_st *s) {
        const cudaError_t error = pp_check_wait(s);
        if (error != cudaSuccess)
            return error;
        pp_run_one(lock);
        return s->nodes.empty() ? cudaSuccess : cudaErrorNotReady;
    });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (!stream)
        return pp_set_last_error(cudaErrorInvalidResourceHandle);
    return pp_with_stream(stream, [](auto &lock, CUstream_st *s) {
        auto &streams = pp_runtime().streams;
        if (s->capture)
            return pp_spoil(s);
        pp_run_until(lock, [s] { return s->nodes.empty(); });
        streams.erase(std::find(streams.begin(), streams.end(), s));
        delete s;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSynchronize(void)
{
    return pp_call([](auto &lock) {
        const int device = pp_current_device();
        const cudaError_t error = pp_check_wait(NULL);
        if (error != cudaSuccess)
            return error;
        pp_run_until(lock, [device] { return pp_is_idle(device); });
        for (const CUstream_st *s : pp_runtime().streams)
            host_has_seen(s->device == device ? s->law_s : 0);
        return cudaSuccess;
    });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    return pp_with_work_for(stream, [&](auto &, CUstream_st *s) {
        pp_issue(s, {NODE_HOST, 0, [function, data] { function(data); }, nullptr, 0});
        return cudaSuccess;
    });
}

/* ---- events ---------------------------------------------------------------------------------- */

static cudaError_t
with_event(cudaEvent_t event,
           const std::function<cudaError_t(std::unique_lock<std::mutex> &)> &body)
{
    return pp_call([&](auto &lock) {
        const auto &events = pp_runtime().events;
        return std::count(events.begin(), events.end(), event) ? body(lock)
                                                               : cudaErrorInvalidResourceHandle;
    });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    return pp_call([&](auto &) {
        *event = new CUevent_st{flags, std::make_shared<struct event>()};
        pp_runtime().events.push_back(*event);
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return with_event(event, [&](auto &) {
        auto &events = pp_runtime().events;
        events.erase(std::find(events.begin(), events.end(), event));
        delete event;
        return cudaSuccess;
    });
}

/* The same with a stream that this thread may give work to. */
static cudaError_t with_both(cudaEvent_t event, cudaStream_t stream,
                             const std::function<cudaError_t(CUstream_st *)> &body)
{
    return with_event(event, [&](auto &) {
        CUstream_st *s = pp_find_stream(stream);
        const cudaError_t error = s ? pp_check_enqueue(s) : cudaErrorInvalidResourceHandle;
        return error == cudaSuccess ? body(s) : error;
    });
}

static void record(CUstream_st *s, const std::shared_ptr<struct event> &e)
{
    pp_issue(s, {NODE_RECORD, 0, nullptr, e, ++e->issued});
}

/* External: a node of the graph, which records the event whenever it runs. */
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags)
{
    return with_both(event, stream, [&](CUstream_st *s) {
        const bool is_external = flags == cudaEventRecordExternal;
        if ((flags != cudaEventRecordDefault && !is_external) || (is_external && !s->capture))
            return cudaErrorInvalidValue;
        event->is_captured = s->capture && !is_external;
        event->state->is_of_graph = is_external;
        if (!s->capture)
            record(s, event->state);
        else if (is_external)
            s->capture->nodes.push_back([e = event->state](CUstream_st *to) { record(to, e); });
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

/* Nothing waits across the border of a capture: what came before is over when the graph runs, or
 * not. A second stream of a capture is not emulated. */
static cudaError_t cross(CUstream_st *stream, const CUevent_st *event)
{
    if (event->is_captured)
        return stream->capture ? pp_spoil(stream) : cudaErrorStreamCaptureUnsupported;
    pp_spoil(stream);
    return cudaErrorStreamCaptureIsolation;
}

/* Of an event that was never recorded: nothing to wait for. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int)
{
    return with_both(event, stream, [&](CUstream_st *s) {
        if (s->capture || event->is_captured)
            return cross(s, event);
        pp_issue(s, {NODE_WAIT, 0, nullptr, event->state, event->state->issued});
        return cudaSuccess;
    });
}

static cudaError_t check_event(const CUevent_st *event)
{
    return event->is_captured ? cudaErrorCapturedEvent : pp_check_unsafe();
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return with_event(event, [&](auto &lock) {
        const std::shared_ptr<struct event> e = event->state;
        const uint64_t record = e->issued;
        const cudaError_t error = check_event(event);
        if (error != cudaSuccess)
            return error;
        pp_run_until(lock, [=] { return e->passed >= record; });
        host_has_seen(pp_runtime().law > 0 ? e->passed_s : 0);
        return cudaSuccess;
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return with_event(event, [&](auto &lock) {
        const std::shared_ptr<struct event> e = event->state;
        const cudaError_t error = check_event(event);
        if (error != cudaSuccess)
            return error;
        pp_run_one(lock);
        return e->passed >= e->issued ? cudaSuccess : cudaErrorNotReady;
    });
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    return with_event(start, [&](auto &) {
        if (start->is_captured || end->is_captured)
            return cudaErrorCapturedEvent;
        if ((start->state->is_of_graph || end->state->is_of_graph) && !pp_runtime().has_graph_times)
            return cudaErrorInvalidResourceHandle;
        if (((start->flags | end->flags) & cudaEventDisableTiming) || start->state->issued == 0 ||
            end->state->issued == 0)
            return cudaErrorInvalidResourceHandle;
        if (start->state->passed < start->state->issued || end->state->passed < end->state->issued)
            return cudaErrorNotReady;
        *ms = (float)(1e3 * (end->state->passed_s - start->state->passed_s));
        return cudaSuccess;
    });
}

/* ---- launches -------------------------------------------------------------------------------- */

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value)
{
    return pp_call([&](auto &) {
        if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
            return cudaSuccess;
        if (value < 0 || value > pp_shared_bytes_of_block())
            return cudaErrorInvalidValue;
        shared_bytes_allowed[kernel] = (size_t)value;
        return cudaSuccess;
    });
}

static cudaError_t check(const struct pp_emulated_launch &l)
{
    const auto allowed = shared_bytes_allowed.find(l.kernel);
    const uint64_t threads = (uint64_t)l.block.x * l.block.y * l.block.z;

    if (threads == 0 || threads > 1024 || l.block.z > 64 || l.grid.x == 0 || l.grid.y == 0 ||
        l.grid.z == 0 || l.grid.x > INT32_MAX || l.grid.y > 65535 || l.grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (l.shared_bytes > std::max((size_t)DEFAULT_SHARED_BYTES,
                                  allowed == shared_bytes_allowed.end() ? 0 : allowed->second))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

static double threads_of(const struct pp_emulated_launch &l)
{
    return (double)l.grid.x * l.grid.y * l.grid.z * l.block.x * l.block.y * l.block.z;
}

static bool waits_for_others(const CUstream_st *s)
{
    return s->device == pp_current_device() &&
           std::any_of(s->nodes.begin(), s->nodes.end(),
                       [](const struct node &n) { return n.kind == NODE_TRY; });
}

void pp_load(const char *name, const std::string &key)
{
    static const char *const is_lazy = getenv("PP_EMULATED_LAZY");
    static std::set<std::string> loaded;

    if (!is_lazy)
        return;
    struct runtime &r = pp_runtime();
    std::unique_lock<std::mutex> lock(r.mutex);
    if (!loaded.insert(key).second)
        return;
    if (std::any_of(r.streams.begin(), r.streams.end(), waits_for_others))
        pp_runtime_fail("%s is loaded while the device waits for another process", name);
    lock.unlock();
    cudaDeviceSynchronize();
}

void pp_emulated_enqueue(struct pp_emulated_launch launch, cudaStream_t stream)
{
    pp_load(launch.name, {(const char *)&launch.kernel, sizeof launch.kernel});
    pp_with_work_for(stream, [&](auto &, CUstream_st *s) {
        const cudaError_t error = check(launch);
        if (error != cudaSuccess)
            return error;
        for (const void *pointer : launch.pointers)
            pp_need_device_memory(launch.name, pointer, 0, s->device);
        pp_issue_launch(s, pp_law_kernel_s(threads_of(launch)),
                        [launch](uint64_t seed) { pp_emulated_run(&launch, seed); });
        return cudaSuccess;
    });
}
