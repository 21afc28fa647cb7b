/* core/cost/analytic/parts.h — the parts of the analytic costs, private to this folder. Formulas
 * and constants with their sources: docs/costs.md. */
#pragma once

#include "core/cost/analytic/roofline.h"

/* ---- held.c: layers and parameters of a stage ------------------------------------------------ */

/* Returns the parameters of a stage on one device if they are cut over `shards` of its replicas.
 * Experts lie on several devices already and are cut by the rest. */
double pp_analytic_cut_params(const struct pp_cost_inputs *in, int stage, double shards);
double pp_analytic_updated_params(const struct pp_cost_inputs *in, int stage);
/* Returns the parameters of a stage whose gradients are summed over the replicas of experts: the
 * routed experts, if parameters are whole. */
double pp_analytic_apart_params(const struct pp_cost_inputs *in, int stage);
/* Returns the bytes of a tied embedding's gradient on one device. */
double pp_analytic_tied_bytes(const struct pp_cost_inputs *in);
/* Is true if embedding and head of a tied model lie on different ranks. */
bool pp_analytic_has_tied_copy(const struct pp_cost_inputs *in);

/* ---- compute.c: kernels of a layer ----------------------------------------------------------- */

/* Sum of kernels of one device. */
struct pp_compute {
    double s, bytes;
    double flops;    /* of all devices of the rank */
    double matrix_s; /* share of s in products, with which communication may overlap */
    int launches;
};

struct pp_compute pp_analytic_layer(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                    struct pp_layer_work work, enum pp_pass pass);
/* Returns the recomputation of a layer: its forward, or a part of it (stops_recompute). */
struct pp_compute pp_analytic_whole_again(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work);
/* Returns the sum of the kernels between the projections of attention. */
struct pp_compute pp_analytic_attention(const struct pp_cost_inputs *in, struct pp_layer_work work);
/* Returns the sum of the kernels of these modules in a forward. */
struct pp_compute pp_analytic_modules(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                      struct pp_layer_work work, unsigned modules);
/* Returns PyTorch's selective recomputation: all but the attention and every other product. */
struct pp_compute pp_analytic_selected(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                       struct pp_layer_work work);

/* ---- groups.c: groups of devices and their links --------------------------------------------- */

/* Returns the links of the cluster with efficiency and --link-bw applied. */
struct pp_device_links pp_analytic_links(const struct pp_cost_inputs *in);
/* Returns a group of `members` devices in `nodes` nodes, as even as possible. */
struct pp_device_group pp_analytic_group_over(int members, int nodes, int fewest);
/* Returns all replicas of a stage: dp * cp * pipelines devices, those with tp coordinate 0. */
struct pp_device_group pp_analytic_stage_group(const struct pp_cost_inputs *in, int stage);
/* Is true if the two ranks of some replica are in different nodes. */
bool pp_analytic_crosses(const struct pp_cost_inputs *in, int rank_a, int rank_b);
/* Returns the cost of a collective by the chosen algorithm; see pp_collective_time. */
struct pp_cost pp_analytic_collective(const struct pp_cost_inputs *in, enum pp_op_kind kind,
                                      struct pp_device_group group,
                                      const struct pp_device_links *links, double bytes);
struct pp_cost pp_analytic_collective_cost(struct pp_collective_time time, double bytes);

/* ---- comm.c: experts ------------------------------------------------------------------------- */

/* Devices that together hold all experts of a block, and devices that hold the same experts. */
struct pp_device_group pp_analytic_expert_group(const struct pp_cost_inputs *in);
struct pp_device_group pp_analytic_expert_replicas(const struct pp_cost_inputs *in);
/* Returns the bytes that a device sends in one exchange of a block, its own share included. */
double pp_analytic_expert_bytes(const struct pp_cost_inputs *in, struct pp_layer_work work);
/* Returns the expected number of places with a token's experts; `places` hold all evenly. */
double pp_analytic_places_met(const struct pp_experts *experts, double places);
void pp_analytic_add_expert_sums(const struct pp_cost_inputs *in,
                                 const struct pp_device_links *links, int stage,
                                 struct pp_costs *costs);

