/* core/cost/analytic/roofline.h — analytic costs and memory sizes of the stages of a model on a
 * cluster: a roofline per layer, alpha-beta for messages and collectives. Simple, honest, labelled
 * analytic.
 */
#ifndef PP_CORE_COST_ANALYTIC_ROOFLINE_H
#define PP_CORE_COST_ANALYTIC_ROOFLINE_H

#include "core/cluster/cluster.h"
#include "core/cluster/fabric.h"
#include "core/cluster/layout.h"
#include "core/cluster/map.h"
#include "core/cost/collective.h"
#include "core/cost/cost.h"
#include "core/cost/framework.h"
#include "core/cost/state.h"
#include "core/model/model.h"

#include <stdio.h>

enum pp_recompute {
    PP_RECOMPUTE_NONE,
    PP_RECOMPUTE_SELECTIVE,
    PP_RECOMPUTE_FULL,
    PP_RECOMPUTE_STAGE
};
extern const char *const pp_recompute_names[];

/* What selective recomputation computes again, as a sum; 0: what the framework does unasked.
 * Megatron-Core's --recompute-modules. */
enum pp_again {
    PP_AGAIN_CORE = 1,   /* attention between its projections */
    PP_AGAIN_NORM = 2,   /* norms in front of attention and MLP */
    PP_AGAIN_ACT = 4,    /* activation functions of MLPs and experts */
    PP_AGAIN_LATENT = 8, /* norms and matrices from narrow to wide of latent attention */
    PP_AGAIN_MLP = 16    /* dense MLPs */
};
extern const struct pp_again_name {
    const char *name; /* as Megatron-Core calls it, but for "act", which is not of experts alone;
                       * the first of a module is printed */
    enum pp_again module;
} pp_again_names[]; /* terminated by NULL */
/* "core_attn+layernorm"; PP_EINVAL with the names that there are. */
enum pp_status pp_again_read(const char *text, unsigned *again, struct pp_error *err);
/* The text of it, first names in their order; "" for 0. */
void pp_again_print(unsigned again, char *text, size_t size);

/* Where embedding and head stand: LAST, in the first and the last stage on top of an even share of
 * blocks; BALANCED, there too, but with their times where blocks are shared out; COUNTED, there
 * too, as a block each when blocks are shared out; IGNORED, as LAST with no compute time, as
 * formulas of bubbles assume (memory and gradients stay); PARALLEL, an equal part of both in every
 * stage (vocabulary parallelism). */
enum pp_head { PP_HEAD_LAST, PP_HEAD_BALANCED, PP_HEAD_COUNTED, PP_HEAD_IGNORED, PP_HEAD_PARALLEL };
extern const char *const pp_head_names[];

struct pp_cost_inputs {
    const struct pp_model *model;
    const struct pp_cluster *cluster;
    struct pp_layout layout;
    int stages, pipelines, splits, granules;
    const uint16_t *rank_of;     /* [pipeline * stages + stage] */
    const int *blocks_per_stage; /* [stage]; embedding is in stage 0, head in the last */
    enum pp_head head;
    enum pp_recompute recompute;
    unsigned again;             /* PP_RECOMPUTE_SELECTIVE: of enum pp_again */
    double first_stage_ratio;   /* PP_RECOMPUTE_STAGE: rho_1 (Merak's rule, docs/numbers.md) */
    struct pp_state_spec state; /* where parameters, gradients, optimizer state live */
    const struct pp_framework *framework;
    bool is_tp_only; /* no sequence parallelism: activations between the matrices are whole on every
                      * device of a tensor-parallel group, which all-reduces instead */
    double ep_overlap_frac; /* share of the exchanges of experts hidden behind other compute */
    bool is_sent_once;      /* a token goes once to each node that has some of its experts, and is
                             * spread there; else each of its copies goes its own way */
    double capacity_factor; /* tokens an expert works on per token it is sent on average; 0 = 1 */
    bool is_dp_overlapped; /* gradients are summed beside the backward, and where the framework does
                            * so updated parameters are gathered beside the next forward */
    double tp_overlap_frac; /* share of tensor-parallel communication hidden behind the matrices */
    double intra_factor, inter_factor; /* --link-bw, 1 = as given */
    const struct pp_fabric *fabric;    /* NULL: intra and inter link of the cluster only */
    struct pp_map map;
    enum pp_algorithm algorithm; /* of collectives */
};

