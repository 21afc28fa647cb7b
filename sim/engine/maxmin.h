/* sim/engine/maxmin.h — a solver of sim/engine/express.h: max-min fair shares, solved anew only
 * where they change.
 *
 * A flow has the largest rate that its own bound or one of its links allows. The link that binds it
 * is full, and none of its flows is faster. Rates with this property are unique (Bertsekas and
 * Gallager, Data Networks, 6.5.2). So it is enough to solve the flows that lack it after a change.
 * First these are the flows that begin and those that a changed link binds. Flows that they disturb
 * follow. */
#pragma once

#include "sim/engine/express.h"

/* Counts of the work. */
struct pp_maxmin_stats {
    int64_t solves, rounds; /* moments with changed rates; fillings */
    int64_t filled;         /* flows in all fillings */
};

struct pp_maxmin;

/* The wires are kept by reference. Memory: about 60 bytes a wire, and 12 for each of its links. */
struct pp_maxmin *pp_maxmin_make(struct pp_arena *arena, const struct pp_wires *wires);
struct pp_solver pp_maxmin_solver(struct pp_maxmin *m);
struct pp_maxmin_stats pp_maxmin_stats(const struct pp_maxmin *m);