/* ---- comm.c: exchanges of a layer ------------------------------------------------------------ */

/* Returns the bytes of the message between two stages, one micro-batch. */
double pp_analytic_boundary_bytes(const struct pp_cost_inputs *in);
/* Returns seconds of one ring step of an all-reduce over a flat ring. */
double pp_analytic_ring_step_s(const struct pp_cost_inputs *in, struct pp_device_group group,
                               double bytes);
/* Returns tensor-parallel seconds of one layer, before any overlap. */
double pp_analytic_tp_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass);
/* Returns exposed context-parallel seconds of one block. */
double pp_analytic_cp_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                        enum pp_pass pass);
/* Returns exposed seconds of the messages of a head that all stages share: those beyond `blocks_s`,
 * the compute of a stage's blocks. 0 for other heads. */
double pp_analytic_vocab_s(const struct pp_cost_inputs *in, struct pp_layer_work work,
                           enum pp_pass pass, double blocks_s);

/* ---- layers.c, stages.c: layers with their exchanges, stages --------------------------------- */

/* Seconds of a layer in one pass with its exchanges, of which tp_s, cp_s and ep_s are exposed. Not
 * rounded, to be summed over the layers of a stage. */
struct pp_layer_sum {
    double s, tp_s, cp_s, ep_s, flops, bytes;
    double launches;
};
/* Returns the parts by rows in which a layer is computed: blocks are cut (--tp-split), the ends are
 * not. */
int pp_analytic_parts(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
struct pp_layer_work pp_analytic_part(struct pp_layer_work work, int parts);
/* Returns the exposed exchanges of a layer in `parts`, if the exchange of each runs during the
 * compute of the next (Merak). Of c + (n - 1) max(c, a) + a seconds, n c are not exposed. */
double pp_analytic_split_s(int parts, double compute_s, double exchange_s);
struct pp_layer_sum pp_analytic_layer_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work, enum pp_pass pass);
/* Returns the recomputation of a block; all 0 without. */
struct pp_layer_sum pp_analytic_again_sum(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                          struct pp_layer_work work);
/* Returns seconds of the recomputation of one block, its launches by the host included. */
double pp_analytic_again_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
/* Returns seconds of forward, backward and recomputation (not stage-aware) of one layer. */
double pp_analytic_layer_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
/* Fills F, I, W, B and R of every stage over one split. */
void pp_analytic_fill_split(const struct pp_cost_inputs *in, const double *recompute, int split,
                            struct pp_costs *costs);

/* ---- state.c, groups.c, sums.c, gathers.c: communication of state ---------------------------- */

/* Returns the devices that hold the parts of one shard of `coarse`, each another one of `fine`. */
struct pp_device_group pp_analytic_group_within(const struct pp_cost_inputs *in, int stage,
                                                struct pp_mesh fine, struct pp_mesh coarse);
/* Returns the number of matrices of a block: qkv, projection, two or three of the MLP. */
int pp_analytic_matrices(const struct pp_cost_inputs *in);
/* Returns the seconds in which gradients are copied for their sum and back (regroup_passes). */
double pp_analytic_regroup_s(const struct pp_cost_inputs *in, double grads_bytes);
/* Groups and bytes of a stage's sums at the end of a step. Whole gradients, or shards of parameters
 * that are cut, are summed over `sum`. Otherwise they are scattered over `scatter`, the remainders
 * summed over `rest`, the parameters gathered over `scatter`. */
struct pp_state_sums {
    struct pp_device_group sum, scatter, rest;
    int pieces; /* of what goes over `sum`, one after the other */
    double grads_bytes, rest_bytes, params_bytes;
};
struct pp_state_sums pp_analytic_state_sums(const struct pp_cost_inputs *in, int stage);
/* Adds to each update the time by which overlapping sums slow the last backward. They take a share
 * of the device as gathers do, unless the engine takes a given one. It shows unless the sums
 * outlast even the slowed backward. Needs the costs of updates, wherever the state is. */
void pp_analytic_slow_backward(const struct pp_cost_inputs *in, struct pp_costs *costs);
/* Returns the time to give updated parameters to all of a group, whose members updated parts. */
struct pp_collective_time pp_analytic_spread(const struct pp_cost_inputs *in,
                                             const struct pp_device_links *links,
                                             struct pp_device_group group, int stage, double bytes);
