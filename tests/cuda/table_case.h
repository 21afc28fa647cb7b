/* tests/cuda/table_case.h — one call of a kernel table, on a device and by the reference in double
 * over the same rounded inputs. The device repeats it REPEATS times from the same inputs. All
 * results have the same bits, in whatever order threads and blocks run. */
#ifndef PP_TESTS_CUDA_TABLE_CASE_H
#define PP_TESTS_CUDA_TABLE_CASE_H

#include "kernels/cuda/table.h"
#include "tests/cuda/device.h"

#include <math.h>

enum { REPEATS = 3, TENSORS_MAX = 12, AFTER_BYTES = 64 };

/* OF_T and OF_G lie on the device, doubles in memory that host and device share. */
enum element { OF_T, OF_G, SHARED_DOUBLE };

struct tensor {
    size_t count;
    enum element element;
    double scale; /* drawn from [-scale, scale) */
};

/* The call: x are the tensors, of the reference's double or on the device. */
typedef void kernel_call(const struct pp_kernels *k, void *stream, void *const *x,
                         const void *what);

/* A number may be off by tolerance * |it| + floor; in a tensor of bf16 by one rounding more. */
struct kernel_case {
    const char *name;
    kernel_call *call;
    const void *what;
    void (*change)(double *const *x, const void *what); /* what was drawn, or NULL */
    double tolerance, floor;
    int tensors;
    struct tensor tensor[TENSORS_MAX];
};

static inline int drawn_below(int limit)
{
    return (int)((drawn() + 1) / 2 * limit);
}

/* Memory that host and device see at one address. */
static inline void *shared_bytes(size_t bytes)
{
    void *x = NULL;

    device_stream();
    device_must(cudaHostAlloc(&x, bytes ? bytes : 1, cudaHostAllocMapped));
    memset(x, 0, bytes);
    return x;
}

static inline bool tensor_is_bf16(const struct pp_kernels *k, const struct tensor *t)
{
    return t->element == OF_T && k->element_bytes == sizeof(uint16_t);
}

static inline size_t tensor_bytes(const struct pp_kernels *k, const struct tensor *t)
{
    return t->count * (t->element == OF_T   ? k->element_bytes
                       : t->element == OF_G ? k->gradient_bytes
                                            : sizeof(double));
}

/* After a tensor on the device lie AFTER_BYTES that no kernel may write. */
static inline void *tensor_create(const struct pp_kernels *k, const struct tensor *t)
{
    const size_t bytes = tensor_bytes(k, t);

    if (t->element == SHARED_DOUBLE)
        return shared_bytes(bytes);
    char *x = device_bytes(bytes + AFTER_BYTES);
    device_must(cudaMemsetAsync(x + bytes, 0xa5, AFTER_BYTES, device_stream()->stream));
    return x;
}

static inline bool tensor_ends_as_created(const struct pp_kernels *k, const struct tensor *t,
                                          const void *x)
{
    unsigned char after[AFTER_BYTES];
    bool is_same = true;

    if (t->element == SHARED_DOUBLE)
        return true;
    device_must(cudaMemcpy(after, (const char *)x + tensor_bytes(k, t), AFTER_BYTES,
                           cudaMemcpyDeviceToHost));
    for (int i = 0; i < AFTER_BYTES; i++)
        is_same &= after[i] == 0xa5;
    return is_same;
}

static inline void tensor_write(const struct pp_kernels *k, const struct tensor *t, void *to,
                                const double *from)
{
    if (t->element == SHARED_DOUBLE)
        memcpy(to, from, sizeof(double) * t->count);
    else
        device_write(to, from, t->count, tensor_is_bf16(k, t));
}

static inline void tensor_read(const struct pp_kernels *k, const struct tensor *t, const void *from,
                               double *to)
{
    if (t->element == SHARED_DOUBLE)
        memcpy(to, from, sizeof(double) * t->count);
    else
        device_read(from, to, t->count, tensor_is_bf16(k, t));
}

static inline double *doubles(size_t count)
{
    return calloc(count + 1, sizeof(double));
}

