/* Tensors at rest in fewer bits; a warp has a group. Bytes moved: every value and its code once.
 */
#include "kernels/cuda/device/functions.h"
#include "kernels/cuda/device/map.cuh"
#include "kernels/packed.h"

namespace
{
enum { THREADS = 256, WARPS = THREADS / 32, EACH = PP_PACKED_GROUP / 32 };

/* A group, or what there is of the last one. */
struct place {
    int64_t first;
    int count, lane;
    size_t begin; /* of its header, in bytes */
};

__device__ __forceinline__ place place_of(int bits, int64_t count)
{
    const int64_t group = (int64_t)blockIdx.x * WARPS + (int)threadIdx.x / 32,
                  first = group * PP_PACKED_GROUP, rest = count - first;

    return {first, rest < PP_PACKED_GROUP ? (int)rest : (int)PP_PACKED_GROUP, (int)threadIdx.x % 32,
            pp_packed_begin(bits, group)};
}

template <class T> __device__ __forceinline__ float value_at(const T *x, const place &p, int i)
{
    return pp_widen(x[p.first + (i < p.count ? i : 0)]);
}

/* Lane l has values l, l + 32 and so on. What is missing is as the first one. */
template <class T>
__device__ __forceinline__ pp_packed_group group_of(int bits, const T *x, const place &p,
                                                    float (&value)[EACH])
{
    float least, largest;
    bool are_finite = true;

#pragma unroll
    for (int j = 0; j < EACH; j++) {
        value[j] = value_at(x, p, 32 * j + p.lane);
        are_finite = are_finite && isfinite(value[j]);
        least = j > 0 && !(value[j] < least) ? least : value[j];
        largest = j > 0 && !(value[j] > largest) ? largest : value[j];
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const float low = __shfl_xor_sync(0xffffffffu, least, distance),
                    high = __shfl_xor_sync(0xffffffffu, largest, distance);
        least = low < least ? low : least;
        largest = high > largest ? high : largest;
    }
    are_finite = __ballot_sync(0xffffffffu, are_finite) == 0xffffffffu;
    return pp_packed_group_of(bits, (double)least, (double)largest, (double)value_at(x, p, 0),
                              are_finite);
}

/* The bytes of a whole group have the values of one lane each. */
template <int BITS>
__device__ __forceinline__ void pack_whole(const pp_packed_group &g, const float (&value)[EACH],
                                           int lane, unsigned char *codes)
{
    constexpr int BYTES = PP_PACKED_GROUP / 8 * BITS / 32;

#pragma unroll
    for (int b = 0; b < BYTES; b++) {
        unsigned byte = 0;
#pragma unroll
        for (int k = 0; k < 8 / BITS; k++)
            byte |= pp_packed_code(&g, (double)value[b + k * BYTES]) << (k * BITS);
        codes[32 * b + lane] = (unsigned char)byte;
    }
}

template <int BITS, class T>
__device__ __forceinline__ void pack_part(const pp_packed_group &g, const T *x, const place &p,
                                          unsigned char *codes)
{
    const int bytes = (int)pp_packed_code_bytes(BITS, p.count);

    for (int b = p.lane; b < bytes; b += 32) {
        unsigned byte = 0;
        for (int k = 0; k < 8 / BITS; k++)
            if (b + k * bytes < p.count)
                byte |= pp_packed_code(&g, (double)value_at(x, p, b + k * bytes)) << (k * BITS);
        codes[b] = (unsigned char)byte;
    }
}

template <int BITS, class T>
__global__ __launch_bounds__(THREADS) void quantise_kernel(int64_t count, const T *x,
                                                           unsigned char *packed)
{
    const place p = place_of(BITS, count);
    float value[EACH];

    if (p.count <= 0)
        return;
    const pp_packed_group g = group_of(BITS, x, p, value);
    unsigned char *const codes = packed + p.begin + PP_PACKED_HEADER_BYTES;

    if (p.lane < 2)
        ((uint16_t *)(packed + p.begin))[p.lane] = p.lane == 0 ? g.header[0] : g.header[1];
    if (g.is_constant)
        for (int b = p.lane; b < (int)pp_packed_code_bytes(BITS, p.count); b += 32)
            codes[b] = b == 0 ? g.last : 0;
    else if (p.count == PP_PACKED_GROUP)
        pack_whole<BITS>(g, value, p.lane, codes);
    else
        pack_part<BITS>(g, x, p, codes);
}

template <int BITS, class T>
__global__ __launch_bounds__(THREADS) void restore_kernel(int64_t count,
                                                          const unsigned char *packed, T *x)
{
    const place p = place_of(BITS, count);
    const double largest = PP_IS_BF16<T> ? 0x1.fep127 : 0x1.fffffep127;

    if (p.count <= 0)
        return;
    const uint16_t *const header = (const uint16_t *)(packed + p.begin);
    const unsigned char *const codes = packed + p.begin + PP_PACKED_HEADER_BYTES;
    const pp_packed_group g = pp_packed_read(header[0], header[1], codes[0]);
    const int bytes = (int)pp_packed_code_bytes(BITS, p.count);

#pragma unroll
    for (int j = 0; j < EACH; j++) {
        const int i = 32 * j + p.lane;
        if (i < p.count) {
            const int code = codes[i % bytes] >> (i / bytes * BITS) & ((1 << BITS) - 1);
            const double value = pp_packed_value(&g, code);
            pp_store(x + p.first + i, (float)(value > largest ? largest : value));
        }
    }
}

unsigned blocks_of(int64_t count)
{
    return (unsigned)((count + PP_PACKED_GROUP * WARPS - 1) / (PP_PACKED_GROUP * WARPS));
}

template <class T>
void quantise(void *stream, int bits, int64_t count, const T *x, unsigned char *packed)
{
    const auto kernel = bits == 8   ? quantise_kernel<8, T>
                        : bits == 4 ? quantise_kernel<4, T>
                                    : quantise_kernel<2, T>;

    if (count > 0)
        PP_LAUNCH(kernel, blocks_of(count), THREADS, 0, pp_cuda_of(stream), count, x, packed);
}

template <class T>
void restore(void *stream, int bits, int64_t count, const unsigned char *packed, T *x)
{
    const auto kernel = bits == 8   ? restore_kernel<8, T>
                        : bits == 4 ? restore_kernel<4, T>
                                    : restore_kernel<2, T>;

    if (count > 0)
        PP_LAUNCH(kernel, blocks_of(count), THREADS, 0, pp_cuda_of(stream), count, packed, x);
}
} // namespace

#define PACKED(name, T)                                                                            \
    void pp_cuda_quantise_##name(void *stream, int bits, int64_t count, const void *x,             \
                                 void *packed)                                                     \
    {                                                                                              \
        quantise(stream, bits, count, (const T *)x, (unsigned char *)packed);                      \
    }                                                                                              \
    void pp_cuda_restore_##name(void *stream, int bits, int64_t count, const void *packed,         \
                                void *x)                                                           \
    {                                                                                              \
        restore(stream, bits, count, (const unsigned char *)packed, (T *)x);                       \
    }
PACKED(fp32, float)
PACKED(bf16, pp_bf16)
