/* Which single precision kernels run: chosen once, on the first call. */
#include "kernels/cpu/blas.h"
#include "kernels/cpu/levels.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pp_kernels chosen;
static char about[128];

const char *pp_fp32_about(void)
{
    return about;
}

static void choose(bool is_pinned)
{
    const struct pp_level *level = pp_levels;

    while (!level->is_supported())
        level++;
    const char *blas = pp_blas_load(is_pinned);
    chosen = *level->kernels;
    if (blas)
        chosen.gemm = pp_blas_gemm;
    snprintf(about, sizeof about, "%s, %s", blas ? blas : "own multiplication", level->name);
}

const struct pp_kernels *pp_kernels_fp32(bool pinned)
{
    pthread_mutex_lock(&lock);
    if (!chosen.name)
        choose(pinned);
    pthread_mutex_unlock(&lock);
    return &chosen;
}
