/* Rotary positions. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"

#include <math.h>

namespace
{
/* A thread rotates N pairs of up to HEADS heads of a token, so that their angles are computed once.
 * Column: group of heads, then pair. Bytes moved: the rotated heads of x twice. An angle is a
 * fraction of a turn, in double: t theta^(-2 i / head_dim) / 2 pi, without whole turns. So its
 * error does not grow with the position. */
enum { HEADS = 4 };
template <class T> struct rotate {
    T *x;
    int tokens, heads, head_dim, stride, first;
    double step; /* log2(theta) / (head_dim / 2) */
    bool is_inverse;

    template <int N> __device__ void run(int row, int column) const
    {
        const int half = head_dim / 2, head = column / half * HEADS, pair = column % half;
        const int end = head + HEADS < heads ? head + HEADS : heads;
        const double turns = (first + row % tokens) * 0.15915494309189533577;
        T *const of_row = x + (int64_t)row * stride + pair;
        float sine[N], cosine[N];

#pragma unroll
        for (int j = 0; j < N; j++) {
            const double turn = turns * exp2(-step * (pair + j));
            sincospif((float)(2 * (turn - rint(turn))), &sine[j], &cosine[j]);
            sine[j] = is_inverse ? -sine[j] : sine[j];
        }
        for (int h = head; h < end; h++) {
            T *const at = of_row + h * head_dim;
            const pp_floats<N> u = pp_load<N>(at), v = pp_load<N>(at + half);
            pp_floats<N> a, b;
#pragma unroll
            for (int j = 0; j < N; j++) {
                a.at[j] = u.at[j] * cosine[j] - v.at[j] * sine[j];
                b.at[j] = v.at[j] * cosine[j] + u.at[j] * sine[j];
            }
            pp_save(at, a);
            pp_save(at + half, b);
        }
    }
};

template <class T> void rotate_rows(void *stream, int rows, const rotate<T> &r)
{
    const int half = r.head_dim / 2, groups = (r.heads + HEADS - 1) / HEADS;
    const bool is_aligned =
        half % PP_WIDE<T> == 0 && r.stride % PP_WIDE<T> == 0 && pp_are_aligned(r.x);

    pp_map_rows<PP_WIDE<T>>(stream, rows, groups * half, is_aligned, r);
}
} // namespace

#define ROTATE(name, T)                                                                            \
    void pp_cuda_rotate_##name(void *stream, int batch, int tokens, int heads, int head_dim,       \
                               int stride, int first, double theta, bool is_inverse, void *x)      \
    {                                                                                              \
        rotate_rows<T>(stream, batch * tokens,                                                     \
                       {(T *)x, tokens, heads, head_dim, stride, first,                            \
                        log2(theta) / (head_dim / 2), is_inverse});                                \
    }
ROTATE(fp32, float)
ROTATE(bf16, pp_bf16)
