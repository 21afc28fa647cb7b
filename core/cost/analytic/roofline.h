/* core/cost/analytic/roofline.h — analytic costs and memory sizes of the stages of a model on a
 * cluster: a roofline per layer, alpha-beta for messages and collectives. */
#pragma once

#include "core/cost/cost.h"
#include "core/cost/inputs.h"
#include "core/cost/layers/layers.h"
#include "core/cost/terms.h"

#include <stdio.h>

/* Returns the parameters of a stage on one device of the tp group, before they are cut. */
double pp_cost_stage_params(const struct pp_cost_inputs *in, int stage);
/* Returns the units in which a stage's parameters are gathered or loaded, and the bytes of its
 * largest one when it is gathered. */
int pp_cost_gather_units(const struct pp_cost_inputs *in, int stage, double *most_bytes);

/* Returns the mesh of the dp * cp * pipelines devices that hold the same parameters. If pipelines
 * lie differently, it is that of the stage with the fewest in a node. Reads layout, map, cluster,
 * pipelines, stages, rank_of. */
struct pp_mesh pp_cost_replicas(const struct pp_cost_inputs *in);

/* Returns how many devices of a rank differ in links: 1 with a NIC each, else all tp * cp. */
int pp_lanes(const struct pp_cluster *cluster, const struct pp_layout *layout);

/* Sets blocks per stage; places all. `first` and `last` are fixed when > 0; the others are as even
 * as possible. Extra blocks go to the inner stages first, as the ends hold embedding and head.
 * PP_EINVAL for fewer blocks than stages that must have one (nearest legal pp in the message). */
enum pp_status pp_partition_blocks(struct pp_arena *arena, int blocks, int stages, int first,
                                   int last, int **blocks_per_stage, struct pp_error *err);
/* Sets blocks per stage by pp_partition_blocks if embedding and head count as a block each: 22
 * blocks fill 24 stages. Sources: Megatron-LM, account_for_embedding_in_pipeline_split and
 * account_for_loss_in_pipeline_split; zero-bubble-pipeline-parallelism's allocation of layers.
 * PP_EINVAL when that leaves a stage empty. */
enum pp_status pp_partition_counted(struct pp_arena *arena, int blocks, int stages,
                                    int **blocks_per_stage, struct pp_error *err);
/* Sets blocks per stage so that the slowest stage, with embedding and head, is as fast as possible.
 * Reads model, cluster, layout, stages and recompute of `in`. The last stage may be left with the
 * head alone. PP_EINVAL for too few blocks. */
enum pp_status pp_partition_balanced(struct pp_arena *arena, const struct pp_cost_inputs *in,
                                     int **blocks_per_stage, struct pp_error *err);
/* Returns the share of each stage's blocks that an R before each backward computes again, [stage].
 * All 0 without; all 1 for full (whole blocks) and selective (the attention of every block). */
double *pp_recompute_fracs(struct pp_arena *arena, const struct pp_cost_inputs *in);

/* A recomputation and its price for one micro-batch in all blocks, on one device. */
struct pp_recompute_level {
    enum pp_recompute recompute;
    unsigned again;    /* PP_RECOMPUTE_SELECTIVE: as in pp_cost_inputs */
    double added_s;    /* time of the recomputation */
    double kept_bytes; /* saved until it */
    double least_frac; /* least share of a block's saved bytes that is kept */
};
enum { PP_RECOMPUTE_LEVELS = 9 };
/* Fills the recomputations worth a trial and returns their number. The first is none, the last
 * full. Between them stand sets of modules that the framework can compute again, if they free
 * bytes in less time than full. Each has one module more, the one that frees bytes at the least
 * time. So the time rises and the bytes fall from one level to the next. Reads model, cluster,
 * layout, framework, splits and overlaps of `in`. */
int pp_recompute_levels(const struct pp_cost_inputs *in,
                        struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS]);

enum pp_status pp_costs_analytic(struct pp_arena *arena, const struct pp_cost_inputs *in,
                                 struct pp_costs **costs, struct pp_error *err);

