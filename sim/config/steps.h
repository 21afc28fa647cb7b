/* sim/config/steps.h — training steps that a continuous schedule runs as one list, without a flush.
 */
#pragma once

#include "sim/config/config.h"

/* Does the program hold all steps, so that the engine runs it once? */
bool pp_steps_in_list(const struct pp_config *config);
/* The shape of the program: that of one step, or of all. PP_EINVAL when they are too many. */
enum pp_status pp_steps_shape(const struct pp_config *config, struct pp_shape *shape,
                              struct pp_error *err);
/* The engine's options: all steps, or one run of the list that holds them. */
struct pp_eval_options pp_steps_plan(const struct pp_config *config);

/* The step of every instruction. An op belongs to the step of its micro-batch. A sum or an update
 * belongs to the backward before it, a WAIT to the instruction that it waits for. */
int *pp_steps_of(struct pp_arena *arena, const struct pp_program *program, int micro_batches);
/* Give every event of such a trace its step. */
void pp_steps_mark(struct pp_arena *arena, const struct pp_config *config,
                   const struct pp_program *program, struct pp_trace *trace);
/* (T_K - T_1) / (K - 1) from all times. No WAIT ends a step, because the WAIT for a SEND may come
 * much later. */
double pp_steps_iteration_s(struct pp_arena *arena, const struct pp_config *config,
                            const struct pp_program *program, const struct pp_times *times);
