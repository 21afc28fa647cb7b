/* kernels/cpu/flat.c — operations on all tensors of a flat vector, piece by piece. */
#include "kernels/cpu/flat.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void *at(void *vector, size_t element_bytes, int64_t element)
{
    return vector ? (char *)vector + (size_t)element * element_bytes : NULL;
}

/* Gradients from `element` on, which counts from the first of `f`; from fixed point in `piece`. */
static const void *gradient(const struct pp_flat_parts *parts, const struct pp_flat *f,
                            int64_t element, int64_t count, double *piece)
{
    if (!f->fixed)
        return (const char *)f->grad + (size_t)element * parts->gradient_bytes;
    parts->fixed_read(count, f->fixed + element, f->bits, piece);
    return piece;
}

void pp_flat_adamw(const struct pp_flat_parts *parts, const struct pp_flat *f,
                   const struct pp_adamw *adamw, const struct pp_adamw_step *step, void *weights,
                   void *master, void *m, void *v)
{
    const size_t g = parts->gradient_bytes;
    double piece[PP_SQUARES_BLOCK];

    for (int t = 0; t < f->tensor_count; t++) {
        const struct pp_flat_tensor *tensor = &f->tensors[t];
        const int64_t end = least(tensor->until, f->until) - f->from;
        struct pp_adamw of_tensor = *adamw;

        of_tensor.decay = tensor->decays ? adamw->decay : 0;
        for (int64_t i = tensor->from > f->from ? tensor->from - f->from : 0; i < end;
             i += PP_SQUARES_BLOCK) {
            const int64_t count = least(end - i, PP_SQUARES_BLOCK);
            parts->adamw(count, &of_tensor, step, gradient(parts, f, i, count, piece),
                         at(weights, parts->element_bytes, i), at(master, g, i), at(m, g, i),
                         at(v, g, i));
        }
    }
}

void pp_flat_squares(const struct pp_flat_parts *parts, const struct pp_flat *f, double *blocks)
{
    double piece[PP_SQUARES_BLOCK];

    for (int t = 0; t < f->tensor_count; t++) {
        const struct pp_flat_tensor *tensor = &f->tensors[t];

        for (int64_t i = tensor->from; i < least(tensor->until, f->until); i += PP_SQUARES_BLOCK) {
            const int64_t count = least(tensor->until - i, PP_SQUARES_BLOCK);
            if (i >= f->from)
                *blocks++ = parts->squares(count, gradient(parts, f, i - f->from, count, piece));
        }
    }
}
