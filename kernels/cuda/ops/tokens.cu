/* Tokens: fetched from the host, and sorted. */
#include "kernels/cuda/device/map.cuh"
#include "kernels/cuda/ops/tokens.cuh"

namespace
{
struct fetch {
    const int32_t *ids;
    int32_t *to;
    int tokens, first, stride;

    template <int N> __device__ void run(int64_t i) const
    {
        to[i] = ids[i / tokens * stride + first + i % tokens];
    }
};

/* place[i], the place of token i, is the number of tokens with a lower id, or the same id and a
 * lower index. A block compares 256 tokens with PART others; counts are added in any order. */
enum { THREADS = 256, PART = 2048 };
__global__ __launch_bounds__(THREADS) void place_kernel(int count, const int32_t *ids, int *place)
{
    __shared__ int32_t others[PART];
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x), first = (int)blockIdx.y * PART;
    const int part = count - first < PART ? count - first : PART;
    const int32_t id = i < count ? ids[i] : 0;
    const int before = i - first; /* number of tokens of the part before token i */
    int lower = 0;

    for (int j = (int)threadIdx.x; j < part; j += THREADS)
        others[j] = ids[first + j];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < part; j++)
        lower += others[j] < id + (j < before);
    if (i < count)
        atomicAdd(&place[i], lower);
}

struct invert {
    const int *place;
    int *order;

    template <int N> __device__ void run(int64_t i) const
    {
        order[place[i]] = (int)i;
    }
};
} // namespace

void pp_cuda_fetch_tokens(void *stream, int batch, int tokens, int first, int stride,
                          const int32_t *ids, int32_t *to)
{
    pp_map<1>(stream, (int64_t)batch * tokens, true, fetch{ids, to, tokens, first, stride});
}

void pp_cuda_order_tokens(void *stream, int count, const int32_t *ids, int *place, int *order)
{
    const dim3 grid((unsigned)(count + THREADS - 1) / THREADS, (unsigned)(count + PART - 1) / PART);

    if (count == 0)
        return;
    cudaMemsetAsync(place, 0, sizeof(int) * (size_t)count, pp_cuda_of(stream));
    PP_LAUNCH(place_kernel, grid, THREADS, 0, pp_cuda_of(stream), count, ids, place);
    pp_map<1>(stream, count, true, invert{place, order});
}