/* Returns the exposed part of `gather`, concurrent with a forward through `layers` layers. */
struct pp_cost pp_analytic_spread_ahead(struct pp_cost gather, int64_t forward_ps, int layers,
                                        double share_frac);
/* Returns the devices of a stage group as a ring, in ascending order, without their hops. */
struct pp_ring pp_analytic_ring(struct pp_arena *arena, const struct pp_cost_inputs *in, int stage);
/* The link of the fabric that limits the sums of a stage, and the number of sums on it. 0 sums: the
 * links of the cluster are the limit. */
struct pp_sum_limit {
    int32_t link;
    int sums;
};
/* Links for the sums of a stage if those of all stages run concurrently. */
struct pp_sum_links {
    struct pp_device_links links;
    struct pp_sum_limit node, network;
};
/* Returns [stages + 1] links: for each stage, then for a tied embedding's sum. */
struct pp_sum_links *pp_analytic_sum_links(struct pp_arena *arena, const struct pp_cost_inputs *in);
/* Gather units of a stage. Blocks: the first includes the embedding, the last the head. */
struct pp_gather_units {
    int count, resident; /* resident: the cache keeps them between two passes; 1 to count */
    struct pp_by_unit params;
};
struct pp_gather_units pp_analytic_units(const struct pp_cost_inputs *in, int stage);
/* Units of a stage, with room for their times. */
struct pp_stage_units {
    const struct pp_cost_inputs *in;
    const struct pp_device_links *links;
    int stage, count, resident; /* resident: at the end of a pass, for the next one */
    struct pp_by_unit params;
    double moved_frac;                           /* share of a unit's parameters to load */
    double left_bytes;                           /* of gradients that leave, per parameter */
    double *loaded_s, *gathered_s, *scattered_s; /* scratch, [count] */
    double *left_s;                              /* likewise */
};

/* Return the value of a unit, and its parameters. */
double pp_analytic_unit_value(const struct pp_stage_units *u, const struct pp_by_unit *value,
                              int unit);
double pp_analytic_unit_params(const struct pp_stage_units *u, int unit);
/* Returns the parameters of the units that are resident after a pass: the last ones of a forward,
 * or the first ones. */
double pp_analytic_resident_params(const struct pp_stage_units *u, bool is_last);
/* Returns the bytes to load of so many parameters. */
double pp_analytic_unit_load_bytes(const struct pp_stage_units *u, double params);
/* Returns the size of a block's widest matrix. */
double pp_analytic_widest_params(const struct pp_cost_inputs *in);

/* In passes.c, like all below; `scratch` has the room for times. */
struct pp_stage_units pp_analytic_stage_units(struct pp_arena *scratch,
                                              const struct pp_cost_inputs *in,
                                              const struct pp_device_links *links, int stage);
/* Returns the units in which gradients leave for another tier; 0 if they stay. */
int pp_analytic_unit_parts(const struct pp_stage_units *u);
/* Returns the cost of the collective of `units` units together. */
struct pp_cost pp_analytic_unit_cost(const struct pp_stage_units *u, enum pp_op_kind kind,
                                     struct pp_mesh mesh, double bytes, int units);
/* Returns the time and the share of copies that loads add to a forward with these times by unit. */
struct pp_cost pp_analytic_shown_loads(const struct pp_stage_units *u,
                                       const struct pp_by_unit *pass_s);
/* Adds to F, B, I and W of the stage what shows of gathers, scatters and copies of inner units. */
void pp_analytic_expose_units(const struct pp_stage_units *u, struct pp_costs *costs);
/* Fills gathers, scatters and sums of sharded state. Those of the program get their costs; the
 * exposed part of those inside an op is added to the passes of its stage. `sums`: [stage]. */
void pp_analytic_fill_gathers(struct pp_arena *arena, const struct pp_cost_inputs *in,
                              const struct pp_sum_links *sums, struct pp_costs *costs);

/* ---- explain_step.c: --explain --------------------------------------------------------------- */

