/* Choice of the single precision kernels, once, on the first call. */
#include "kernels/cpu/blas.h"
#include "kernels/cpu/levels.h"
#include "kernels/cpu/shared.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pp_kernels chosen;
static void (*own_gemm)(void *stream, const struct pp_gemm *g);
static char about[160];

static const char *get_about(void)
{
    return about;
}

/* Most products for which own multiplication is faster: it packs less. */
static const int64_t OWN_PRODUCTS = (int64_t)1 << 27;

static void gemm(void *stream, const struct pp_gemm *g)
{
    const bool is_own = (int64_t)g->m * g->n * g->k <= OWN_PRODUCTS;

    if (is_own)
        own_gemm(stream, g);
    else
        pp_gemm_compose(&chosen, pp_blas_multiply, stream, g);
}

const struct pp_simd_level *pp_level_best(void)
{
    const struct pp_simd_level *level = pp_levels;

    while (!level->is_supported())
        level++;
    return level;
}

static void choose(bool is_pinned)
{
    const struct pp_simd_level *level = pp_level_best();

    const char *blas = pp_blas_load(is_pinned);
    chosen = *level->kernels;
    chosen.about = get_about;
    own_gemm = chosen.gemm;
    if (blas)
        chosen.gemm = gemm;
    snprintf(about, sizeof about, "%s%s%s", level->name, blas ? ", large multiplications by " : "",
             blas ? blas : "");
}

const struct pp_kernels *pp_kernels_fp32(bool pinned)
{
    pthread_mutex_lock(&lock);
    if (!chosen.name)
        choose(pinned);
    pthread_mutex_unlock(&lock);
    return &chosen;
}
