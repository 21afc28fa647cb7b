/* core/cost/analytic/parts.h — the pieces of the analytic costs, private to core/roofline*.c.
 * Formulas and constants with their sources: docs/costs.md. */
#ifndef PP_CORE_COST_ANALYTIC_PARTS_H
#define PP_CORE_COST_ANALYTIC_PARTS_H

#include "core/cost/analytic/roofline.h"
#include "core/cost/layers/layers.h"

/* ---- compute ----------------------------------------------------------------------------- */

/* Kernels of one device together. */
struct pp_compute {
    double s, bytes;
    double flops;    /* by all devices of the rank */
    double matrix_s; /* share of s in products: communication may hide behind them */
    int launches;
};

/* Work of sequence split `split`; later splits of a causal model see more keys. */
struct pp_layer_work pp_roofline_work(const struct pp_cost_inputs *in, int split);
/* The same in a block whose queries meet near keys only. Kernels that store all scores save nothing
 * by it: they mask what is far. */
struct pp_layer_work pp_roofline_near_work(const struct pp_cost_inputs *in, int split);
/* All kernels of one layer in one pass. */
struct pp_compute pp_roofline_layer(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                    struct pp_layer_work work, enum pp_pass pass);
/* Forward and backward of one layer on one device, recomputation included where every block has it.
 */
double pp_roofline_layer_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
/* A layer in one pass with its exchanges, of which tp_s, cp_s and ep_s show: seconds before they
 * are rounded, to be summed over the layers of a stage. */
struct pp_layer_sum {
    double s, tp_s, cp_s, ep_s, flops, bytes;
    double launches;
};
struct pp_layer_sum pp_roofline_layer_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work, enum pp_pass pass);
/* What recomputation does again of a block; nothing without. */
struct pp_layer_sum pp_roofline_again_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work);
/* What the recomputation of a whole layer does again: its forward, or as much of it as its backward
 * needs (framework's stops_recompute). */
struct pp_compute pp_roofline_whole_again(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work);
/* The kernels between the projections of attention. */
struct pp_compute pp_roofline_attention(const struct pp_cost_inputs *in, struct pp_layer_work work);
/* Whether selective recomputation chooses op by op, as PyTorch does (framework's
 * is_selective_per_op), or else which modules it computes again. */
bool pp_roofline_is_per_op(const struct pp_cost_inputs *in);
unsigned pp_roofline_again(const struct pp_cost_inputs *in);
/* The kernels of these modules in a forward. */
struct pp_compute pp_roofline_modules(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                      struct pp_layer_work work, unsigned modules);
/* What PyTorch does again: everything but the attention and every other product. */
struct pp_compute pp_roofline_selected(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                       struct pp_layer_work work);
/* F, I, W, B and R of every stage over one split. */
void pp_roofline_fill_split(const struct pp_cost_inputs *in, const double *recompute, int split,
                            struct pp_costs *costs);

/* ---- communication ----------------------------------------------------------------------- */

/* The devices of a stage group (tp coordinate 0) in ascending order: three nested loops, the axis
 * with the widest stride outermost. `rank` are the pipeline ranks that hold the stage. */
enum { PP_COST_RANKS_MAX = 8192, PP_STAGE_AXES = 3 };
struct pp_stage_walk {
    int axis[PP_STAGE_AXES], count[PP_STAGE_AXES];
    uint16_t rank[PP_COST_RANKS_MAX]; /* ascending */
};
void pp_stage_walk_init(struct pp_stage_walk *walk, const struct pp_cost_inputs *in, int stage);
/* Coordinate i along the axis of a level. */
static inline int pp_stage_walk_at(const struct pp_stage_walk *walk, int level, int i)
{
    return walk->axis[level] == PP_AXIS_PP ? walk->rank[i] : i;
}

/* Links of the cluster with efficiency and --link-bw applied. */
struct pp_device_links pp_roofline_links(const struct pp_cost_inputs *in);
/* The devices along an axis that differ in nothing else, starting where a node does. */
struct pp_device_group pp_roofline_group(const struct pp_cost_inputs *in, enum pp_axis axis);
/* All replicas of a stage: dp * cp * pipelines devices, those with tp coordinate 0. */
struct pp_device_group pp_roofline_stage_group(const struct pp_cost_inputs *in, int stage);
/* The devices of a stage group as a ring, in ascending order, without their hops. */
struct pp_ring pp_roofline_ring(struct pp_arena *arena, const struct pp_cost_inputs *in, int stage);
/* What the sums of a stage get when those of all stages run at once, and what holds them up more
 * than the links of the cluster say: a link of the fabric and the sums on it; 0 sums: nothing. */
