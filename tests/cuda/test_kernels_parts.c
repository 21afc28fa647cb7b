/* Parts of devices that share each block, by the CUDA tables: sums and largest elements. Cross
 * entropy of words of which each device has some. */
#include "tests/cuda/table_case.h"

/* ---- sums ------------------------------------------------------------------------------------ */

enum { PARTS = 10 };
struct parts {
    int64_t count, first; /* first element: others than a multiple of 16 bytes, too */
    int parts;
};

static const void *element_at(const struct pp_kernels *k, const struct tensor *t, const void *x,
                              int64_t i)
{
    return (const char *)x + (size_t)i * (tensor_bytes(k, t) / t->count);
}

/* The last tensors are y of sum, sum_of_g and max_of_g. */
static void call_parts(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct parts *p = what;
    const struct tensor of_t = {1, OF_T, 1}, of_g = {1, OF_G, 1};
    const void *from[PARTS], *from_g[PARTS];

    for (int i = 0; i < p->parts; i++) {
        from[i] = element_at(k, &of_t, x[0], p->first + i * p->count);
        from_g[i] = element_at(k, &of_g, x[1], p->first + i * p->count);
    }
    k->sum(stream, p->count, p->parts, from, x[2]);
    k->sum_of_g(stream, p->count, p->parts, from_g, x[3]);
    k->max_of_g(stream, p->count, p->parts, from_g, x[4]);
}

Test(cuda_kernels, parts)
{
    static const int64_t COUNTS[] = {1, 7, 8, 256, 3000};

    for (size_t i = 0; i < sizeof COUNTS / sizeof *COUNTS; i++)
        for (int parts = 1; parts <= PARTS; parts++) {
            const struct parts p = {COUNTS[i], parts % 3, parts};
            const size_t count = (size_t)p.count, all = count * (size_t)parts + (size_t)p.first;
            struct kernel_case c = {"parts",
                                    call_parts,
                                    &p,
                                    .tolerance = 1e-6,
                                    .floor = 1e-6,
                                    .tensors = 5,
                                    .tensor = {{all, OF_T, 1},
                                               {all, OF_G, 1},
                                               {count, OF_T, 1},
                                               {count, OF_G, 1},
                                               {count, OF_G, 1}}};
            kernel_try(&pp_kernels_cuda_fp32, &c);
            c.floor = parts > 9 ? 10 * 0x1p-8 : c.floor; /* rounded twice */
            kernel_try(&pp_kernels_cuda_bf16, &c);
        }
}

/* Parts that cancel show the order: only from first to last do small ones stay. */
Test(cuda_kernels, parts_are_added_in_order)
{
    enum { COUNT = 64 };
    static const double VALUES[PARTS] = {0x1p24, 1, -0x1p24, 3, 0x1p25, 1, -0x1p25, 5, 0x1p26, 7};
    double values[COUNT], seen[COUNT];
    const void *from[PARTS];
    void *y = device_bytes(sizeof(float) * COUNT);

    for (int i = 0; i < PARTS; i++) {
        for (int j = 0; j < COUNT; j++)
            values[j] = VALUES[i];
        from[i] = device_tensor(values, COUNT, false);
    }
    for (int parts = 1; parts <= PARTS; parts++) {
        float right = 0;
        for (int i = 0; i < parts; i++)
            right += (float)VALUES[i];
        pp_kernels_cuda_fp32.sum_of_g(device_stream(), COUNT, parts, from, y);
        device_finish();
        device_read(y, seen, COUNT, false);
        for (int j = 0; j < COUNT; j++)
            cr_assert_eq(seen[j], (double)right, "%d parts: %.9g is not %.9g", parts, seen[j],
                         (double)right);
    }
}

/* ---- cross entropy --------------------------------------------------------------------------- */

enum { DEVICES = 3 };
struct shared_words {
    int batch, tokens, first, stride, vocab, ld, devices;
    double spread;
    int32_t *targets;
};

/* Tensors: logits of each device, max and sums of each device, of all, and losses. */
static void call_entropy(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct shared_words *s = what;
    const int64_t rows = (int64_t)s->batch * s->tokens;
    struct pp_entropy e[DEVICES];
    const void *max[DEVICES], *sums[DEVICES];

    for (int d = 0; d < s->devices; d++) {
        const int from = s->vocab * d / s->devices, until = s->vocab * (d + 1) / s->devices;
        max[d] = (char *)x[DEVICES] + (size_t)(d * rows) * k->gradient_bytes;
        sums[d] = (char *)x[DEVICES + 1] + (size_t)(2 * d * rows) * k->gradient_bytes;
        e[d] = (struct pp_entropy){s->batch,
                                   s->tokens,
                                   s->first,
                                   s->stride,
                                   from,
                                   until - from,
                                   s->ld,
                                   .scale = 0.5,
                                   .targets = s->targets,
                                   .x = x[d],
                                   .max = (void *)(uintptr_t)max[d],
                                   .sums = (void *)(uintptr_t)sums[d],
                                   .loss = x[DEVICES + 4]};
        k->entropy_max(stream, &e[d]);
    }
    k->max_of_g(stream, rows, s->devices, max, x[DEVICES + 2]);
    for (int d = 0; d < s->devices; d++) {
        e[d].max = x[DEVICES + 2];
        k->entropy_sums(stream, &e[d]);
    }
    k->sum_of_g(stream, 2 * rows, s->devices, sums, x[DEVICES + 3]);
    for (int d = 0; d < s->devices; d++) {
        e[d].sums = x[DEVICES + 3];
        k->entropy_end(stream, &e[d]);
    }
}

static void try_entropy(const struct shared_words *s)
{
    const size_t rows = (size_t)(s->batch * s->tokens), logits = rows * (size_t)s->ld;
    const struct kernel_case c = {"entropy",
                                  call_entropy,
                                  s,
                                  .tolerance = 2e-5,
                                  .floor = 4e-7 * fmax(1, s->spread),
                                  .tensors = DEVICES + 5,
                                  .tensor = {{logits, OF_T, s->spread},
                                             {logits, OF_T, s->spread},
                                             {logits, OF_T, s->spread},
                                             {rows * DEVICES, OF_G, 1},
                                             {2 * rows * DEVICES, OF_G, 1},
                                             {rows, OF_G, 1},
                                             {2 * rows, OF_G, 1},
                                             {rows, SHARED_DOUBLE, 1}}};

    kernel_try_both(&c);
}

Test(cuda_kernels, entropy_of_shared_words)
{
    static const int VOCABS[] = {3, 7, 16, 100, 1531, 12301};
    static const double SPREADS[] = {1, 30};
    static const int PADDINGS[] = {0, 1, 47};

    for (size_t i = 0; i < sizeof VOCABS / sizeof *VOCABS; i++)
        for (size_t j = 0; j < sizeof SPREADS / sizeof *SPREADS; j++) {
            struct shared_words s = {.batch = 1 + (int)j,
                                     .tokens = 3,
                                     .first = (int)j,
                                     .stride = 5,
                                     .vocab = VOCABS[i],
                                     .devices = 1 + (int)(i + j) % DEVICES,
                                     .spread = SPREADS[j]};
            s.ld = (s.vocab + s.devices - 1) / s.devices + PADDINGS[(i + j) % 3];
            s.targets = shared_bytes(sizeof(int32_t) * (size_t)(s.batch * s.stride));
            for (int t = 0; t < s.batch * s.stride; t++)
                s.targets[t] = t % 4 == 3 ? -1 : drawn_below(s.vocab);
            try_entropy(&s);
        }
}
