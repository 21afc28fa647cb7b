/* schedules/lower/visits.h — uses of parameters by a rank, as visits. A chunk's layers are gather
 * units (or the whole chunk is one). A forward runs through them from the first to the last, a
 * backward from the last to the first. A visit is a maximal run of uses of one unit on a rank;
 * these visits begin with an op. All data is in the arena of the walk. */
#pragma once

#include "schedules/lower/lists.h"

/* A run of uses of a unit, from moment to moment, inclusive. It uses `units` units of the chunk,
 * including those inside its ops. */
struct pp_visit {
    int stage, pipe, from, until, units;
    bool is_backward;
};
struct pp_visits {
    struct pp_visit *list;
    int count, capacity;
};

struct pp_visit_walk {
    struct pp_arena *arena;
    const int *units;          /* [stage], NULL = all 1 */
    int model_stages;          /* stages with this distance have the same units; 0 = none have */
    struct pp_moment *moments; /* room for the moments of the longest list */
    int moment_count;
};

/* Finds visits whose units need parameters, in the order of their begin. */
void pp_visits_of_params(const struct pp_visit_walk *walk, struct pp_visits *visits);
/* Finds visits whose units get new gradients, from their first B or W to the last, by their end. */
void pp_visits_of_grads(const struct pp_visit_walk *walk, struct pp_visits *visits);
/* Finds each backward that makes gradients, or the end of each of the visits `from`, except the
 * last of each of `stages` chunks. */
void pp_visits_of_parts(const struct pp_visit_walk *walk, const struct pp_visits *from, int stages,
                        struct pp_visits *visits);
/* Returns the visit whose buffer number k takes over: that many units before it, or a later visit
 * of the same chunk; -1 if none. With one buffer it is k itself. */
int pp_visits_before(const struct pp_visits *visits, int k, int buffers);
