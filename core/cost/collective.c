/* Times of collectives: rings, trees, hierarchies, and the choice of the fastest. */
#include "core/cost/collective.h"

#include <assert.h>
#include <math.h>

const char *const pp_algorithm_names[] = {"auto", "ring", "tree", "hierarchical", NULL};

struct input {
    double n, g, m; /* members, members of a node, nodes */
    double k;       /* rings between nodes: members of the node that has fewest */
    struct pp_link intra, inter;
    struct pp_ring_link intra_ring, inter_ring;
    bool is_cube_mesh;
    int mesh_links;
    double copy_bytes_per_s;
    double bytes;
};

static double rounds(double members)
{
    return ceil(log2(members));
}

/* Returns the time of a flat algorithm for `bytes` over all its `latencies` rounds. Every round is
 * as slow as its slowest message, which leaves the node if the group does. */
static struct pp_collective_time flat(const struct input *in, double latencies, double bytes)
{
    const bool is_network = in->m > 1;
    const struct pp_link link = is_network ? in->inter : in->intra;
    const double s = bytes / link.bytes_per_s;

    return (struct pp_collective_time){.node_s = is_network ? 0 : s,
                                       .network_s = is_network ? s : 0,
                                       .latency_s = latencies * link.alpha_s};
}

static struct pp_collective_time twice(struct pp_collective_time time)
{
    return (struct pp_collective_time){2 * time.node_s, 2 * time.network_s, 2 * time.latency_s};
}

/* Returns the slower of two concurrent parts. */
static struct pp_collective_time slower(double node_s, double network_s, double latency_s)
{
    return (struct pp_collective_time){.node_s = node_s >= network_s ? node_s : 0,
                                       .network_s = node_s >= network_s ? 0 : network_s,
                                       .latency_s = latency_s};
}

/* ---- ring: n - 1 rounds, each passes a share of 1/n on --------------------------------------- */

static struct pp_collective_time ring_pass(const struct input *in)
{
    return flat(in, in->n - 1, (in->n - 1) * (in->bytes / in->n));
}

/* Scatters by a binomial tree, then gathers around the ring. */
static struct pp_collective_time ring_broadcast(const struct input *in)
{
    const double share = (in->n - 1) / in->n;

    return flat(in, rounds(in->n) + in->n - 1, 2 * share * in->bytes);
}

/* ---- tree ------------------------------------------------------------------------------------ */

/* Recursive halving and doubling: partners across nodes while shares are small, then inside. */
static struct pp_collective_time tree_pass(const struct input *in)
{
    return (struct pp_collective_time){
        .node_s = (in->g - 1) / in->g * in->bytes / in->intra.bytes_per_s,
        .network_s = (in->m - 1) / (in->k * in->m) * in->bytes / in->inter.bytes_per_s,
        .latency_s = rounds(in->g) * in->intra.alpha_s + rounds(in->m) * in->inter.alpha_s,
    };
}

/* Returns the latency along a chain through each node, and up a binary tree of nodes. */
static double tree_latency_s(const struct input *in)
{
    return (in->g - 1) * in->intra.alpha_s + rounds(in->m) * in->inter.alpha_s;
}

/* Two binary trees across the nodes, each for one half of the data, so that every link is used both
 * ways. A chain through each node. Chunks are pipelined, so the slower part counts. */
static struct pp_collective_time tree_broadcast(const struct input *in)
{
    const double node_s = in->g > 1 ? in->bytes / in->intra.bytes_per_s : 0;
    const double network_s = in->m > 1 ? in->bytes / in->k / in->inter.bytes_per_s : 0;

    return slower(node_s, network_s, tree_latency_s(in));
}

/* Bruck: in each round half of the data goes to the member 2^k further on. */
static struct pp_collective_time tree_exchange(const struct input *in)
{
    return flat(in, rounds(in->n), rounds(in->n) * in->bytes / 2);
}

/* ---- hierarchical ---------------------------------------------------------------------------- */

/* A ring inside each node, then one ring of each member across the nodes over its share. */
static struct pp_collective_time level_pass(const struct input *in)
{
    return (struct pp_collective_time){
        .node_s = (in->g - 1) * (in->bytes / in->g / in->intra.bytes_per_s),
        .network_s = (in->m - 1) * (in->bytes / in->k / in->m / in->inter.bytes_per_s),
        .latency_s = (in->g - 1) * in->intra.alpha_s + (in->m - 1) * in->inter.alpha_s,
    };
}

