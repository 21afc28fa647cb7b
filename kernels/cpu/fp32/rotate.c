/* Rotary positions. Angles grow by a constant from token to token, so sine and cosine follow by a
 * rotation. It is in double precision and starts at position 0, so a token's angle does not depend
 * on the cut of its sequence. The error after t tokens is about t 2^-53. */
#include "kernels/cpu/fp32/fp32.h"
#include "kernels/cpu/simd.h"

#include <math.h>

/* Up to 16 neighbouring pairs, in all heads of all sequences. */
struct strip {
    size_t count; /* number of pairs */
    double cosine[LANES], sine[LANES], step_cosine[LANES], step_sine[LANES];
};

static struct strip strip_at(const struct pp_angles *angles, int i)
{
    const int half = angles->dim / 2;
    struct strip s = {.count = (size_t)(half - i < LANES ? half - i : LANES)};

    for (int j = 0; j < LANES && i + j < half; j++) {
        const double angle = pp_angles_frequency(angles, i + j);
        s.cosine[j] = 1;
        s.step_cosine[j] = cos(angle);
        s.step_sine[j] = sin(angle);
    }
    return s;
}

static void step(struct strip *s)
{
    for (int j = 0; j < LANES; j++) {
        const double c = s->cosine[j], q = s->sine[j];
        s->cosine[j] = c * s->step_cosine[j] - q * s->step_sine[j];
        s->sine[j] = q * s->step_cosine[j] + c * s->step_sine[j];
    }
}

PP_INLINE void rotate_pairs(float *a, size_t half, size_t count, vf c, vf s)
{
    const vf u = load_some(a, count), v = load_some(a + half, count);

    store_some(a, count, u * c - v * s);
    store_some(a + half, count, v * c + u * s);
}

void PP_AT(rotate)(void *stream, const struct pp_rotation *r, void *x)
{
    const int half = r->angles.dim / 2;

    (void)stream;
    for (int i = 0; i < half; i += LANES) {
        struct strip strip = strip_at(&r->angles, i);

        for (int t = 0; t < r->first; t++)
            step(&strip);
        for (int t = 0; t < r->tokens; t++, step(&strip)) {
            vf c = {0}, s = {0};
            for (int j = 0; j < LANES; j++) {
                c[j] = (float)strip.cosine[j];
                s[j] = (float)(r->is_inverse ? -strip.sine[j] : strip.sine[j]);
            }
            for (int b = 0; b < r->batch; b++) {
                const size_t row = (size_t)b * (size_t)r->tokens + (size_t)t;
                float *at = (float *)x + row * (size_t)r->stride + i;
                for (int h = 0; h < r->heads; h++)
                    rotate_pairs(at + h * r->head_dim, (size_t)half, strip.count, c, s);
            }
        }
    }
}
