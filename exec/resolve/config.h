/* exec/resolve/config.h — a run of pipeexec as resolved from flags and defaults. */
#pragma once

#include "core/cost/recompute.h"
#include "exec/hub/weights.h"
#include "exec/program/layers.h"
#include "exec/resolve/wish.h"
#include "exec/tiers/tiers.h"
#include "exec/train/train.h"
#include "exec/worker/transport.h"
#include "schedules/select/select.h"

enum { PP_EXEC_USUAL_RANKS = 4 };

/* Settings of all programs of a run: the one that is trained, and the one of --calibrate-on. */
struct pp_exec_config {
    struct pp_model model;
    struct pp_net net;
    const char *weights; /* folder of the initial ones; NULL = they are drawn */
    struct pp_hub_layout layout;
    struct pp_weights_source source; /* of `layout`, for `recipe` */
    struct pp_text text, valid;      /* valid: of --valid-data, or unset */
    struct pp_recipe recipe;
    struct pp_exec_wires wires;
    struct pp_tier_options tiers;
    const struct pp_kernels *kernels;
    const struct pp_backend *backend;
    const struct pp_cuda_module *cuda; /* module of the backend; NULL = it needs none */
    const struct pp_nccl_calls *nccl;  /* of `cuda`; NULL without it */
    const struct pp_ipc_calls *ipc;    /* of `cuda`; NULL without it */
    const struct pp_transport *transport;
    bool may_choose_transport; /* among those between GPUs */
    char gpu_note[256];        /* who has which of several visible GPUs; "": nothing to say */
    const char *precision;
    const char *cluster;      /* --cluster, for pipesim alone; NULL = not given */
    enum pp_device_mode mode; /* --device-mode */
    bool has_weight_stream;   /* --weight-grad-stream on */
    bool uses_graphs;         /* --cuda-graphs */
    enum pp_clock_kind clock;
    double timeout_s;
    struct pp_inject inject;
    struct pp_meeting meeting;
    const char *words;        /* options that all processes share, one a line */
    char doubt[256];          /* warning that a process may run alone, or be disturbed; else "" */
    int cores;                /* 0 = those of the machine */
    int ranks, micro_batches; /* 0 = not given: the usual number, or that of a file */
    int tp;                   /* tensor-parallel degree */
    bool is_sequence_parallel;
    int tp_split; /* parts of its multiplications by rows */
    int ep, etp;  /* devices that hold the experts of a block once: etp share each, and ep groups of
                   * them have different ones; etp = tp without experts */
    int expert_replicas; /* that share the experts of a set, see struct pp_expert_share */
    int replicas, mbs;   /* mbs 0 = follows from gbs */
    int64_t gbs;         /* 0 = not given */
    struct pp_recompute_choice recompute;
    int act_bits;                        /* of saved activations; 0 = in full */
    const struct pp_checkpoint *resumed; /* NULL = training starts at its first step */
    int first_step, steps, warmup;
    bool is_warmup_short; /* fewer than usual, because the run has too few steps */
    unsigned chosen;      /* enum pp_exec_chosen */
};

/* Values that the tool chose; for options of the schedule see selection.chosen. */
enum pp_exec_chosen {
    PP_EXEC_CHOSE_MODEL = 1 << 0,
    PP_EXEC_CHOSE_RANKS = 1 << 1,
    PP_EXEC_CHOSE_MICRO_BATCHES = 1 << 2,
    PP_EXEC_CHOSE_MBS = 1 << 3,
    PP_EXEC_CHOSE_SEQ = 1 << 4,
    PP_EXEC_CHOSE_WARMUP = 1 << 5,
};

