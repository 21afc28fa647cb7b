/* tests/cuda/runtime_copy.cc — copies and fills. */
#include "tests/cuda/runtime.h"

#include <string.h>
#include <vector>

/* What CUDA knows of an end: memory of a device, pinned memory, or any of the host. */
static bool is_device(const void *memory, size_t bytes)
{
    const struct allocation *a = pp_find_allocation(memory, bytes);
    return a && !a->is_host;
}

static bool is_pageable(const void *memory, size_t bytes)
{
    return !pp_find_allocation(memory, bytes);
}

static bool fits(enum cudaMemcpyKind kind, bool to_device, bool from_device)
{
    static const bool to[] = {false, true, false, true}, from[] = {false, false, true, true};

    return kind == cudaMemcpyDefault || (to[kind] == to_device && from[kind] == from_device);
}

/* Pageable memory is read before the call returns, and written before it returns. What comes from
 * there may reach the device later, even for a call that waits: other streams have to wait, too. */
static cudaError_t copy(std::unique_lock<std::mutex> &lock, CUstream_st *s, void *to,
                        const void *from, size_t bytes, enum cudaMemcpyKind kind, bool is_async)
{
    if (bytes == 0)
        return cudaSuccess;
    if (!fits(kind, is_device(to, bytes), is_device(from, bytes)))
        return cudaErrorInvalidValue;
    const bool is_staged = is_pageable(from, bytes) && is_device(to, bytes);
    const cudaError_t error = pp_check_enqueue(s);
    if (error != cudaSuccess)
        return error;
    if (s->capture && (is_pageable(from, bytes) || is_pageable(to, bytes)))
        return pp_spoil(s);
    std::vector<char> staged;
    if (is_pageable(from, bytes))
        staged.assign((const char *)from, (const char *)from + bytes);
    pp_issue(s, {NODE_WORK, 0, [=] { memmove(to, staged.empty() ? from : staged.data(), bytes); },
                 nullptr, 0, nullptr, pp_law_copy_s(bytes)});
    if ((!is_async && !is_staged) || is_pageable(to, bytes))
        pp_run_until(lock, [s] { return s->nodes.empty(); });
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return pp_call([&](auto &lock) {
        const cudaError_t error = pp_check_unsafe();
        return error == cudaSuccess ? copy(lock, pp_find_stream(NULL), to, from, bytes, kind, false)
                                    : error;
    });
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return pp_with_stream(stream, [&](auto &lock, CUstream_st *s) {
        return copy(lock, s, to, from, bytes, kind, true);
    });
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream)
{
    return pp_with_work_for(stream, [&](auto &, CUstream_st *s) {
        if (bytes > 0 && !pp_find_allocation(memory, bytes))
            return cudaErrorInvalidValue;
        pp_issue(s, {NODE_WORK, 0, [=] { memset(memory, value, bytes); }, nullptr, 0, nullptr,
                     pp_law_copy_s(bytes)});
        return cudaSuccess;
    });
}

/* The host does not wait for memory of the device. */
cudaError_t cudaMemset(void *memory, int value, size_t bytes)
{
    const cudaError_t error = cudaMemsetAsync(memory, value, bytes, NULL);

    return error == cudaSuccess && !is_device(memory, bytes) ? cudaStreamSynchronize(NULL) : error;
}
