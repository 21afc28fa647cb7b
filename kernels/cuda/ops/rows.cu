/* Rows of experts, from the memory of all devices that share them. The device knows how many come
 * from where. Bytes moved: of each row once, and rows that are not in use. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"

#include <assert.h>

namespace
{
enum { THREADS = 256, WARPS = THREADS / 32, AT_ONCE = 256 };

/* A launch reads the memory of devices first .. first + AT_ONCE - 1. */
struct rows {
    struct pp_row_exchange e;
    int first;
    const char *from[AT_ONCE];

    /* Rows of a sender's tokens before those of a device's experts. */
    __device__ __forceinline__ int first_of(int sender, int device) const
    {
        return e.begins[sender * e.stride + device * e.experts];
    }

    __device__ __forceinline__ int rows_of(int sender, int device) const
    {
        return first_of(sender, device + 1) - first_of(sender, device);
    }

    /* Rows that one device gives another. */
    __device__ __forceinline__ int count(int giver, int taker) const
    {
        return e.is_back ? rows_of(taker, giver) : rows_of(giver, taker);
    }

    /* The first of them, in the memory of the giver. All lanes of a warp call it. */
    __device__ __forceinline__ int begin(int giver, int taker) const
    {
        int before = 0;

        if (!e.is_back)
            return first_of(giver, taker);
        for (int s = (int)threadIdx.x % 32; s < taker; s += 32)
            before += rows_of(s, giver);
        return pp_warp_sum(before);
    }
};

/* A row of a device; device -1: none comes from there. */
struct source {
    int device, row;
};

/* Finds the source of a row. All lanes of a warp call it. */
__device__ __forceinline__ source source_of(const rows &r, int row)
{
    for (int first = 0; first < r.e.devices; first += 32) {
        const int d = first + (int)threadIdx.x % 32,
                  own = d < r.e.devices ? r.count(d, r.e.index) : 0;
        const int end = pp_warp_sum_so_far(own), at = row - (end - own);
        const unsigned found = __ballot_sync(0xffffffffu, at >= 0 && at < own);
        if (found) {
            const int lane = __ffs((int)found) - 1;
            const int within = __shfl_sync(0xffffffffu, at, lane);
            const int before = r.e.is_packed ? 0 : r.begin(first + lane, r.e.index);
            return {first + lane, before + within};
        }
        row -= __shfl_sync(0xffffffffu, end, 31);
    }
    return {-1, 0};
}

/* One warp adds what came from others. */
__device__ __forceinline__ void count_moved(const rows &r)
{
    int others = 0;

    for (int d = (int)threadIdx.x; d < r.e.devices; d += 32)
        others += d == r.e.index ? 0 : r.count(d, r.e.index);
    others = pp_warp_sum(others);
    if (threadIdx.x == 0)
        *r.e.moved_bytes += (double)others * (double)r.e.row_bytes;
}

/* A warp copies a row, in units of V. */
template <class V>
__device__ __forceinline__ void copy_row(const rows &r, const char *from, int from_row, void *to,
                                         int to_row)
{
    const V *const x = (const V *)(from + (size_t)from_row * r.e.row_bytes);
    V *const y = (V *)((char *)to + (size_t)to_row * r.e.row_bytes);

    for (int i = (int)threadIdx.x % 32; i < (int)(r.e.row_bytes / sizeof(V)); i += 32)
        y[i] = x[i];
}

template <class V> __global__ __launch_bounds__(THREADS) void rows_kernel(const rows r)
{
    const int row = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;

    if (r.e.moved_bytes && r.first == 0 && blockIdx.x == 0 && threadIdx.x < 32)
        count_moved(r);
    if (row >= r.e.rows)
        return;
    const source s = source_of(r, row);
    if (s.device < 0 ? r.first > 0 : s.device < r.first || s.device >= r.first + AT_ONCE)
        return;
    if (s.device < 0) {
        V *const to = (V *)((char *)r.e.to + (size_t)row * r.e.row_bytes);
        for (int i = lane; i < (int)(r.e.row_bytes / sizeof(V)); i += 32)
            to[i] = V{};
        return;
    }
    copy_row<V>(r, r.from[s.device - r.first], s.row, r.e.to, row);
}

/* Row `at` of slot d is that of the rows for device d. */
template <class V> __global__ __launch_bounds__(THREADS) void pack_kernel(const rows r)
{
    const int row = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32, d = row / r.e.slot_rows,
              at = row % r.e.slot_rows;

    if (d < r.e.devices && at < r.count(r.e.index, d))
        copy_row<V>(r, r.from[0], r.begin(r.e.index, d) + at, r.e.to, row);
}

#define LAUNCH(kernel, count, r, is_aligned)                                                       \
    do {                                                                                           \
        const unsigned blocks = (unsigned)((count) + WARPS - 1) / WARPS;                           \
                                                                                                   \
        if (is_aligned)                                                                            \
            PP_LAUNCH((kernel<pp_packed<float, 4>>), blocks, THREADS, 0, pp_cuda_of(stream), r);   \
        else                                                                                       \
            PP_LAUNCH((kernel<uint16_t>), blocks, THREADS, 0, pp_cuda_of(stream), r);              \
    } while (0)

bool is_aligned(const struct pp_row_exchange *e)
{
    return e->row_bytes % sizeof(pp_packed<float, 4>) == 0 && pp_are_aligned(e->to);
}
} // namespace

void pp_cuda_exchange_rows(void *stream, const struct pp_row_exchange *e)
{
    assert(e->row_bytes % sizeof(uint16_t) == 0);
    for (int first = 0; first < e->devices && e->rows > 0; first += AT_ONCE) {
        rows r = {*e, first, {}};
        bool are_aligned = is_aligned(e);

        for (int d = first; d < e->devices && d < first + AT_ONCE; d++) {
            r.from[d - first] = (const char *)e->from[d];
            are_aligned = are_aligned && pp_are_aligned(e->from[d]);
        }
        LAUNCH(rows_kernel, e->rows, r, are_aligned);
    }
}

void pp_cuda_pack_rows(void *stream, const struct pp_row_exchange *e)
{
    const rows r = {*e, 0, {(const char *)e->from[0]}};

    assert(e->row_bytes % sizeof(uint16_t) == 0 && e->slot_rows > 0);
    LAUNCH(pack_kernel, e->devices * e->slot_rows, r, is_aligned(e) && pp_are_aligned(e->from[0]));
}