struct pp_sum_limit {
    int32_t link;
    int sums;
};
struct pp_sum_links {
    struct pp_device_links links;
    struct pp_sum_limit node, network;
};
/* [stage], and of a tied embedding's sum behind them: [stages]. */
struct pp_sum_links *pp_roofline_sum_links(struct pp_arena *arena, const struct pp_cost_inputs *in);
/* Gathers, scatters and sums that sharded state adds: those of the program get their costs, what
 * shows of those inside of an op is added to the passes of its stage. `sums`: [stage]. */
void pp_roofline_fill_gathers(struct pp_arena *arena, const struct pp_cost_inputs *in,
                              const struct pp_sum_links *sums, struct pp_costs *costs);
/* Who takes part in a stage's sums at the end of a step, and with what. Whole gradients, or shards
 * of parameters that are cut: summed over `sum`; or scattered over `scatter`, what is left of them
 * summed over `rest`, and the parameters gathered over `scatter`. */
struct pp_state_sums {
    struct pp_device_group sum, scatter, rest;
    double grads_bytes, rest_bytes, params_bytes;
};
struct pp_state_sums pp_roofline_state_sums(const struct pp_cost_inputs *in, int stage);
/* The devices that hold the parts of one shard of `coarse`, each another one of `fine`. */
struct pp_device_group pp_roofline_group_within(const struct pp_cost_inputs *in, int stage,
                                                struct pp_mesh fine, struct pp_mesh coarse);
/* 1 when some replica's pair of the two ranks is in different nodes. */
bool pp_roofline_crosses(const struct pp_cost_inputs *in, int rank_a, int rank_b);
/* Between two devices in the same node or in different ones. */
struct pp_link pp_roofline_hop(const struct pp_cost_inputs *in, int source, int dest);
/* Classes of the links between pipeline ranks, roofline_links.c. */
void pp_roofline_fill_links(struct pp_arena *arena, const struct pp_cost_inputs *in,
                            struct pp_costs *costs);

/* A collective by the chosen algorithm; see pp_collective_time. */
struct pp_collective_time pp_roofline_collective(const struct pp_cost_inputs *in,
                                                 enum pp_op_kind kind, struct pp_device_group group,
                                                 double bytes);
double pp_roofline_collective_s(const struct pp_cost_inputs *in, enum pp_op_kind kind,
                                struct pp_device_group group, double bytes);
/* Parameters that the members of a group have updated in parts, to all of it; and what of that
 * (`gather`) is exposed where it runs beside a forward of `forward_ps` through `layers` layers. */
struct pp_collective_time pp_roofline_spread(const struct pp_cost_inputs *in,
                                             const struct pp_device_links *links,
                                             struct pp_device_group group, int stage, double bytes);
struct pp_cost pp_roofline_spread_ahead(struct pp_cost gather, int64_t forward_ps, int layers,
                                        double share_frac);
/* One ring step of an all-reduce over a flat ring. */
double pp_roofline_ring_step_s(const struct pp_cost_inputs *in, struct pp_device_group group,
                               double bytes);
/* Exposed tensor-parallel seconds of one layer, context-parallel seconds of one block. */
double pp_roofline_tp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass);
double pp_roofline_cp_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                        enum pp_pass pass);

/* ---- memory tiers ------------------------------------------------------------------------ */

/* Bytes per second between one device and a tier, each way, when all devices of its node copy. */
double pp_roofline_tier_rate(const struct pp_cost_inputs *in, enum pp_tier tier);
/* One copy, either way. */
struct pp_cost pp_roofline_copy(const struct pp_cost_inputs *in, enum pp_tier tier, double bytes);
/* Parameters of a stage that one bucket of a streamed update has, and seconds of an update by the
 * host. */
double pp_roofline_bucket_params(const struct pp_cost_inputs *in, int stage);
double pp_roofline_host_update_s(const struct pp_cost_inputs *in, int stage);
/* State that lives elsewhere leaves the device's memory; what stays of the rest. */
void pp_roofline_tier_memory(const struct pp_cost_inputs *in, int stage,
                             struct pp_stage_memory *memory);
