/* exec/program/check.h — checks of a program for execution, in addition to schedules/verify: what
 * depends on the model and on the number of replicas. Rules of programs alone belong there. */
#pragma once

#include "core/error.h"
#include "schedules/program/program.h"

#include <stdbool.h>

/* PP_EPROGRAM, with the place, if gradients are used before the last BAR or completed after it. */
enum pp_status pp_check_updates(const struct pp_program *program, struct pp_error *err);

/* pp_check_updates(), and PP_EPROGRAM for:
 *   - a sum that copies of a stage lack;
 *   - a tied sum without a tied model (`is_tied`), or the other way round;
 *   - sequence splits that are computed again, unless only parts of blocks are
 *     (`is_partly_again`). */
enum pp_status pp_check_program(const struct pp_program *program, bool is_tied,
                                bool is_partly_again, int replicas, struct pp_error *err);
