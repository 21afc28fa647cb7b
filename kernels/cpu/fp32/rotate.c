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

static struct strip strip_at(int i, int half, double theta)
{
    struct strip s = {.count = (size_t)(half - i < LANES ? half - i : LANES)};

    for (int j = 0; j < LANES && i + j < half; j++) {
        const double angle = pow(theta, -(double)(i + j) / half);
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

void PP_AT(rotate)(void *stream, int batch, int tokens, int heads, int head_dim, int stride,
                   int first, double theta, bool is_inverse, void *x)
{
    const int half = head_dim / 2;

    (void)stream;
    for (int i = 0; i < half; i += LANES) {
        struct strip strip = strip_at(i, half, theta);

        for (int t = 0; t < first; t++)
            step(&strip);
        for (int t = 0; t < tokens; t++, step(&strip)) {
            vf c = {0}, s = {0};
            for (int j = 0; j < LANES; j++) {
                c[j] = (float)strip.cosine[j];
                s[j] = (float)(is_inverse ? -strip.sine[j] : strip.sine[j]);
            }
            for (int b = 0; b < batch; b++) {
                float *row = (float *)x + ((size_t)b * (size_t)tokens + (size_t)t) * (size_t)stride;
                for (int h = 0; h < heads; h++)
                    rotate_pairs(row + h * head_dim + i, (size_t)half, strip.count, c, s);
            }
        }
    }
}
