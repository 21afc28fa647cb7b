/* sim/engine/interpret_parts.h — private parts of sim/engine/interpret*.c.
 *
 * An instance is a rank of a replica. A row is an instruction of a step; columns of pp_times
 * hold PP_UNKNOWN_PS until a time is known. */
#pragma once

#include "sim/engine/interpret.h"

enum { PP_UNKNOWN_PS = -1, PP_NO_ROW = -1, PP_NO_INSTRUCTION = -1 };
#define PP_LATEST_PS (INT64_MAX / 2) /* latest start: adding a duration cannot overflow */

/* Time in which a collective takes its share of a rank's compute. */
struct pp_slow_time {
    int64_t from_ps, until_ps; /* INT64_MAX = not known yet */
};

struct pp_instance {
    int64_t clock_ps;
    int64_t collective_ps, copy_ps[PP_COPY_STREAMS]; /* ends of the last ones */
    int64_t waits_for;                               /* row of its list, or PP_NO_ROW */
    int32_t rank, replica;
    int32_t pc, step;     /* instruction, and step of this run */
    int32_t barriers;     /* passed */
    int32_t posted, done; /* collectives, in the order of the list */
    int32_t joined;       /* posted ones whose turn has come */
    /* compute that concurrent collectives slow down */
    bool is_computing;
    int32_t parts_over; /* finished parts of the op; each ends with the post of a bucket */
    double left_ps;     /* rest of this part at full speed, from from_ps on */
    int64_t from_ps;
    int64_t duration_ps; /* of the op at full speed */
    struct pp_slow_time *slow;
    int slow_first, slow_count, slow_capacity;
};

struct pp_channel_state {      /* of one replica */
    int64_t last_ps, begin_ps; /* end of the last transfer, start of the current one */
    int32_t next;              /* message to start, counted over the steps of the run */
    int32_t lanes_left;        /* busy wires of the current transfer */
};

struct pp_ring_state {  /* of a stage: one collective at a time */
    int32_t collective; /* current one, or -1 */
    int32_t steps;      /* hops into each position */
    int32_t left;       /* unfinished wires */
    double bytes;       /* of one hop */
    int32_t *step;      /* [wire of the ring] hops received */
    int64_t *joined_ps; /* [wire of the ring] */
    bool *is_receiving; /* [wire of the ring] */
    int32_t *first_of;  /* [rank * replicas + replica] first position of an instance, or -1 */
    int32_t *next_of;   /* [position] next one of the same instance, or -1 */
};

struct pp_collective_state {
    int64_t latest_ps; /* latest join of a member */
    int32_t joined;
};

/* A moment of a cut program: rank 0 of the first replica reaches an instruction. */
enum { PP_MARKS = 2 }; /* of a gap */
struct pp_mark {
    int32_t pc, step;
    bool is_met;
    struct pp_network_state state; /* of the network */
    struct pp_network_stats stats; /* so far */
};

/* A stack of numbers of instances. */
struct pp_todo {
    int32_t *number;
    int count, capacity;
};

struct pp_run {
    struct pp_arena *arena;
    struct pp_job *job;
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct pp_engine_options *options;
    const struct pp_wires *wires; /* NULL: none */
    struct pp_express *express;
    struct pp_times *times;
    int size, replicas;
    int first_step, steps; /* current ones: one between barriers, or all */
    bool is_under_way;
    bool is_too_late;  /* a start is after PP_LATEST_PS: the run ends */
    int64_t now_ps;    /* of the last event */
    int64_t transfers; /* started */

    struct pp_instance *instance; /* [rank * replicas + replica] */
    struct pp_todo ready;         /* instances that can continue */
    struct pp_todo heads;         /* instances whose next collective may have its turn */

    int32_t (*sides)[2];              /* [message]: its SEND, its RECV */
    int32_t *channel_of;              /* [message] */
    double *message_bytes;            /* [message]: per device */
    int64_t *message_ps;              /* [message]: without wires */
    struct pp_channel_state *channel; /* [channel * replicas + replica] */

    int64_t *ps;            /* [instruction]: compute and copies; NULL with one replica */
    int32_t *buckets_first; /* [compute instruction]: first of the buckets posted inside, or -1;
                             * these three are NULL without such buckets */
    int32_t *bucket_next;   /* [collective instruction]: the next one inside the same op, or -1 */
    bool *is_posted_inside; /* [instruction] */
    int32_t *collectives;   /* instructions, rank by rank */
    int32_t *collectives_begin;             /* [rank + 1] */
    struct pp_collective_state *collective; /* [collective] */
    struct pp_ring_state *ring;             /* [stage]; NULL without flows */
    int32_t *stage_of_ring;                 /* [wire - first ring wire] */
    int first_ring_wire;

