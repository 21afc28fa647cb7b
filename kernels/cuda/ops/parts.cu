/* Parts of tensors, made by devices that share each block: their sum, in order, or the largest of
 * each element. A sum of T is rounded after each AT_ONCE vectors at most. Bytes moved: every vector
 * once; of more than AT_ONCE, the result two more times for each launch after the first. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"

namespace
{
/* The parts of eight devices and a base. */
enum { AT_ONCE = 9 };

struct plus {
    static __device__ __forceinline__ float of(float a, float b)
    {
        return a + b;
    }
};

struct larger {
    static __device__ __forceinline__ float of(float a, float b)
    {
        return fmaxf(a, b);
    }
};

/* y = x[0] o x[1] o ..., of `count` vectors. All are fetched before the first is used. */
template <class T, class How, int MOST> struct joined {
    const T *x[MOST];
    T *y;
    int count;

    template <int N> __device__ void run(int64_t i) const
    {
        pp_packed<T, N> fetched[MOST];

#pragma unroll
        for (int k = 0; k < MOST; k++)
            fetched[k] = k < count ? pp_fetch<N>(x[k] + i) : pp_packed<T, N>{};
        pp_floats<N> all = pp_unpack<N, T>(fetched[0]);
#pragma unroll
        for (int k = 1; k < MOST; k++)
            if (k < count)
                join(all, pp_unpack<N, T>(fetched[k]));
        pp_save(y + i, all);
    }

    template <int N>
    static __device__ __forceinline__ void join(pp_floats<N> &all, const pp_floats<N> &next)
    {
#pragma unroll
        for (int j = 0; j < N; j++)
            all.at[j] = How::of(all.at[j], next.at[j]);
    }
};

/* Joins up to MOST vectors. With `has_y` the first of them is y. */
template <class T, class How, int MOST>
void join_some(void *stream, int64_t elements, bool has_y, int parts, const void *const *x, T *y)
{
    joined<T, How, MOST> op = {{}, y, parts + has_y};
    bool is_aligned = pp_are_aligned(y);

    op.x[0] = y;
    for (int k = 0; k < parts; k++) {
        op.x[k + has_y] = (const T *)x[k];
        is_aligned = is_aligned && pp_are_aligned(x[k]);
    }
    pp_map<PP_WIDE<T>>(stream, elements, is_aligned, op);
}

/* Kernels for two and four devices with a base keep fewer numbers in registers. */
template <class T, class How>
void join_all(void *stream, int64_t elements, int parts, const void *const *x, T *y)
{
    bool has_y = false;

    for (int some; parts > 0; parts -= some, x += some, has_y = true) {
        some = parts < AT_ONCE - has_y ? parts : AT_ONCE - has_y;
        if (some + has_y <= 3)
            join_some<T, How, 3>(stream, elements, has_y, some, x, y);
        else if (some + has_y <= 5)
            join_some<T, How, 5>(stream, elements, has_y, some, x, y);
        else
            join_some<T, How, AT_ONCE>(stream, elements, has_y, some, x, y);
    }
}
} // namespace

extern "C" {

void pp_cuda_sum_of_g(void *stream, int64_t count, int parts, const void *const *x, void *y)
{
    join_all<float, plus>(stream, count, parts, x, (float *)y);
}

void pp_cuda_max_of_g(void *stream, int64_t count, int parts, const void *const *x, void *y)
{
    join_all<float, larger>(stream, count, parts, x, (float *)y);
}

void pp_cuda_sum_fp32(void *stream, int64_t count, int parts, const void *const *x, void *y)
{
    pp_cuda_sum_of_g(stream, count, parts, x, y);
}

void pp_cuda_sum_bf16(void *stream, int64_t count, int parts, const void *const *x, void *y)
{
    join_all<pp_bf16, plus>(stream, count, parts, x, (pp_bf16 *)y);
}

} // extern "C"
