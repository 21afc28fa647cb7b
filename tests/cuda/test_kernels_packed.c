/* Tensors at rest in fewer bits, by the CUDA tables: the bytes and values of the CPU. */
#include "tests/cuda/table_case.h"
#include "tests/unit/kernels/cpu/packed_values.h"

enum { MOST = 20 * PP_PACKED_GROUP };

/* A trial in host memory; `value` is of T, and so is `restored`. */
struct packed {
    char value[sizeof(float) * MOST], restored[sizeof(float) * MOST + AFTER_BYTES];
    unsigned char bytes[2 * MOST + AFTER_BYTES];
};

static void by_cpu(const struct pp_kernels *k, int bits, int64_t count, struct packed *p)
{
    const struct pp_kernels *cpu =
        k->element_bytes == sizeof(float) ? pp_kernels_fp32(false) : &pp_kernels_bf16;

    memset(p->bytes, 0xa5, sizeof p->bytes);
    memset(p->restored, 0xa5, sizeof p->restored);
    cpu->quantise(NULL, bits, count, p->value, p->bytes);
    cpu->restore(NULL, bits, count, p->bytes, p->restored);
}

static void by_device(const struct pp_kernels *k, int bits, int64_t count, struct packed *p)
{
    static void *x, *restored, *packed;

    if (!x) {
        x = device_bytes(sizeof p->value);
        restored = device_bytes(sizeof p->restored);
        packed = device_bytes(sizeof p->bytes);
    }
    memset(p->bytes, 0xa5, sizeof p->bytes);
    memset(p->restored, 0xa5, sizeof p->restored);
    device_put(x, p->value, sizeof p->value);
    device_put(packed, p->bytes, sizeof p->bytes);
    device_put(restored, p->restored, sizeof p->restored);
    k->quantise(device_stream(), bits, count, x, packed);
    k->restore(device_stream(), bits, count, packed, restored);
    device_finish();
    device_must(cudaMemcpy(p->bytes, packed, sizeof p->bytes, cudaMemcpyDeviceToHost));
    device_must(cudaMemcpy(p->restored, restored, sizeof p->restored, cudaMemcpyDeviceToHost));
}

/* Devices have a NaN of their own. */
static bool are_same(const struct pp_kernels *k, const struct packed *a, const struct packed *b,
                     int64_t count)
{
    const size_t bytes = (size_t)count * k->element_bytes;

    for (int64_t i = 0; i < count; i++)
        if (memcmp(a->restored + i * (int64_t)k->element_bytes,
                   b->restored + i * (int64_t)k->element_bytes, k->element_bytes) != 0 &&
            !(isnan(pp_number_get(a->restored, k->element_bytes, i)) &&
              isnan(pp_number_get(b->restored, k->element_bytes, i))))
            return false;
    return memcmp(a->restored + bytes, b->restored + bytes, AFTER_BYTES) == 0;
}

static void try_packed(const struct pp_kernels *k, int bits, enum packed_kind kind, int64_t count)
{
    static struct packed right, seen;

    for (int64_t i = 0; i < MOST; i++)
        pp_number_put(right.value, k->element_bytes, i,
                      (double)packed_value(kind, (uint64_t)count + kind, i));
    seen = right;
    by_cpu(k, bits, count, &right);
    by_device(k, bits, count, &seen);
    cr_assert(memcmp(right.bytes, seen.bytes, sizeof right.bytes) == 0,
              "%s: kind %d, %d bits of %d: other bytes", k->name, kind, bits, (int)count);
    cr_assert(are_same(k, &right, &seen, count), "%s: kind %d, %d bits of %d: other values",
              k->name, kind, bits, (int)count);
}

Test(cuda_kernels, packed)
{
    static const int64_t COUNTS[] = {0, 1, 2, 5, 31, 64, 127, 128, 129, 1023, 1024, 1025, MOST};

    for (int bits = 8; bits >= 2; bits /= 2)
        for (int kind = 0; kind < PACKED_KINDS; kind++)
            for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++) {
                try_packed(&pp_kernels_cuda_fp32, bits, (enum packed_kind)kind, COUNTS[i]);
                try_packed(&pp_kernels_cuda_bf16, bits, (enum packed_kind)kind, COUNTS[i]);
            }
}
