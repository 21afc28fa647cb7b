/* OpenBLAS, loaded on first use: saves its start if unused, and its core type can be chosen. */
#include "kernels/cpu/blas.h"
#include "kernels/cpu/levels.h"

#include <cblas.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    __typeof__(&cblas_sgemm) gemm;
    void (*set_num_threads)(int);
    char *(*get_config)(void);
    char *(*get_corename)(void);
} blas;

static const struct {
    const char *name;
    void *to;
} symbols[] = {
    {"cblas_sgemm", &blas.gemm},
    {"openblas_set_num_threads", &blas.set_num_threads},
    {"openblas_get_config", &blas.get_config},
    {"openblas_get_corename", &blas.get_corename},
};

static bool find_symbols(void *library)
{
    for (size_t i = 0; i < PP_COUNT(symbols); i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (!symbol)
            return false;
        memcpy(symbols[i].to, &symbol, sizeof symbol);
    }
    return true;
}

/* "OpenBLAS 0.3.21 Cooperlake": the first two words of its configuration, and the core type. */
static void describe(char *text, size_t bytes)
{
    const char *config = blas.get_config();
    const char *space = strchr(config, ' ');
    const size_t words =
        space ? (size_t)(space + 1 - config) + strcspn(space + 1, " ") : strlen(config);

    snprintf(text, bytes, "%.*s %s", (int)words, config, blas.get_corename());
}

const char *pp_blas_load(bool is_pinned)
{
    static char text[96];

    setenv("OPENBLAS_NUM_THREADS", "1", true);
    if (is_pinned && pp_cpu_has_avx2())
        setenv("OPENBLAS_CORETYPE", "Haswell", false);
    void *library = dlopen(PP_OPENBLAS_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (!library || !find_symbols(library))
        return NULL;
    blas.set_num_threads(1);
    describe(text, sizeof text);
    return text;
}

void pp_blas_multiply(void *stream, const struct pp_gemm *g)
{
    (void)stream;
    blas.gemm(CblasRowMajor, g->a_transposed ? CblasTrans : CblasNoTrans,
              g->b_transposed ? CblasTrans : CblasNoTrans, g->m, g->n, g->k, 1, g->a, g->lda, g->b,
              g->ldb, g->base != NULL ? 1 : 0, g->c, g->ldc);
}
