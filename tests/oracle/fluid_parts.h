/* tests/oracle/fluid_parts.h — inside of the fluid model: private to tests/oracle/fluid*.c. */
#ifndef PP_TESTS_ORACLE_FLUID_PARTS_H
#define PP_TESTS_ORACLE_FLUID_PARTS_H

#include "tests/oracle/fluid.h"
#include "tests/oracle/maxmin.h"

struct fluid;
struct task { /* takes time outside of the ranks: a transfer of one device, a hop, a collective */
    bool is_flow, is_moving; /* moving: the latency is over */
    double until_s;          /* end of what is known: of the latency, or of the whole task */
    double up;               /* ends are rounded up from there on, with a quantum */
    struct fluid_flow flow;
    void (*ended)(struct fluid *x, int a, int b);
    int a, b;
};

struct actor { /* a rank of a replica */
    int rank, replica;
    int pc; /* instructions passed, over all rounds */
    bool is_computing;
    double until_s, speed; /* end of this part of the compute op at this speed */
    double done;           /* of the op's time, up to that end */
    int inside;            /* what is posted then; -1 = nothing, the op ends */
    double arrived_s;      /* NAN, or since when it waits or stands at a barrier */
    int *posted;           /* collectives in the order of their posts: round * instructions + i */
    int posted_count, head;
    bool has_joined; /* the sum at the head of its stream */
};

struct lane_state {   /* a channel of a replica */
    int sends, recvs; /* posted */
    int head;         /* number of the message that is under way or comes next */
    int open;         /* devices that still send it; 0 = not under way */
};

struct sum { /* a collective of a round */
    bool is_ended;
    struct pp_op op;
    int ready;                  /* members at whose head it stands */
    const struct pp_ring *ring; /* NULL: one analytic cost */
    int steps;                  /* of the ring */
    int lanes;                  /* rings side by side, one for each device of a tp group */
    int *passed;                /* [lane * positions + position]: steps over; -1 = not there yet */
    bool *is_busy;              /* likewise: a step into it is under way */
    int finished;               /* of all lanes, that have passed all steps */
};

struct fluid {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_costs *costs;
    const struct fluid_options *o;
    struct fluid_times *t;
    int size, replicas, rounds; /* rounds: steps that follow without a barrier */
    int step;                   /* of round 0 */
    double now;
    struct actor *actors;
    struct lane_state *channels; /* [channel * replicas + replica] */
    struct sum *sums;            /* [round * collectives + c] */
    int *send_of, *recv_of;      /* [message]: instruction */
    struct task **tasks;
    int task_count, task_capacity, made;
    struct fluid_link *links;
    struct fluid_flow **flows;
    int flow_capacity;
    double *room;
    int *users;
    bool is_changed; /* transfers have begun or ended: rates are old */
    bool *reducing;  /* [actor]: a collective runs */
};

/* Instruction i of a round as a row of the tables. */
static inline size_t fluid_row(const struct fluid *x, int round, int i, int replica)
{
    return ((size_t)(x->step + round) * (size_t)x->size + (size_t)i) * (size_t)x->replicas +
           (size_t)replica;
}

/* A duration of the tables, or of instruction i in a replay. */
static inline double fluid_duration(const struct fluid *x, int round, int i, int replica,
                                    int64_t ps)
{
    return x->o->replay_ps ? (double)x->o->replay_ps[fluid_row(x, round, i, replica)]
                           : (double)ps * 1e-12;
}

/* Tasks outside of the ranks: something of known length, a transfer between two devices.
 * `ended` is called with a and b when it is over. */
void fluid_add_timer(struct fluid *x, double duration_s, void (*ended)(struct fluid *, int, int),
                     int a, int b);
void fluid_add_flow(struct fluid *x, int source, int dest, double bytes,
                    void (*ended)(struct fluid *, int, int), int a, int b);
/* Start what can start of the collectives: true when something has moved. */
bool fluid_try_sums(struct fluid *x);

#endif
