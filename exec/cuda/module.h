/* exec/cuda/module.h — the shared module with CUDA: its table, and how to load it.
 *
 * The module is pipeexec-cuda.so: exec/cuda, kernels/cuda and the libraries of CUDA. Only --backend
 * cuda loads it, so other runs neither need these libraries nor wait for them. Code that it shares
 * with the program is compiled into both. */
#pragma once

#include "exec/backend/backend.h"
#include "exec/backend/ipc.h"
#include "exec/nccl/nccl.h"

/* Bytes of structs that both use: shows a change even in builds of one version. */
#define PP_CUDA_ABI_BYTES                                                                          \
    (sizeof(struct pp_backend) + sizeof(struct pp_device_options) + sizeof(struct pp_kernels) +    \
     sizeof(struct pp_gemm) + sizeof(struct pp_norm) + sizeof(struct pp_attention) +               \
     sizeof(struct pp_adamw) + sizeof(struct pp_flat) + sizeof(struct pp_adamw_step) +             \
     sizeof(struct pp_graph_stats) + sizeof(struct pp_fallbacks) + sizeof(struct pp_error) +       \
     sizeof(struct pp_nccl_calls) + sizeof(struct pp_nccl_plan) + sizeof(struct pp_nccl_group) +   \
     sizeof(struct pp_nccl_operation) + sizeof(struct pp_nccl_piece) +                             \
     sizeof(struct pp_ipc_calls) + sizeof(struct pp_ipc_card) + sizeof(struct pp_cuda_module))

struct pp_cuda_module {
    const char *version; /* PP_VERSION of its build */
    size_t abi_bytes;    /* PP_CUDA_ABI_BYTES */
    const struct pp_backend *backend;
    const struct pp_kernels *fp32, *bf16;
    const struct pp_nccl_calls *nccl;
    const struct pp_ipc_calls *ipc;
    int (*gpus)(void); /* that this process sees; 0: unknown */
};
extern const struct pp_backend pp_backend_cuda; /* in the module */
int pp_cuda_gpus(void);                         /* likewise */

/* Loads the module in PIPEEXEC_CUDA_MODULE, else pipeexec-cuda.so in the library path of the
 * executable (its build folder, or LIBDIR/pipesim when installed). PP_EFAIL when it or a library
 * that it needs is missing, or when it belongs to another build. */
enum pp_status pp_cuda_load(const struct pp_cuda_module **module, struct pp_error *err);
