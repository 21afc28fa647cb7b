/* tests/oracle/loggp.h — tasks of nodes under LogGP, event by event. An engine of our own, which
 * knows no program and no schedule. ASTRA-sim (518bd51, analytical network) ends Chakra traces when
 * it does, to within a microsecond for each op. tests/oracle/loggopsim.c follows LogGOPSim's
 * source.
 *
 * A calc occupies a cpu of its node. A send occupies a port of its node for the gap of its bytes,
 * and its message arrives after the latency and that gap. The receive is over when it has been
 * posted and the message is there. An eager send itself is over at once. There are no overheads. */
#ifndef PP_TESTS_ORACLE_LOGGP_H
#define PP_TESTS_ORACLE_LOGGP_H

#include "core/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum loggp_kind { LOGGP_CALC, LOGGP_SEND, LOGGP_RECV, LOGGP_MEET };
struct loggp_task {
    enum loggp_kind kind;
    int node, cpu, port;
    double ns;    /* CALC; MEET: from the last member on until all are over */
    double bytes; /* SEND, RECV */
    int peer;     /* MEET: the group */
    uint32_t tag; /* MEET: which of the group's */
    int members;  /* MEET: of the group */
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
    bool is_one_by_one; /* a node runs one SEND, RECV or MEET at a time, as in ASTRA-sim: the lowest
                         * number first. A SEND runs until its message has arrived */
    struct loggp_task *tasks;
    int count, capacity;
    struct loggp_edge *edges;
    int edge_count, edge_capacity;
};

struct loggp_result {
    double end_ns;     /* of the last task */
    int calcs, passed; /* of it, see above; the most of any */
    int stuck;         /* tasks that never ran: a deadlock, or a message that is never sent */
    int unmatched;     /* messages that were never received */
    bool is_refused;   /* LogGOPSim: a number does not fit into its type */
};
struct loggp_result loggp_run(struct loggp *graph);

/* ---- tests/oracle/loggopsim.c ---- */
/* Runs the graph as LogGOPSim does, or its fork in ATLAHS. MEETs are not known there. */
struct loggp_result loggopsim_run(struct loggp *graph, bool is_atlahs);

/* ---- tests/oracle/goal.c ---- */
/* GOAL text, read strictly by its grammar. `message` says what is wrong; false then. */
bool goal_read(struct pp_arena *arena, const char *text, struct loggp *graph, char message[256]);

/* ---- tests/oracle/chakra.c ---- */
/* The traces of a folder: "step.NODE.et" for each node, and "groups.json". A CALC runs on cpu 0 if
 * it is an op of the GPU, else on cpu 1. A MEET is a ring of its bytes under the graph's latency
 * and gap, which the caller sets before. `message` says what is wrong; false then. */
bool chakra_read(struct pp_arena *arena, const char *folder, struct loggp *graph,
                 char message[256]);

#endif