    int barriers;        /* BARs of all steps */
    int64_t *barrier_ps; /* [barrier of the run]: the latest arrival */
    int32_t *arrivals;   /* [barrier of the run] */

    const struct pp_instance *marked; /* with marks ahead; NULL: none */
    int marks, mark_count;            /* reached, and all */
    struct pp_mark *mark;
};

static inline size_t pp_run_at(const struct pp_run *r, int step, int instruction, int replica)
{
    const size_t row = (size_t)(r->first_step + step) * (size_t)r->size + (size_t)instruction;

    return row * (size_t)r->replicas + (size_t)replica;
}

static inline int pp_run_bucket(const struct pp_run *r, int instruction)
{
    return r->buckets_first ? r->buckets_first[instruction] : PP_NO_INSTRUCTION;
}

static inline struct pp_instance *pp_run_instance(const struct pp_run *r, int rank, int replica)
{
    return &r->instance[(size_t)rank * (size_t)r->replicas + (size_t)replica];
}

static inline void pp_run_push(struct pp_run *r, struct pp_todo *todo, const struct pp_instance *in)
{
    *PP_PUSH(r->arena, todo->number, todo->count, todo->capacity) = (int32_t)(in - r->instance);
}

static inline bool pp_run_is_too_late(struct pp_run *r, int64_t start_ps)
{
    r->is_too_late |= start_ps > PP_LATEST_PS;
    return r->is_too_late;
}

/* Lets an instance continue if it waits for this instruction, whose end is now known. */
static inline void pp_run_wake(struct pp_run *r, struct pp_instance *in, int step, int instruction)
{
    if (in->waits_for != (int64_t)step * r->size + instruction)
        return;
    in->waits_for = PP_NO_ROW;
    pp_run_push(r, &r->ready, in);
}

/* ---- messages -------------------------------------------------------------------------------- */
void pp_messages_prepare(struct pp_run *r);
void pp_messages_reset(struct pp_run *r, int64_t at_ps);
/* Posts a SEND or RECV at the instance's clock. */
void pp_messages_post(struct pp_run *r, struct pp_instance *in, int instruction);
/* Ends the transfer on a wire of a channel at r->now_ps. */
void pp_messages_end(struct pp_run *r, int wire);

/* ---- collectives ----------------------------------------------------------------------------- */
void pp_collectives_prepare(struct pp_run *r);
void pp_collectives_reset(struct pp_run *r);
void pp_collectives_post(struct pp_run *r, struct pp_instance *in, int instruction, int64_t at_ps);
/* Gives turns to the collectives of r->heads. */
void pp_collectives_turns(struct pp_run *r);
void pp_collectives_hop_end(struct pp_run *r, int wire);

/* ---- compute --------------------------------------------------------------------------------- */
/* Duration of a compute op or copy at nominal speed. */
int64_t pp_compute_ps(const struct pp_run *r, int rank, int instruction);
/* Starts the op at the instance's clock; false if its end is not known yet. */
bool pp_compute_start(struct pp_run *r, struct pp_instance *in, int instruction);
/* Handles the event of an instance at r->now_ps. */
void pp_compute_event(struct pp_run *r, struct pp_instance *in);

/* ---- compute that collectives slow down ------------------------------------------------------ */
/* A collective begins to take its share of the instance's compute, or ends at r->now_ps. */
void pp_slow_begin(struct pp_run *r, struct pp_instance *in, int64_t from_ps, int64_t until_ps);
void pp_slow_end(struct pp_run *r, struct pp_instance *in);
/* Updates left_ps to r->now_ps. */
void pp_slow_account(struct pp_run *r, struct pp_instance *in);
/* Schedules an event at the end of left_ps. */
void pp_slow_expect(struct pp_run *r, struct pp_instance *in);

/* ---- marks ----------------------------------------------------------------------------------- */
/* Sets the marks of a cut program: the beginnings of the periods before and after each gap. */
void pp_marks_prepare(struct pp_run *r);
/* The marked instance comes to an instruction, which may have marks. */
void pp_marks_meet(struct pp_run *r, const struct pp_instance *in);
/* Handles the event of a mark, by the number of the call. */
void pp_marks_event(struct pp_run *r, int number);
/* Compares the marks. */
void pp_marks_stats(const struct pp_run *r, struct pp_network_stats *stats);
