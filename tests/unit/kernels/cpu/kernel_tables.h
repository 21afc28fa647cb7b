/* What tests of kernels share: the same random tensors for all tables, and their comparison. */
#ifndef PP_TESTS_KERNEL_TABLES_H
#define PP_TESTS_KERNEL_TABLES_H

#include "kernels/cpu/levels.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

/* tables[0] is the reference, tables[1] what programs get, the rest all levels of this CPU. */
enum { MAX_TABLES = 8 };
struct tables {
    const struct pp_kernels *of[MAX_TABLES];
    int count, fused; /* the first `fused` have the same bits */
    struct pp_arena *arena;
    uint64_t seed;
};

static inline struct tables tables_all(struct pp_arena *arena)
{
    struct tables t = {.of = {&pp_kernels_reference, pp_kernels_fp32(false)},
                       .count = 2,
                       .arena = arena,
                       .seed = 1};

    for (int i = 0; i < pp_level_count; i++)
        if (pp_levels[i].is_supported()) {
            t.of[t.count++] = pp_levels[i].kernels;
            t.fused += pp_levels[i].has_fused;
        }
    t.fused = t.fused > 0 ? t.fused + 2 : t.count;
    return t;
}

/* Uniform in [-1, 1), and a float. */
static inline double tables_random(struct tables *t)
{
    t->seed = t->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(float)((double)(int64_t)t->seed * 0x1p-63);
}

static inline int tables_int(struct tables *t, int from, int to)
{
    return from + (int)((tables_random(t) + 1) / 2 * (to - from + 1));
}

/* A tensor of each table; those of levels start at different places of a cache line. */
struct tensor {
    size_t count;
    void *of[MAX_TABLES];
};

static inline struct tensor tensor_random(struct tables *t, size_t count, double scale)
{
    struct tensor x = {.count = count};

    for (int e = 0; e < t->count; e++)
        x.of[e] = (char *)pp_arena_alloc(t->arena, sizeof(double) * (count + 24)) +
                  (e > 1 ? sizeof(float) * (size_t)e : 0);
    for (size_t i = 0; i < count; i++) {
        const double value = (double)(float)(tables_random(t) * scale);
        ((double *)x.of[0])[i] = value;
        for (int e = 1; e < t->count; e++)
            ((float *)x.of[e])[i] = (float)value;
    }
    return x;
}

/* All float tables agree with the reference within `tolerance` of its largest element (or 1). */
static inline void tensor_close(const struct tables *t, struct tensor x, double tolerance,
                                const char *what)
{
    const double *right = x.of[0];
    double largest = 1;

    for (size_t i = 0; i < x.count; i++)
        largest = fmax(largest, fabs(right[i]));
    for (int e = 1; e < t->count; e++)
        for (size_t i = 0; i < x.count; i++)
            cr_assert(fabs((double)((float *)x.of[e])[i] - right[i]) <= tolerance * largest,
                      "%s: element %zu of %zu, table %d: %.9g is not %.9g", what, i, x.count, e,
                      (double)((float *)x.of[e])[i], right[i]);
}

/* Tables from `from` on, up to `to`, have the same bits. */
static inline void tensor_same(struct tensor x, int from, int to, const char *what)
{
    for (int e = from + 1; e < to; e++)
        for (size_t i = 0; i < x.count; i++)
            cr_assert(memcmp((float *)x.of[from] + i, (float *)x.of[e] + i, sizeof(float)) == 0,
                      "%s: element %zu of %zu: tables %d and %d: %a, %a", what, i, x.count, from, e,
                      (double)((float *)x.of[from])[i], (double)((float *)x.of[e])[i]);
}

/* Angles of `half` pairs: plain, scaled, and scaled as in Llama 3. */
static inline struct pp_angles angles_of(int half)
{
    const struct pp_angles angles[] = {
        {.theta = 1e4},
        {.theta = 1e4, .factor = 4},
        {.theta = 1e4, .factor = 8, .low = 1, .high = 4, .original_seq = 200}};
    struct pp_angles a = angles[half / 3 % 3];

    a.dim = 2 * half;
    return a;
}

#endif
