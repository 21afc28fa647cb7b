/* schedules/lower/visits.h — when a rank uses which parameters. A chunk's layers are gather units
 * (or the whole chunk is one). A forward runs through them from the first to the last, a backward
 * from the last to the first. A visit is a maximal run of uses of one unit on a rank; the visits
 * here are those that begin with an op. All of it lives in the arena of the walk. */
#pragma once

#include "schedules/lower/lists.h"

/* A run of uses of a unit, from moment to moment, inclusive. `units` of the chunk are used in it,
 * including those inside its ops. */
struct pp_visit {
    int stage, pipe, from, until, units;
    bool is_backward;
};
struct pp_visits {
    struct pp_visit *list;
    int count, capacity;
};

/* The list of one rank. */
struct pp_visit_walk {
    struct pp_arena *arena;
    const int *units;          /* [stage], NULL = all 1 */
    struct pp_moment *moments; /* room for those of the longest list */
    int moment_count;
};

/* Visits whose units need parameters, as they begin. */
void pp_visits_of_params(const struct pp_visit_walk *walk, struct pp_visits *visits);
/* Visits whose units have new gradients at the end, from their first B or W to the last; as they
 * end. */
void pp_visits_of_grads(const struct pp_visit_walk *walk, struct pp_visits *visits);
/* Each backward that makes gradients, or the end of each of the visits `from`, but the last of each
 * of `stages` chunks. */
void pp_visits_of_parts(const struct pp_visit_walk *walk, const struct pp_visits *from, int stages,
                        struct pp_visits *visits);
