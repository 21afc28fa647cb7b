/* core/cluster/slow.h — values of --slow: ranks that compute slower, or faster, than the others. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

struct pp_slow {
    long rank, replica; /* replica -1: all; both as typed, whether they exist or not */
    double factor;      /* on speed, above 0 */
};
/* RANK=FACTOR or RANK.REPLICA=FACTOR; PP_EINVAL for anything else. */
enum pp_status pp_slow_read(const char *text, struct pp_slow *slow, struct pp_error *err);

struct pp_slow_machine {
    int ranks, dp; /* that may be named */
    int replicas;  /* of the table: dp, or fewer where some stand for all */
};
/* All values as a table [rank * replicas + replica] of factors on speed, NULL without any.
 * PP_EINVAL for ranks and replicas that there are none of, or that are named twice. */
enum pp_status pp_slow_table(struct pp_arena *arena, const char *const *texts, int count,
                             const struct pp_slow_machine *machine, double **table,
                             struct pp_error *err);
