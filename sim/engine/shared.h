/* sim/engine/shared.h — the frame of the engines that share links: wires, and memory for the
 * times. */
#pragma once

#include "sim/engine/interpret.h"

/* Runs a job to its end, with memory of `scratch`. */
typedef enum pp_status (*pp_shared_function)(struct pp_arena *scratch, struct pp_job *job,
                                             struct pp_error *err);

/* As pp_engine.run, by `run_job`, with posts. The times are freed with the arena. They and the
 * counters of the job lie in memory that child processes share. */
enum pp_status pp_shared_run(struct pp_arena *arena, const struct pp_program *program,
                             const struct pp_costs *costs, const struct pp_engine_options *options,
                             pp_shared_function run_job, struct pp_times **times,
                             struct pp_error *err);
/* Executed share of a job's instructions. */
double pp_job_frac(const struct pp_job *job);
