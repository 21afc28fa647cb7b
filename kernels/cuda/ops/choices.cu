/* Rows of tokens in the order of their experts: a counting sort that keeps the order of tokens. A
 * warp reads all choices of a sample for one expert: 32,768 of them take it 1,024 votes. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/ops/choices.cuh"

#include <assert.h>

namespace
{
enum { THREADS = 256, WARPS = THREADS / 32 };

/* The choices of a sample that an expert may still take. */
__device__ __forceinline__ int room_of(const struct pp_routing &r, int at)
{
    const int before = r.before ? r.before[at] : 0, e = at % r.experts - r.first_expert;

    if (r.held > 0 && (e < 0 || e >= r.held))
        return 0;
    return r.capacity == 0 ? r.tokens * r.top_k : before < r.capacity ? r.capacity - before : 0;
}

/* row of a choice = the number of earlier ones of its sample with its expert; counts [batch]
 * [experts] = the number of all. */
__global__ __launch_bounds__(THREADS) void rank_kernel(const struct pp_routing r, int32_t *counts)
{
    const int at = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int choices = r.tokens * r.top_k, e = at % r.experts;
    const int64_t first = (int64_t)(at / r.experts) * choices;
    int count = 0;

    if (at >= r.batch * r.experts)
        return;
#pragma unroll 4
    for (int i = lane; i < (choices + 31) / 32 * 32; i += 32) {
        const bool is_ours = i < choices && r.expert[first + i] == e;
        const unsigned ours = __ballot_sync(0xffffffffu, is_ours);
        if (is_ours)
            r.row[first + i] = count + __popc(ours & ((1u << lane) - 1));
        count += __popc(ours);
    }
    if (lane == 0)
        counts[at] = count;
}

/* One warp: begin, so_far; counts become the first row of each sample and expert. */
__global__ __launch_bounds__(32) void begin_kernel(const struct pp_routing r, int32_t *counts)
{
    int all = 0;

    for (int first = 0; first < r.experts; first += 32) {
        const int e = first + (int)threadIdx.x;
        int taken = 0;
        for (int at = e; e < r.experts && at < r.batch * r.experts; at += r.experts)
            taken += min(counts[at], room_of(r, at));
        const int end = all + pp_warp_sum_so_far(taken);
        int row = end - taken;
        if (e < r.experts)
            r.begin[e] = row;
        for (int at = e; e < r.experts && at < r.batch * r.experts; at += r.experts) {
            const int count = counts[at];
            counts[at] = row;
            row += min(count, room_of(r, at));
            if (r.so_far)
                r.so_far[at] = (r.before ? r.before[at] : 0) + count;
        }
        all = __shfl_sync(0xffffffffu, end, 31);
    }
    if (threadIdx.x == 0)
        r.begin[r.experts] = all;
}

/* Choices get their rows, and rows their choices; other rows get -1. */
struct place {
    struct pp_routing r;
    const int32_t *first;
    int64_t choices;

    template <int N> __device__ void run(int64_t i) const
    {
        if (i < r.rows && i >= r.begin[r.experts])
            r.from[i] = -1;
        if (i >= choices)
            return;
        const int at = (int)(i / (r.tokens * r.top_k)) * r.experts + r.expert[i];
        const int rank = r.row[i], row = rank < room_of(r, at) ? first[at] + rank : -1;
        r.row[i] = row;
        if (row >= 0)
            r.from[row] = (int32_t)i;
    }
};

/* Thread e adds the rows of expert e. */
struct count {
    struct pp_routing r;
    int from, until;
    double *counts;

    template <int N> __device__ void run(int64_t e) const
    {
        const int rows = r.begin[r.experts];

        if (e < r.experts)
            counts[e] += r.begin[e + 1] - r.begin[e];
        else if (e == r.experts)
            counts[e] += (r.first_expert == 0 ? r.batch * r.tokens * r.top_k : 0) - rows;
        else
            counts[e] += rows - (r.begin[until] - r.begin[from]);
    }
};
} // namespace

void pp_cuda_order_choices(void *stream, const struct pp_routing *r)
{
    struct pp_cuda_stream *const s = (struct pp_cuda_stream *)stream;
    int32_t *const counts = (int32_t *)s->workspace;
    const int pairs = r->batch * r->experts;
    const int64_t choices = (int64_t)r->batch * r->tokens * r->top_k;

    assert(sizeof *counts * (size_t)pairs <= s->workspace_bytes);
    PP_LAUNCH(rank_kernel, (unsigned)(pairs + WARPS - 1) / WARPS, THREADS, 0, s->stream, *r,
              counts);
    PP_LAUNCH(begin_kernel, 1, 32, 0, s->stream, *r, counts);
    pp_map<1>(stream, choices > r->rows ? choices : r->rows, true, place{*r, counts, choices});
}

void pp_cuda_route_count(void *stream, const struct pp_routing *r, int from, int until,
                         double *counts)
{
    pp_map<1>(stream, r->experts + 2, true, count{*r, from, until, counts});
}
