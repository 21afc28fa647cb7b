/* kernels/cuda/gemm/tuned.h — which of cuBLASLt's proposals is taken for a form of multiplication:
 * the first, or the fastest one by a file (--tune).
 *
 * A process opens one file at most, before the first multiplication. A form that the file lacks is
 * timed at its first use, on the tensors of that use, and the choice is appended. So runs with the
 * same file have the same bits. Without a file the first proposal is taken. */
#pragma once

#include "core/error.h"
#include "kernels/cuda/gemm/plans.h"

/* Reads the choices for the current device and this cuBLASLt. Unless `may_time`, forms that the
 * file lacks keep the first proposal: processes that compute alike have to choose alike. PP_EINVAL:
 * another program's file, with the line. PP_EFAIL: it cannot be opened. */
enum pp_status pp_cuda_tuned_open(const char *path, bool may_time, struct pp_error *err);

/* A multiplication that may be repeated with each of `proposals`. `run` enqueues it; false: it is
 * refused. A result that must not be repeated in its place goes to memory of `elsewhere_bytes`. */
struct pp_cuda_trial {
    const struct pp_cuda_stream *stream;
    int proposals;
    size_t elsewhere_bytes; /* 0: none is needed */
    bool (*run)(void *context, int proposal, void *elsewhere);
    void *context;
};

/* Index of the proposal for a form on that stream. From any thread. */
int pp_cuda_tuned_choose(const struct pp_cuda_form *form, const struct pp_cuda_trial *trial);