/* Fills costs->rings: large, and only needed if gradient sums are simulated step by step. */
void pp_costs_rings(struct pp_arena *arena, const struct pp_cost_inputs *in,
                    struct pp_costs *costs);

/* Returns the flops that recomputation adds per sample, by the rule of model flops; HFU has
 * both. */
double pp_recompute_flops_per_sample(const struct pp_cost_inputs *in, enum pp_flops_rule rule);
/* As before, where only a share of the micro-batches of each stage is recomputed, [stage]; NULL =
 * all of them. */
double pp_recompute_flops_in_part(const struct pp_cost_inputs *in, enum pp_flops_rule rule,
                                  const double *run_frac);

/* Prints the terms of --explain, one line per term of a layer, such as
 *   block forward, qkv: ... = 348 us (compute bound)
 * Then come formulas of messages, gradient sums and the optimizer, and values of each run of equal
 * stages. No line is longer than 100 columns. */
void pp_costs_explain(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out);

/* ---- for costs of generation, too ------------------------------------------------------------ */

/* Checks degrees, sizes and blocks; PP_EINVAL names the flag. */
enum pp_status pp_analytic_check(const struct pp_cost_inputs *in, struct pp_error *err);
/* Returns the bytes outside of tensors: the framework's (context, NCCL), or the cluster's value. */
double pp_analytic_other_bytes(const struct pp_cost_inputs *in);

/* Layers of a stage by kind; fractions of the embedding and the head. */
struct pp_stage_layers {
    double count[PP_LAYER_KINDS];
    double windowed[PP_LAYER_KINDS]; /* those of `count` whose queries meet near keys only */
};
struct pp_stage_layers pp_analytic_stage_layers(const struct pp_cost_inputs *in, int stage);
/* Returns the share of the embedding or the head that a stage holds: 0 to 1, over all stages 1. */
double pp_analytic_end_share(const struct pp_cost_inputs *in, enum pp_layer_kind kind, int stage);

/* Returns the work of sequence split `split`; later splits of a causal model see more keys. */
struct pp_layer_work pp_analytic_work(const struct pp_cost_inputs *in, int split);
/* Returns the work of a split in a block whose queries meet near keys only. Kernels that store all
 * scores mask the far ones and save nothing. */
struct pp_layer_work pp_analytic_near_work(const struct pp_cost_inputs *in, int split);

/* Returns the devices along an axis with equal other coordinates, from the first of a node on. */
struct pp_device_group pp_analytic_group(const struct pp_cost_inputs *in, enum pp_axis axis);
double pp_analytic_collective_s(const struct pp_cost_inputs *in, enum pp_op_kind kind,
                                struct pp_device_group group, double bytes);
/* Returns seconds of the exchanges of one layer in one pass over the experts' devices. */
double pp_analytic_ep_s(const struct pp_cost_inputs *in, enum pp_layer_kind kind,
                        struct pp_layer_work work, enum pp_pass pass);
/* Fills the classes of links between pipeline ranks, of stages that follow each other. In a run
 * that generates, the first follows the last. */
void pp_analytic_fill_links(struct pp_arena *arena, const struct pp_cost_inputs *in,
                            struct pp_costs *costs);

/* Returns the devices of a node that share its tiers and processors. */
double pp_analytic_node_devices(const struct pp_cost_inputs *in);

/* Returns the cost of a movement of one device, if all devices of its node copy. */
struct pp_cost pp_analytic_move(const struct pp_cost_inputs *in, enum pp_purpose purpose,
                                double bytes);

/* Value of a unit, with more in the first and in the last. */
struct pp_by_unit {
    double each, first, last;
};
/* Fills what stage v of a run that generates loads from another tier: the unit before the op, and
 * those inside of it. Returns the time that these add to an op with these times by unit. `v` counts
 * stages pass by pass, `stage` those of the model. */
struct pp_cost pp_analytic_fill_loads(struct pp_arena *scratch, const struct pp_cost_inputs *in,
                                      int stage, int v, const struct pp_by_unit *pass_s,
                                      struct pp_costs *costs);
