/* tests/cuda/runtime_calls.cc — what all calls share: the state, errors, devices. */
#include "tests/cuda/runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

thread_local bool pp_is_in_host_function;
static thread_local cudaError_t last_error;
static thread_local int current_device;

/* ---- state ----------------------------------------------------------------------------------- */

uint64_t pp_number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static struct runtime *create(void)
{
    struct runtime *r = new struct runtime();
    const char *devices = getenv("PP_EMULATED_DEVICES");
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");

    r->devices = visible && *visible == 0 ? 0 : (int)pp_number_of("PP_EMULATED_DEVICES", 1);
    r->first_device = (int)pp_number_of("PP_EMULATED_FIRST_DEVICE", 0);
    r->driver = devices && strcmp(devices, "none") == 0
                    ? 0
                    : (int)pp_number_of("PP_EMULATED_DRIVER", CUDART_VERSION);
    r->capability = (int)pp_number_of("PP_EMULATED_CAPABILITY", 90);
    r->largest_part = (unsigned)pp_number_of("PP_EMULATED_PART", UINT32_MAX);
    r->memory_bytes = pp_number_of("PP_EMULATED_MEMORY_BYTES", (uint64_t)16 << 30);
    r->seed = pp_number_of("PP_EMULATED_SEED", 0);
    r->fault = pp_number_of("PP_EMULATED_FAULT", 0);
    r->peers = pp_number_of("PP_EMULATED_PEERS", 1) != 0;
    r->hang = pp_number_of("PP_EMULATED_HANG", 0);
    r->law = (double)pp_number_of("PP_EMULATED_LAW", 0);
    r->graph_node_bytes = pp_number_of("PP_EMULATED_GRAPH_BYTES", 64 << 10);
    r->has_graph_parts = pp_number_of("PP_EMULATED_GRAPH_PARTS", 1) != 0;
    r->has_graph_times = pp_number_of("PP_EMULATED_GRAPH_TIMES", 1) != 0;
    for (int device = 0; device < r->devices; device++)
        r->streams.push_back(new CUstream_st{device, 0, 0, false, {}});
    return r;
}

struct runtime &pp_runtime(void)
{
    static struct runtime *runtime = create();
    return *runtime;
}

int pp_current_device(void)
{
    return current_device;
}

/* ---- errors ---------------------------------------------------------------------------------- */

void pp_runtime_fail(const char *format, ...)
{
    va_list arguments;

    fputs("emulated CUDA: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    abort();
}

/* cudaErrorNotReady as well: NVIDIA says that it is not kept, but there are versions that do. */
cudaError_t pp_set_last_error(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}

static cudaError_t standing_error(const struct runtime &r)
{
    if (r.driver < CUDART_VERSION)
        return cudaErrorInsufficientDriver;
    if (r.devices == 0)
        return cudaErrorNoDevice;
    return pp_is_in_host_function ? cudaErrorNotPermitted : r.broken;
}

cudaError_t pp_call(const std::function<cudaError_t(std::unique_lock<std::mutex> &)> &body)
{
    struct runtime &r = pp_runtime();
    std::unique_lock<std::mutex> lock(r.mutex);
    const cudaError_t standing = standing_error(r);
    const cudaError_t error = standing != cudaSuccess ? standing : body(lock);

    return pp_set_last_error(error == cudaSuccess ? r.broken : error);
}

cudaError_t cudaGetLastError(void)
{
    struct runtime &r = pp_runtime();
    const std::unique_lock<std::mutex> lock(r.mutex);
    const cudaError_t error = r.broken != cudaSuccess ? r.broken : last_error;

    last_error = cudaSuccess;
    return error;
}

static const struct {
    cudaError_t error;
    const char *name, *text;
} errors[] = {
    /* clang-format off */
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorMapBufferObjectFailed, "cudaErrorMapBufferObjectFailed", "mapping of buffer object failed"},
    {cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported", "peer access is not supported between these two devices"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation", "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit", "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent", "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread", "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
    /* clang-format on */
};

static const char *about(cudaError_t error, bool is_name)
{
    for (const auto &e : errors)
        if (e.error == error)
            return is_name ? e.name : e.text;
    return "unrecognized error code";
}

const char *cudaGetErrorName(cudaError_t error)
{
    return about(error, true);
}

const char *cudaGetErrorString(cudaError_t error)
{
    return about(error, false);
}

/* ---- devices --------------------------------------------------------------------------------- */

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = pp_runtime().driver;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 0;
    return pp_call([&](auto &) {
        *count = pp_runtime().devices;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int device)
{
    return pp_call([&](auto &) {
        if (device < 0 || device >= pp_runtime().devices)
            return cudaErrorInvalidDevice;
        current_device = device;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDevice(int *device)
{
    return pp_call([&](auto &) {
        *device = current_device;
        return cudaSuccess;
    });
}
