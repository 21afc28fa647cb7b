/* schedules/memory/least.h — a bound on the memory of an order that is not lowered yet. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/lists.h"

/* Returns a lower bound on the peak of the fullest rank. It is the state, and the activations that
 * F, B, I and W hold at a time. `cells` are those of a micro-batch: granules times splits.
 * Activations stay on the device, as they are, and the lists are of one pipeline. */
double pp_memory_least_bytes(struct pp_arena *arena, const struct pp_orders *lists,
                             const struct pp_costs *costs, int cells);
