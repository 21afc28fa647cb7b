/* tests/oracle/maxmin.h — fair shares by progressive filling, the textbook way. */
#ifndef PP_TESTS_MAXMIN_H
#define PP_TESTS_MAXMIN_H

#include "core/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { FLUID_ROUTE_MAX = 64 };

struct fluid_link {
    double bytes_per_s;
    bool is_fatpipe; /* bounds every flow by itself, shares nothing */
};

struct fluid_flow {
    int32_t links[FLUID_ROUTE_MAX];
    int link_count;    /* 0: takes no time */
    double alpha_s;    /* waited for before the flow uses its links */
    double left_bytes; /* still to be carried */
    double from_s;     /* when it begins to use its links */
    double rate;       /* bytes/s, INFINITY without links */
};

/* Set the rates of flows[0 .. count-1]. All of them rise together until a link is full; the flows
 * that use it are frozen, and the others rise on. `room` and `users` have an entry for each link.
 * Returns the greatest number of flows on one link. */
int fluid_share(const struct fluid_link *links, struct fluid_flow *const *flows, int count,
                double *room, int *users);

#endif
