/* For builds of CUDA without NCCL: the check fails, so nothing else is called. */
#include "exec/nccl/nccl.h"

static enum pp_status nccl_check(struct pp_error *err)
{
    return pp_error_set(err, PP_EFAIL,
                        "--transport nccl: this build has no NCCL, as no nccl.h of version 2.18 or "
                        "later was found");
}

const struct pp_nccl_calls pp_cuda_nccl_calls = {.check = nccl_check};