/* Scatters in the root's node, sends shares to the other nodes as a ring broadcast, gathers. */
static struct pp_collective_time level_broadcast(const struct input *in)
{
    struct pp_collective_time time = twice(level_pass(in));

    time.latency_s =
        2 * (in->g - 1) * in->intra.alpha_s + (rounds(in->m) + in->m - 1) * in->inter.alpha_s;
    return time;
}

/* Sends every other member its share of 1/n, one after another. */
static struct pp_collective_time level_exchange(const struct input *in)
{
    const double share = in->bytes / in->n, outside = in->n - in->g;

    return (struct pp_collective_time){
        .node_s = (in->g - 1) * (share / in->intra.bytes_per_s),
        .network_s = outside * (share / in->inter.bytes_per_s),
        .latency_s = (in->g - 1) * in->intra.alpha_s + outside * in->inter.alpha_s,
    };
}

/* ---- auto: what NCCL does -------------------------------------------------------------------- */

/* Rings that NCCL finds among the first g devices of a DGX-1, with six links each. All-reduces of
 * nccl-tests reach these multiples of a link's bandwidth (VIA-Research/vTrain, trace/v100). */
static double mesh_frac(int members)
{
    static const double rings[] = {0, 6, 1, 2, 4, 2, 2, 4, 6};
    const int last = PP_COUNT(rings) - 1;

    return rings[members < last ? members : last] / 6;
}

static double node_rate(const struct input *in)
{
    const double links = in->mesh_links > 0 ? fmin((in->g - 1) / in->mesh_links, 1) : 1;

    return in->intra.bytes_per_s * (in->is_cube_mesh ? mesh_frac((int)in->g) : links);
}

static double start_s(const struct input *in)
{
    return (in->g > 1 ? in->intra_ring.start_s : 0) + (in->m > 1 ? in->inter_ring.start_s : 0);
}

/* Every ring crosses the NVLinks of a node and once its NICs; chunks are pipelined, so the slower
 * part counts. `bytes` pass each hop of the rings together. */
static struct pp_collective_time pipelined(const struct input *in, double bytes, double latency_s)
{
    const double node_s = in->g > 1 ? bytes / node_rate(in) : 0;
    const double network_s = in->m > 1 ? bytes / (in->k * in->inter.bytes_per_s) : 0;

    return slower(node_s, network_s, start_s(in) + latency_s);
}

static double ring_latency_s(const struct input *in)
{
    return (in->n - in->m) * in->intra.alpha_s + (in->m - 1) * in->inter.alpha_s;
}

static struct pp_collective_time auto_pass(const struct input *in)
{
    return pipelined(in, (in->n - 1) / in->n * in->bytes, ring_latency_s(in));
}

/* Returns the share of a ring's bandwidth that NCCL assumes for trees across nodes. 120 of 128
 * bytes are data (protocol LL128). Factors are for powers of two of `bytes`, from 64 B on. Source:
 * src/graph/tuning.cc of 2.18.3, busBw and treeCorrectionFactor. */
static double tree_frac(double bytes)
{
    static const double factors[] = {1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
                                     .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1,  1};
    const double last = PP_COUNT(factors) - 2, place = fmin(log2(fmax(bytes / 64, 1)), last);
    const int at = (int)place;

    return 0.92 * 120 / 128 * (factors[at] + (place - at) * (factors[at + 1] - factors[at]));
}

/* Rings, or trees across nodes where these are faster. */
static struct pp_collective_time auto_reduce(const struct input *in)
{
    const double frac = tree_frac(in->bytes);
    const struct pp_collective_time rings =
        pipelined(in, 2 * (in->n - 1) / in->n * in->bytes, 2 * ring_latency_s(in));
    struct pp_collective_time trees = pipelined(in, 2 * in->bytes / frac, 2 * tree_latency_s(in));

    trees.tree_frac = frac;
    return in->m == 1 || pp_collective_s(rings) <= pp_collective_s(trees) ? rings : trees;
}

static struct pp_collective_time auto_broadcast(const struct input *in)
{
    return pipelined(in, in->bytes, ring_latency_s(in));
}

