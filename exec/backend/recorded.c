/* An event holds the number of the last step that recorded it, so nothing needs clearing. */
#include "exec/backend/recorded.h"

#include "exec/host/futex.h"

#include <stdatomic.h>

/* Waiting threads sleep on one of a few words, chosen by event. */
enum { SHARDS = 64 };
struct shard {
    _Alignas(64) atomic_uint changes;
    atomic_int sleepers;
};

struct pp_recorded {
    atomic_uint *step_of; /* [event] */
    unsigned step;
    atomic_bool is_cancelled;
    struct shard shards[SHARDS];
};

struct pp_recorded *pp_recorded_create(struct pp_arena *arena, int events)
{
    struct pp_recorded *r = PP_ARRAY(arena, struct pp_recorded, 1);

    r->step_of = PP_ARRAY(arena, atomic_uint, events + 1);
    return r;
}

void pp_recorded_begin(struct pp_recorded *r)
{
    r->step++;
    atomic_store(&r->is_cancelled, false);
}

/* A thread counts itself as a sleeper before it looks at the event for the last time. */
void pp_recorded_set(struct pp_recorded *r, pp_event_id event)
{
    struct shard *shard = &r->shards[event % SHARDS];

    atomic_store(&r->step_of[event], r->step);
    if (atomic_load(&shard->sleepers) > 0)
        pp_futex_change(&shard->changes);
}

static bool is_set(struct pp_recorded *r, pp_event_id event)
{
    return atomic_load(&r->step_of[event]) == r->step;
}

bool pp_recorded_wait(struct pp_recorded *r, pp_event_id event)
{
    struct shard *shard = &r->shards[event % SHARDS];

    if (is_set(r, event))
        return true;
    atomic_fetch_add(&shard->sleepers, 1);
    for (;;) {
        const unsigned seen = atomic_load(&shard->changes);
        if (is_set(r, event) || atomic_load(&r->is_cancelled))
            break;
        pp_futex_wait(&shard->changes, seen, -1);
    }
    atomic_fetch_sub(&shard->sleepers, 1);
    return is_set(r, event);
}

void pp_recorded_cancel(struct pp_recorded *r)
{
    atomic_store(&r->is_cancelled, true);
    for (int i = 0; i < SHARDS; i++)
        pp_futex_change(&r->shards[i].changes);
}

bool pp_recorded_is_cancelled(struct pp_recorded *r)
{
    return atomic_load(&r->is_cancelled);
}
