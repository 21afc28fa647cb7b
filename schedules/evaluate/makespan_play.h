/* schedules/evaluate/makespan_play.h — the simulation that schedules/evaluate/makespan.h runs.
 * Private to schedules/evaluate/makespan*.c. */
#pragma once

#include "schedules/evaluate/makespan.h"

#include <assert.h>

enum { PP_PLAY_UNKNOWN = -1 };
#define PP_PLAY_LIMIT_PS (INT64_MAX / 2)

struct pp_play_transfer {
    int64_t sent, received, end; /* posts of both sides; PP_PLAY_UNKNOWN at first */
    int64_t ps;
};
struct pp_play_line {    /* a channel */
    int32_t next, end;   /* half-open range of messages that are not over */
    int64_t busy_until;  /* end of the one before */
    int stage, granules; /* of the last SEND, and what it took */
    int64_t ps;
};
/* A collective, or a BAR of all ranks. */
struct pp_play_meeting {
    int64_t latest, end; /* of those who are ready; PP_PLAY_UNKNOWN */
    int32_t missing;
};
/* Queued on a reduce stream, after something that is not over. */
struct pp_play_queued {
    struct pp_play_queued *next;
    int64_t post;
    int32_t at;
};
struct pp_seat {       /* a rank */
    int32_t next, end; /* instructions */
    int rank, passed;  /* BARs */
    int64_t clock;
    int64_t begun, lasted; /* of its last compute op: start, duration */
    int64_t copied[PP_COPY_STREAMS];
    const int64_t *reduced; /* end of the last on its reduce stream that nothing stands before */
    struct pp_play_queued *first, **last;
    bool is_turning;        /* is among play->turning, or what it has queued is being looked at */
    const int64_t *awaited; /* NULL: nothing */
};

struct pp_play {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct pp_eval_options *options;
    struct pp_play_transfer *transfers;
    int32_t *line_of; /* [message] */
    struct pp_play_line *lines;
    struct pp_play_meeting *meetings, *barriers;
    int barrier_count;
    struct pp_seat *seats;
    int64_t *own; /* [instruction]: end of what a rank does alone, concurrently with its compute */
    /* Ranks that can go on; whose reduce stream can. Each holds a rank at most once. */
    uint16_t *ready, *turning;
    int ready_count, turning_count;
    double sum_ps; /* of all durations so far: no clock is beyond */
};

static inline int64_t pp_play_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
/* `ps` after `start`. Arbitrary once the sum has passed the limit: the result is not used then. */
static inline int64_t pp_play_after(struct pp_play *play, int64_t start, int64_t ps)
{
    play->sum_ps += (double)ps;
    return play->sum_ps < (double)PP_PLAY_LIMIT_PS ? start + ps : start;
}
/* `end` is known now: does the rank wait for it? */
static inline void pp_play_wake(struct pp_play *play, int rank, const int64_t *end)
{
    struct pp_seat *seat = &play->seats[rank];

    if (seat->awaited != end)
        return;
    seat->awaited = NULL;
    seat->clock = pp_play_later(seat->clock, *end);
    assert(play->ready_count < play->p->ranks);
    play->ready[play->ready_count++] = (uint16_t)rank;
}
/* The last op on the rank's reduce stream is over: its queue may go on. */
static inline void pp_play_turn(struct pp_play *play, struct pp_seat *seat)
{
    if (seat->is_turning)
        return;
    seat->is_turning = true;
    assert(play->turning_count < play->p->ranks);
    play->turning[play->turning_count++] = (uint16_t)seat->rank;
}
