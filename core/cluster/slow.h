/* core/cluster/slow.h — values of --slow: ranks that compute slower, or faster, than the others. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

struct pp_slow {
    long rank, replica; /* as typed, even if they do not exist; replica -1 = all */
    double factor;      /* on speed, above 0 */
};
/* Parses RANK=FACTOR or RANK.REPLICA=FACTOR; PP_EINVAL for anything else. */
enum pp_status pp_slow_read(const char *text, struct pp_slow *slow, struct pp_error *err);

struct pp_slow_machine {
    int ranks, dp; /* ranks and replicas that may be named */
    int replicas;  /* replicas of the table: dp, or fewer if some stand for all */
};
/* Makes a table [rank * replicas + replica] of factors on speed, NULL without values. PP_EINVAL for
 * ranks and replicas that do not exist, or are named twice. */
enum pp_status pp_slow_table(struct pp_arena *arena, const char *const *texts, int count,
                             const struct pp_slow_machine *machine, double **table,
                             struct pp_error *err);
