/* Rotary positions. */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"

#include <math.h>

namespace
{
/* A thread rotates N pairs of up to HEADS heads of a token, so that their angles are computed once.
 * Column: group of heads, then pair. Bytes moved: the rotated heads of x twice. An angle is a
 * fraction of a turn, in double: t theta^(-2 i / dim) / 2 pi, scaled, without whole turns. So its
 * error does not grow with the position. */
enum { HEADS = 4 };
template <class T> struct rotate {
    T *x;
    struct pp_rotation r;
    double step; /* log2(theta) / (dim / 2) */

    template <int N> __device__ void run(int row, int column) const
    {
        const int half = r.angles.dim / 2, head = column / half * HEADS, pair = column % half;
        const int end = head + HEADS < r.heads ? head + HEADS : r.heads;
        const double turns = (r.first + row % r.tokens) * 0.15915494309189533577;
        T *const of_row = x + (int64_t)row * r.stride + pair;
        float sine[N], cosine[N];

#pragma unroll
        for (int j = 0; j < N; j++) {
            const double turn = turns * pp_angles_scaled(&r.angles, exp2(-step * (pair + j)));
            sincospif((float)(2 * (turn - rint(turn))), &sine[j], &cosine[j]);
            sine[j] = r.is_inverse ? -sine[j] : sine[j];
        }
        for (int h = head; h < end; h++) {
            T *const at = of_row + h * r.head_dim;
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

template <class T> void rotate_rows(void *stream, const struct pp_rotation *r, T *x)
{
    const int half = r->angles.dim / 2, groups = (r->heads + HEADS - 1) / HEADS;
    const bool is_aligned = half % PP_WIDE<T> == 0 && r->head_dim % PP_WIDE<T> == 0 &&
                            r->stride % PP_WIDE<T> == 0 && pp_are_aligned(x);

    pp_map_rows<PP_WIDE<T>>(stream, r->batch * r->tokens, groups * half, is_aligned,
                            rotate<T>{x, *r, log2(r->angles.theta) / half});
}
} // namespace

#define ROTATE(name, T)                                                                            \
    void pp_cuda_rotate_##name(void *stream, const struct pp_rotation *r, void *x)                 \
    {                                                                                              \
        rotate_rows(stream, r, (T *)x);                                                            \
    }
ROTATE(fp32, float)
ROTATE(bf16, pp_bf16)
