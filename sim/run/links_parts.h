/* sim/run/links_parts.h — what the files of the use of links share. Private to sim/links*.c. */
#pragma once

#include "core/cluster/link_set.h"
#include "sim/engine/network.h"
#include "sim/run/links.h"

/* Bytes are lists of `parts` numbers: one for all of a program, or one for each bin of time. */
struct pp_traffic {
    struct pp_arena *arena;
    const struct pp_link_inputs *in;
    int parts;
    struct pp_link_set links; /* those that were used */
    double *bytes;            /* [link][parts], room for `room` links */
    const int32_t *only;      /* [only_count] ascending: other links are passed over, and `bytes` is
                               * in this order; NULL = all */
    int only_count;
    int32_t *route;
    int room;
};
/* Of these links only; `only` NULL: of all. */
struct pp_traffic pp_traffic_make(struct pp_arena *arena, const struct pp_link_inputs *in,
                                  int parts, const int32_t *only, int only_count);
/* The messages of a pair of ranks in one replica, all lanes: [parts]. */
void pp_traffic_message(struct pp_traffic *traffic, const struct pp_rank_pair *pair, int replica,
                        const double *bytes);
/* The sums of a group: the bytes that each of its members passes on, [parts]. */
void pp_traffic_sum(struct pp_traffic *traffic, const struct pp_group *group, const double *bytes);
/* Payload of one collective times the rounds it makes: an all-reduce goes around twice. */
double pp_traffic_payload(const struct pp_link_inputs *in, int instruction);
/* Bytes that one compute instruction gathers and scatters inside, where parameters are cut and its
 * chunk has several units; a member's share of its group's. `group` is that of its stage. */
double pp_traffic_inside(const struct pp_link_inputs *in, int instruction, int *group);
/* Does the instruction send what is counted for its group? */
bool pp_traffic_is_sum(const struct pp_program *program, int instruction);
/* All of one program: parts is 1. */
void pp_traffic_all(struct pp_traffic *traffic);

/* ---- sim/run/links.c ---- */
/* Links that carry something, by class, the most used class first; within one the most used link.
 */
struct pp_used_link {
    int32_t link; /* in the fabric */
    int class;    /* in `loads` */
    double bytes_per_s, frac;
};
struct pp_used_link *pp_used_links(struct pp_arena *arena, const struct pp_link_inputs *in,
                                   struct pp_link_loads *loads, int *count);