/* COPY, MOVE, Q, DQ, and U where state is streamed or the host updates it. Behind all other costs
 * and memory. */
void pp_roofline_fill_tiers(struct pp_arena *arena, const struct pp_cost_inputs *in,
                            struct pp_costs *costs);
/* For --explain: nothing where all is on the device. */
void pp_roofline_explain_tiers(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                               FILE *out);

/* ---- experts ----------------------------------------------------------------------------- */

/* Layers of a stage by kind; of the embedding and the head perhaps a part. */
struct pp_stage_layers {
    double count[PP_LAYER_KINDS];
    double windowed[PP_LAYER_KINDS]; /* of them, those whose queries meet near keys only */
};
struct pp_stage_layers pp_roofline_stage_layers(const struct pp_cost_inputs *in, int stage);
/* Devices that hold the experts of a block between them, and those that hold the same ones. */
struct pp_device_group pp_roofline_expert_group(const struct pp_cost_inputs *in);
struct pp_device_group pp_roofline_expert_replicas(const struct pp_cost_inputs *in);
/* Parameters of a stage's routed experts on one device. */
double pp_roofline_routed_params(const struct pp_cost_inputs *in, int stage);
/* Parameters of a stage on one device where they are cut over `shards` of its replicas; experts,
 * which lie on several of them, are cut by the rest. */
double pp_roofline_cut_params(const struct pp_cost_inputs *in, int stage, double shards);
/* The part of a stage's parameters that sums of its own, over the replicas of experts, take care
 * of: routed experts, where parameters are whole. */
double pp_roofline_apart_params(const struct pp_cost_inputs *in, int stage);
/* Add those sums to the stage's. */
void pp_roofline_add_expert_sums(const struct pp_cost_inputs *in,
                                 const struct pp_device_links *links, int stage,
                                 struct pp_costs *costs);
/* What a device sends in one exchange of a block, its own share included. */
double pp_roofline_expert_bytes(const struct pp_cost_inputs *in, struct pp_layer_work work);
/* Of `places` that divide the experts between them, how many a token's experts lie in, expected. */
double pp_roofline_places_met(const struct pp_experts *experts, double places);
/* Seconds of the exchanges of one layer in one pass: over the experts' devices, and between those
 * that share an expert. */
double pp_roofline_ep_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass);
double pp_roofline_etp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                         struct pp_layer_work work, enum pp_pass pass);

/* How much of the embedding or the head a stage holds: 0 to 1, over all stages 1. */
double pp_roofline_end_share(const struct pp_cost_inputs *in, enum pp_layer_kind kind, int stage);
/* What of the messages of a head that is shared out over all stages outlasts the `beside_s` of a
 * stage's blocks; 0 for other heads. */
double pp_roofline_vocab_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                           enum pp_pass pass, double beside_s);

/* ---- memory ------------------------------------------------------------------------------ */

/* Parameters of a stage on one device of the tp group. */
double pp_roofline_stage_params(const struct pp_cost_inputs *in, int stage);
/* Bytes saved by a layer for its backward, one micro-batch, one device. */
double pp_roofline_saved_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
double pp_roofline_boundary_bytes(const struct pp_cost_inputs *in);
/* Fills what a stage saves for its backward and what lives while one of its ops runs. */
void pp_roofline_saved(const struct pp_cost_inputs *in, double recompute_frac, int stage,
                       struct pp_stage_memory *memory);
/* Per device, of no tensor: context and communicators of the framework, or what the cluster says.
 */
double pp_roofline_other_bytes(const struct pp_cost_inputs *in);
void pp_roofline_memory(const struct pp_cost_inputs *in, const double *recompute, int stage,
                        struct pp_stage_memory *memory);
/* Parameters, gradients and optimizer state of a stage. */
void pp_roofline_state_memory(const struct pp_cost_inputs *in, int stage,
                              struct pp_stage_memory *memory);
/* Bytes that an update of a stage's parameters moves. */
double pp_roofline_update_bytes(const struct pp_cost_inputs *in, int stage);
/* Gradient of a tied embedding on one device. */
double pp_roofline_tied_bytes(const struct pp_cost_inputs *in);
/* 1 when embedding and head of a tied model lie on different ranks. */
bool pp_roofline_has_tied_copy(const struct pp_cost_inputs *in);

#endif
