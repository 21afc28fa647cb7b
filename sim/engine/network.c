/* A network: the devices of each rank, the pairs of ranks that send, and their bytes. */
#include "sim/engine/network.h"

#include "core/cost/analytic/roofline.h"
#include "schedules/program/whole.h"

#include <stdlib.h>

struct pp_network *pp_network_make(struct pp_arena *arena, const struct pp_fabric *fabric,
                                   const struct pp_cluster *cluster, const struct pp_layout *layout,
                                   struct pp_map_order order)
{
    struct pp_network *network = PP_NEW(arena, struct pp_network);

    *network = (struct pp_network){.fabric = fabric,
                                   .layout = *layout,
                                   .map = pp_map_make(order, layout),
                                   .lanes = pp_lanes(cluster, layout)};
    return network;
}

static int by_ranks(const void *a, const void *b)
{
    const struct pp_rank_pair *x = a, *y = b;

    return x->source != y->source ? (x->source < y->source ? -1 : 1)
                                  : (x->dest > y->dest) - (x->dest < y->dest);
}

/* Payload of every channel, [channel]. */
static double *channel_bytes(struct pp_arena *arena, const struct pp_program *p,
                             const struct pp_costs *costs)
{
    double *bytes = PP_ARRAY(arena, double, p->channel_count + 1);
    int32_t *channel_of = PP_ARRAY(arena, int32_t, p->message_count + 1);

    for (int c = 0; c < p->channel_count; c++)
        for (int m = 0; m < p->channels[c].count; m++)
            channel_of[p->channels[c].first + m] = c;
    for (struct pp_whole_walk walk = pp_whole_walk(p, 0); costs && walk.at < pp_program_size(p);
         pp_whole_next(p, &walk))
        if (pp_op_is_send(p->kind[walk.at])) {
            const struct pp_op op = pp_program_op(p, walk.at);
            bytes[channel_of[op.arg]] += pp_costs_message_bytes(costs, &op);
        }
    return bytes;
}

struct pp_rank_pair *pp_rank_pairs(struct pp_arena *arena, const struct pp_program *program,
                                   const struct pp_costs *costs, int *count)
{
    struct pp_rank_pair *pairs = PP_ARRAY(arena, struct pp_rank_pair, program->channel_count + 1);
    const double *bytes = channel_bytes(arena, program, costs);
    int used = 0;

    for (int c = 0; c < program->channel_count; c++)
        pairs[c] = (struct pp_rank_pair){.source = program->channels[c].source,
                                         .dest = program->channels[c].dest,
                                         .channels = 1,
                                         .message_bytes = bytes[c]};
    qsort(pairs, (size_t)program->channel_count, sizeof(*pairs), by_ranks);
    for (int c = 0; c < program->channel_count; c++)
        if (used && by_ranks(&pairs[used - 1], &pairs[c]) == 0) {
            pairs[used - 1].channels++;
            pairs[used - 1].message_bytes += pairs[c].message_bytes;
        } else {
            pairs[used++] = pairs[c];
        }
    *count = used;
    return pairs;
}
