/* sim/command/commands.h — the functions of the commands; main() picks one from a table. */
#pragma once

#include "schedules/select/select.h"
#include "sim/cli/cli.h"
#include "sim/cli/wish.h"

#include <stdio.h>

/* Print the result of the command to `out`. `typed` has the flags alone, no preset. */
typedef enum pp_status pp_command_function(struct pp_arena *arena, const struct pp_wish *typed,
                                           FILE *out, struct pp_error *err);
pp_command_function pp_command_run, pp_command_schedules, pp_command_models, pp_command_clusters,
    pp_command_presets, pp_command_program, pp_command_verify, pp_command_compare,
    pp_command_calibrate, pp_command_sweep, pp_command_plan, pp_command_plot, pp_command_check,
    pp_command_export, pp_command_validate;
