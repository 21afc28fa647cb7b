/* A build without cuDNN's front end. */
#include "kernels/cuda/attention/cudnn.h"

struct pp_cudnn *pp_cudnn_create(void)
{
    return NULL;
}

void pp_cudnn_destroy(struct pp_cudnn *cudnn)
{
    (void)cudnn;
}

bool pp_cudnn_attention(const struct pp_cuda_stream *stream, const struct pp_attention *a,
                        bool is_backward)
{
    (void)stream, (void)a, (void)is_backward;
    return false;
}

const char *pp_cudnn_about(void)
{
    return "own";
}
