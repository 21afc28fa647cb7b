/* core/cost/analytic/parts.h — the pieces of the analytic costs, private to this folder.
 * Formulas and constants with their sources: docs/costs.md. */
#pragma once

#include "core/cost/analytic/roofline.h"
#include "core/cost/layers/layers.h"

/* ---- held.c: layers and parameters of a stage --------------------------------------------- */

/* The share of the embedding or the head that a stage holds: 0 to 1, over all stages 1. */
double pp_analytic_end_share(const struct pp_cost_inputs *in, enum pp_layer_kind kind, int stage);
/* Layers of a stage by kind; fractions of the embedding and the head. */
struct pp_stage_layers {
    double count[PP_LAYER_KINDS];
    double windowed[PP_LAYER_KINDS]; /* those of `count` whose queries meet near keys only */
};
struct pp_stage_layers pp_analytic_stage_layers(const struct pp_cost_inputs *in, int stage);
/* Parameters of a stage on one device if they are cut over `shards` of its replicas. Experts lie on
 * several devices already and are cut by the rest. */
double pp_analytic_cut_params(const struct pp_cost_inputs *in, int stage, double shards);
/* Those that one device updates. */
double pp_analytic_updated_params(const struct pp_cost_inputs *in, int stage);
/* Parameters of a stage whose gradients have sums of their own, over the replicas of experts: the
 * routed experts, where parameters are whole. */
double pp_analytic_apart_params(const struct pp_cost_inputs *in, int stage);
/* Gradient of a tied embedding on one device. */
double pp_analytic_tied_bytes(const struct pp_cost_inputs *in);
/* Embedding and head of a tied model lie on different ranks. */
bool pp_analytic_has_tied_copy(const struct pp_cost_inputs *in);

/* ---- compute.c: kernels of a layer -------------------------------------------------------- */

/* Kernels of one device together. */
struct pp_compute {
    double s, bytes;
    double flops;    /* by all devices of the rank */
    double matrix_s; /* the part of s in products: communication may overlap with them */
    int launches;
};

/* Work of sequence split `split`; later splits of a causal model see more keys. */
struct pp_layer_work pp_analytic_work(const struct pp_cost_inputs *in, int split);
/* The same in a block whose queries meet near keys only. Kernels that store all scores save nothing
 * by it: they mask the far ones. */
struct pp_layer_work pp_analytic_near_work(const struct pp_cost_inputs *in, int split);
/* All kernels of one layer in one pass. */
struct pp_compute pp_analytic_layer(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                    struct pp_layer_work work, enum pp_pass pass);
/* The recomputation of a whole layer: its forward, or as much of it as its backward needs
 * (framework's stops_recompute). */
struct pp_compute pp_analytic_whole_again(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work);
/* The kernels between the projections of attention. */
struct pp_compute pp_analytic_attention(const struct pp_cost_inputs *in, struct pp_layer_work work);
/* The kernels of these modules in a forward. */
struct pp_compute pp_analytic_modules(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                      struct pp_layer_work work, unsigned modules);
/* PyTorch's selective recomputation: everything but the attention and every other product. */
struct pp_compute pp_analytic_selected(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                       struct pp_layer_work work);

/* ---- recompute.c -------------------------------------------------------------------------- */

/* Selective recomputation chooses op by op, as PyTorch does (framework's is_selective_per_op);
 * otherwise by modules, those of pp_analytic_again. */
bool pp_analytic_is_per_op(const struct pp_cost_inputs *in);
unsigned pp_analytic_again(const struct pp_cost_inputs *in);

/* ---- groups.c: groups of devices and their links ------------------------------------------ */

enum { PP_COST_RANKS_MAX = 8192 };

