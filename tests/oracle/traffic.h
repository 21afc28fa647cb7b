/* tests/oracle/traffic.h — transfers that start at given times, and nothing else. */
#ifndef PP_TESTS_TRAFFIC_H
#define PP_TESTS_TRAFFIC_H

#include "core/cluster/fabric.h"

struct traffic {
    int source, dest; /* devices */
    double bytes, start_s;
    int event;    /* the caller's */
    double end_s; /* out */
};

/* Find the ends of all transfers over a fabric: each waits for its latency, then gets its fair
 * share. Sorts them by the moment at which they begin to use their links. */
void traffic_run(struct pp_arena *arena, const struct pp_fabric *fabric, struct traffic *transfers,
                 int count);

#endif
