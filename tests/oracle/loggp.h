/* tests/oracle/loggp.h — tasks of nodes under LogGP, event by event: what LogGOPSim and ASTRA-sim
 * do with a graph when nothing but the ends of messages is modelled. Knows no program, no schedule.
 *
 * A calc occupies a cpu of its node. A send occupies a port of its node for the gap of its bytes;
 * its message arrives after the latency and that gap; the receive is over when it has been posted
 * and the message is there. Eager: the send itself is over at once. No overheads. */
#ifndef PP_TESTS_ORACLE_LOGGP_H
#define PP_TESTS_ORACLE_LOGGP_H

#include "core/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum loggp_kind { LOGGP_CALC, LOGGP_SEND, LOGGP_RECV };
struct loggp_task {
    enum loggp_kind kind;
    int node, cpu, port;
    double ns;    /* CALC */
    double bytes; /* SEND, RECV */
    int peer;
    uint32_t tag;
    /* set by the run */
    double end_ns;
    int calcs;  /* most calcs on any path to it: each may be off by its rounding */
    int passed; /* ... messages */
    bool is_over;
    /* internal */
    int missing, first_user;
    double ready_ns, arrived_ns;
};
struct loggp_edge {
    int task, needs;
    int next; /* internal */
};
struct loggp {
    struct pp_arena *arena;
    int nodes;
    double latency_ns, ns_per_byte;
    bool drops_a_byte; /* the gap is that of all bytes but one, as in LogGOPSim */
    struct loggp_task *tasks;
    int count, capacity;
    struct loggp_edge *edges;
    int edge_count, edge_capacity;
};

struct loggp_result {
    double end_ns;     /* of the last task */
    int calcs, passed; /* of it, see above; the most of any */
    int stuck;         /* tasks that never ran: a deadlock, or a message that nobody sends */
    int unmatched;     /* messages that nobody received */
};
struct loggp_result loggp_run(struct loggp *graph);

/* ---- tests/oracle/goal.c ---- */
/* GOAL text, read strictly by its grammar. `message` says what is wrong; false then. */
bool goal_read(struct pp_arena *arena, const char *text, struct loggp *graph, char message[256]);

#endif
