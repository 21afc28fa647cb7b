/* core/cost/inputs.h — inputs of analytic costs: model, cluster, layout, state, overlap. */
#pragma once

#include "core/cluster/cluster.h"
#include "core/cluster/fabric.h"
#include "core/cluster/layout.h"
#include "core/cluster/map.h"
#include "core/cost/collective.h"
#include "core/cost/framework.h"
#include "core/cost/recompute.h"
#include "core/cost/state.h"
#include "core/model/generation.h"
#include "core/model/model.h"

/* Place and price of embedding and head. The last three have an equal part of both in every stage;
 * the others put them in the first and the last stage.
 *   LAST            on top of an even share of blocks
 *   BALANCED        blocks are divided by time, with the times of both
 *   COUNTED         both count as a block each when blocks are divided
 *   IGNORED         as LAST without compute time (formulas of bubbles); memory and gradients stay
 *   PARALLEL        vocabulary parallelism; ranks meet once for the loss of a micro-batch
 *   PARALLEL_TWICE  ... twice
 *   INTERLACED      all ranks work on the parts at the same time, between other ops */
enum pp_head {
    PP_HEAD_LAST,
    PP_HEAD_BALANCED,
    PP_HEAD_COUNTED,
    PP_HEAD_IGNORED,
    PP_HEAD_PARALLEL,
    PP_HEAD_PARALLEL_TWICE,
    PP_HEAD_INTERLACED
};
extern const char *const pp_head_names[];
/* Is true if every stage has an equal part of embedding and head. */
bool pp_head_is_shared(enum pp_head head);
/* Returns the micro-batches that a shared head adds to those in flight on each of `ranks` ranks
 * (Yeung et al. 2024, section 5: one for each time that ranks meet; section 6.1: the interlaced
 * pipeline holds 1.5 times the activations). */
int pp_head_flights(enum pp_head head, int ranks);

/* The most pipeline ranks with costs: tables of their pairs grow with the square. */
enum { PP_COST_RANKS_MAX = 8192 };

struct pp_cost_inputs {
    const struct pp_model *model;
    const struct pp_cluster *cluster;
    struct pp_layout layout;
    int stages, pipelines, splits, granules;
    const uint16_t *rank_of;     /* [pipeline * stages + stage] */
    const int *blocks_per_stage; /* [stage]; embedding is in stage 0, head in the last */
    enum pp_head head;
    enum pp_recompute recompute;
    unsigned again;             /* PP_RECOMPUTE_SELECTIVE: set of enum pp_again */
    double first_stage_ratio;   /* PP_RECOMPUTE_STAGE: rho_1 (Merak's rule, docs/numbers.md) */
    struct pp_state_spec state; /* shards and homes of parameters, gradients, optimizer state */
    const struct pp_framework *framework;
    bool has_bits_apart; /* the program has instructions that quantise saved values: ops do not */
    bool is_tp_only; /* no sequence parallelism: activations between the matrices are whole on every
                      * device of a tensor-parallel group, which all-reduces instead */
    double ep_overlap_frac; /* share of expert exchanges that overlaps with other compute */
    double ep_share_frac;   /* share of the multiprocessors that overlapping exchanges keep */
    bool is_sent_once; /* a token goes once to each node that has some of its experts, and is spread
                          there. Otherwise each of its copies is sent by itself */
    double capacity_factor;  /* tokens that an expert computes per token sent to it; 0 = 1 */
    bool is_dp_overlapped;   /* gradients are summed during the backward; if the framework does so,
                              * updated parameters are gathered during the next forward */
    bool is_sum_share_given; /* the engine slows compute while sums run, so costs do not */
    double tp_overlap_frac; /* share of tensor-parallel communication that overlaps with matrices */
    int tp_split; /* parts by rows of a block's work, whose exchanges run during the products of the
                   * next part; 0 or 1 = whole */
    bool is_graph;                     /* a graph launches all kernels of a pass */
    double intra_factor, inter_factor; /* --link-bw, 1 = as given */
    const struct pp_fabric *fabric;    /* NULL: intra and inter link of the cluster only */
    struct pp_map map;
    enum pp_algorithm algorithm;            /* of collectives */
    const struct pp_generation *generation; /* NULL: the run trains */
};
