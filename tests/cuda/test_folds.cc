/* What the emulation adds up at one meeting has the bits of the steps that a device takes. Tests of
 * kernels take the steps; where PP_EMULATED_FOLDS is set, 7 of 8 launches do not. */
#include "tests/cuda/emulated_case.h"

#include "kernels/cuda/device/reduce.cuh"
#include "kernels/cuda/ops/cross_entropy.cu"

enum { ROUNDS = 50, LANES = 64 };

template <class V> __global__ void sum_lanes(const V *x, bool folds, V *sum)
{
    pp_emulated_folds = folds; /* of all threads of the launch */
    sum[threadIdx.x] = pp_warp_sum(x[threadIdx.x]);
}

__global__ void join_lanes(const softmax *x, bool folds, softmax *joined)
{
    pp_emulated_folds = folds;
    joined[threadIdx.x] = join_warp(x[threadIdx.x]);
}

template <class V> static bool is_same(void (*kernel)(const V *, bool, V *), const V *x)
{
    V *stepped = shared_array<V>(LANES), *folded = shared_array<V>(LANES);

    PP_LAUNCH(kernel, 1, LANES, 0, 0, x, false, stepped);
    PP_LAUNCH(kernel, 1, LANES, 0, 0, x, true, folded);
    finish();
    return memcmp(stepped, folded, LANES * sizeof(V)) == 0;
}

/* From -1 to 1. */
static double drawn(void)
{
    return 2 * drand48() - 1;
}

template <class V> static void try_sums(void)
{
    V *x = shared_array<V>(LANES);

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LANES; i++)
            x[i] = (V)(drawn() * exp(20 * drawn()));
        cr_assert(is_same(sum_lanes<V>, x), "round %d, %zu bytes", round, sizeof(V));
    }
}

Test(folds, sums)
{
    try_sums<float>();
    try_sums<double>();
}

/* Lanes may have seen nothing, or the same maximum. */
Test(folds, softmaxes)
{
    softmax *x = shared_array<softmax>(LANES);

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LANES; i++)
            x[i] = round % 3 == 0 && i % 5 == 0
                       ? nothing()
                       : softmax{(float)(round % 2 ? 5 * drawn() : 1), (float)(1 + drawn())};
        cr_assert(is_same(join_lanes, x), "round %d", round);
    }
}

__global__ void count_folds(int *folds)
{
    *folds += pp_emulated_folds;
}

static int folded_launches(void)
{
    int *folds = shared_array<int>(1);

    for (int round = 0; round < ROUNDS; round++)
        PP_LAUNCH(count_folds, 1, 1, 0, 0, folds);
    finish();
    return *folds;
}

Test(folds, only_where_asked_for)
{
    unsetenv("PP_EMULATED_FOLDS");
    cr_assert_eq(folded_launches(), 0);
}

Test(folds, most_launches_where_asked_for)
{
    setenv("PP_EMULATED_FOLDS", "1", 1);
    const int folds = folded_launches();

    cr_assert(folds > ROUNDS / 2 && folds < ROUNDS, "%d", folds);
}
