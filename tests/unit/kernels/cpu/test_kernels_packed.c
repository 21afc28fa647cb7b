/* Tensors at rest in 8, 4 and 2 bits. The error has a bound, constants are exact, and values that
 * are not finite show. All tables and instruction sets have one set of bytes, tails included. */
#include "kernels/cpu/levels.h"
#include "packed_values.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { MOST = 10 * PP_PACKED_GROUP, AFTER = 64, MAX_TABLES = 16 };
static const int BITS[] = {8, 4, 2};
#define FOR_BITS(bits) for (int b_ = 0, bits = BITS[0]; b_ < 3; bits = BITS[++b_ % 3])

/* The reference in double; then those of float and bfloat16, of programs and of all levels. */
struct all_tables {
    const struct pp_kernels *of[MAX_TABLES];
    struct pp_kernels bf16[MAX_TABLES]; /* with the packing of a level */
    int count;
};

static const struct all_tables *all_tables(void)
{
    static struct all_tables t;

    t.count = 0;
    t.of[t.count++] = &pp_kernels_reference;
    t.of[t.count++] = pp_kernels_fp32(false);
    t.of[t.count++] = &pp_kernels_bf16;
    for (int i = 0; i < pp_level_count; i++)
        if (pp_levels[i].is_supported()) {
            t.of[t.count++] = pp_levels[i].kernels;
            t.bf16[i] = pp_kernels_bf16;
            t.bf16[i].quantise = pp_levels[i].bf16->quantise;
            t.bf16[i].restore = pp_levels[i].bf16->restore;
            t.of[t.count++] = &t.bf16[i];
        }
    return &t;
}

/* What a table makes of values, and where it begins to write what is not its own. */
struct result {
    unsigned char packed[2 * MOST + AFTER];
    double value[MOST], restored[MOST];
    int64_t bits_of[MOST]; /* of the restored values, as they lie in memory */
};

static void fill(void *x, size_t bytes)
{
    memset(x, 0xa5, bytes);
}

static bool is_filled(const void *x, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)x)[i] != 0xa5)
            return false;
    return true;
}

/* As T has it; the largest numbers of float stay finite. */
static double as_element(const struct pp_kernels *k, float x)
{
    double value = 0;

    pp_number_put(&value, k->element_bytes, 0,
                  k->element_bytes == 2 && isfinite(x) ? fmin((double)x, 0x1.fep127) : (double)x);
    return pp_number_get(&value, k->element_bytes, 0);
}

/* Values begin at any element, what is packed at any multiple of 4 bytes. */
static void quantise_and_restore(const struct pp_kernels *k, int bits, int64_t count,
                                 const float *x, struct result *r)
{
    static _Alignas(64) unsigned char memory[8 * (MOST + 16) + AFTER];
    const size_t element = k->element_bytes, bytes = (size_t)count * element,
                 packed = pp_packed_bytes(bits, count);
    unsigned char *const of = memory + element * (size_t)(count % 5);

    for (int64_t i = 0; i < count; i++)
        pp_number_put(of, element, i, r->value[i] = as_element(k, x[i]));
    fill(r->packed, sizeof r->packed);
    k->quantise(NULL, bits, count, of, r->packed);
    cr_assert(is_filled(r->packed + packed, sizeof r->packed - packed), "%s: beyond %d bits of %d",
              k->name, bits, (int)count);
    fill(of, bytes + AFTER);
    k->restore(NULL, bits, count, r->packed, of);
    cr_assert(is_filled(of + bytes, AFTER), "%s: beyond %d values", k->name, (int)count);
    memset(r->bits_of, 0, sizeof r->bits_of);
    for (int64_t i = 0; i < count; i++) {
        r->restored[i] = pp_number_get(of, element, i);
        memcpy(&r->bits_of[i], of + (size_t)i * element, element);
    }
}

