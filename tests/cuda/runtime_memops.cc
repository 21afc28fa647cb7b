/* tests/cuda/runtime_memops.cc — streams that write words of memory, and wait for them. Such words
 * may be another process's. */
#include "tests/cuda/include/cuda.h"
#include "tests/cuda/runtime.h"

static bool has_work(void)
{
    return !pp_is_idle(ALL_DEVICES);
}

/* Errors of the driver have the numbers of the runtime's, and are not kept for cudaGetLastError. */
static CUresult issue(CUstream stream, CUdeviceptr at, size_t bytes, unsigned flags,
                      const std::function<void(CUstream_st *)> &put)
{
    struct runtime &r = pp_runtime();
    const std::lock_guard<std::mutex> lock(r.mutex);
    CUstream_st *s = pp_find_stream(stream);

    if (r.broken != cudaSuccess)
        return (CUresult)r.broken;
    if (!s)
        return (CUresult)cudaErrorInvalidResourceHandle;
    if (flags || at % bytes || !pp_find_allocation((void *)at, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    pp_turn_on(has_work);
    put(s);
    return CUDA_SUCCESS;
}

/* Until the difference to `value`, as a number with a sign, is none below zero. */
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr at, uint64_t value, unsigned flags)
{
    const uint64_t *word = (const uint64_t *)at;

    return issue(stream, at, sizeof *word, flags, [=](CUstream_st *s) {
        pp_issue_attempt(s,
                         [=] { return (int64_t)(pp_read_word(word, sizeof *word) - value) >= 0; });
    });
}

CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr at, unsigned value, unsigned flags)
{
    uint32_t *word = (uint32_t *)at;

    return issue(stream, at, sizeof *word, flags, [=](CUstream_st *s) {
        pp_issue(s, {NODE_WORK, 0, [=] { __atomic_store_n(word, value, __ATOMIC_RELEASE); },
                     nullptr, 0});
    });
}
