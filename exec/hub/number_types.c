/* Types of numbers in safetensors. Floats hold the values of all types that are read. */
#include "exec/hub/safetensors.h"

#include "kernels/numbers.h"

#include <math.h>
#include <string.h>

/* ---- single precision ------------------------------------------------------------------------ */

static void read_f32(const void *from, int64_t count, float *to)
{
    memcpy(to, from, (size_t)count * sizeof(float));
}

static void write_f32(const float *from, int64_t count, void *to)
{
    memcpy(to, from, (size_t)count * sizeof(float));
}

/* ---- 16 bits, by the functions that convert a number ------------------------------------------
 */

static void read_16(const void *from, int64_t count, float *to, float (*value)(uint16_t))
{
    const unsigned char *at = from;

    for (int64_t i = 0; i < count; i++) {
        uint16_t bits;
        memcpy(&bits, at + 2 * i, sizeof(bits));
        to[i] = value(bits);
    }
}

static void write_16(const float *from, int64_t count, void *to, uint16_t (*round)(float))
{
    for (int64_t i = 0; i < count; i++) {
        const uint16_t bits = round(from[i]);
        memcpy((char *)to + 2 * i, &bits, sizeof(bits));
    }
}

static void read_bf16(const void *from, int64_t count, float *to)
{
    read_16(from, count, to, pp_bf16_value);
}

static void write_bf16(const float *from, int64_t count, void *to)
{
    write_16(from, count, to, pp_bf16_round);
}

/* ---- half precision (IEEE 754 binary16): 5 bits of exponent, 10 of fraction -------------------
 */

static float half_value(uint16_t half)
{
    const int exponent = half >> 10 & 0x1f;
    const float fraction = (float)(half & 0x3ff), sign = half & 0x8000 ? -1.0F : 1.0F;

    if (exponent == 0x1f)
        return fraction != 0 ? NAN : sign * INFINITY;
    return exponent == 0 ? sign * ldexpf(fraction, -24)
                         : sign * ldexpf(fraction + 0x400, exponent - 25);
}

/* Rounds to the nearest, ties to even. What is too large becomes infinite. */
static uint16_t half_round(float value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    int exponent;

    if (isnan(value))
        return sign | 0x7e00;
    if (isinf(value))
        return sign | 0x7c00;
    frexpf(value, &exponent);
    exponent = exponent < -13 ? -13 : exponent; /* below: all have the spacing 2^-24 */
    const float units = nearbyintf(ldexpf(fabsf(value), 11 - exponent));
    /* 2^11 units carry into the exponent, which is the next number */
    const int bits = units < 0x400 ? (int)units : (exponent + 13) * 0x400 + (int)units;
    return sign | (uint16_t)(exponent > 16 || bits > 0x7c00 ? 0x7c00 : bits);
}

static void read_f16(const void *from, int64_t count, float *to)
{
    read_16(from, count, to, half_value);
}

static void write_f16(const float *from, int64_t count, void *to)
{
    write_16(from, count, to, half_round);
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct pp_number_type TYPES[] = {
    {"F32", 4, read_f32, write_f32}, {"BF16", 2, read_bf16, write_bf16},
    {"F16", 2, read_f16, write_f16}, {.name = "F64", .bytes = 8},
    {.name = "I64", .bytes = 8},     {.name = "U64", .bytes = 8},
    {.name = "I32", .bytes = 4},     {.name = "U32", .bytes = 4},
    {.name = "I16", .bytes = 2},     {.name = "U16", .bytes = 2},
    {.name = "I8", .bytes = 1},      {.name = "U8", .bytes = 1},
    {.name = "BOOL", .bytes = 1},    {.name = "F8_E4M3", .bytes = 1},
    {.name = "F8_E5M2", .bytes = 1},
};

const struct pp_number_type *pp_number_type(const char *name)
{
    for (size_t i = 0; i < PP_COUNT(TYPES); i++)
        if (strcmp(name, TYPES[i].name) == 0)
            return &TYPES[i];
    return NULL;
}
