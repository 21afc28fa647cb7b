/* sim/config/config.h — a run, resolved from flags, presets, defaults and the quick planner. */
#pragma once

#include "core/cli/options.h"
#include "core/cluster/cluster.h"
#include "core/cluster/layout.h"
#include "core/cost/analytic/roofline.h"
#include "core/cost/cost.h"
#include "core/model/generation.h"
#include "core/model/model.h"
#include "schedules/build/build.h"
#include "schedules/memory/memory.h"
#include "schedules/program/program.h"
#include "sim/engine/engine.h"
#include "traces/metrics.h"

/* Values that the tool chose; reports mark them with a '*'. */
enum pp_chosen {
    PP_CHOSE_MODEL = 1 << 0,
    PP_CHOSE_CLUSTER = 1 << 1,
    PP_CHOSE_TP = 1 << 2,
    PP_CHOSE_PP = 1 << 3,
    PP_CHOSE_DP = 1 << 4,
    PP_CHOSE_MBS = 1 << 5,
    PP_CHOSE_GBS = 1 << 6,
    PP_CHOSE_MICRO_BATCHES = 1 << 7,
    PP_CHOSE_SEQ = 1 << 8,
    PP_CHOSE_VP = 1 << 9,
    PP_CHOSE_ZERO = 1 << 10,
    PP_CHOSE_RECOMPUTE = 1 << 11,
    PP_CHOSE_SPLITS = 1 << 13,
    PP_CHOSE_GPUS = 1 << 14,
    PP_CHOSE_CP = 1 << 15,
    PP_CHOSE_EP = 1 << 16,
    PP_CHOSE_STEPS = 1 << 17,
    PP_CHOSE_TOKENS = 1 << 18,
    PP_CHOSE_OPTION = 1 << 20, /* << k: option k of the schedule; PP_CHOSE_OPTIONS: any */
    PP_CHOSE_OPTIONS = PP_CHOSE_OPTION * ((1 << PP_SHAPE_OPTIONS) - 1),
};

/* Outcome of a configuration, such as refused or too large. Planners keep one for each choice. */
enum { PP_OUTCOME_REASON_BYTES = 192 };
struct pp_outcome {
    bool is_refused, fits;
    bool is_tight;    /* it fits, but leaves less memory than the margin */
    bool is_strained; /* it fits only if the allocator returns blocks: memory.h */
    double step_s, s_per_sample, exposed_frac, mfu, tokens_per_s_per_gpu; /* 0: not simulated */
    double state_bytes, peak_bytes;                                       /* of the fullest rank */
    char reason[PP_OUTCOME_REASON_BYTES]; /* why it is refused, perhaps cut off */
};

/* Outcome of an order that `auto` tried at the run's costs. */
enum { PP_TRIALS = 4 };
struct pp_trial {
    const char *value; /* value of the option: "doubling" */
    struct pp_outcome outcome;
    int zero; /* ZeRO stage with which it fits, if the tool may choose it; -1 = no ZeRO stage */
    enum pp_recompute recompute;
    unsigned again;
};
struct pp_trials {
    const char *option, *chosen; /* "concat", "doubling" */
    int count;
    struct pp_trial list[PP_TRIALS];
};

/* Number of buckets of each gradient sum. */
struct pp_bucket_rule {
    int count;            /* --buckets; 0 = not given; the most buckets if a size is given */
    double bytes;         /* --bucket-size, or the framework's; 0 = not given */
    double replica_bytes; /* least size of a bucket, for each replica */
    const char *size;     /* as typed */
};

struct pp_price {
    double per_gpu_hour; /* in any currency; 0 = not given */
    char sign[8];        /* of the currency as typed: "$", "" */
};

struct pp_input;
/* Origin of a configuration. */
struct pp_config_origin {
    unsigned chosen;                /* enum pp_chosen */
    const struct pp_preset *preset; /* of --preset; NULL = none */
    const struct pp_trials *trials; /* NULL: no option was left to `auto` */
    struct pp_input *inputs;        /* options given, sim/config/inputs.h */
    int input_count;
    const char **notes; /* flags without effect in the layout that the tool chose */
    int note_count, note_capacity;
    struct pp_price price;    /* --price */
    int share_place;          /* of the shares that the run found, sim/config/auto_share.h */
    double share_short_bytes; /* that the device lacks at the place before */
};

struct pp_cost_file;
struct pp_fitted;
struct pp_platform;
struct pp_prepared;
struct pp_oom;
struct pp_levels;
struct pp_inference;

struct pp_config {
    /* what to run */
    const struct pp_schedule *schedule; /* NULL for a program file */
    const struct pp_program *file_program;
    const char *schedule_name; /* registry name or path */
    struct pp_order_choice order;
    struct pp_shape shape;
    bool is_unit;
    struct pp_unit_costs unit;
    /* With passes the run generates: chunks of the shape are passes, micro-batches are groups, and
     * granules are pieces of their prompts. A micro-batch has layout.mbs sequences. */
    struct pp_generation generation;
    const struct pp_cost_file *cost; /* --cost: measured durations; NULL = none */
    const struct pp_fitted *fitted;  /* --constants, in `cluster` and `costs.framework`; or NULL */

    /* model, machines, and how the model is cut */
    struct pp_model model;
    struct pp_cluster cluster;
    double memory_margin_frac;    /* share of a device's memory that a layout should leave free */
    struct pp_platform *platform; /* of --cluster FILE.xml; else NULL */
    struct pp_layout layout;
    struct pp_map_order map;
    int *blocks_per_stage;
    int first_stage_layers, last_stage_layers;

    /* The software that runs it; NULL: any. Choices of the tool stay inside of what it runs. */
    const struct pp_tool *tool;

