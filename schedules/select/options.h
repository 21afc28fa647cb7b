/* schedules/select/options.h — rows of options that choose and shape a schedule, for the option
 * table of every program with such options. `heading`, `mask` and the texts of usual values (NULL =
 * none) are the program's. select.c reads them. Include only where an option table is. */
#pragma once

#include "core/cli/wish.h"

/* Gives the command line its options: the program's rows, each followed by the schedule options
 * that help lists after it. Call it before main(). */
void pp_select_complete(struct pp_cli *cli, const struct pp_option *rows, int count);
/* Pages of "help TOPIC", alphabetical; a name of NULL ends the list. */
extern const struct pp_topic pp_topics[];

#define PP_SCHEDULE_ALIASES                                                                        \
    PP_NAMES("parallelism.pipeline_parallel_schedule",                                             \
             "parallelism.pipeline_parallel_schedule_csv", "pipeline-parallel-schedule",           \
             "pipeline-parallel-schedule-csv")

#define PP_OPTIONS_MICRO_BATCHES(heading, mask, usual)                                             \
    PP_ROW_INT(micro_batches, "N", 1, PP_OPTION_BIG, heading, mask, .is_common = true,             \
               .aliases = PP_NAMES("num-microbatches"), .default_text = (usual),                   \
               .help = "Micro-batches per step of one replica. Its pipelines share them.")

/* Options of single schedules are declared in the schedules' files (pp_select_complete). */
#define PP_OPTIONS_SHAPE(heading, mask)                                                            \
    PP_ROW_INT(pipelines, "2f", 1, 65535, heading, mask, .default_text = "2",                      \
               .help = "Number of pipelines of a bidirectional schedule (chimera).")               \
    PP_ROW_INT(splits, "Q", 1, 255, heading, mask,                                                 \
               .default_text = "1; 2 for seq1f1b and seq1f1b-i",                                   \
               .help = "Sequence splits of each micro-batch.")                                     \
    PP_ROW_TEXT(order, "HOW", heading, mask, .default_text = "strict",                             \
                .help =                                                                            \
                    "strict: a rank runs its list in order. eager[:LIMIT]: it runs the first op "  \
                    "of its list that is ready, with at most LIMIT chunk activations in flight. "  \
                    "dynamic[:LIMIT]: likewise, with the durations of this very run. "             \
                    "arrival[:LIMIT]: it runs what arrived first, with at most LIMIT "             \
                    "micro-batches in the pipeline, usually as many as ranks. A LIMIT of 2x is "   \
                    "twice what the strict order holds. The order is computed once and then "      \
                    "fixed. pipeexec runs strict and eager.")

#define PP_OPTIONS_DIALECT(heading, mask)                                                          \
    PP_ROW_CHOICE(                                                                                 \
        dialect, "YEAR", "2025|2024", heading, mask, .default_text = "2025",                       \
        .help = "Letters of a program file. 2024 writes B for the input gradient and BW for "      \
                "the full backward.")

#define PP_OPTIONS_DP(heading, mask)                                                               \
    PP_ROW_INT(dp, "W", 1, PP_OPTION_BIG, heading, mask,                                           \
               .aliases =                                                                          \
                   PP_NAMES("data-parallel-size", "parallelism.data_parallel_replicate_degree"),   \
               .help = "Data-parallel replicas.")

#define PP_OPTIONS_VP(heading, mask)                                                               \
    PP_ROW_INT(vp, "V", 1, 4096, heading, mask,                                                    \
               .aliases = PP_NAMES("num-virtual-stages-per-pipeline-rank",                         \
                                   "virtual-pipeline-model-parallel-size"),                        \
               .default_text = "2 if the schedule has chunks",                                     \
               .help = "Model chunks per pipeline rank.")

#define PP_OPTIONS_MBS(heading, mask, usual_mbs)                                                   \
    PP_ROW_INT(mbs, "B", 1, PP_OPTION_BIG, heading, mask,                                          \
               .aliases =                                                                          \
                   PP_NAMES("micro-batch-size", "parallelism.pipeline_parallel_microbatch_size"),  \
               .default_text = (usual_mbs), .help = "Samples per micro-batch.")

#define PP_OPTIONS_GBS(heading, mask)                                                              \
    PP_ROW_LONG(gbs, "N", 1, (int64_t)1 << 40, heading, mask,                                      \
                .aliases = PP_NAMES("global-batch-size", "training.global_batch_size"),            \
                .help = "Samples per step: dp * mbs * micro-batches.")

#define PP_OPTIONS_SEQ(heading, mask)                                                              \
    PP_ROW_INT(seq, "TOKENS", 1, 1 << 24, heading, mask,                                           \
               .aliases = PP_NAMES("seq-length", "training.seq_len"),                              \
               .help = "Tokens per sample.")

#define PP_OPTIONS_GRAD_SYNC(heading, mask)                                                        \
    PP_ROW_CHOICE(                                                                                 \
        grad_sync, "RULE", "end|eager|eager-opt", heading, mask, .default_text = "end",            \
        .neutral = "end",                                                                          \
        .help = "When a stage's gradient reduction is launched. end: after all local "             \
                "compute. eager: right after the stage's last backward. eager-opt: there if "      \
                "idle time follows, else at the end.")

#define PP_OPTIONS_RECEIVES(heading, mask)                                                         \
    PP_ROW_CHOICE(                                                                                 \
        post, "POLICY", "early|jit|batched|sender", heading, mask, .default_text = "early",        \
        .neutral = "early",                                                                        \
        .help =                                                                                    \
            "When receives are posted. early: as soon as a slot is free. jit: just before use. "   \
            "batched: in batches between compute ops. sender: where the sender sends.")            \
    PP_ROW_INT(recv_slots, "R", 1, PP_OPTION_BIG, heading, mask, .default_text = "2",              \
               .help = "Receive slots (buffers) per channel.")
