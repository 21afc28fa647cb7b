/* sim/config/steps.h — steps that a continuous schedule runs as one list, without a flush. */
#pragma once

#include "sim/config/config.h"

/* Is true if the program holds all steps, so that the engine runs it once. */
bool pp_steps_in_list(const struct pp_config *config);
/* Shape of the program: of one step, or of all. PP_EINVAL if they are too many. */
enum pp_status pp_steps_shape(const struct pp_config *config, struct pp_shape *shape,
                              struct pp_error *err);
/* Options of the engine: all steps, or one run of the list that holds them. */
struct pp_eval_options pp_steps_plan(const struct pp_config *config);

/* Steps of all instructions. An op belongs to the step of its micro-batch. A sum or an update
 * belongs to the backward before it, a WAIT to the instruction that it waits for. */
int *pp_steps_of(struct pp_arena *arena, const struct pp_program *program, int micro_batches);
/* Time of a steady step, (T_K - T_1) / (K - 1). WAITs end no step: that for a SEND may be late. */
double pp_steps_iteration_s(struct pp_arena *arena, const struct pp_config *config,
                            const struct pp_program *program, const struct pp_times *times);
