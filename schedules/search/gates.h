/* schedules/search/gates.h — how many activations may be held at once, by a limit of --order.
 *
 * The rules eager and dynamic have a gate on each rank, which every forward passes. The rule
 * arrival has a gate on each pipeline. Forwards of the first stage pass it, so it counts
 * micro-batches. */
#pragma once

#include "schedules/program/program.h"
#include "schedules/search/rule.h"

enum { PP_GATES_OPEN = 1 << 30 }; /* a limit that blocks nothing */

struct pp_gates {
    const struct pp_program *p;
    bool is_by_pipe, is_multiple;
    int count;
    int64_t *limit, *held, *peak; /* [gate], in (granule, split) cells */
    bool *has_begun;              /* [unit] */
    int32_t *first;               /* [rank]: all units before it have begun */
};
struct pp_gates pp_gates_make(struct pp_arena *arena, const struct pp_program *program,
                              struct pp_order_choice order);
/* Returns the gate that a unit passes, or -1. A unit is an op, or an overlapped pair by the index
 * of its first op. */
int pp_gates_of(const struct pp_gates *gates, int unit);
/* Is true if the unit may begin; it passes a gate. A multiple of what the strict order holds never
 * blocks all ops: the rank may still follow its list afterwards. */
bool pp_gates_have_room(const struct pp_gates *gates, int unit);
/* A unit begins, of any kind. */
void pp_gates_enter(struct pp_gates *gates, int unit);
/* Op i has ended. Returns the rank for which room was made, or -1. */
int pp_gates_leave(struct pp_gates *gates, int i);
/* Most that a gate has held, in whole activations or micro-batches. */
int64_t pp_gates_most(const struct pp_gates *gates);
/* Appends what the gate of a unit holds, such as "rank 0 holds 4 chunk activations". */
void pp_gates_explain(const struct pp_gates *gates, int unit, struct pp_error *err);