/* Text of a quantity; lives until the end of the block. Needs core/units.h. */
#define PP_TEXT(value, unit) pp_units_print((value), (unit), (char[PP_UNITS_TEXT_BYTES]){0})
#define PP_TIME(value)       PP_TEXT(value, PP_UNIT_SECONDS)

/* Prints the formulas of sums and updates. `sums`: [stage]. */
void pp_analytic_explain_formulas(const struct pp_cost_inputs *in, const struct pp_sum_links *sums,
                                  FILE *out);
/* Prints the collectives and the update of a stage; their terms add up to the table of costs. */
void pp_analytic_explain_update(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                int stage, const struct pp_sum_links *sum, FILE *out);
/* Prints the link of the fabric that limits sums to the rate of `link`; nothing without one. */
void pp_analytic_explain_limit(const struct pp_cost_inputs *in, struct pp_link link,
                               struct pp_sum_limit limit, const char *where, FILE *out);

/* ---- links.c --------------------------------------------------------------------------------- */

/* Returns the figures on which links of messages depend, apart from the fabric. */
struct pp_fabric_key pp_analytic_links_key(struct pp_arena *arena, const struct pp_cost_inputs *in);
/* Adds to each op the messages for which the framework waits. Needs the links. */
void pp_analytic_add_exchanges(const struct pp_cost_inputs *in, struct pp_costs *costs);

/* ---- values.c: values that a block saves ----------------------------------------------------- */

/* Widths of a block's vectors. */
struct pp_saved_sizes {
    double tokens;      /* of one whole micro-batch on one device */
    double value_bytes; /* of one value, unless its class has fewer */
    double most_bytes;  /* of a saved value, whatever its class; INFINITY = as computed */
    double share;       /* share of tensors between the matrices that this device holds */
    double tp;
    double h, q, kv, out, ffn; /* widths: queries, keys/values on average, output of attention */
    double latent;             /* narrow vectors of latent attention, before their norms */
    double normed;             /* narrow vectors of latent attention, after their norms */
    double routed;             /* copies of hidden vectors that experts process */
    double fused;              /* part of ffn after an activation that is no kernel of its own */
    int fan;                   /* matrices that feed the activation function */
    bool has_shared;           /* experts that all tokens pass */
};
struct pp_saved_sizes pp_analytic_sizes(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
/* Returns the sizes if no saved value has more than `most_bytes`. */
struct pp_saved_sizes pp_analytic_narrowed(struct pp_saved_sizes sizes, double most_bytes);
/* Returns the bytes of a value of a class. Copies are kept in fp8 or not at all. */
double pp_analytic_width(const struct pp_cost_inputs *in, const struct pp_saved_sizes *sizes,
                         enum pp_saved class);
/* Returns the bytes of so many values per token in the training precision. `whole` lie between the
 * matrices, `cut` between a column- and a row-parallel matrix. */
double pp_analytic_bytes(const struct pp_saved_sizes *sizes, double whole, double cut);
/* Returns the bytes of a saved value that a norm reads. */
double pp_analytic_norm_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *sizes);
/* Returns the bytes that a block saves without scores of attention, less those of `again`, a set of
 * modules that are computed again. Korthikanti et al. 2022, section 4.1: 34 for GPT, 10 of them
 * whole. */
double pp_analytic_values_bytes(const struct pp_cost_inputs *in, const struct pp_saved_sizes *sizes,
                                unsigned again);
/* Returns the bytes that a weight gradient needs: inputs of the matrices and gradients of their
 * outputs (Qi et al. 2024, table 1: 32 of 34 s b h). */
double pp_analytic_until_weights_bytes(const struct pp_cost_inputs *in,
                                       const struct pp_saved_sizes *sizes);
/* Returns those of them that a block has saved: the inputs of the matrices. */
double pp_analytic_inputs_bytes(const struct pp_cost_inputs *in,
                                const struct pp_saved_sizes *sizes);
/* Return the scores that unfused attention of a block stores, and the bytes that it saves of them;
 * 0 with fused attention. */
double pp_analytic_scores(const struct pp_cost_inputs *in, const struct pp_saved_sizes *sizes);
double pp_analytic_scores_bytes(const struct pp_cost_inputs *in,
                                const struct pp_saved_sizes *sizes);
