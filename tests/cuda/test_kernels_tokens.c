/* Both ends of the model by the CUDA tables: embedding, and softmax with cross entropy. */
#include "tests/cuda/table_case.h"

/* Where tokens are: columns first .. first + tokens - 1 of [batch][stride]. */
struct text {
    int batch, tokens, first, stride, vocab, width, ld;
    bool has_positions, add;
    double scale, spread; /* of the loss; of logits */
    int32_t *ids;         /* [batch][stride], shared */
    int first_word;       /* of the table */
};

/* Ids of a text repeat: a third are one of two, in any order. */
static struct text text_of(const struct text *from)
{
    struct text t = *from;
    const int count = t.batch * t.stride;

    t.ids = shared_bytes(sizeof(int32_t) * (size_t)count);
    for (int i = 0; i < count; i++)
        t.ids[i] = drawn_below(3) == 0 ? t.vocab - 1 - drawn_below(t.vocab < 2 ? 1 : 2)
                                       : drawn_below(t.vocab);
    return t;
}

/* ---- embedding ------------------------------------------------------------------------------- */

static void call_embed(const struct pp_kernels *k, void *stream, void *const *x, const void *what)
{
    const struct text *t = what;

    const struct pp_embedding e = {.batch = t->batch,
                                   .tokens = t->tokens,
                                   .first = t->first,
                                   .stride = t->stride,
                                   .width = t->width,
                                   .first_word = t->first_word,
                                   .words = t->vocab - t->first_word,
                                   .ids = t->ids,
                                   .table = x[0],
                                   .positions = t->has_positions ? x[1] : NULL,
                                   .y = x[2],
                                   .dy = x[3],
                                   .dtable = x[4],
                                   .dpositions = t->has_positions ? x[5] : NULL,
                                   .add = t->add};

    k->embed_forward(stream, &e);
    k->embed_backward(stream, &e);
}

static void try_embed(const struct text *from)
{
    const struct text t = text_of(from);
    const size_t table = (size_t)t.vocab * (size_t)t.width;
    const size_t positions = (size_t)t.stride * (size_t)t.width;
    const size_t rows = (size_t)(t.batch * t.tokens) * (size_t)t.width;
    const struct kernel_case c = {"embed",
                                  call_embed,
                                  &t,
                                  .tolerance = 1e-5,
                                  .floor = 1e-5,
                                  .tensors = 6,
                                  .tensor = {{table, OF_T, 1},
                                             {positions, OF_T, 1},
                                             {rows, OF_T, 1},
                                             {rows, OF_T, 1},
                                             {table, OF_G, 1},
                                             {positions, OF_G, 1}}};

    kernel_try_both(&c);
}

Test(cuda_kernels, embed)
{
    static const struct text TEXTS[] = {
        {1, 1, 0, 1, 1, 1},      {1, 3, 2, 8, 2, 7},        {2, 40, 0, 40, 3, 8},
        {3, 5, 6, 13, 10, 65},   {2, 150, 10, 200, 50, 24}, {2, 33, 1, 34, 50257, 16},
        {1, 7, 0, 7, 1000, 768}, {4, 9, 3, 12, 5, 1600},    {1, 2500, 0, 2500, 700, 8},
        {2, 5, 0, 6, 4, 300},
    };

    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++)
        for (int flags = 0; flags < 8; flags++) {
            struct text t = TEXTS[i];
            t.has_positions = flags & 1;
            t.add = flags & 2;
            t.first_word = flags & 4 ? t.vocab / 3 : 0;
            try_embed(&t);
        }
}

/* ---- cross entropy --------------------------------------------------------------------------- */

static void call_cross_entropy(const struct pp_kernels *k, void *stream, void *const *x,
                               const void *what)
{
    const struct text *t = what;

    k->cross_entropy(stream, t->batch, t->tokens, t->first, t->stride, t->vocab, t->ld, t->ids,
                     t->scale, x[0], x[1]);
}

/* Every second row has few values, so that many are the largest. */
static void make_ties(double *const *x, const void *what)
{
    const struct text *t = what;

    for (int row = 0; row < t->batch * t->tokens; row += 2)
        for (int i = 0; i < t->vocab; i++) {
            double *logit = &x[0][(size_t)row * (size_t)t->ld + (size_t)i];
            *logit = t->spread * rint(2 * *logit / t->spread);
        }
}

/* Every `of` tokens one has no target that counts; 0 = none. */
static void try_cross_entropy(const struct text *from, int of)
{
    const struct text t = text_of(from);
    for (int i = 0; of > 0 && i < t.batch * t.stride; i += of)
        t.ids[i] = -1 - i;
    const size_t rows = (size_t)(t.batch * t.tokens);
    const struct kernel_case c = {
        "cross_entropy",
        call_cross_entropy,
        &t,
        make_ties,
        .tolerance = 1e-5,
        .floor = 2e-7 * fmax(1, t.spread),
        .tensors = 2,
        .tensor = {{rows * (size_t)t.ld, OF_T, t.spread}, {rows, SHARED_DOUBLE, 1}}};

    kernel_try_both(&c);
}

Test(cuda_kernels, cross_entropy)
{
    static const int VOCABS[] = {1, 2, 7, 8, 9, 15, 16, 100, 511, 4097, 50257};
    static const double SPREADS[] = {1, 30, 1e4};
    static const int PADDINGS[] = {0, 1, 47, 1200};

    for (size_t i = 0; i < sizeof VOCABS / sizeof *VOCABS; i++)
        for (size_t j = 0; j < sizeof SPREADS / sizeof *SPREADS; j++)
            try_cross_entropy(&(struct text){.batch = 1 + (int)(j % 2),
                                             .tokens = VOCABS[i] > 5000 ? 2 : 5,
                                             .first = (int)j,
                                             .stride = 8,
                                             .vocab = VOCABS[i],
                                             .ld = VOCABS[i] + PADDINGS[(i + j) % 4],
                                             .scale = 0.5,
                                             .spread = SPREADS[j]},
                              (int)(i % 3));
}

/* A probability is right to 1e-5 of itself, however small: of 50257 equal ones, and in a spread. */
Test(cuda_kernels, small_probabilities)
{
    enum { VOCAB = 50257 };
    const struct text t = text_of(&(struct text){
        .batch = 1, .tokens = 1, .stride = 1, .vocab = VOCAB, .scale = 1, .spread = 12});
    double *x = doubles(VOCAB), *right = doubles(VOCAB), *seen = doubles(VOCAB);
    double *loss = shared_bytes(sizeof *loss), right_loss;

    for (int i = 0; i < VOCAB; i++)
        x[i] = right[i] = i % 2 ? 0 : rounded(t.spread * drawn(), false);
    void *device = device_tensor(x, VOCAB, false);
    pp_kernels_cuda_fp32.cross_entropy(device_stream(), 1, 1, 0, 1, VOCAB, VOCAB, t.ids, 1, device,
                                       loss);
    pp_kernels_reference.cross_entropy(NULL, 1, 1, 0, 1, VOCAB, VOCAB, t.ids, 1, right,
                                       &right_loss);
    device_finish();
    device_read(device, seen, VOCAB, false);
    cr_assert(fabs(*loss - right_loss) <= 1e-6, "%.9g is not %.9g", *loss, right_loss);
    for (int i = 0; i < VOCAB; i++)
        cr_assert(fabs(seen[i] - right[i]) <= 1e-5 * fabs(right[i]), "%d: %.9g is not %.9g", i,
                  seen[i], right[i]);
    free(x);
    free(right);
    free(seen);
}
