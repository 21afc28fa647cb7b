/* An update of the host has the bits of one on a device: both round each operation, and fuse none.
 */
#include "tests/cuda/table_case.h"

enum { COUNT = 5003, BITS = 20, STEPS = 4, TENSORS = 3 };
static const struct pp_adamw ADAMW = {0.9, 0.999, 1e-8, 0.1};
static const struct pp_flat_tensor SOME_DECAY[TENSORS] = {
    {0, 1008, true}, {1008, 3008, false}, {3008, COUNT, true}};

/* Vectors of one side: in host memory, or on the device. */
enum { GRADS, WEIGHTS, MASTER, MEAN, SQUARE, VECTORS };
struct vectors {
    void *at[VECTORS];
};
static size_t bytes_of(const struct pp_kernels *k, bool is_fixed, int vector)
{
    return COUNT * (vector == GRADS && is_fixed ? sizeof(int64_t)
                    : vector == WEIGHTS         ? k->element_bytes
                                                : sizeof(float));
}

static void update(const struct pp_kernels *k, void *stream, bool is_fixed,
                   const struct pp_adamw_step *now, const struct vectors *v)
{
    const struct pp_flat flat = {SOME_DECAY,
                                 TENSORS,
                                 0,
                                 COUNT,
                                 is_fixed ? NULL : v->at[GRADS],
                                 is_fixed ? v->at[GRADS] : NULL,
                                 BITS};
    const bool has_master = k->element_bytes < sizeof(float);

    k->adamw(stream, &flat, &ADAMW, now, v->at[WEIGHTS], has_master ? v->at[MASTER] : NULL,
             v->at[MEAN], v->at[SQUARE]);
}

/* Gradients of all sizes; moments and weights are those of the step before. */
static void draw_gradients(bool is_fixed, void *grads)
{
    for (int i = 0; i < COUNT; i++) {
        const double g = drawn() * ldexp(1, -(i % 40));
        if (is_fixed)
            ((int64_t *)grads)[i] = (int64_t)ldexp(g, 2 * BITS);
        else
            ((float *)grads)[i] = (float)g;
    }
}

static void draw_weights(const struct pp_kernels *k, struct vectors *v)
{
    for (int i = 0; i < COUNT; i++) {
        const double w = drawn();
        ((float *)v->at[MASTER])[i] = (float)w;
        pp_number_put(v->at[WEIGHTS], k->element_bytes, i, w);
    }
}

static void try_update(const struct pp_kernels *device, const struct pp_kernels *host,
                       bool is_fixed)
{
    struct pp_adamw_step *now = shared_bytes(sizeof *now);
    struct vectors here, there;
    char seen[sizeof(int64_t) * COUNT];

    for (int i = 0; i < VECTORS; i++) {
        here.at[i] = calloc(COUNT, sizeof(int64_t));
        there.at[i] = device_bytes(bytes_of(device, is_fixed, i));
    }
    draw_weights(device, &here);
    for (int i = 0; i < VECTORS; i++)
        device_put(there.at[i], here.at[i], bytes_of(device, is_fixed, i));
    for (int step = 1; step <= STEPS; step++) {
        *now = (struct pp_adamw_step){3e-3 / step, 1 - pow(0.9, step), 1 - pow(0.999, step),
                                      1.0 / (step + 2)};
        draw_gradients(is_fixed, here.at[GRADS]);
        device_put(there.at[GRADS], here.at[GRADS], bytes_of(device, is_fixed, GRADS));
        update(device, device_stream(), is_fixed, now, &there);
        update(host, NULL, is_fixed, now, &here);
        device_finish();
        for (int i = 0; i < VECTORS; i++) {
            const size_t bytes = bytes_of(device, is_fixed, i);
            device_must(cudaMemcpy(seen, there.at[i], bytes, cudaMemcpyDeviceToHost));
            cr_assert(memcmp(seen, here.at[i], bytes) == 0, "%s, step %d: vector %d differs",
                      device->name, step, i);
        }
    }
    for (int i = 0; i < VECTORS; i++)
        free(here.at[i]);
}

Test(cuda_kernels, host_update)
{
    for (int is_fixed = 0; is_fixed < 2; is_fixed++) {
        try_update(&pp_kernels_cuda_fp32, pp_kernels_fp32(false), is_fixed);
        try_update(&pp_kernels_cuda_bf16, &pp_kernels_bf16, is_fixed);
    }
}
