/* sim/slow.h — one value of --slow. */
#ifndef PP_SIM_SLOW_H
#define PP_SIM_SLOW_H

#include "core/error.h"

struct pp_slow {
    long rank, replica; /* replica -1: all; both as typed, whether they exist or not */
    double factor;      /* above 0 */
};
/* RANK=FACTOR or RANK.REPLICA=FACTOR; PP_EINVAL for anything else. */
enum pp_status pp_slow_read(const char *text, struct pp_slow *slow, struct pp_error *err);

#endif
