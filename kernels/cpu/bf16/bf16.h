/* kernels/cpu/bf16/bf16.h — elements of bfloat16, and the attention of pp_kernels_bf16. */
#pragma once

#include "kernels/kernels.h"
#include "kernels/numbers.h"

typedef uint16_t element;
typedef float gradient;

static inline double at(const void *x, size_t i)
{
    return (double)pp_bf16_value(((const element *)x)[i]);
}

static inline element from(double value)
{
    return pp_bf16_round((float)value);
}

/* attention.c */
size_t pp_bf16_attention_scratch_bytes(const struct pp_attention *a);
void pp_bf16_attention_forward(void *stream, const struct pp_attention *a);
void pp_bf16_attention_backward(void *stream, const struct pp_attention *a);