/* Links of the cluster with efficiency and --link-bw applied. */
struct pp_device_links pp_analytic_links(const struct pp_cost_inputs *in);
/* So many devices in so many nodes, as evenly as they can stand. */
struct pp_device_group pp_analytic_group_over(int members, int nodes, int fewest);
/* The devices along an axis that share all other coordinates, starting where a node does. */
struct pp_device_group pp_analytic_group(const struct pp_cost_inputs *in, enum pp_axis axis);
/* All replicas of a stage: dp * cp * pipelines devices, those with tp coordinate 0. */
struct pp_device_group pp_analytic_stage_group(const struct pp_cost_inputs *in, int stage);
/* The two ranks of some replica are in different nodes. */
bool pp_analytic_crosses(const struct pp_cost_inputs *in, int rank_a, int rank_b);
/* A collective by the chosen algorithm; see pp_collective_time. */
struct pp_cost pp_analytic_collective(const struct pp_cost_inputs *in, enum pp_op_kind kind,
                                      struct pp_device_group group,
                                      const struct pp_device_links *links, double bytes);
struct pp_cost pp_analytic_collective_cost(struct pp_collective_time time, double bytes);
double pp_analytic_collective_s(const struct pp_cost_inputs *in, enum pp_op_kind kind,
                                struct pp_device_group group, double bytes);

/* ---- comm.c: experts ---------------------------------------------------------------------- */

/* The devices that together hold all experts of a block, and those that hold the same ones. */
struct pp_device_group pp_analytic_expert_group(const struct pp_cost_inputs *in);
struct pp_device_group pp_analytic_expert_replicas(const struct pp_cost_inputs *in);
/* Bytes that a device sends in one exchange of a block, its own share included. */
double pp_analytic_expert_bytes(const struct pp_cost_inputs *in, struct pp_layer_work work);
/* Expected number of places that hold the experts of a token, of `places` that share all experts
 * out evenly. */
double pp_analytic_places_met(const struct pp_experts *experts, double places);
/* Seconds of the exchanges of one layer in one pass over the experts' devices. */
double pp_analytic_ep_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass);
/* Add the sums over the replicas of experts to the stage's. */
void pp_analytic_add_expert_sums(const struct pp_cost_inputs *in,
                                 const struct pp_device_links *links, int stage,
                                 struct pp_costs *costs);

/* ---- comm.c: exchanges of a layer --------------------------------------------------------- */

/* One ring step of an all-reduce over a flat ring. */
double pp_analytic_ring_step_s(const struct pp_cost_inputs *in, struct pp_device_group group,
                               double bytes);
/* Tensor-parallel seconds of one layer, before any overlap. */
double pp_analytic_tp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass);
/* Exposed context-parallel seconds of one block. */
double pp_analytic_cp_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                        enum pp_pass pass);
/* Exposed seconds of the messages of a head that is shared out over all stages: those that outlast
 * `blocks_s`, the compute of a stage's blocks. 0 for other heads. */
double pp_analytic_vocab_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                           enum pp_pass pass, double blocks_s);

/* ---- layers.c, stages.c: layers with their exchanges, stages ------------------------------ */

/* A layer in one pass with its exchanges, of which tp_s, cp_s and ep_s are exposed. Seconds before
 * they are rounded, to be summed over the layers of a stage. */
struct pp_layer_sum {
    double s, tp_s, cp_s, ep_s, flops, bytes;
    double launches;
};
struct pp_layer_sum pp_analytic_layer_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work, enum pp_pass pass);
/* The recomputation of a block; all 0 without. */
struct pp_layer_sum pp_analytic_again_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work);
/* Forward and backward of one layer on one device, with its recomputation if every block has one.
 */
double pp_analytic_layer_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
/* F, I, W, B and R of every stage over one split. */
void pp_analytic_fill_split(const struct pp_cost_inputs *in, const double *recompute, int split,
                            struct pp_costs *costs);

/* ---- state.c, groups.c, sums.c, gathers.c: communication of state ----------------- */

/* The devices that hold the parts of one shard of `coarse`, each another one of `fine`. */
struct pp_device_group pp_analytic_group_within(const struct pp_cost_inputs *in, int stage,
                                                struct pp_mesh fine, struct pp_mesh coarse);
