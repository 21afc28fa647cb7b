/* tests/cuda/nccl/calls.cc — calls that move no bytes: versions, errors, communicators from their
 * beginning to their end. */
#include "tests/cuda/nccl/stub.h"

#include <set>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <thread>

static std::mutex handles_mutex;
static std::set<ncclComm_t> handles;
static thread_local std::string said = "no error";

/* ---- errors ---------------------------------------------------------------------------------- */

static std::string format_text(const char *format, va_list arguments)
{
    char text[256];

    vsnprintf(text, sizeof text, format, arguments);
    return text;
}

void stub_say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    said = format_text(format, arguments);
    va_end(arguments);
}

/* The first one stays. */
ncclResult_t comm::fail(ncclResult_t error, const char *format, ...)
{
    const std::lock_guard<std::mutex> lock(mutex);
    va_list arguments;

    if (failure != ncclSuccess)
        return failure;
    va_start(arguments, format);
    message = format_text(format, arguments);
    va_end(arguments);
    return failure = error;
}

ncclResult_t comm::error(std::string *text)
{
    const std::lock_guard<std::mutex> lock(mutex);

    if (text && failure != ncclSuccess)
        *text = message;
    return failure;
}

ncclResult_t stub_called(void)
{
    static std::atomic<uint64_t> calls;
    static const uint64_t fault = pp_number_of("PP_STUB_NCCL_FAIL", 0);

    if (++calls != fault)
        return ncclSuccess;
    stub_say("a fault that was asked for");
    return ncclSystemError;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[ncclNumResults] = {
        "no error",
        "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        "unhandled system error (run with NCCL_DEBUG=INFO for details)",
        "internal error - please report this issue to the NCCL developers",
        "invalid argument (run with NCCL_DEBUG=WARN for details)",
        "invalid usage (run with NCCL_DEBUG=WARN for details)",
        "remote process exited or there was a network error",
        "NCCL operation in progress",
    };

    return (unsigned)result < ncclNumResults ? texts[result] : "unknown result code";
}

/* NULL, or one that has not failed: what this thread was told last. */
const char *ncclGetLastError(ncclComm_t handle)
{
    if (handle)
        handle->comm->error(&said);
    return said.c_str();
}

ncclResult_t ncclGetVersion(int *version)
{
    *version = (int)pp_number_of("PP_STUB_NCCL_VERSION", NCCL_VERSION_CODE);
    return ncclSuccess;
}

/* ---- communicators --------------------------------------------------------------------------- */

static bool is_handle(ncclComm_t handle)
{
    const std::lock_guard<std::mutex> lock(handles_mutex);
    return handles.count(handle) > 0;
}

static void forget(ncclComm_t handle)
{
    const std::lock_guard<std::mutex> lock(handles_mutex);
    handles.erase(handle);
    delete handle;
}

ncclResult_t stub_find(ncclComm_t handle, comm_ref *comm)
{
    const ncclResult_t called = stub_called();

    if (called != ncclSuccess)
        return called;
    if (!is_handle(handle)) {
        stub_say("not a communicator");
        return ncclInvalidArgument;
    }
    *comm = handle->comm;
    const ncclResult_t error = (*comm)->error(&said);
    if (error == ncclSuccess && (*comm)->jobs > 0) {
        stub_say("Attempt to use communicator before the previous operation returned ncclSuccess");
        return ncclInvalidArgument;
    }
    return error;
}

static bool is_legal(const ncclConfig_t &c, int ranks, int rank)
{
    return c.size == sizeof c && c.magic == 0xcafebeef && ranks > 0 && rank >= 0 && rank < ranks &&
           (c.maxCTAs == NCCL_CONFIG_UNDEF_INT || c.maxCTAs > 0) &&
           (c.blocking == NCCL_CONFIG_UNDEF_INT || c.blocking == 0 || c.blocking == 1);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *handle, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t *config)
{
    const ncclResult_t called = stub_called();
    const comm_ref comm = std::make_shared<struct comm>();

    if (called != ncclSuccess)
        return stub_failed(called);
    if (!is_legal(*config, ranks, rank)) {
        stub_say("rank %d of %d, or a setting of the communicator, is out of range", rank, ranks);
        return stub_failed(ncclInvalidArgument);
    }
    if (cudaGetDevice(&comm->device) != cudaSuccess)
        return stub_failed(ncclUnhandledCudaError);
    stub_turn_on();
    comm->rank = rank;
    comm->ranks = ranks;
    comm->is_blocking = config->blocking != 0;
    comm->name = config->commName ? config->commName : "";
    *handle = new ncclComm{comm};
    const std::lock_guard<std::mutex> lock(handles_mutex);
    handles.insert(*handle);
    return stub_make(comm, id);
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    return ncclCommInitRankConfig(comm, ranks, id, rank, &config);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t *error)
{
    if (!is_handle(handle))
        return ncclInvalidArgument;
    *error = handle->comm->error(NULL);
    if (*error == ncclSuccess && handle->comm->jobs > 0)
        *error = ncclInProgress;
    return ncclSuccess;
}

static void wait_for_operations(const comm_ref &comm)
{
    pp_call([&](auto &lock) {
        pp_run_until(lock, [&] {
            return comm->over == comm->issued || comm->is_aborted ||
                   comm->error(NULL) != ncclSuccess || pp_runtime().broken != cudaSuccess;
        });
        return cudaSuccess;
    });
}

ncclResult_t ncclCommFinalize(ncclComm_t handle)
{
    comm_ref comm;
    const ncclResult_t found = stub_find(handle, &comm);

    return found == ncclSuccess ? stub_run({comm}, [comm] { wait_for_operations(comm); }) : found;
}

ncclResult_t ncclCommDestroy(ncclComm_t handle)
{
    comm_ref comm;
    const ncclResult_t found = stub_find(handle, &comm);

    if (found != ncclSuccess)
        return found;
    wait_for_operations(comm);
    forget(handle);
    return ncclSuccess;
}

/* The end of the group waits for what gives up now. */
ncclResult_t ncclCommAbort(ncclComm_t handle)
{
    if (!is_handle(handle))
        return stub_failed(ncclInvalidArgument);
    handle->comm->is_aborted = true;
    return stub_bury(handle);
}

/* The others see closed connections. */
void stub_reclaim(ncclComm_t handle)
{
    const comm_ref comm = handle->comm;

    while (comm->jobs > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    for (const auto &peer : comm->peers)
        for (const struct connection &c : peer)
            if (c.wire.fd >= 0)
                shutdown(c.wire.fd, SHUT_RDWR);
    forget(handle);
}
