/* How far the device has come, for those who look after it: the host may have issued a step long
 * before that is over. */
#include "exec/cuda/backend.h"

/* Whoever issues something now gets on anyway, and may hold the lane for long. */
static int look_at(struct stream *stream)
{
    if (pthread_mutex_trylock(&stream->target->lock) == 0) {
        int over = atomic_load(&stream->over);

        while (over < stream->count && cudaEventQuery(stream->launches[over].end) == cudaSuccess)
            over++;
        atomic_store(&stream->over, over);
        pthread_mutex_unlock(&stream->target->lock);
    }
    return atomic_load(&stream->over);
}

/* Failures are told by whoever waits for the step. */
int64_t pp_cuda_passed(struct pp_backend_device *d)
{
    int64_t passed = 0;

    cudaSetDevice(d->gpu);
    for (int s = 0; s < d->options.streams; s++)
        passed += look_at(&d->streams[s]);
    cudaGetLastError();
    return passed;
}
