/* sim/links.h — how many bytes a step sends over each link, and how busy that makes it.
 *
 * Counted are the messages of all replicas and devices, whether one replica was simulated or all,
 * and the gradient and parameter sums: around one ring where they are simulated as flows or priced
 * as one, else inside the nodes first and then across, a ring for each device of a node.
 * What tensor and context parallelism exchange inside an op is not counted. The utilisation of a
 * link is bytes / (bandwidth * step). */
#ifndef PP_SIM_LINKS_H
#define PP_SIM_LINKS_H

#include "sim/config.h"

struct pp_link_inputs {
    const struct pp_program *program; /* lowered */
    const struct pp_costs *costs;
    const struct pp_network *network;
    int gpus_per_node;
    bool has_flows;     /* sums are rings over costs->rings */
    bool is_flat;       /* sums priced as one ring over all members, not node by node */
    int steps;          /* training steps that the program holds, >= 1 */
    double iteration_s; /* of one step */
};

/* Links whose names differ only in numbers. */
struct pp_link_class {
    char name[PP_LINK_NAME_BYTES];    /* "node*.nic*.up", or the name of a single link */
    char hottest[PP_LINK_NAME_BYTES]; /* its most used link */
    int count;                        /* links that carry something */
    double max_frac, mean_frac;       /* utilisation */
    double bytes;                     /* of all its links together in one step */
};
struct pp_link_loads {
    int count;
    struct pp_link_class *classes; /* the most used first */
};
struct pp_link_loads pp_link_loads(struct pp_arena *arena, const struct pp_link_inputs *in);
/* The same of a run; empty without a network. */
struct pp_link_loads pp_links_of(struct pp_arena *arena, const struct pp_result *result);

#endif
