/* sim/import/step_log.h — how long steps took, by the log of a training run:
 *
 *     iteration 10/ 500 | ... | elapsed time per iteration (ms): 1234.5 | throughput per GPU
 *     (TFLOP/s/GPU): 412.3 | ... | global batch size:   128 | ...           Megatron-LM
 *     ... | elapsed time per iteration (s): 1.23 | ...                      Megatron-DeepSpeed
 *     ... | train_step_timing in s: 1.235 | ... (or "=")                    NeMo
 *     Step Time : 1.23s GPU utilization: 412.3MODEL_TFLOP/s/GPU             Megatron-Bridge
 *
 * A line is a sample, though it may stand for several steps. Everything lives in the arena. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct pp_step_log {
    const char *name; /* of the file */
    const char *form; /* words before the times: "elapsed time per iteration (ms)" */
    double *step_s;   /* [count] in the order of the log */
    int count;
    int skipped;                    /* samples left out at the begin */
    double longest_skipped_s;       /* 0: none skipped */
    double median_s, low_s, high_s; /* of the other samples, with their 5th and 95th percentiles */
    double flops_per_s_per_gpu;     /* median of these samples; NAN: not in the log */
    double global_batch;            /* of the last line; NAN: not in the log */
};

/* Is true if the file has a line of such a form; false if it cannot be opened, or read twice. */
bool pp_step_log_is_one(const char *path);
/* Reads a log. `skip`: number of lines to leave out at the begin. -1: the first, and those right
 * after it that take over 1.1 times the median of the rest, at most half of all. PP_EINVAL with
 * file:line for a bad time, and for no times at all or left. PP_EFAIL for an unreadable file. */
enum pp_status pp_step_log_read(struct pp_arena *arena, const char *path, int skip,
                                struct pp_step_log *log, struct pp_error *err);
enum pp_status pp_step_log_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, int skip, struct pp_step_log *log,
                                 struct pp_error *err);
