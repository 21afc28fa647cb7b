/* sim/engine/wires.h — pairs of devices between which a program sends, and the links that they
 * share.
 *
 * A wire is one lane of a channel in one replica, or one hop of the ring of a stage. Transfers
 * on a wire follow one another. Channels are numbered first, [(channel * replicas + replica) *
 * lanes + lane], then rings, [ring_first[stage] + lane * positions + position]. Only links that
 * several wires use are listed, because the others cannot be shared. In an arena, read-only. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"
#include "sim/engine/network.h"

struct pp_wire {
    int64_t alpha_ps;
    double bytes_per_s;     /* alone on its route */
    double cap_bytes_per_s; /* of a link of its own that is slower than its shared ones; else 0 */
    int32_t first, count;   /* shared links, in `used` */
};
struct pp_wires {
    struct pp_wire *wire;
    int count;
    int lanes, ring_lanes;      /* wires of a channel and replica; of a ring position */
    int *ring_first;            /* [stage]: first wire of its ring, -1 = none; NULL without rings */
    int32_t *used;              /* indices of `shared_bytes_per_s` */
    double *shared_bytes_per_s; /* [shared link] */
    int shared_count;
};

/* Makes the wires of a program over a network for all its replicas; with `has_rings` also those of
 * costs->rings. PP_EINVAL if a route is missing, PP_EFAIL if there are too many wires. */
enum pp_status pp_wires_make(struct pp_arena *arena, const struct pp_program *program,
                             const struct pp_costs *costs, const struct pp_network *network,
                             int replicas, bool has_rings, struct pp_wires **wires,
                             struct pp_error *err);
