/* exec/run.h — the commands of pipeexec. */
#pragma once

#include "exec/resolve/config.h"
#include "plots/figure.h"

#include <stdio.h>

/* Called when a thread hangs; prints the reason and ends the process (exec/machine/machine.h). */
typedef void (*pp_exec_stuck_fn)(const struct pp_error *err);
/* Trains and reports to `out`. PP_ETOLERANCE, with a text report but no JSON, if gradients are not
 * those of the reference. PP_EFAIL, with a report, if only requested traces are not written. */
enum pp_status pp_exec_command_run(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   FILE *out, pp_exec_stuck_fn on_stuck, struct pp_error *err);
/* run_generate.c: generates and reports. PP_ETOLERANCE, with a text report but no JSON, if tokens
 * or logits are not those of one rank, or without a cache. */
enum pp_status pp_exec_command_generate(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                        FILE *out, pp_exec_stuck_fn on_stuck, struct pp_error *err);

/* run_other.c: opens the program of --calibrate-on, if it is given; `subject` is its schedule.
 * PP_EINVAL for another size of ops, and as pp_exec_plan_make(). */
enum pp_status pp_exec_other_open(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                  struct pp_subject subject, struct pp_exec_run *run,
                                  struct pp_error *err);
/* Runs its steps. Errors: pp_train_calibrate(). */
enum pp_status pp_exec_other_measure(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                     struct pp_exec_run *run,
                                     const struct pp_calibration **calibration,
                                     struct pp_error *err);
/* Checks names, folders and permissions of --trace, --predicted-trace and --log before training.
 * PP_EINVAL for other suffixes of traces and for one file under two names, PP_EFAIL if one cannot
 * be written. */
enum pp_status pp_exec_traces_check(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                    struct pp_error *err);
/* Writes the traces that are asked for, both or none. run->trace and run->predicted_trace name the
 * files, or are NULL. PP_EFAIL leaves no file. */
enum pp_status pp_exec_traces_write(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                    struct pp_exec_run *run, struct pp_error *err);

/* Checks the target of --plot before training; target->out is NULL without it. PP_EINVAL for names
 * that are no picture and for two results on stdout, PP_EFAIL if it cannot be written. */
enum pp_status pp_exec_plot_open(struct pp_arena *arena, const struct pp_exec_wish *wish, FILE *out,
                                 struct pp_plot_target *target, struct pp_error *err);
/* Choices of --plot-kind: the predicted step over the measured one, or the memory of the fullest
 * rank over time, tier by tier. */
enum pp_exec_plot_kind { PP_EXEC_PLOT_TIMELINE, PP_EXEC_PLOT_MEMORY };
/* Draws the picture of --plot, if it is given. */
enum pp_status pp_exec_plot_draw(struct pp_arena *arena, const struct pp_exec_run *run,
                                 enum pp_exec_plot_kind kind, const struct pp_plot_target *target,
                                 struct pp_error *err);
/* run_memory.c: draws that memory. */
enum pp_status pp_exec_memory_draw(struct pp_arena *arena, const struct pp_exec_run *run,
                                   const struct pp_plot_target *target, struct pp_error *err);
/* Prints the measured step in characters. */
enum pp_status pp_exec_gantt_print(struct pp_arena *arena, const struct pp_exec_run *run,
                                   struct pp_terminal terminal, FILE *out, struct pp_error *err);