/* Messages go to all members at once, concurrently within the node and out of it. A member sends
 * its own share to itself: NCCL's kernel copies it with the same blocks (src/device/sendrecv.h,
 * runSend of work for its own rank). */
static struct pp_collective_time auto_exchange(const struct input *in)
{
    const double copy_s = in->copy_bytes_per_s > 0 ? in->bytes / in->n / in->copy_bytes_per_s : 0;
    const double node_s = copy_s + (in->g - 1) / in->n * in->bytes / node_rate(in);
    const double network_s = (in->n - in->g) / in->n * in->bytes / in->inter.bytes_per_s;

    return slower(node_s, network_s, start_s(in) + ring_latency_s(in));
}

/* Rules. Sums, but of `auto`, take theirs twice: scatter and gather, or up and down the tree. */
static struct pp_collective_time (*const rules[PP_ALGORITHMS][PP_OP_KINDS])(
    const struct input *in) = {
    [PP_ALGORITHM_AUTO] = {[PP_AR] = auto_reduce,
                           [PP_RS] = auto_pass,
                           [PP_AG] = auto_pass,
                           [PP_BC] = auto_broadcast,
                           [PP_A2A] = auto_exchange},
    [PP_ALGORITHM_RING] = {[PP_AR] = ring_pass,
                           [PP_RS] = ring_pass,
                           [PP_AG] = ring_pass,
                           [PP_BC] = ring_broadcast,
                           [PP_A2A] = ring_pass},
    [PP_ALGORITHM_TREE] = {[PP_AR] = tree_broadcast,
                           [PP_RS] = tree_pass,
                           [PP_AG] = tree_pass,
                           [PP_BC] = tree_broadcast,
                           [PP_A2A] = tree_exchange},
    [PP_ALGORITHM_HIERARCHICAL] = {[PP_AR] = level_pass,
                                   [PP_RS] = level_pass,
                                   [PP_AG] = level_pass,
                                   [PP_BC] = level_broadcast,
                                   [PP_A2A] = level_exchange},
};

struct pp_device_links pp_collective_links_of(const struct pp_cluster *cluster)
{
    const struct pp_device *device = &cluster->device;
    struct pp_device_links links = {
        .intra = cluster->intra,
        .inter = cluster->inter,
        .intra_ring = cluster->intra_ring,
        .inter_ring = cluster->inter_ring,
        .is_cube_mesh = cluster->is_cube_mesh,
        .mesh_links = cluster->mesh_links,
        .copy_bytes_per_s = device->memory_bytes_per_s * device->memory_eta / 2, /* read, written */
    };

    links.intra.bytes_per_s *= cluster->eta_link;
    links.inter.bytes_per_s *= cluster->eta_link;
    return links;
}

struct pp_device_links pp_collective_links(struct pp_device_links links,
                                           enum pp_algorithm algorithm)
{
    const double intra = links.intra_ring.frac, inter = links.inter_ring.frac;

    if (algorithm == PP_ALGORITHM_AUTO) {
        links.intra.bytes_per_s *= intra > 0 ? intra : 1;
        links.inter.bytes_per_s *= inter > 0 ? inter : 1;
    }
    return links;
}

struct pp_collective_time pp_collective_time(enum pp_op_kind kind, enum pp_algorithm algorithm,
                                             struct pp_device_group group,
                                             const struct pp_device_links *links, double bytes)
{
    const struct pp_device_links reached = pp_collective_links(*links, algorithm);
    const struct input in = {.n = group.members,
                             .g = group.per_node,
                             .m = group.nodes,
                             .k = group.fewest > 0 ? group.fewest : group.per_node,
                             .intra = reached.intra,
                             .inter = reached.inter,
                             .intra_ring = links->intra_ring,
                             .inter_ring = links->inter_ring,
                             .is_cube_mesh = links->is_cube_mesh,
                             .mesh_links = links->mesh_links,
                             .copy_bytes_per_s = links->copy_bytes_per_s,
                             .bytes = bytes};

    assert(rules[algorithm][kind]);
    if (group.members <= 1)
        return (struct pp_collective_time){0};
    const struct pp_collective_time once = rules[algorithm][kind](&in);
    return kind == PP_AR && algorithm != PP_ALGORITHM_AUTO ? twice(once) : once;
}
