/* kernels/cuda/table.h — what programs get of this folder: tables whose `stream` is a struct
 * pp_cuda_stream (kernels/cuda/device/stream.h). Their functions only enqueue work. What kernels.h
 * says of memory that device and host both read (ids, targets, loss, blocks, status, step) must be
 * pinned and mapped, all the rest on the device. */
#ifndef PP_KERNELS_CUDA_TABLE_H
#define PP_KERNELS_CUDA_TABLE_H

#include "kernels/kernels.h"

extern const struct pp_kernels pp_kernels_cuda_fp32; /* T = G = float, all products in full */
extern const struct pp_kernels pp_kernels_cuda_bf16; /* T = bf16, G = float */

#endif
