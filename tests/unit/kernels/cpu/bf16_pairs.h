/* Tensors for tables of bfloat16 and their equivalents in double. The expected result of a table is
 * that of pp_kernels_reference on the same numbers, rounded once. */
#ifndef PP_TESTS_BF16_PAIRS_H
#define PP_TESTS_BF16_PAIRS_H

#include "kernels/kernels.h"
#include "kernels/numbers.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum element { OF_T = sizeof(uint16_t), OF_G = sizeof(float) };
struct pair {
    size_t count;
    enum element element;
    void *of;     /* bfloat16 or float */
    double *real; /* the same numbers */
};

struct pairs {
    struct pp_arena *arena;
    uint64_t seed;
};

/* Uniform in [-1, 1). */
static inline double pairs_random(struct pairs *p)
{
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)p->seed * 0x1p-63;
}

static inline int pairs_int(struct pairs *p, int from, int to)
{
    return from + (int)((pairs_random(p) + 1) / 2 * (to - from + 1));
}

/* The reference goes on with the numbers that the table has. */
static inline void pair_follow(struct pair x)
{
    for (size_t i = 0; i < x.count; i++)
        x.real[i] = pp_number_get(x.of, x.element, (int64_t)i);
}

static inline struct pair pair_random(struct pairs *p, enum element element, size_t count,
                                      double scale)
{
    const struct pair x = {.count = count,
                           .element = element,
                           .of = pp_arena_alloc(p->arena, count * element),
                           .real = PP_ARRAY(p->arena, double, count)};

    for (size_t i = 0; i < count; i++)
        pp_number_put(x.of, element, (int64_t)i, pairs_random(p) * scale);
    pair_follow(x);
    return x;
}

/* Equal except for one rounding, half a unit in the last place, and for `slack`. The slack covers
 * the loss in sums of numbers as large as the largest one. Then the reference takes the value. */
static inline void pair_close(struct pair x, double slack, const char *what)
{
    const double unit = x.element == OF_T ? 0x1p-8 : 0x1p-24;
    double largest = 1;

    for (size_t i = 0; i < x.count; i++)
        largest = fmax(largest, fabs(x.real[i]));
    for (size_t i = 0; i < x.count; i++) {
        const double got = pp_number_get(x.of, x.element, (int64_t)i), right = x.real[i];
        cr_assert(fabs(got - right) <= unit * fabs(right) + slack * largest,
                  "%s: element %zu of %zu: %.9g is not %.9g", what, i, x.count, got, right);
    }
    pair_follow(x);
}

#endif