/* What a case is about, tensor by tensor: inputs, and what comes of them. */
struct trial {
    double *start[TENSORS_MAX], *right[TENSORS_MAX], *seen[TENSORS_MAX];
    void *device[TENSORS_MAX];
};

static inline struct trial trial_begin(const struct pp_kernels *k, const struct kernel_case *c)
{
    struct trial t;

    for (int i = 0; i < c->tensors; i++) {
        const struct tensor *of = &c->tensor[i];
        t.start[i] = doubles(of->count);
        t.right[i] = doubles(of->count);
        t.seen[i] = doubles(of->count);
        t.device[i] = tensor_create(k, of);
        for (size_t j = 0; j < of->count; j++)
            t.start[i][j] = drawn() * of->scale;
    }
    if (c->change)
        c->change(t.start, c->what);
    for (int i = 0; i < c->tensors; i++)
        for (size_t j = 0; j < c->tensor[i].count; j++)
            t.start[i][j] = rounded(t.start[i][j], tensor_is_bf16(k, &c->tensor[i]));
    return t;
}

static inline void trial_end(const struct kernel_case *c, struct trial *t)
{
    for (int i = 0; i < c->tensors; i++) {
        if (c->tensor[i].element == SHARED_DOUBLE)
            device_must(cudaFreeHost(t->device[i]));
        else
            device_must(cudaFree(t->device[i]));
        free(t->start[i]);
        free(t->right[i]);
        free(t->seen[i]);
    }
}

/* On the device, from the start; `seen` is what was seen the first time, from then on. */
static inline void trial_repeat(const struct pp_kernels *k, const struct kernel_case *c,
                                struct trial *t, bool is_first)
{
    for (int i = 0; i < c->tensors; i++)
        tensor_write(k, &c->tensor[i], t->device[i], t->start[i]);
    c->call(k, device_stream(), t->device, c->what);
    device_finish();
    for (int i = 0; i < c->tensors; i++) {
        const size_t count = c->tensor[i].count;
        double *seen = doubles(count);
        tensor_read(k, &c->tensor[i], t->device[i], seen);
        if (is_first)
            memcpy(t->seen[i], seen, sizeof(double) * count);
        cr_assert(memcmp(t->seen[i], seen, sizeof(double) * count) == 0,
                  "%s %s: tensor %d has other bits when it is done again", k->name, c->name, i);
        free(seen);
        cr_assert(tensor_ends_as_created(k, &c->tensor[i], t->device[i]),
                  "%s %s: after tensor %d of %zu", k->name, c->name, i, count);
    }
}

static inline void trial_compare(const struct pp_kernels *k, const struct kernel_case *c,
                                 const struct trial *t, int tensor)
{
    const struct tensor *of = &c->tensor[tensor];
    const double tolerance = c->tolerance + (tensor_is_bf16(k, of) ? 0x1p-8 : 0);

    for (size_t i = 0; i < of->count; i++) {
        const double seen = t->seen[tensor][i], right = t->right[tensor][i];
        cr_assert(fabs(seen - right) <= tolerance * fabs(right) + c->floor,
                  "%s %s: tensor %d, element %zu of %zu: %.9g is not %.9g", k->name, c->name,
                  tensor, i, of->count, seen, right);
    }
}

static inline void kernel_try(const struct pp_kernels *k, const struct kernel_case *c)
{
    struct trial t = trial_begin(k, c);

    for (int i = 0; i < c->tensors; i++)
        memcpy(t.right[i], t.start[i], sizeof(double) * c->tensor[i].count);
    c->call(&pp_kernels_reference, NULL, (void *const *)t.right, c->what);
    for (int repeat = 0; repeat < REPEATS; repeat++)
        trial_repeat(k, c, &t, repeat == 0);
    for (int i = 0; i < c->tensors; i++)
        trial_compare(k, c, &t, i);
    trial_end(c, &t);
}

/* With both tables. */
static inline void kernel_try_both(const struct kernel_case *c)
{
    kernel_try(&pp_kernels_cuda_fp32, c);
    kernel_try(&pp_kernels_cuda_bf16, c);
}

#endif
