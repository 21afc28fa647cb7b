/* bench/decode.c — one token of GPT-2 124M on one core, kernel by kernel, next to the rate at which
 * the core reads memory.
 *
 * A round reads all weights once as plain sums, then makes a token of each batch. So both
 * meet the same machine. Figures are those of the best rounds, in CPU time. `share` is the rate at
 * which products read their weights, as a part of the plain sum's rate. With `gemm` the products
 * are those of training. Attention reads keys and values of the whole context.
 *
 * usage: bench_decode [fp32|bf16] [CONTEXT]   one table and context only */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "bench/bench.h"
#include "core/arena.h"
#include "kernels/kernels.h"
#include "kernels/numbers.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

enum { LAYERS = 12, WIDTH = 768, HEADS = 12, FFN = 3072, VOCAB = 50257, POSITIONS = 1024 };
enum { ROUNDS = 8, BATCHES = 4 };
static const int batches[BATCHES] = {1, 2, 4, 8};

/* Where the time of a token goes. */
enum part { PRODUCTS, HEAD, ATTENTION, REST, PARTS };

struct layer {
    char *qkv, *project, *up, *down, *cache;
};

struct model {
    const struct pp_kernels *k;
    size_t element; /* bytes */
    char *weights, *table;
    size_t weight_bytes;
    struct layer layer[LAYERS];
    char *small; /* zeros: biases, and weights of norms */
    char *x, *y, *wide, *active, *logits, *stats, *scratch;
    int32_t ids[PP_FEW_ROWS];
    void (*gemm)(void *stream, const struct pp_gemm *g);
    double s[PARTS], since;
};

static void *memory_of(size_t bytes)
{
    const size_t page = (size_t)1 << 21, whole = (bytes + page - 1) / page * page;
    void *memory = aligned_alloc(page, whole);

    if (memory == NULL)
        exit(1);
    madvise(memory, whole, MADV_HUGEPAGE); /* as pipeexec's memory of weights */
    memset(memory, 0, whole);
    return memory;
}

static struct model model_of(const struct pp_kernels *k)
{
    const size_t e = k->element_bytes, square = (size_t)WIDTH * WIDTH * e;
    const size_t of_layer = 4 * square + 2 * (size_t)FFN * WIDTH * e, vocab = (size_t)VOCAB * e;
    struct model m = {.k = k, .element = e, .gemm = k->gemm_few};

    m.weight_bytes = LAYERS * of_layer + vocab * WIDTH;
    m.weights = memory_of(m.weight_bytes);
    for (int i = 0; i < LAYERS; i++) {
        char *at = m.weights + (size_t)i * of_layer;
        m.layer[i] = (struct layer){at, at + 3 * square, at + 4 * square,
                                    at + 4 * square + (size_t)FFN * WIDTH * e,
                                    memory_of(PP_FEW_ROWS * (size_t)POSITIONS * 2 * WIDTH * e)};
    }
    m.table = m.weights + LAYERS * of_layer;
    m.small = memory_of(vocab);
    m.x = memory_of(PP_FEW_ROWS * WIDTH * e);
    m.y = memory_of(PP_FEW_ROWS * WIDTH * e);
    m.wide = memory_of(PP_FEW_ROWS * FFN * e);
    m.active = memory_of(PP_FEW_ROWS * FFN * e);
    m.logits = memory_of(PP_FEW_ROWS * vocab);
    m.stats = memory_of(PP_FEW_ROWS * 2 * sizeof(float));
    m.scratch = memory_of((size_t)1 << 22);
    return m;
}

static void model_free(struct model *m)
{
    void *all[] = {m->weights, m->small,  m->x,     m->y,      m->wide,
                   m->active,  m->logits, m->stats, m->scratch};

    for (size_t i = 0; i < PP_COUNT(all); i++)
        free(all[i]);
    for (int i = 0; i < LAYERS; i++)
        free(m->layer[i].cache);
}

/* Adds the time since the last call to a part. */
static void took(struct model *m, enum part part)
{
    const double now = cpu_s();

    m->s[part] += now - m->since;
    m->since = now;
}

static void product(struct model *m, int rows, int n, int depth, const void *a, const void *b,
                    void *c, const void *base, void *activated)
{
    m->gemm(NULL, &(struct pp_gemm){.m = rows,
                                    .n = n,
                                    .k = depth,
                                    .b_transposed = true,
                                    .a = a,
                                    .b = b,
                                    .c = c,
                                    .lda = depth,
                                    .ldb = depth,
                                    .ldc = n,
                                    .base = base,
                                    .bias = m->small,
                                    .activation = PP_GELU_TANH,
                                    .activated = activated});
    took(m, n == VOCAB ? HEAD : PRODUCTS);
}

static void norm(struct model *m, int rows)
{
    m->k->norm_forward(NULL, &(struct pp_norm){.rows = rows,
                                               .width = WIDTH,
                                               .epsilon = 1e-5,
                                               .x = m->x,
                                               .gamma = m->small,
                                               .beta = m->small,
                                               .y = m->y,
                                               .stats = m->stats});
    took(m, REST);
}

static void attend(struct model *m, const struct layer *l, int batch, int context)
{
    const int dim = WIDTH / HEADS;

    m->k->cache_append(NULL, &(struct pp_cache_append){batch, 1, HEADS, HEADS, dim, context - 1,
                                                       POSITIONS, m->wide, l->cache});
    took(m, REST);
    m->k->attention_cached(NULL, &(struct pp_attention_cached){batch, HEADS, HEADS, dim, context,
                                                               POSITIONS, 0, m->wide, l->cache,
                                                               m->y, m->scratch});
    took(m, ATTENTION);
}

