/* Checks that the kernels can run: finds a missing or old driver, then a missing or old device. */
#define _GNU_SOURCE /* setenv */
#include "exec/cuda/backend.h"
#include "exec/cuda/module.h"

#include <stdlib.h>

/* kernels/cuda is compiled for 8.0, for 9.0, and for later devices in the portable form of 9.0. */
enum { LEAST_CAPABILITY = 80 };

#define OTHERWISE "\n  --backend cpu needs no GPU"

/* CUDA writes 13.0 as 13000. */
#define MAJOR(version) ((version) / 1000)
#define MINOR(version) ((version) % 1000 / 10)

static enum pp_status check_driver(struct pp_error *err)
{
    int driver = 0, runtime = 0;

    PP_TRY(pp_cuda_try(cudaDriverGetVersion(&driver), "ask for the NVIDIA driver", err));
    PP_TRY(pp_cuda_try(cudaRuntimeGetVersion(&runtime), "ask for the CUDA runtime", err));
    if (driver == 0)
        return pp_error_set(err, PP_EFAIL,
                            "--backend cuda: this machine has no NVIDIA driver (libcuda.so.1); "
                            "install one for CUDA %d.%d or later" OTHERWISE,
                            MAJOR(runtime), MINOR(runtime));
    if (MAJOR(driver) < MAJOR(runtime))
        return pp_error_set(err, PP_EFAIL,
                            "--backend cuda: the NVIDIA driver is for CUDA up to %d.%d, this build "
                            "needs %d.%d; update the driver, or build with an older CUDA" OTHERWISE,
                            MAJOR(driver), MINOR(driver), MAJOR(runtime), MINOR(runtime));
    return PP_OK;
}

static enum pp_status no_device(struct pp_error *err)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");

    if (visible)
        return pp_error_set(err, PP_EFAIL,
                            "--backend cuda: no GPU is visible: CUDA_VISIBLE_DEVICES is \"%s\"; "
                            "unset it, or name one that nvidia-smi lists" OTHERWISE,
                            visible);
    return pp_error_set(err, PP_EFAIL,
                        "--backend cuda: this machine has a driver, but no GPU that it can use; "
                        "nvidia-smi says what it sees" OTHERWISE);
}

enum pp_status pp_cuda_check_gpu(int gpu, struct pp_error *err)
{
    int major = 0, minor = 0;

    PP_TRY(pp_cuda_try(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, gpu),
                       "ask what the GPU can do", err));
    PP_TRY(pp_cuda_try(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, gpu),
                       "ask what the GPU can do", err));
    if (10 * major + minor < LEAST_CAPABILITY)
        return pp_error_set(err, PP_EFAIL,
                            "--backend cuda: the GPU is of compute capability %d.%d, the kernels "
                            "need %d.%d (A100) or later; CUDA_VISIBLE_DEVICES chooses another "
                            "one" OTHERWISE,
                            major, minor, LEAST_CAPABILITY / 10, LEAST_CAPABILITY % 10);
    return PP_OK;
}

const char *pp_cuda_about(void)
{
    static _Thread_local struct cudaDeviceProp properties;
    int gpu;

    return cudaGetDevice(&gpu) == cudaSuccess &&
                   cudaGetDeviceProperties(&properties, gpu) == cudaSuccess
               ? properties.name
               : "unknown GPU";
}

int pp_cuda_gpus(void)
{
    int gpus = 0;

    return cudaGetDeviceCount(&gpus) == cudaSuccess ? gpus : 0;
}

enum pp_status pp_cuda_check(struct pp_error *err)
{
    int devices = 0;

    /* Queues of the device, so that streams do not wait for others; read when CUDA starts. */
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
    PP_TRY(check_driver(err));
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code == cudaErrorNoDevice || (code == cudaSuccess && devices == 0))
        return no_device(err);
    return pp_cuda_try(code, "use CUDA", err);
}
