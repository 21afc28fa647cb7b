/* sim/run/links.h — bytes that a step sends over each link, and the utilisation of links.
 *
 * Messages of all replicas and devices count, also if one replica is simulated. Gradient sums
 * and gathers of parameters count, also inside ops. They take one ring if they are simulated as
 * flows or priced as one ring. Otherwise they go inside the nodes first and then across, with a
 * ring for each device of a node. Exchanges of tensor and context parallelism inside an op do
 * not count. The utilisation of a link is bytes / (bandwidth * step). */
#pragma once

#include "sim/config/config.h"

struct pp_link_inputs {
    const struct pp_program *program; /* lowered */
    const struct pp_costs *costs;
    const struct pp_network *network;
    int gpus_per_node;
    bool has_flows;     /* sums are rings over costs->rings */
    bool is_flat;       /* sums are priced as one ring over all members, not node by node */
    int steps;          /* training steps that the program holds, >= 1 */
    double iteration_s; /* of one step */
};

/* Links whose names differ only in numbers. */
struct pp_link_class {
    char name[PP_LINK_NAME_BYTES];    /* "node*.nic*.up", or the name of a single link */
    char hottest[PP_LINK_NAME_BYTES]; /* its most used link */
    int number;                       /* in the order in which classes were found */
    int count;                        /* links with traffic */
    double max_frac, mean_frac;       /* utilisation */
    double bytes;                     /* of all its links in one step */
};
enum { PP_LINK_CLASSES_SHOWN = 8 }; /* on a page and in --json */
struct pp_link_loads {
    int count;
    struct pp_link_class *classes; /* most used first */
};
struct pp_link_loads pp_link_loads(struct pp_arena *arena, const struct pp_link_inputs *in);
/* Inputs of a run; `network` is NULL if the run has none. */
struct pp_link_inputs pp_link_inputs_of(const struct pp_result *result);
/* Loads of a run; empty without a network. */
struct pp_link_loads pp_links_of(struct pp_arena *arena, const struct pp_result *result);

struct pp_link_row { /* traffic of a link over time */
    const char *name;
    int class;           /* rows of one class are neighbours */
    double mean_frac;    /* as in pp_link_loads */
    double bytes_per_s;  /* its bandwidth */
    const double *bytes; /* [bins] */
};
struct pp_link_times {
    int count, bins;
    double end_s; /* of the trace; a bin is end_s / bins */
    struct pp_link_row *rows;
};
/* Marks at most `max_rows` of a list ordered by class: all first ones, then all second ones, ... */
void pp_links_take_turns(const int *class, int count, int max_rows, bool *is_taken);
/* Choice of the hottest links of each class in turn; of equally used ones at most `max_alike`. */
struct pp_link_choice {
    int bins, max_rows, max_alike;
};
/* Spreads a message from its start to its end, a sum from its first start to its last end. `trace`
 * is that of the program. The bins of a link add up to its bytes in all steps. */
struct pp_link_times pp_link_times(struct pp_arena *arena, const struct pp_link_inputs *in,
                                   const struct pp_trace *trace, struct pp_link_choice choice);
