/* tests/cuda/emulate.h — CUDA's device side on a CPU. It replaces the toolkit when a C++ compiler
 * compiles a kernel file with PP_CUDA_EMULATED.
 *
 * Blocks of a launch run one after the other, in an order drawn from a seed. The threads of a block
 * are fibers of one host thread. Each runs until it must wait for others; then another ready fiber,
 * again drawn, runs. So a missing __syncthreads shows as a wrong number in some orders. Dynamic
 * shared memory holds NaNs before each block. __shared__ variables hold the values of the previous
 * block.
 *
 * These errors end the program with the kernel, block and thread:
 *   - a __syncthreads that only some threads of a block reach, or that others have returned before
 *   - a warp whose lanes wait at different places
 *   - masks that are not full
 * A lane that has returned, or that the block never had, gives NaNs to shuffles, and no vote.
 *
 * One launch runs at a time, so the state of "the thread that runs" is in plain variables. Kernel
 * files need -fno-strict-aliasing (nvcc has no such rule either) and -ffp-contract=off. */
#ifndef PP_TESTS_CUDA_EMULATE_H
#define PP_TESTS_CUDA_EMULATE_H

#include "tests/cuda/include/cuda_bf16.h"
#include "tests/cuda/include/cuda_runtime.h"

#include <stdint.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__       static
#define __align__(bytes) __attribute__((aligned(bytes)))

enum { warpSize = 32 };

extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
extern char *const pp_emulated_shared; /* dynamic shared memory of the block */

#define PP_SHARED(T, name) T *const name = reinterpret_cast<T *>(pp_emulated_shared)

void __syncthreads(void);
unsigned pp_multiprocessor(void); /* contract in kernels/cuda/device/device.cuh */

/* ---- what the lanes of a warp do together --------------------------------------------------- */

enum pp_emulated_meeting {
    PP_SYNC,
    PP_SHUFFLE,
    PP_VOTE,
    PP_MMA,
    PP_LDMATRIX,
    PP_LDMATRIX_TRANS,
    PP_MEETINGS
};

/* Returns once all lanes of the warp that have not returned are there; `mask` has to be full.
 * `given` of all lanes lies at the address returned until this lane's next meeting but one, votes
 * in *votes. */
uint64_t *pp_emulated_meet(enum pp_emulated_meeting kind, unsigned mask, uint64_t given,
                           uint32_t *votes);
extern int pp_emulated_lane; /* of the thread that runs */

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    pp_emulated_meet(PP_SYNC, mask, 0, NULL);
}

template <class T> T __shfl_sync(unsigned mask, T value, int lane)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "shuffles take up to 8 bytes");
    uint64_t given = 0;

    memcpy(&given, &value, sizeof value);
    memcpy(&value, &pp_emulated_meet(PP_SHUFFLE, mask, given, NULL)[lane % warpSize], sizeof value);
    return value;
}

/* What lanes add up in steps is added up at one meeting, in the same order; that is faster. Drawn
 * for each launch where PP_EMULATED_FOLDS is set, as in tests of whole runs. Else all launches take
 * the steps, as a device does. */
extern bool pp_emulated_folds;

/* The values of all lanes, joined as by steps of 16, 8, 4, 2 and 1 lanes. `join` has to give the
 * same bits for (a, b) and (b, a). After the values come whether they are joined, and the result.
 */
template <class T, class Join> T pp_emulated_fold(T value, Join join)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "values take up to 8 bytes");
    uint64_t given = 0;

    memcpy((void *)&given, (const void *)&value, sizeof value);
    uint64_t *const all = pp_emulated_meet(PP_SHUFFLE, 0xffffffffu, given, NULL);
    if (!all[warpSize]) {
        T of[warpSize];
        for (int lane = 0; lane < warpSize; lane++)
            memcpy((void *)&of[lane], &all[lane], sizeof value);
        for (int distance = warpSize / 2; distance > 0; distance /= 2)
            for (int lane = 0; lane < distance; lane++)
                of[lane] = join(of[lane], of[lane + distance]);
        memcpy(&all[warpSize + 1], (const void *)&of[0], sizeof value);
        all[warpSize] = 1;
    }
    memcpy((void *)&value, &all[warpSize + 1], sizeof value);
    return value;
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int bits)
{
    return __shfl_sync(mask, value, pp_emulated_lane ^ bits);
}

/* The lowest lanes keep what they give. */
template <class T> T __shfl_up_sync(unsigned mask, T value, int lanes)
{
    const int from = pp_emulated_lane - lanes;

    return __shfl_sync(mask, value, from < 0 ? pp_emulated_lane : from);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
    uint32_t votes;

    pp_emulated_meet(PP_VOTE, mask, predicate != 0, &votes);
    return votes;
}

static inline int __any_sync(unsigned mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}

/* ---- tensor cores and asynchronous copies, with the contracts of mma.cuh and async.cuh ------- */

void pp_mma_bf16(float d[4], const uint32_t a[4], const uint32_t b[2]);
void pp_ldmatrix_x4(uint32_t r[4], const void *shared);
void pp_ldmatrix_x4_trans(uint32_t r[4], const void *shared);
/* `shared` holds NaNs from now on, and the copy once the thread has waited for it. */
void pp_cp_async_16(void *shared, const void *global, bool is_valid);
void pp_cp_async_commit(void);
void pp_emulated_land(unsigned groups_in_flight);

template <int N> void pp_cp_async_wait()
{
    pp_emulated_land(N);
}

#include "tests/cuda/emulate_launch.h"
#include "tests/cuda/emulate_math.h"

#endif
