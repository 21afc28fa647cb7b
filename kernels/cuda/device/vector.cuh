/* kernels/cuda/device/vector.cuh — several neighbouring elements at once. Kernels compute in float;
 * memory holds T = float or bf16. */
#pragma once

#include "kernels/cuda/device/element.cuh"

#include <stdint.h>
#include <string.h>

typedef __nv_bfloat16 pp_bf16;

/* bf16 is kept in pairs, because a half in a register of its own has to be cut out of the word that
 * is read. A copy then waits for the memory, and nothing is fetched ahead. */
template <class T> constexpr bool PP_IS_BF16 = false;
template <> constexpr bool PP_IS_BF16<pp_bf16> = true;

/* N elements in memory, read and written 16 bytes at a time if they fill these. */
template <class T, int N, bool ARE_PAIRS = PP_IS_BF16<T> &&N % 2 == 0>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) pp_packed {
    T at[N];

    __device__ __forceinline__ float get(int j) const
    {
        return pp_widen(at[j]);
    }
};

template <class T, int N> struct alignas(2 * N < 16 ? 2 * N : 16) pp_packed<T, N, true> {
    uint32_t pairs[N / 2]; /* the first is the lower half */

    __device__ __forceinline__ float get(int j) const
    {
        return __uint_as_float(j % 2 ? pairs[j / 2] & 0xffff0000u : pairs[j / 2] << 16);
    }
};

template <int N> struct pp_floats {
    float at[N];
};

template <class T> constexpr int PP_WIDE = 16 / (int)sizeof(T);

template <int N, class T> __device__ __forceinline__ pp_packed<T, N> pp_fetch(const T *from)
{
    return *(const pp_packed<T, N> *)from;
}

template <int N, class T>
__device__ __forceinline__ pp_floats<N> pp_unpack(const pp_packed<T, N> &packed)
{
    pp_floats<N> x;

#pragma unroll
    for (int j = 0; j < N; j++)
        x.at[j] = packed.get(j);
    return x;
}

/* `from` and `to` are aligned to N elements, at most to 16 bytes. */
template <int N, class T> __device__ __forceinline__ pp_floats<N> pp_load(const T *from)
{
    return pp_unpack<N, T>(pp_fetch<N, T>(from));
}

template <class T, int N>
__device__ __forceinline__ void pp_pack(pp_packed<T, N, false> &packed, const pp_floats<N> &x)
{
#pragma unroll
    for (int j = 0; j < N; j++)
        pp_store(&packed.at[j], x.at[j]);
}

template <class T, int N>
__device__ __forceinline__ void pp_pack(pp_packed<T, N, true> &packed, const pp_floats<N> &x)
{
#pragma unroll
    for (int j = 0; j < N; j += 2) {
        const __nv_bfloat162 pair = __floats2bfloat162_rn(x.at[j], x.at[j + 1]);
        memcpy(&packed.pairs[j / 2], &pair, sizeof pair);
    }
}

template <int N, class T> __device__ __forceinline__ void pp_save(T *to, const pp_floats<N> &x)
{
    pp_packed<T, N> packed;

    pp_pack(packed, x);
    *(pp_packed<T, N> *)to = packed;
}

template <int N> __device__ __forceinline__ void pp_add(pp_floats<N> &x, const pp_floats<N> &y)
{
#pragma unroll
    for (int j = 0; j < N; j++)
        x.at[j] += y.at[j];
}

/* For launchers: is true if all pointers may be accessed 16 bytes at a time. NULL may. */
template <class... Pointers> static inline bool pp_are_aligned(Pointers... pointers)
{
    return ((uintptr_t(0) | ... | (uintptr_t)pointers) & 15) == 0;
}
