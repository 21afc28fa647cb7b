/* sim/engine/interpret_parts.h — inside of the interpreter: private to sim/interpret*.c.
 *
 * An instance is a rank of a replica. A row is an instruction of a step; columns of pp_times hold
 * PP_UNKNOWN_PS until something has happened. */
#pragma once

#include "sim/engine/interpret.h"

enum { PP_UNKNOWN_PS = -1, PP_NO_ROW = -1, PP_NO_INSTRUCTION = -1 };
#define PP_LATEST_PS (INT64_MAX / 2) /* of a start: adding what takes time cannot overflow */

/* While a collective takes its share of a rank's compute. */
struct pp_slow_time {
    int64_t from_ps, until_ps; /* INT64_MAX: not known yet */
};

struct pp_instance {
    int64_t clock_ps;
    int64_t collective_ps, copy_ps[PP_COPY_STREAMS]; /* ends of the last ones */
    int64_t waits_for; /* row of its list that blocks it, or PP_NO_ROW */
    int32_t rank, replica;
    int32_t pc, step;     /* instruction, and step of this run */
    int32_t barriers;     /* passed */
    int32_t posted, done; /* collectives, in the order of the list */
    int32_t joined;       /* posted, and their turn has come */
    /* compute that concurrent collectives slow down */
    bool is_computing;
    int32_t parts_over; /* of the op: as many buckets are posted */
    double left_ps;     /* of this part at full speed, from from_ps on */
    int64_t from_ps;
    int64_t duration_ps; /* of the op at full speed */
    struct pp_slow_time *slow;
    int slow_first, slow_count, slow_capacity;
};

struct pp_channel_state {      /* of one replica */
    int64_t last_ps, begin_ps; /* end of the transfer before, start of the one under way */
    int32_t next;              /* message to start, counted over the steps of the run */
    int32_t lanes_left;        /* wires on which one is under way */
};

struct pp_ring_state {  /* of a stage: one collective at a time */
    int32_t collective; /* under way, or -1 */
    int32_t steps;      /* of all positions */
    int32_t left;       /* wires that have not come through */
    double bytes;       /* of one hop */
    int32_t *step;      /* [wire of the ring] received so far */
    int64_t *joined_ps; /* [wire of the ring] */
    bool *is_receiving; /* [wire of the ring] */
    int32_t *first_of;  /* [rank * replicas + replica]: its first position, or -1 */
    int32_t *next_of;   /* [position]: the next of the same instance, or -1 */
};

struct pp_collective_state {
    int64_t latest_ps; /* at which a member has joined */
    int32_t joined;
};

/* Numbers to be worked off, last in, first out. */
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
    int first_step, steps; /* under way: one between barriers, or all of them */
    bool is_under_way;
    bool is_too_late;  /* something would start after PP_LATEST_PS: the run is over */
    int64_t now_ps;    /* of the last event */
    int64_t transfers; /* started */

    struct pp_instance *instance; /* [rank * replicas + replica] */
    struct pp_todo ready;         /* instances that can go on */
    struct pp_todo heads;         /* instances whose next collective may have its turn */

    int32_t (*sides)[2];              /* [message]: its SEND, its RECV */
    int32_t *channel_of;              /* [message] */
    double *message_bytes;            /* [message]: per device */
    int64_t *message_ps;              /* [message]: without wires */
    struct pp_channel_state *channel; /* [channel * replicas + replica] */

    int64_t *ps;            /* [instruction]: compute, collectives, copies */
    int32_t *buckets_first; /* [compute instruction]: first of the buckets posted inside, or -1 */
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
};

static inline size_t pp_run_at(const struct pp_run *r, int step, int instruction, int replica)
{
    const size_t row = (size_t)(r->first_step + step) * (size_t)r->size + (size_t)instruction;

    return row * (size_t)r->replicas + (size_t)replica;
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

/* The end of an instruction of an instance is known: goes on if it waits for that. */
static inline void pp_run_wake(struct pp_run *r, struct pp_instance *in, int step, int instruction)
{
    if (in->waits_for != (int64_t)step * r->size + instruction)
        return;
    in->waits_for = PP_NO_ROW;
    pp_run_push(r, &r->ready, in);
}

/* ---- messages ---- */
void pp_messages_prepare(struct pp_run *r);
void pp_messages_reset(struct pp_run *r, int64_t at_ps);
/* A SEND or RECV is posted at the instance's clock. */
void pp_messages_post(struct pp_run *r, struct pp_instance *in, int instruction);
/* The transfer on a wire of a channel is over at r->now_ps. */
void pp_messages_end(struct pp_run *r, int wire);

/* ---- collectives ---- */
void pp_collectives_prepare(struct pp_run *r);
void pp_collectives_reset(struct pp_run *r);
void pp_collectives_post(struct pp_run *r, struct pp_instance *in, int instruction, int64_t at_ps);
/* Give turns to the collectives of r->heads. */
void pp_collectives_turns(struct pp_run *r);
void pp_collectives_hop_end(struct pp_run *r, int wire);

/* ---- compute ---- */
/* Start the op at the instance's clock; false when its end is not known yet. */
bool pp_compute_start(struct pp_run *r, struct pp_instance *in, int instruction);
/* The event of an instance at r->now_ps. */
void pp_compute_event(struct pp_run *r, struct pp_instance *in);

/* ---- compute that collectives slow down ---- */
/* A collective takes its share of the instance's compute, from .. until; or ends at r->now_ps. */
void pp_slow_begin(struct pp_run *r, struct pp_instance *in, int64_t from_ps, int64_t until_ps);
void pp_slow_end(struct pp_run *r, struct pp_instance *in);
/* Bring left_ps up to now, by what was known until now. */
void pp_slow_account(struct pp_run *r, struct pp_instance *in);
/* Ask for an event at the end of left_ps. */
void pp_slow_expect(struct pp_run *r, struct pp_instance *in);
