/* sim/run/links_parts.h — private parts of sim/run/links*.c. */
#pragma once

#include "core/cluster/link_set.h"
#include "sim/engine/network.h"
#include "sim/run/links.h"

/* Bytes of links, `parts` numbers each: one for the program, or one for each bin of time. */
struct pp_traffic {
    struct pp_arena *arena;
    const struct pp_link_inputs *in;
    int parts;
    struct pp_link_set links; /* used links */
    double *bytes;            /* [link][parts], room for `room` links */
    const int32_t *only;      /* [only_count] ascending: `bytes` has these links alone, in this
                               * order; NULL = all */
    int only_count;
    int32_t *route;
    int room;
};
/* Makes traffic of the links `only`, without bytes; NULL = all links. */
struct pp_traffic pp_traffic_make(struct pp_arena *arena, const struct pp_link_inputs *in,
                                  int parts, const int32_t *only, int only_count);
/* Adds the messages of a pair of ranks in one replica, in all lanes; `bytes` is [parts]. */
void pp_traffic_message(struct pp_traffic *traffic, const struct pp_rank_pair *pair, int replica,
                        const double *bytes);
/* Adds the sums of a group; `bytes` is their payload, [parts]. */
void pp_traffic_sum(struct pp_traffic *traffic, const struct pp_group *group, const double *bytes);
/* Payload of one collective times its rounds: an all-reduce goes around twice. */
double pp_traffic_payload(const struct pp_link_inputs *in, int instruction);
/* Bytes that one compute instruction gathers and scatters inside, if parameters are sharded and its
 * chunk has several units: one member's share. `group` is that of its stage. */
double pp_traffic_inside(const struct pp_link_inputs *in, int instruction, int *group);
/* Is true if the instruction is a collective whose bytes count for its group. */
bool pp_traffic_is_sum(const struct pp_program *program, int instruction);
/* Adds all traffic of the program; `parts` is 1. */
void pp_traffic_all(struct pp_traffic *traffic);

/* Used links by class, the most used class first; in a class the most used link first. */
struct pp_used_link {
    int32_t link; /* in the fabric */
    int class;    /* in `loads` */
    double bytes_per_s, frac;
};
struct pp_used_link *pp_used_links(struct pp_arena *arena, const struct pp_link_inputs *in,
                                   struct pp_link_loads *loads, int *count);
