/* exec/backend/recorded.h — events of a step that the host has recorded. Threads, or processes that
 * share the memory, sleep until one is; a sleeper holds nothing. */
#pragma once

#include "core/arena.h"
#include "exec/backend/backend.h"

/* Lives in the arena. */
struct pp_recorded;
struct pp_recorded *pp_recorded_create(struct pp_arena *arena, int events);
/* Before a step, while no thread sleeps: forgets all events and the cancellation. */
void pp_recorded_begin(struct pp_recorded *recorded);
void pp_recorded_set(struct pp_recorded *recorded, pp_event_id event);
/* Sleeps until the event is set. False: the step was cancelled before that. */
bool pp_recorded_wait(struct pp_recorded *recorded, pp_event_id event);
/* Wakes all sleepers; lasts until the next begin. */
void pp_recorded_cancel(struct pp_recorded *recorded);
bool pp_recorded_is_cancelled(struct pp_recorded *recorded);
