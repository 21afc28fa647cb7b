/* kernels/cuda/table.h — the CUDA kernel tables for programs. Their `stream` is a struct
 * pp_cuda_stream (kernels/cuda/device/stream.h), and their functions only enqueue work. Memory that
 * device and host both read must be pinned and mapped: ids, targets, loss, blocks, status and step
 * (kernels/kernels.h). All other memory is on the device. */
#pragma once

#include "kernels/kernels.h"

extern const struct pp_kernels pp_kernels_cuda_fp32; /* T = G = float, products in full precision */
extern const struct pp_kernels pp_kernels_cuda_bf16; /* T = bf16, G = float */