/* Sets the bytes of each saved tensor of scores, without masks. */
enum { PP_SCORE_TENSORS = 3 };
void pp_analytic_score_tensors(const struct pp_cost_inputs *in, const struct pp_saved_sizes *sizes,
                               double bytes[PP_SCORE_TENSORS]);
/* Is true if selective recomputation chooses op by op, as PyTorch does (framework's
 * is_selective_per_op). Otherwise it repeats the modules of pp_analytic_again. */
bool pp_analytic_is_per_op(const struct pp_cost_inputs *in);
unsigned pp_analytic_again(const struct pp_cost_inputs *in);
/* Prints the bytes of each class that a block saves, for --explain. They add up to
 * pp_analytic_saved_bytes(). */
void pp_analytic_explain_classes(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                                 FILE *out);

/* ---- saved.c: embedding, head, multi-token prediction ---------------------------------------- */

/* Returns the bytes that a layer saves for its backward, one micro-batch, one device; the second
 * one if no value has more than `most_bytes`. */
double pp_analytic_saved_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
double pp_analytic_layer_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                               double most_bytes);
/* Returns the bytes that both ends of the model save on a stage, its message included if that is
 * kept. */
double pp_analytic_ends_bytes(const struct pp_cost_inputs *in, int stage, double most_bytes);
/* Returns those of the head until its weight gradient. The logits' gradient has all its bits. */
double pp_analytic_head_until_bytes(const struct pp_cost_inputs *in, int stage, double most_bytes);
/* Returns the bytes of the logits' copies at the peak of the loss, without the saved one. */
double pp_analytic_loss_bytes(const struct pp_cost_inputs *in, int stage);

/* ---- saved.c: stages ------------------------------------------------------------------------- */

/* Returns the bytes that a block keeps until its recomputation; without one, all that it saves. */
double pp_analytic_kept_bytes(const struct pp_cost_inputs *in, enum pp_layer_kind kind);
double pp_analytic_kept_of(const struct pp_cost_inputs *in, const struct pp_saved_sizes *sizes);
/* Bytes that a stage saves for its backward if no value has more than so many. */
struct pp_saved_stage {
    double checkpoint, saved, whole; /* as in pp_stage_memory */
    double again;         /* of all blocks that are computed again, what they did not keep */
    double inputs;        /* of the blocks' matrices */
    double until_weights; /* from I to W */
};
struct pp_saved_stage pp_analytic_saved_stage(const struct pp_cost_inputs *in,
                                              double recompute_frac, int stage, double most_bytes);
/* Bytes of saved tensors in full, in addition to few bits, while the halves of a block run: the two
 * widest. */
struct pp_in_full {
    double attention, mlp;
};
/* The same for the ops of a stage. */
enum { PP_BLOCK_KINDS = 2 }; /* dense, mixture of experts */
struct pp_stage_full {
    double ends;                              /* while head or embedding run */
    double forward, again;                    /* in F, in R */
    struct pp_in_full blocks[PP_BLOCK_KINDS]; /* in B and I */
    double saved, until;                      /* at most in B, in I */
    double weights;                           /* in W */
};
/* Returns the share of moved activations that moves inside of ops, block by block; 0 = none. */
double pp_analytic_inner_frac(const struct pp_cost_inputs *in, int stage);
void pp_analytic_fill_saved(const struct pp_cost_inputs *in, int stage,
                            const struct pp_saved_stage *saved, const struct pp_stage_full *full,
                            struct pp_stage_memory *memory);

/* ---- bits.c: saved values in few bits -------------------------------------------------------- */

/* Quantised values share a scale and a minimum of 2 bytes each in groups. */
enum { PP_QUANTISED_GROUP = 128 };
/* Returns the bytes of a quantised value, with its part of scale and minimum. */
double pp_analytic_most_bytes(const struct pp_cost_inputs *in);
/* Is true if ops quantise what they save, and not instructions of their own. */
bool pp_analytic_has_bits(const struct pp_cost_inputs *in);
/* Sets the bytes that a stage saves for its backward, and those that one op needs. */
void pp_analytic_saved(const struct pp_cost_inputs *in, double recompute_frac, int stage,
                       struct pp_stage_memory *memory);
