/* Probes of CUDA's runtime alone: versions, limits, streams, events, memory. */
#include "bench/probe/probe.h"
#include "core/arena.h"

#include <cuda_runtime_api.h>
#include <string.h>

/* The calls of a probe, in order. */
#define DO(call, what) PP_TRY(probe_try(call, what, err))

static enum pp_status versions(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    int driver = 0, runtime = 0;

    (void)is_trial;
    DO(cudaDriverGetVersion(&driver), "ask for the driver");
    DO(cudaRuntimeGetVersion(&runtime), "ask for the runtime");
    probe_found(f, "driver", driver);
    probe_found(f, "runtime", runtime);
    return driver / 1000 >= runtime / 1000
               ? PP_OK
               : pp_error_set(err, PP_EFAIL, "the driver is older than the toolkit");
}

static enum pp_status limits(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    enum { NEEDED_SHARED_BYTES = 99 << 10 }; /* of attention */
    static const struct {
        const char *name;
        enum cudaDeviceAttr attribute;
    } all[] = {
        {"multiprocessors", cudaDevAttrMultiProcessorCount},
        {"capability_major", cudaDevAttrComputeCapabilityMajor},
        {"capability_minor", cudaDevAttrComputeCapabilityMinor},
        {"shared_bytes_of_block", cudaDevAttrMaxSharedMemoryPerBlockOptin},
        {"shared_bytes_of_multiprocessor", cudaDevAttrMaxSharedMemoryPerMultiprocessor},
        {"l2_bytes", cudaDevAttrL2CacheSize},
        {"has_unified_addresses", cudaDevAttrUnifiedAddressing},
        {"can_map_host_memory", cudaDevAttrCanMapHostMemory},
    };
    int value, shared_bytes = 0;
    size_t free_bytes = 0, bytes = 0;

    (void)is_trial;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        DO(cudaDeviceGetAttribute(&value, all[i].attribute, 0), "ask for an attribute");
        probe_found(f, all[i].name, value);
        if (all[i].attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin)
            shared_bytes = value;
    }
    DO(cudaMemGetInfo(&free_bytes, &bytes), "ask for memory");
    probe_found(f, "free_bytes", (double)free_bytes);
    probe_found(f, "bytes", (double)bytes);
    return shared_bytes >= NEEDED_SHARED_BYTES
               ? PP_OK
               : pp_error_set(err, PP_EFAIL, "a block has %d bytes of shared memory, needed are %d",
                              shared_bytes, NEEDED_SHARED_BYTES);
}

/* As many streams as a machine of 16 ranks has, of both priorities that there are. */
static enum pp_status streams(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    enum { STREAMS = 96 };
    cudaStream_t all[STREAMS];
    int least = 0, greatest = 0, is = 0;

    (void)is_trial;
    DO(cudaDeviceGetStreamPriorityRange(&least, &greatest), "ask for priorities");
    const double start_s = probe_seconds();
    for (int i = 0; i < STREAMS; i++)
        DO(cudaStreamCreateWithPriority(&all[i], cudaStreamNonBlocking, i % 2 ? greatest : least),
           "make a stream");
    probe_found(f, "host_us_of_a_stream", 1e6 * (probe_seconds() - start_s) / STREAMS);
    DO(cudaStreamGetPriority(all[1], &is), "ask for a priority");
    for (int i = 0; i < STREAMS; i++)
        DO(cudaStreamDestroy(all[i]), "destroy a stream");
    probe_found(f, "least_priority", least);
    probe_found(f, "greatest_priority", greatest);
    return is == greatest
               ? PP_OK
               : pp_error_set(err, PP_EFAIL, "a stream of priority %d has %d", greatest, is);
}

/* What spans count from lies in another stream than what they end with. */
static enum pp_status events(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    cudaStream_t one, other;
    cudaEvent_t start, end, never;
    float ms = -1, pair_ms = -1;

    (void)is_trial;
    DO(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking), "make a stream");
    DO(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), "make a stream");
    DO(cudaEventCreate(&start), "make an event");
    DO(cudaEventCreate(&end), "make an event");
    DO(cudaEventCreateWithFlags(&never, cudaEventDisableTiming), "make an event");
    DO(cudaStreamWaitEvent(other, never, 0), "wait for an event that was never recorded");
    DO(cudaEventRecord(start, one), "record an event");
    DO(cudaStreamWaitEvent(other, start, 0), "wait for an event");
    DO(cudaEventRecord(end, other), "record an event");
    DO(cudaStreamSynchronize(other), "wait for a stream");
    DO(cudaEventElapsedTime(&ms, start, end), "subtract times of two streams");
    DO(cudaEventRecord(start, one), "record an event");
    DO(cudaEventRecord(end, one), "record an event");
    DO(cudaStreamSynchronize(one), "wait for a stream");
    DO(cudaEventElapsedTime(&pair_ms, start, end), "subtract times");
    probe_found(f, "us_across_streams", 1e3 * (double)ms);
    probe_found(f, "us_between_two", 1e3 * (double)pair_ms);
    cudaEventDestroy(start);
    cudaEventDestroy(end);
    cudaEventDestroy(never);
    cudaStreamDestroy(one);
    cudaStreamDestroy(other);
    return ms >= 0 ? PP_OK
                   : pp_error_set(err, PP_EFAIL, "what waited was over %g ms early", -(double)ms);
}

static enum pp_status copies(struct probe_findings *f, bool is_trial, struct pp_error *err)
{
    const size_t bytes = is_trial ? 1 << 20 : 256 << 20;
    char *pinned = NULL, *memory = NULL;
    cudaStream_t stream;

    DO(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "make a stream");
    DO(cudaHostAlloc((void **)&pinned, bytes, cudaHostAllocMapped), "allocate pinned memory");
    DO(cudaMalloc((void **)&memory, bytes), "allocate memory");
    memset(pinned, 1, bytes);
    for (int i = 0; i < 2; i++) { /* the first is slow */
        const double start_s = probe_seconds();
        DO(cudaMemcpyAsync(memory, pinned, bytes, cudaMemcpyHostToDevice, stream), "copy");
        DO(cudaStreamSynchronize(stream), "copy");
        const double middle_s = probe_seconds();
        DO(cudaMemcpyAsync(pinned, memory, bytes, cudaMemcpyDeviceToHost, stream), "copy");
        DO(cudaStreamSynchronize(stream), "copy");
        if (i == 1) {
            probe_found(f, "to_device_bytes_per_s", (double)bytes / (middle_s - start_s));
            probe_found(f, "to_host_bytes_per_s", (double)bytes / (probe_seconds() - middle_s));
        }
    }
    const bool is_right = pinned[0] == 1 && pinned[bytes - 1] == 1;
    cudaFree(memory);
    cudaFreeHost(pinned);
    cudaStreamDestroy(stream);
    return is_right ? PP_OK : pp_error_set(err, PP_EFAIL, "bytes have changed on the way");
}

/* clang-format off */
const struct probe probes_of_runtime[] = {
    {"versions", versions},
    {"limits", limits},
    {"streams", streams},
    {"events", events},
    {"copies", copies},
    {0},
};
