/* Compares vectors: equality bit by bit, distance in double. */
#include "exec/reference/parts.h"

#include "kernels/numbers.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double fixed_unit = 1.0 / (double)((int64_t)1 << PP_GRAD_BITS);

/* `count` elements of a tensor in both vectors: of G, or int64 fixed point if `is_fixed`. */
struct sides {
    const void *ours, *reference;
    int64_t count;
    bool is_fixed;
    size_t element_bytes; /* of G */
};

static double value_of(const struct sides *s, const void *vector, int64_t i)
{
    if (s->is_fixed)
        return (double)((const int64_t *)vector)[i] * fixed_unit;
    return pp_number_get(vector, s->element_bytes, i);
}

/* Returns the distance of two elements: exact in fixed point, HUGE_VAL for overflow and NaN. */
static double distance(const struct sides *s, int64_t i)
{
    if (s->is_fixed) {
        const int64_t *ours = s->ours, *reference = s->reference;
        int64_t delta;

        if (__builtin_sub_overflow(ours[i], reference[i], &delta))
            return HUGE_VAL;
        return fabs((double)delta) * fixed_unit;
    }
    const double delta = fabs(value_of(s, s->ours, i) - value_of(s, s->reference, i));
    return isnan(delta) ? HUGE_VAL : delta;
}

static void compare_tensor(const struct sides *s, const struct pp_param *param,
                           struct pp_difference *difference)
{
    const size_t bytes = s->is_fixed ? sizeof(int64_t) : s->element_bytes;

    difference->elements += s->count;
    for (int64_t i = 0; i < s->count; i++) {
        const size_t offset = (size_t)i * bytes;
        const double own = value_of(s, s->ours, i), reference = value_of(s, s->reference, i);

        difference->own_squares += own * own;
        difference->reference_squares += reference * reference;
        if (!memcmp((const char *)s->ours + offset, (const char *)s->reference + offset, bytes))
            continue;
        const double apart = distance(s, i);
        difference->differing++;
        difference->squares += apart * apart;
        if (!difference->worst || apart > difference->max_abs) {
            difference->max_abs = apart;
            difference->worst = param->name;
            difference->worst_layer = param->layer;
        }
    }
}

static const void *vector_at(const struct pp_state *state, int64_t element, enum pp_vector what,
                             const struct pp_kernels *k)
{
    if (what == PP_VECTOR_GRADIENTS)
        return pp_state_gradient(state, k, element);
    if (!state->master)
        return pp_state_weight(state, k, element);
    return pp_state_in_share(state, k, state->master, element);
}

/* Returns this copy's elements: its weights, or its share of gradients or master weights. */
static struct pp_range held(const struct pp_state *state, const struct pp_param *param,
                            enum pp_vector what)
{
    const struct pp_range all = pp_range_of(param);

    const enum pp_state_part part = pp_state_part_of(state, param->offset);

    return pp_range_common(all, what == PP_VECTOR_WEIGHTS && !state->master
                                    ? pp_state_held(state, part)
                                    : pp_state_share(state, part));
}

/* Returns the first element of a tensor in that of the reference, which has experts of all replicas
 * that share them. */
static int64_t first_of(const struct pp_param *ours, const struct pp_param *theirs, int ep_index)
{
    assert(theirs->count == ours->count || (ours->experts > 0 && theirs->count % ours->count == 0));
    return theirs->count == ours->count ? 0 : ep_index * ours->count;
}

void pp_reference_compare(const struct pp_reference *reference, const struct pp_stage *stage,
                          const struct pp_state *state, enum pp_vector what,
                          struct pp_difference *difference)
{
    const struct pp_reference_part *part = &reference->parts[stage->shape.tp_index];
    const struct pp_stage *whole = part->stage;
    const struct pp_state *expected = &part->seen;
    const size_t element_bytes = reference->kernels->gradient_bytes;

    assert((state->fixed != NULL) == (expected->fixed != NULL));
    for (int p = 0; p < stage->param_count; p++) {
        const struct pp_param *ours = &stage->params[p], *theirs = pp_stage_find(whole, ours->id);

        assert(theirs);
        const struct pp_range range = held(state, ours, what);
        if (range.from >= range.until)
            continue;
        const struct sides sides = {
            .ours = vector_at(state, range.from, what, reference->kernels),
            .reference = vector_at(expected,
                                   theirs->offset + range.from - ours->offset +
                                       first_of(ours, theirs, stage->shape.ep_index),
                                   what, reference->kernels),
            .count = range.until - range.from,
            .is_fixed = what == PP_VECTOR_GRADIENTS && state->fixed,
            .element_bytes = element_bytes,
        };
        compare_tensor(&sides, ours, difference);
    }
}