/* Kernels of a stage that quantise what F and R save, and restore what I and W read. */
struct pp_bits_work {
    struct pp_layer_sum forward, again, input, weights;
};
struct pp_bits_work pp_analytic_bits_work(const struct pp_cost_inputs *in, double recompute_frac,
                                          int stage);

/* Prints bits, bytes and shares of time for --explain. */
void pp_analytic_explain_bits(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                              FILE *out);

/* ---- roofline.c: memory of an update --------------------------------------------------------- */

void pp_analytic_saved(const struct pp_cost_inputs *in, double recompute_frac, int stage,
                       struct pp_stage_memory *memory);

/* ---- host.c: copies between memory tiers ----------------------------------------------------
 */

/* Returns bytes per second of a movement of one device, if all devices of its node copy. */
double pp_analytic_move_rate(const struct pp_cost_inputs *in, enum pp_purpose purpose);

/* ---- host.c: updates by the processors of a node --------------------------------------------- */

/* Returns the memory traffic of an update of all parameters of a device. */
double pp_analytic_update_bytes(const struct pp_cost_inputs *in, int stage);
/* Returns the parameters of one device that the host updates; those of them that live there. */
double pp_analytic_host_params(const struct pp_cost_inputs *in, int stage);
double pp_analytic_kept_params(const struct pp_cost_inputs *in, int stage);
/* Returns the parameters that the host updates and whose gradients go down for it, not before. */
double pp_analytic_waiting_params(const struct pp_cost_inputs *in, int stage);
/* Returns the share of parameters that live elsewhere and go there once the device has updated
 * them. */
double pp_analytic_leaving_frac(const struct pp_cost_inputs *in);
/* Returns the seconds of an update on the host. State and parameters beyond the host pass through
 * its memory concurrently with the update, down and up at once. */
double pp_analytic_host_update_s(const struct pp_cost_inputs *in, int stage);
/* Fills MOVE.grads, MOVE.update, MOVE.params, and U. */
void pp_analytic_fill_host_update(const struct pp_cost_inputs *in, int stage,
                                  struct pp_costs *costs);
/* Continues the line of the optimizer state for --explain. */
void pp_analytic_explain_host_update(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                     FILE *out);

/* Gradients that live on another tier. */

/* Is true if gradients of a stage are summed over its copies when a step ends. They then leave as
 * one unit. */
bool pp_analytic_is_summed(const struct pp_cost_inputs *in, int stage);
/* Returns the bytes of gradients of a stage that leave one device in a visit of all units. */
double pp_analytic_left_bytes(const struct pp_cost_inputs *in, int stage);
/* Returns bytes per second of MOVE.part, and its cost. */
double pp_analytic_part_rate(const struct pp_cost_inputs *in);
struct pp_cost pp_analytic_left_cost(const struct pp_cost_inputs *in, double bytes);
/* Removes them from the device's memory; its buffers stay. */
void pp_analytic_grads_memory(const struct pp_cost_inputs *in, int stage,
                              struct pp_stage_memory *memory);
void pp_analytic_explain_grads(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                               FILE *out);

/* ---- tiers.c: memory tiers ------------------------------------------------------------------- */

/* Refuses --grads-in-params where parameters have no fp32 copy, or gradients are wider. */
enum pp_status pp_analytic_check_in_place(const struct pp_cost_inputs *in, struct pp_error *err);
/* Removes state on other tiers from the device's memory; its buffers stay. */
void pp_analytic_tier_memory(const struct pp_cost_inputs *in, int stage,
                             struct pp_stage_memory *memory);
/* Fills COPY, MOVE, Q, DQ, and U of state on other tiers. Needs all other costs and memory. */
void pp_analytic_fill_tiers(struct pp_arena *arena, const struct pp_cost_inputs *in,
                            struct pp_costs *costs);
/* Prints the tiers for --explain; nothing if all is on the device. */
void pp_analytic_explain_tiers(const struct pp_cost_inputs *in, const struct pp_costs *costs,
                               FILE *out);