/* Groups and bytes of a stage's sums at the end of a step. Whole gradients, or shards of parameters
 * that are cut, are summed over `sum`. Otherwise they are scattered over `scatter`, the remainders
 * summed over `rest`, the parameters gathered over `scatter`. */
struct pp_state_sums {
    struct pp_device_group sum, scatter, rest;
    double grads_bytes, rest_bytes, params_bytes;
};
struct pp_state_sums pp_analytic_state_sums(const struct pp_cost_inputs *in, int stage);
/* Updated parameters from the members of a group, which updated a part each, to all of it. */
struct pp_collective_time pp_analytic_spread(const struct pp_cost_inputs *in,
                                             const struct pp_device_links *links,
                                             struct pp_device_group group, int stage, double bytes);
/* The exposed part of `gather` if it runs concurrently with a forward of `forward_ps` through
 * `layers` layers. */
struct pp_cost pp_analytic_spread_ahead(struct pp_cost gather, int64_t forward_ps, int layers,
                                        double share_frac);
/* The devices of a stage group as a ring, in ascending order, without their hops. */
struct pp_ring pp_analytic_ring(struct pp_arena *arena, const struct pp_cost_inputs *in, int stage);
/* The link of the fabric that limits the sums of a stage, and the number of sums on it. 0 sums: the
 * links of the cluster are the limit. */
struct pp_sum_limit {
    int32_t link;
    int sums;
};
/* The links that the sums of a stage see when those of all stages run at once. */
struct pp_sum_links {
    struct pp_device_links links;
    struct pp_sum_limit node, network;
};
/* [stages + 1]: of each stage, then of a tied embedding's sum. */
struct pp_sum_links *pp_analytic_sum_links(struct pp_arena *arena, const struct pp_cost_inputs *in);
/* Gathers, scatters and sums that sharded state adds. Those of the program get their costs; the
 * exposed part of those inside an op is added to the passes of its stage. `sums`: [stage]. */
void pp_analytic_fill_gathers(struct pp_arena *arena, const struct pp_cost_inputs *in,
                              const struct pp_sum_links *sums, struct pp_costs *costs);

/* ---- links.c ------------------------------------------------------------------------------ */

/* Classes of the links between pipeline ranks. */
void pp_analytic_fill_links(struct pp_arena *arena, const struct pp_cost_inputs *in,
                            struct pp_costs *costs);

/* ---- saved.c, roofline.c ------------------------------------------------------------------ */

/* Bytes saved by a layer for its backward, one micro-batch, one device. */
double pp_analytic_saved_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
/* Bytes that a stage saves for its backward, and those that live only while one of its ops runs. */
void pp_analytic_saved(const struct pp_cost_inputs *in, double recompute_frac, int stage,
                       struct pp_stage_memory *memory);
/* Bytes of the message between two stages, one micro-batch. */
double pp_analytic_boundary_bytes(const struct pp_cost_inputs *in);
/* Bytes that an update of a stage's parameters moves. */
double pp_analytic_update_bytes(const struct pp_cost_inputs *in, int stage);

/* ---- tiers.c: memory tiers ---------------------------------------------------------------- */

/* Bytes per second of a movement of one device, when all devices of its node copy. */
double pp_analytic_move_rate(const struct pp_cost_inputs *in, enum pp_purpose purpose);
struct pp_cost pp_analytic_move(const struct pp_cost_inputs *in, enum pp_purpose purpose,
                                double bytes);
/* State that lives elsewhere leaves the device's memory; its buffers stay. */
void pp_analytic_tier_memory(const struct pp_cost_inputs *in, int stage,
                             struct pp_stage_memory *memory);
/* COPY, MOVE, Q, DQ, and U where state is streamed or the host updates it. After all other costs
 * and memory. */
void pp_analytic_fill_tiers(struct pp_arena *arena, const struct pp_cost_inputs *in,
                            struct pp_costs *costs);
/* For --explain: nothing if all is on the device. */
void pp_analytic_explain_tiers(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                               FILE *out);
