/* kernels/cuda/table.h — the CUDA kernel tables for programs. Their `stream` is a struct
 * pp_cuda_stream (kernels/cuda/device/stream.h), and their functions only enqueue work. kernels.h
 * names the memory that device and host both read: ids, targets, loss, blocks, status and step. It
 * must be pinned and mapped. All other memory is on the device. */
#pragma once

#include "kernels/kernels.h"

extern const struct pp_kernels pp_kernels_cuda_fp32; /* T = G = float, all products in full */
extern const struct pp_kernels pp_kernels_cuda_bf16; /* T = bf16, G = float */
