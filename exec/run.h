/* exec/run.h — the one thing that pipeexec does. */
#pragma once

#include "exec/resolve/config.h"
#include "plots/figure.h"

#include <stdio.h>

/* A thread hangs for good: say why the run ends, and end the process (see exec/machine/machine.h).
 */
typedef void (*pp_exec_stuck_fn)(const struct pp_error *err);
/* Resolve, train, write traces, report to `out`. PP_ETOLERANCE when the gradients are not those of
 * the reference: then there is a text report, but no JSON. PP_EFAIL with a report when only the
 * traces that were asked for could not be written. */
enum pp_status pp_exec_command_run(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                   FILE *out, pp_exec_stuck_fn on_stuck, struct pp_error *err);

/* ---- exec/run_traces.c ---- */
/* Names, folders and permissions of --trace and --predicted-trace, before anything is trained.
 * PP_EINVAL for other suffixes and for one file under two names, PP_EFAIL for what cannot be
 * written. */
enum pp_status pp_exec_traces_check(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                    struct pp_error *err);
bool pp_exec_traces_are_asked(const struct pp_exec_wish *wish);
/* Writes both traces or none. They go to the given files. With a text report and no files they go
 * to a new folder. run->trace and run->predicted_trace name the files, or are NULL. PP_EFAIL leaves
 * neither a file nor a folder. */
enum pp_status pp_exec_traces_write(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                    struct pp_exec_run *run, struct pp_error *err);

/* ---- exec/run_plot.c ---- */
/* Where --plot goes, checked before anything is trained; target->out is NULL without it. PP_EINVAL
 * for names that are no picture and for two results on stdout, PP_EFAIL for what cannot be written.
 */
enum pp_status pp_exec_plot_open(struct pp_arena *arena, const struct pp_exec_wish *wish, FILE *out,
                                 struct pp_plot_target *target, struct pp_error *err);
/* The predicted step over the measured one. */
enum pp_status pp_exec_plot_draw(struct pp_arena *arena, const struct pp_exec_run *run,
                                 const struct pp_plot_target *target, struct pp_error *err);
/* The measured step in characters. */
enum pp_status pp_exec_gantt_print(struct pp_arena *arena, const struct pp_exec_run *run,
                                   struct pp_terminal terminal, FILE *out, struct pp_error *err);
