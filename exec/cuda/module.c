/* Table that the CUDA module offers to the program. */
#include "exec/cuda/module.h"

#include "kernels/cuda/table.h"

/* The symbol that pp_cuda_load() looks for. */
extern const struct pp_cuda_module pp_cuda_module;
__attribute__((visibility("default"))) const struct pp_cuda_module pp_cuda_module = {
    .version = PP_VERSION,
    .abi_bytes = PP_CUDA_ABI_BYTES,
    .backend = &pp_backend_cuda,
    .fp32 = &pp_kernels_cuda_fp32,
    .bf16 = &pp_kernels_cuda_bf16,
    .nccl = &pp_cuda_nccl_calls,
    .ipc = &pp_cuda_ipc_calls,
    .gpus = pp_cuda_gpus,
};
