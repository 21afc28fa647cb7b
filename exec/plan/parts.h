/* exec/plan/parts.h — private parts of pp_exec_plan_make(). */
#pragma once

#include "exec/resolve/config.h"

/* executable.c: PP_EINVAL for a schedule or file that is only simulated, with those that run. Also
 * for a file that sums a matrix which the model does not share. */
enum pp_status pp_exec_check_subject(const struct pp_exec_wish *wish,
                                     const struct pp_exec_config *config,
                                     const struct pp_subject *subject, struct pp_error *err);
/* PP_EINVAL for instructions of plan->program that engines can only price. */
enum pp_status pp_exec_check_kinds(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_error *err);
/* Notes in a complete program where its classes live, and how they move. */
void pp_exec_note_homes(const struct pp_state_spec *wanted, struct pp_program *program);
/* Then: PP_EINVAL for moves of a file that the options do not have, and for clipping with updates
 * before the norm is known. Also for gradients on another tier if a copy of a stage never goes
 * backward. */
enum pp_status pp_exec_check_moves(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config,
                                   const struct pp_exec_plan *plan, struct pp_error *err);

/* shards.c: takes what the program is to cut, after its order. PP_EINVAL for options without effect
 * and what is only simulated. */
struct pp_build;
enum pp_status pp_exec_take_shards(const struct pp_exec_wish *wish,
                                   const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                   struct pp_build *build, struct pp_error *err);
/* PP_EINVAL for gradients that are cut more finely than gathered parameters: they would be
 * scattered twice. */
enum pp_status pp_exec_check_meshes(const struct pp_state_spec *spec, struct pp_error *err);

/* legal_shards.c: true if several groups of copies each hold a state. */
bool pp_exec_has_groups(const struct pp_exec_config *config, const struct pp_exec_plan *plan);
/* Sets plan->zero, after the program. PP_EINVAL for what cannot be cut: gradients of
 * several pipelines, or of a matrix that two stages of a rank share. */
enum pp_status pp_exec_check_shards(const struct pp_exec_wish *wish,
                                    const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                    struct pp_error *err);