/* Makes one token of each sequence. */
static void token(struct model *m, int batch, int context)
{
    memset(m->s, 0, sizeof m->s);
    m->since = cpu_s();
    m->k->embed_forward(NULL, &(struct pp_embedding){.batch = batch,
                                                     .tokens = 1,
                                                     .stride = 1,
                                                     .width = WIDTH,
                                                     .words = VOCAB,
                                                     .ids = m->ids,
                                                     .table = m->table,
                                                     .positions = m->small,
                                                     .y = m->x});
    for (int i = 0; i < LAYERS; i++) {
        const struct layer *l = &m->layer[i];
        norm(m, batch);
        product(m, batch, 3 * WIDTH, WIDTH, m->y, l->qkv, m->wide, NULL, NULL);
        attend(m, l, batch, context);
        product(m, batch, WIDTH, WIDTH, m->y, l->project, m->x, m->x, NULL);
        norm(m, batch);
        product(m, batch, FFN, WIDTH, m->y, l->up, m->wide, NULL, m->active);
        product(m, batch, WIDTH, FFN, m->active, l->down, m->x, m->x, NULL);
    }
    norm(m, batch);
    product(m, batch, VOCAB, WIDTH, m->y, m->table, m->logits, NULL, NULL);
}

typedef int32_t words __attribute__((vector_size(64), may_alias));

#if defined(__x86_64__) && defined(__GNUC__)
#define FOR_THIS_CPU __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define FOR_THIS_CPU
#endif

/* Adds `count` vectors, which begin at four places at once. */
FOR_THIS_CPU static int32_t sum_of(const words *x, size_t count)
{
    const size_t part = count / 4;
    words sum[4] = {{0}};

    for (size_t i = 0; i < part; i++)
        for (size_t j = 0; j < 4; j++)
            sum[j] += x[j * part + i];
    sum[0] += sum[1] + sum[2] + sum[3];
    return sum[0][0] + sum[0][15];
}

static volatile int32_t kept;

/* Reads all weights as sums of integers; returns bytes a second. Pieces are those at which the core
 * reads fastest. */
static double read_rate(const struct model *m)
{
    enum { PIECE = 1 << 16 };
    const words *x = (const words *)m->weights;
    const size_t count = m->weight_bytes / sizeof *x / PIECE * PIECE;
    const double begin = cpu_s();

    for (size_t i = 0; i < count; i += PIECE)
        kept += sum_of(x + i, PIECE);
    return (double)(count * sizeof *x) / (cpu_s() - begin);
}

struct best {
    double token_s, s[PARTS];
};

static void keep_best(struct best *best, const struct model *m)
{
    double all = 0;

    for (int p = 0; p < PARTS; p++) {
        all += m->s[p];
        best->s[p] = fmin(best->s[p], m->s[p]);
    }
    best->token_s = fmin(best->token_s, all);
}

static void print_case(const struct model *m, int batch, int context, const struct best *best,
                       double rate, const char *products)
{
    const double cache = 2.0 * LAYERS * WIDTH * (double)m->element * context * batch;
    const double head = (double)VOCAB * WIDTH * (double)m->element;
    const double matrices = (double)m->weight_bytes - head;

    printf("  %-4s %-8s %5d %7d %9.2f ms %8.1f GB/s %5.0f %% %5.0f %% %8.2f ms %5.0f %% %7.2f ms\n",
           m->k->name, products, batch, context, 1e3 * best->token_s,
           (double)m->weight_bytes / best->token_s * 1e-9,
           100 * matrices / best->s[PRODUCTS] / rate, 100 * head / best->s[HEAD] / rate,
           1e3 * best->s[ATTENTION], 100 * cache / best->s[ATTENTION] / rate, 1e3 * best->s[REST]);
}

static void print_context(struct model *m, int context, bool has_gemm)
{
    struct best best[2 * BATCHES];
    double rate = 0;

    for (int i = 0; i < 2 * BATCHES; i++)
        best[i] = (struct best){INFINITY, {INFINITY, INFINITY, INFINITY, INFINITY}};
    for (int round = 0; round < ROUNDS; round++) {
        rate = fmax(rate, read_rate(m));
        for (int i = 0; i < (has_gemm ? 2 : 1) * BATCHES; i++) {
            m->gemm = i < BATCHES ? m->k->gemm_few : m->k->gemm;
            token(m, batches[i % BATCHES], context);
            keep_best(&best[i], m);
        }
    }
    printf("  %s, context %d: a plain sum reads %.1f GB/s\n", m->k->name, context, rate * 1e-9);
    for (int i = 0; i < (has_gemm ? 2 : 1) * BATCHES; i++)
        print_case(m, batches[i % BATCHES], context, &best[i], rate,
                   i < BATCHES ? "gemm_few" : "gemm");
}

int main(int argc, char **argv)
{
    const struct pp_kernels *const tables[] = {pp_kernels_fp32(true), &pp_kernels_bf16};
    static const int contexts[] = {1, 256, 1024};

    printf(
        "kernels %s; GPT-2 124M, one token of a batch on one core\n"
        "  type products batch context        token       weights  share   head   attention  share"
        "       rest\n",
        tables[0]->about());
    for (size_t t = 0; t < PP_COUNT(tables); t++) {
        struct model m;
        if (argc > 1 && strcmp(argv[1], tables[t]->name) != 0)
            continue;
        m = model_of(tables[t]);
        for (size_t c = 0; c < PP_COUNT(contexts); c++)
            if (argc < 3 || atoi(argv[2]) == contexts[c])
                print_context(&m, contexts[c], t == 0 && c == 0);
        model_free(&m);
    }
    return 0;
}
