/* sim/engine/state.h — the state of a network as numbers, relative to the current time. Two moments
 * with the same state have the same future. */
#pragma once

#include "core/arena.h"

#include <stdint.h>
#include <string.h>

struct pp_network_state {
    struct pp_arena *arena;
    int64_t *value;
    int count, capacity;
    bool is_unknown; /* a part of the network cannot tell its state */
};

static inline void pp_network_state_put(struct pp_network_state *state, int64_t value)
{
    *PP_PUSH(state->arena, state->value, state->count, state->capacity) = value;
}
static inline void pp_network_state_put_real(struct pp_network_state *state, double value)
{
    int64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    pp_network_state_put(state, bits);
}
static inline bool pp_network_state_is_same(const struct pp_network_state *a,
                                            const struct pp_network_state *b)
{
    return !a->is_unknown && !b->is_unknown && a->count == b->count &&
           (a->count == 0 || !memcmp(a->value, b->value, sizeof(*a->value) * (size_t)a->count));
}