/* A schedule on the model of a run: program, stages and costs, in the run's arena. */
struct pp_exec_plan {
    struct pp_subject subject;
    struct pp_selection selection;
    struct pp_program *program;
    int chunks;            /* of a pipeline */
    int *blocks_per_chunk; /* [chunks] */
    int empty_chunks;      /* without a block */
    /* --gather layer: the chunks' layers are the stages of the program. NULL: the chunks are. */
    const struct pp_layers *layers;
    int zero;                       /* ZeRO stage of the program */
    const struct pp_stage **stages; /* [tp][ep][stages] */
    struct pp_batch batch;
    struct pp_costs *costs;
    struct pp_costs *plain_costs; /* without --slow and --link-bw; NULL if neither is given */
    double *slow;                 /* --slow: [rank * replicas + replica], NULL = none */
    struct pp_unit_costs *unit;   /* --unit: given durations of ops; NULL = measured ones */
    unsigned chosen;              /* of the run, and of this schedule: enum pp_exec_chosen */
};

struct pp_exec_run {
    struct pp_exec_config config;
    struct pp_exec_plan plan, other; /* other.program NULL without --calibrate-on */
    struct pp_exec_config measured;  /* of `other` */
    struct pp_training training;     /* of `plan` */
    struct pp_training_result result;
    const char *what_if;                 /* --slow, --link-bw, --unit as typed; NULL = none */
    const char *trace, *predicted_trace; /* files written, NULL = none */
    struct pp_hub_layout saved;          /* layout of --save */
    double wall_s;                       /* of the whole run */
};

/* Resolves all settings that do not depend on a schedule. PP_EFAIL for a backend or transport that
 * this build lacks, and for files that cannot be read. PP_EINVAL for values that contradict each
 * other, and if `resumed` (NULL = none) leaves no step. */
enum pp_status pp_exec_resolve(struct pp_arena *arena, const struct pp_exec_wish *wish,
                               const struct pp_checkpoint *resumed, struct pp_exec_config *config,
                               struct pp_error *err);

/* Resolves the settings of --calibrate-on: `config`, but for --calibrate-tp and --calibrate-ep.
 * PP_EINVAL for degrees that do not divide, and without --calibrate-on. */
enum pp_status pp_exec_measured(const struct pp_exec_wish *wish,
                                const struct pp_exec_config *config,
                                struct pp_exec_config *measured, struct pp_error *err);
/* Is true if layers of one differ from those of the other, so that both are profiled. */
bool pp_exec_is_profiled(const struct pp_exec_config *a, const struct pp_exec_config *b);

/* Resolves anew what --precision and --recompute say; all else is that of `config`. */
enum pp_status pp_exec_revise(const struct pp_exec_wish *wish, const struct pp_exec_config *config,
                              struct pp_exec_config *revised, struct pp_error *err);

/* Prepares --save, after the plan: makes sure that the folder can be made, and that the hub has
 * names for the tensors. PP_EINVAL or PP_EFAIL otherwise. */
enum pp_status pp_exec_save_open(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 struct pp_exec_run *run, struct pp_error *err);
/* Resolves validation for run->training, after its plan. PP_EINVAL for options without
 * --valid-data, and for more steps than it has samples for; else pp_text_load(). */
enum pp_status pp_exec_valid(struct pp_arena *arena, const struct pp_exec_wish *wish,
                             struct pp_exec_run *run, struct pp_error *err);

/* Writes a note if several GPUs are visible, on whether ranks share one; else leaves `text`. */
void pp_exec_device_note(const struct pp_exec_run *run, char *text, size_t bytes);

/* Returns the recomputation for a title: "recomputing layernorm+act"; "" for none. */
const char *pp_exec_recompute_text(struct pp_arena *arena, const struct pp_exec_config *config);

/* Distributes the blocks among the stages as evenly as possible. With fewer blocks than stages,
 * those with the embedding and the head are empty first; the other empty stages are spread. */
enum pp_status pp_exec_blocks(struct pp_arena *arena, int layers, int stages,
                              int **blocks_per_stage, struct pp_error *err);
/* Parses "latency:10us bandwidth:10GBps", each at most once, in any order; a missing one
 * is as usual (NULL = both). Limits, as in a calibration: 10 s, and 1 to 1e18 bytes/s. PP_EINVAL
 * with the expected form. */
enum pp_status pp_wires_parse(const char *text, struct pp_exec_wires *wires, struct pp_error *err);