    /* state */
    int wanted_zero;             /* --zero; -1 = --shard sets `wanted` */
    struct pp_state_spec wanted; /* --shard, --gather, --offload as typed */
    struct pp_state_spec state;  /* `wanted` for the current layout */

    /* Further inputs of costs. pp_config_costs() fills the members that follow from the above. The
     * fabric is for layout.gpus devices, and NULL in unit mode. */
    struct pp_cost_inputs costs;
    enum pp_flops_rule flops;

    /* lowering */
    struct pp_build_wishes lower;
    struct pp_bucket_rule buckets;

    /* engine */
    struct pp_engine_options engine_options;
    const struct pp_engine *engine;
    bool no_fold;
    const char **slow;
    int slow_count;
    const char **link_bw; /* every --link-bw as typed */
    int link_bw_count;

    /* No simulation reads it: a result is reused if only this differs (sim/run/prepare.h). */
    struct pp_config_origin origin;
};

/* Stages of the model: those of the program, each of which is there once a pass in generation. */
int pp_config_stages(const struct pp_config *config);
/* Samples over which the time of a step is compared with that of other layouts; 1 in unit mode. In
 * generation they are those of one replica, as others do not shorten the wait for a sequence. */
double pp_config_compared(const struct pp_config *config);
/* Most times that --jitter can make a compute op faster; INFINITY: any number of times. */
double pp_config_hurry(const struct pp_config *config);
/* Ranks of all stages, [pipeline * stages + stage]. */
const uint16_t *pp_config_ranks(struct pp_arena *arena, const struct pp_config *config);
/* Layout of unit mode: one device a rank, one replica, a sample a micro-batch. */
struct pp_layout pp_config_unit_layout(const struct pp_shape *shape);
/* Inputs of the costs of ops, with ranks placed by `rank_of`. Points into `config`. */
struct pp_cost_inputs pp_config_costs(const struct pp_config *config, const uint16_t *rank_of);

/* Number of devices that hold the same parameters and sum their gradients. Ring attention divides
 * the tokens of a sample, so the devices of a context-parallel group are copies, too. */
static inline int64_t pp_config_copies(const struct pp_config *config)
{
    return (int64_t)config->layout.dp * config->layout.cp * config->shape.pipelines;
}

/* Is true if gradients are summed at the end of a step: some copies hold the same shard. */
static inline bool pp_config_is_summed(const struct pp_config *config)
{
    return pp_config_copies(config) > pp_state_cut(&config->state, PP_STATE_PARAMS);
}

/* Is false where no figure of a device is known: in unit mode, and for --cost alone. */
static inline bool pp_config_has_device(const struct pp_config *config)
{
    return !config->is_unit && !(config->cost && config->origin.chosen & PP_CHOSE_CLUSTER);
}

/* Memory of a device that may be filled (--usable), and that a layout should use, as predicted
 * peaks are not exact. */
static inline double pp_config_capacity_bytes(const struct pp_config *config)
{
    return config->cluster.device.memory_bytes * pp_state_usable(&config->wanted, PP_TIER_DEVICE);
}
static inline double pp_config_room_bytes(const struct pp_config *config)
{
    return pp_config_capacity_bytes(config) * (1 - config->memory_margin_frac);
}

/* Is true if both compute the same again; stage-aware shares are not compared. */
static inline bool pp_config_is_same_recompute(const struct pp_config *a, const struct pp_config *b)
{
    return a->costs.recompute == b->costs.recompute && a->costs.again == b->costs.again;
}

/* All results of one run. */
struct pp_result {
    struct pp_config config;
    struct pp_program *program; /* lowered */
    struct pp_costs *costs;
    struct pp_cost_inputs cost_inputs;
    const int64_t *compute_ps; /* jitter of an order that follows it (pp_perturbation); or NULL */
    struct pp_times *times;    /* NULL where only the makespan was found */
    struct pp_trace *trace;
    struct pp_metrics metrics;
    struct pp_rank_memory *memory; /* [rank] */
    int peak_rank;
    double model_flops_per_step, hardware_flops_per_step; /* of all GPUs; 0 in unit mode */
    double mfu, hfu, tokens_per_s, tokens_per_s_per_gpu, model_flops_per_s_per_gpu;
    bool fits;                      /* no memory is exceeded; not set in unit mode */
    bool is_tight;                  /* it fits, but the peak exceeds pp_config_room_bytes() */
    const struct pp_oom *oom;       /* sim/fit/fit.h; NULL: the run fits, or no advice is needed */
    const struct pp_levels *levels; /* sim/fit/fit.h; NULL: recomputation was given, or is none */
    int replicas_simulated;         /* 1 if folded */
    const char *fold_note;
    const struct pp_inference *inference;  /* sim/inference/inference.h; NULL in training */
    const struct pp_seeds *seeds;          /* NULL without --seeds */
    struct pp_network_stats network_stats; /* all 0 for an engine that shares no links */
    double wall_s;                         /* of the whole command; only for the metadata */
    enum pp_status status;                 /* of this run, if there are several */
    struct pp_prepared
        *prepared;       /* for a deeper simulation of the run (sim/run/prepare.h), or NULL */
    const char *refusal; /* reason, if status is not PP_OK */
};

/* Outcome of a simulation of any depth; in unit mode everything fits. */
struct pp_outcome pp_outcome_of(const struct pp_result *result);
struct pp_outcome pp_outcome_refused(const struct pp_error *err);

/* Is true if `x` is better than `best`. The first rule that differs decides: not refused, fits, not
 * tight, shorter step (beyond rounding), or less memory if both do not fit. */
bool pp_outcome_is_better(const struct pp_outcome *x, const struct pp_outcome *best);