static void draw(enum packed_kind kind, int64_t count, float *x)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = packed_value(kind, (uint64_t)count * PACKED_KINDS + kind, i);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Group by group. */
static size_t counted_bytes(int bits, int64_t count)
{
    size_t bytes = 0;

    for (; count > 0; count -= PP_PACKED_GROUP) {
        const int64_t of = count < PP_PACKED_GROUP ? count : PP_PACKED_GROUP;
        bytes += 4 + (size_t)((of * bits + 7) / 8);
    }
    return bytes;
}

Test(packed, bytes)
{
    FOR_BITS(bits)
    for (int64_t count = 0; count < 1000; count++)
        cr_assert_eq(pp_packed_bytes(bits, count), counted_bytes(bits, count));
    cr_assert_eq((double)pp_packed_bytes(8, 1 << 20) / (4 << 20), 0.2578125);
    cr_assert_eq((double)pp_packed_bytes(8, 1 << 20) / (2 << 20), 0.515625);
    cr_assert_eq((double)pp_packed_bytes(4, 1 << 20) / (4 << 20), 0.1328125);
    cr_assert_eq((double)pp_packed_bytes(2, 1 << 20) / (4 << 20), 0.0703125);
    cr_assert_eq(pp_packed_bytes(8, (int64_t)1 << 40), ((size_t)1 << 40) / 128 * 132);
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* The largest distance between two neighbours in T that a rounding of x can have, halved. */
static double rounding(const struct pp_kernels *k, double x)
{
    const int digits = k->element_bytes == 2 ? 8 : k->element_bytes == 4 ? 24 : 53;
    const int least = k->element_bytes == 8 ? -1022 : -126;
    int exponent;

    frexp(x, &exponent);
    return ldexp(0.5, (exponent - 1 < least ? least : exponent - 1) - digits + 1);
}

/* The header by the definition: m and s are numbers of bfloat16, and none closer would do. Powers
 * of two and quotients are those of long double. */
static double scale_by_definition(int bits, double least, double largest, double m, double s)
{
    const uint16_t m16 = pp_bf16_round((float)m), s16 = pp_bf16_round((float)s);
    const long double step = ((long double)largest - (long double)m) / ((1 << bits) - 1);

    cr_assert((double)pp_bf16_value(m16) == m && (double)pp_bf16_value(s16) == s, "bfloat16");
    const uint16_t next = (uint16_t)(m == 0 ? 1 : m > 0 ? m16 + 1 : m16 - 1);
    cr_assert(m <= least && (double)pp_bf16_value(next) > least, "%a is not %a rounded down", m,
              least);
    cr_assert((long double)s >= step * (1 - 0x1p-52L) &&
                  (long double)pp_bf16_value((uint16_t)(s16 - 1)) < step,
              "%a is not %La rounded up", s, step);
    return s;
}

/* Checks a group, and returns its scale. A constant has none. */
static double check_group(const struct pp_kernels *k, int bits, int64_t count, const double *x,
                          const unsigned char *packed)
{
    double least = x[0], largest = x[0];
    uint16_t header[2];

    memcpy(header, packed, sizeof header);
    for (int64_t i = 0; i < count; i++) {
        least = fmin(least, x[i]);
        largest = fmax(largest, x[i]);
    }
    cr_assert((header[1] >> 15) == (least == largest), "%s: constant", k->name);
    return least == largest
               ? 0
               : scale_by_definition(bits, least, largest, (double)pp_bf16_value(header[0]),
                                     (double)pp_bf16_value(header[1]));
}

static void check_bound(const struct pp_kernels *k, int bits, int64_t count, const struct result *r,
                        const char *what)
{
    double scale = 0;

    for (int64_t i = 0; i < count; i++) {
        const int64_t rest = count - i, of = rest < PP_PACKED_GROUP ? rest : PP_PACKED_GROUP;
        if (i % PP_PACKED_GROUP == 0)
            scale = check_group(k, bits, of, r->value + i,
                                r->packed + pp_packed_begin(bits, i / PP_PACKED_GROUP));
        const double by = fabs(r->restored[i] - r->value[i]);
        cr_assert(by <= scale / 2 * (1 + 0x1p-40) + rounding(k, r->restored[i]),
                  "%s %s, %d bits, value %d of %d: %a is restored as %a, steps are %a", k->name,
                  what, bits, (int)i, (int)count, r->value[i], r->restored[i], scale);
    }
}

static void check_kind(const struct all_tables *t, enum packed_kind kind, int64_t count)
{
    static struct result r;
    float x[MOST];

    draw(kind, count, x);
    FOR_BITS(bits) for (int e = 0; e < t->count; e++)
    {
        char what[32];
        snprintf(what, sizeof what, "kind %d", kind);
        quantise_and_restore(t->of[e], bits, count, x, &r);
        check_bound(t->of[e], bits, count, &r, what);
    }
}

Test(packed, error_is_at_most_half_a_step)
{
    const struct all_tables *t = all_tables();

    for (enum packed_kind kind = 0; kind < PACKED_BROKEN; kind++)
        for (int64_t count = 1; count <= MOST; count += count < PP_PACKED_GROUP ? 1 : 211)
            check_kind(t, kind, count);
}

Test(packed, errors_rise_with_fewer_bits)
{
    const struct all_tables *t = all_tables();
    static struct result r;
    float x[MOST];

    draw(PACKED_UNIFORM, MOST, x);
    for (int e = 0; e < t->count; e++) {
        double before = 0;
        FOR_BITS(bits)
        {
            double squares = 0;
            quantise_and_restore(t->of[e], bits, MOST, x, &r);
            for (int i = 0; i < MOST; i++)
                squares += (r.restored[i] - r.value[i]) * (r.restored[i] - r.value[i]);
            cr_assert(squares > 16 * before, "%s: %g with %d bits", t->of[e]->name, squares, bits);
            before = squares;
        }
    }
}

/* ---- one set of bytes ------------------------------------------------------------------------ */

static void check_same(const struct all_tables *t, enum packed_kind kind, int64_t count, int bits)
{
    static struct result right, seen;
    float x[MOST], narrow[MOST];

    draw(kind, count, x);
    for (int64_t i = 0; i < count; i++)
        narrow[i] = (float)as_element(&pp_kernels_bf16, x[i]);
    for (int e = 1; e < t->count; e++) {
        const struct pp_kernels *k = t->of[e];
        quantise_and_restore(t->of[0], bits, count, k->element_bytes == 2 ? narrow : x, &right);
        quantise_and_restore(k, bits, count, x, &seen);
        cr_assert(memcmp(right.packed, seen.packed, pp_packed_bytes(bits, count)) == 0,
                  "table %d, kind %d, %d bits of %d", e, kind, bits, (int)count);
        for (int64_t i = 0; i < count; i++) {
            int64_t expected = 0;
            pp_number_put(
                &expected, k->element_bytes, 0,
                fmin(right.restored[i], k->element_bytes == 2 ? 0x1.fep127 : 0x1.fffffep127));
            cr_assert(seen.bits_of[i] == expected || isnan(right.restored[i]),
                      "table %d, kind %d, value %d: %a, not %a", e, kind, (int)i, seen.restored[i],
                      right.restored[i]);
            cr_assert(!isnan(right.restored[i]) || isnan(seen.restored[i]), "NaN");
        }
    }
}

Test(packed, all_tables_have_the_same_bytes)
{
    const struct all_tables *t = all_tables();

    for (enum packed_kind kind = 0; kind < PACKED_KINDS; kind++)
        for (int64_t count = 1; count <= MOST; count += count < 20 ? 1 : 97)
            FOR_BITS(bits) check_same(t, kind, count, bits);
}

/* ---- constants, and what is not finite ------------------------------------------------------- */

Test(packed, constants_are_exact)
{
    static const float VALUES[] = {0.0f,
                                   -0.0f,
                                   1,
                                   0.1f,
                                   -0.1f,
                                   1.0f / 3,
                                   1e-40f,
                                   -0x1p-149f,
                                   0x1.fffffep127f,
                                   -0x1.fffffep127f};
    const struct all_tables *t = all_tables();
    static struct result r;
    float x[PP_PACKED_GROUP];

    for (int e = 0; e < t->count; e++)
        for (size_t v = 0; v < sizeof VALUES / sizeof *VALUES; v++)
            FOR_BITS(bits) for (int count = 1; count <= PP_PACKED_GROUP; count++)
            {
                for (int i = 0; i < count; i++)
                    x[i] = t->of[e]->element_bytes == 2 && v > 7 ? 3 : VALUES[v];
                quantise_and_restore(t->of[e], bits, count, x, &r);
                for (int i = 0; i < count; i++)
                    cr_assert(memcmp(&r.restored[i], &r.value[i], sizeof(double)) == 0,
                              "%s: %d values of %a are %a", t->of[e]->name, count, r.value[i],
                              r.restored[i]);
            }
}

Test(packed, a_value_that_is_not_finite_shows_in_its_group_alone)
{
    static const float VALUES[] = {NAN, INFINITY, -INFINITY};
    const struct all_tables *t = all_tables();
    static struct result r;
    float x[MOST];

    for (int e = 0; e < t->count; e++)
        for (size_t v = 0; v < 3; v++)
            FOR_BITS(bits) for (int at = 0; at < MOST - 1; at += 131)
            {
                const int64_t count = MOST - 1;
                draw(PACKED_UNIFORM, count, x);
                x[at] = VALUES[v];
                quantise_and_restore(t->of[e], bits, count, x, &r);
                for (int i = 0; i < count; i++)
                    cr_assert((bool)isnan(r.restored[i]) ==
                                  (i / PP_PACKED_GROUP == at / PP_PACKED_GROUP),
                              "%s: value %d when %d is not finite", t->of[e]->name, i, at);
            }
}

/* bfloat16 has no number below these. */
Test(packed, a_group_beyond_bfloat16_is_not_finite)
{
    static struct result r;
    const float x[] = {-0x1.fffffep127f, 1};
    const double wide[] = {-1e300, 1, 1e300, 1e300};
    double restored[4];

    quantise_and_restore(pp_kernels_fp32(false), 8, 2, x, &r);
    cr_assert(isnan(r.restored[0]) && isnan(r.restored[1]));
    for (int first = 0; first < 3; first++) {
        pp_kernels_reference.quantise(NULL, 8, 2, wide + first, r.packed);
        pp_kernels_reference.restore(NULL, 8, 2, r.packed, restored);
        cr_assert(isnan(restored[0]) && isnan(restored[1]));
    }
}

/* ---- numbers of bfloat16 --------------------------------------------------------------------- */

Test(packed, rounding_down_and_up)
{
    for (uint32_t high = 0; high < 0x10000; high++) {
        const double value = (double)pp_bf16_value((uint16_t)high);
        if (!isfinite(value))
            continue;
        cr_assert((double)pp_bf16_value(pp_bf16_below(value)) == value);
        cr_assert((double)pp_bf16_value(pp_bf16_above(value)) == value);
        for (int sign = -1; sign <= 1; sign += 2) {
            const double near = nextafter(value, sign * INFINITY);
            const double below = (double)pp_bf16_value(pp_bf16_below(near)),
                         above = (double)pp_bf16_value(pp_bf16_above(near));
            cr_assert(below < near && near < above, "%a: %a, %a", near, below, above);
            cr_assert(sign > 0 ? below == value : above == value, "%a: %a, %a", near, below, above);
        }
    }
    cr_assert(isinf(pp_bf16_value(pp_bf16_below(-1e300))));
    cr_assert((double)pp_bf16_value(pp_bf16_below(1e300)) == 0x1.fep127);
}
