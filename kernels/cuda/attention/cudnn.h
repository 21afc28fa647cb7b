/* kernels/cuda/attention/cudnn.h — attention by cuDNN, where it is found: bf16, heads of 64 or 128,
 * causal, sequences that are neither split nor have windows. Own kernels do all else, and are its
 * reference.
 *
 * The library is loaded at the first attention in bf16: the file in PIPEEXEC_CUDNN_LIBRARY, else
 * libcudnn.so.9. Then it computes a small shape once for the process, which is compared with own
 * kernels. A shape has a plan for each stream, made at its first call. All ways of cuDNN that are
 * used have a fixed order of additions, so a shape has the same bits on every stream. */
#pragma once

#include "kernels/cuda/device/stream.h"
#include "kernels/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the plans of a stream on the current device; NULL if the build has no cuDNN. Streams of a
 * part of the device have none: their `cudnn` stays NULL. */
struct pp_cudnn *pp_cudnn_create(void);
void pp_cudnn_destroy(struct pp_cudnn *cudnn); /* accepts NULL */

/* Enqueues the work; false, without effect, if own kernels have to do it. The backward needs
 * gradients of keys and values to be written, not added to. */
bool pp_cudnn_attention(const struct pp_cuda_stream *stream, const struct pp_attention *a,
                        bool is_backward);

/* cudnn_check.c: compares a call of cuDNN with own kernels on a small shape with the heads of `a`.
 * Returns what differs, or NULL. */
typedef bool pp_cudnn_call(const struct pp_cuda_stream *stream, const struct pp_attention *a);
const char *pp_cudnn_check(pp_cudnn_call *call, bool is_backward,
                           const struct pp_cuda_stream *stream, const struct pp_attention *a);

/* Says what has computed attention in bf16 so far, for reports: "own", "own (WHY)", "cuDNN 9.19.0",
 * or that and what it has refused. One buffer for each thread. */
const char *pp_cudnn_about(void);

#ifdef __cplusplus
}
#endif
