/* schedules/select/options.h — options of the command line that choose and shape a schedule:
 * rows that every program with such options has in its table. `heading`, `mask` and the texts of
 * usual values (NULL = none) are the program's. What they mean: select.c. Include inside a
 * translation unit that holds an option table only. */
#ifndef PP_SCHEDULES_SELECT_OPTIONS_H
#define PP_SCHEDULES_SELECT_OPTIONS_H

#include "core/cli/options.h"

/* Copy a program's rows into `all`, each followed by the options of schedules that help lists after
 * it. Returns how many there are then; `capacity` has room for PP_SELECT_OPTIONS_MAX more. */
enum { PP_SELECT_OPTIONS_MAX = 64 };
int pp_select_options(const struct pp_option *rows, int count, struct pp_option *all, int capacity);

/* clang-format off */
#define PP_SCHEDULE_ALIASES PP_NAMES("parallelism.pipeline_parallel_schedule", "parallelism.pipeline_parallel_schedule_csv", \
                                     "pipeline-parallel-schedule", "pipeline-parallel-schedule-csv")

#define PP_OPTIONS_MICRO_BATCHES(heading, mask, usual) \
    {.name = "micro-batches", .is_common = true, .type = PP_OPTION_INT, .argument = "N", .min = 1, .max = PP_OPTION_BIG, .default_text = (usual), .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("num-microbatches"), \
     .help = "Micro-batches of one replica per step. Over all its pipelines together."}

/* The options of single schedules stand in the files of these (pp_select_options). */
#define PP_OPTIONS_SHAPE(heading, mask) \
    {.name = "pipelines", .type = PP_OPTION_INT, .argument = "2f", .min = 1, .max = 65535, .default_text = "2", .group = (heading), .commands = (mask), \
     .help = "Number of pipelines of a bidirectional schedule (chimera)."}, \
    {.name = "splits", .type = PP_OPTION_INT, .argument = "Q", .min = 1, .max = 255, .default_text = "1, or 2 for seq1f1b", .group = (heading), .commands = (mask), \
     .help = "Sequence splits of each micro-batch."}, \
    {.name = "order", .type = PP_OPTION_STRING, .argument = "HOW", .default_text = "strict", .group = (heading), .commands = (mask), \
     .help = "strict: a rank runs its list as it stands. eager[:LIMIT]: it runs the first op of its list that is ready, with at most LIMIT chunk activations in flight; the order is found once and then fixed."}

#define PP_OPTIONS_DIALECT(heading, mask) \
    {.name = "dialect", .type = PP_OPTION_CHOICE, .choices = "2025|2024", .argument = "YEAR", .default_text = "2025", .group = (heading), .commands = (mask), \
     .help = "Letters of a program file: 2024 has B for the input gradient and BW for the full backward."}

#define PP_OPTIONS_DP(heading, mask) \
    {.name = "dp", .type = PP_OPTION_INT, .argument = "W", .min = 1, .max = PP_OPTION_BIG, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("data-parallel-size", "parallelism.data_parallel_replicate_degree"), .help = "Data-parallel replicas."}

#define PP_OPTIONS_VP(heading, mask) \
    {.name = "vp", .type = PP_OPTION_INT, .argument = "V", .min = 1, .max = 4096, .default_text = "2 where the schedule has chunks", .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size"), .help = "Model chunks per pipeline rank."}

#define PP_OPTIONS_MBS(heading, mask, usual_mbs) \
    {.name = "mbs", .type = PP_OPTION_INT, .argument = "B", .min = 1, .max = PP_OPTION_BIG, .default_text = (usual_mbs), .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("micro-batch-size", "parallelism.pipeline_parallel_microbatch_size"), .help = "Samples per micro-batch."}

#define PP_OPTIONS_GBS(heading, mask) \
    {.name = "gbs", .type = PP_OPTION_LONG, .argument = "N", .min = 1, .max = (int64_t)1 << 40, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("global-batch-size", "training.global_batch_size"), .help = "Samples per step: dp * mbs * micro-batches."}

#define PP_OPTIONS_SEQ(heading, mask) \
    {.name = "seq", .type = PP_OPTION_INT, .argument = "TOKENS", .min = 1, .max = 1 << 24, .group = (heading), .commands = (mask), \
     .aliases = PP_NAMES("seq-length", "training.seq_len"), .help = "Tokens per sample."}

#define PP_OPTIONS_GRAD_SYNC(heading, mask) \
    {.name = "grad-sync", .type = PP_OPTION_CHOICE, .choices = "end|eager|eager-opt", .argument = "RULE", .default_text = "end", .group = (heading), .neutral = "end", .commands = (mask), \
     .help = "When a stage's gradient reduction is launched: after all local compute, right after the stage's last backward, or so only where idle time follows."}

#define PP_OPTIONS_RECEIVES(heading, mask) \
    {.name = "post", .type = PP_OPTION_CHOICE, .choices = "early|jit|batched|sender", .argument = "POLICY", .default_text = "early", .group = (heading), .neutral = "early", .commands = (mask), \
     .help = "Where receives are posted: as soon as a slot is free, just before use, in batches between compute ops, or where the sender sends."}, \
    {.name = "recv-slots", .type = PP_OPTION_INT, .argument = "R", .min = 1, .max = PP_OPTION_BIG, .default_text = "2", .group = (heading), .commands = (mask), \
     .help = "Receive slots per channel."}

/* clang-format on */

#endif