/* Bytes of a gathered parameter and of a summed gradient; parameters of a stage on one device of
 * the tp group, before they are cut. */
struct pp_value_bytes {
    double params, grads;
};
struct pp_value_bytes pp_cost_value_bytes(const struct pp_cost_inputs *in);
double pp_cost_stage_params(const struct pp_cost_inputs *in, int stage);

/* How the devices that hold the same parameters, dp * cp * pipelines of them, stand in nodes; of
 * pipelines that lie differently, of the stage with the fewest in a node. Reads layout, map,
 * cluster, pipelines, stages, rank_of. */
struct pp_mesh pp_cost_replicas(const struct pp_cost_inputs *in);

/* Devices of a program rank that differ in what their messages meet: 1 where each has a NIC of its
 * own, else all tp * cp. */
int pp_lanes(const struct pp_cluster *cluster, const struct pp_layout *layout);

/* Blocks per stage: `first`/`last` fixed when > 0; the rest as even as possible, extra blocks to
 * the inner stages first (the ends hold embedding and head). Every block is placed. PP_EINVAL when
 * there are fewer blocks than stages that must have one (nearest legal pp in the message). */
enum pp_status pp_partition_blocks(struct pp_arena *arena, int blocks, int stages, int first,
                                   int last, int **blocks_per_stage, struct pp_error *err);
/* Blocks per stage where embedding and head count as one each and are shared out with them, as
 * pp_partition_blocks shares (Megatron-LM, account_for_embedding_in_pipeline_split and
 * account_for_loss_in_pipeline_split; zero-bubble-pipeline-parallelism's allocation of layers):
 * 22 blocks fill 24 stages. PP_EINVAL when that leaves a stage empty. */
enum pp_status pp_partition_counted(struct pp_arena *arena, int blocks, int stages,
                                    int **blocks_per_stage, struct pp_error *err);
/* Blocks per stage such that the slowest stage is as fast as any division makes it, embedding and
 * head included: `in` gives model, cluster, layout, stages and recompute. The last stage may be
 * left with the head alone. PP_EINVAL as above. */
enum pp_status pp_partition_balanced(struct pp_arena *arena, const struct pp_cost_inputs *in,
                                     int **blocks_per_stage, struct pp_error *err);
/* Share of a stage's blocks that an R before each backward computes again, [stage]: all 0 without,
 * all 1 for full (whole blocks) and selective (the attention of every block). */
double *pp_recompute_fracs(struct pp_arena *arena, const struct pp_cost_inputs *in);

enum pp_status pp_costs_analytic(struct pp_arena *arena, const struct pp_cost_inputs *in,
                                 struct pp_costs **costs, struct pp_error *err);

/* Fill costs->rings: large, and only needed where gradient sums are really passed on. */
void pp_costs_rings(struct pp_arena *arena, const struct pp_cost_inputs *in,
                    struct pp_costs *costs);

/* Flops that recomputation executes again for one sample, by the counting rule of the model flops:
 * HFU counts both. */
double pp_recompute_flops_per_sample(const struct pp_cost_inputs *in, enum pp_flops_rule rule);

/* For --explain: one line per term of a layer ("block forward, qkv: ... = 348 us (compute bound)"),
 * messages, gradient sums and the optimizer with their formulas, each run of equal stages with its
 * values. No line is longer than 100 columns. */
void pp_costs_explain(const struct pp_cost_inputs *in, const struct pp_costs *costs, FILE *out);

#endif
