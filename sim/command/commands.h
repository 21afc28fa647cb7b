/* sim/command/commands.h — what each command of pipesim does; main() picks one from a table. */
#ifndef PP_SIM_COMMAND_COMMANDS_H
#define PP_SIM_COMMAND_COMMANDS_H

#include "schedules/select/select.h"
#include "sim/cli/cli.h"

#include <stdio.h>

/* Print the result of the command to `out`. Errors as everywhere. */
typedef enum pp_status (*pp_command_function)(struct pp_arena *arena,
                                              const struct pp_parsed *parsed, FILE *out,
                                              struct pp_error *err);
enum pp_status pp_command_run(struct pp_arena *, const struct pp_parsed *, FILE *,
                              struct pp_error *);
enum pp_status pp_command_schedules(struct pp_arena *, const struct pp_parsed *, FILE *,
                                    struct pp_error *);
enum pp_status pp_command_models(struct pp_arena *, const struct pp_parsed *, FILE *,
                                 struct pp_error *);
enum pp_status pp_command_clusters(struct pp_arena *, const struct pp_parsed *, FILE *,
                                   struct pp_error *);
enum pp_status pp_command_presets(struct pp_arena *, const struct pp_parsed *, FILE *,
                                  struct pp_error *);
enum pp_status pp_command_program(struct pp_arena *, const struct pp_parsed *, FILE *,
                                  struct pp_error *);
enum pp_status pp_command_verify(struct pp_arena *, const struct pp_parsed *, FILE *,
                                 struct pp_error *);
enum pp_status pp_command_compare(struct pp_arena *, const struct pp_parsed *, FILE *,
                                  struct pp_error *);

enum pp_status pp_command_calibrate(struct pp_arena *, const struct pp_parsed *, FILE *,
                                    struct pp_error *);
enum pp_status pp_command_sweep(struct pp_arena *, const struct pp_parsed *, FILE *,
                                struct pp_error *);
enum pp_status pp_command_plan(struct pp_arena *, const struct pp_parsed *, FILE *,
                               struct pp_error *);
enum pp_status pp_command_plot(struct pp_arena *, const struct pp_parsed *, FILE *,
                               struct pp_error *);
enum pp_status pp_command_check(struct pp_arena *, const struct pp_parsed *, FILE *,
                                struct pp_error *);
enum pp_status pp_command_export(struct pp_arena *, const struct pp_parsed *, FILE *,
                                 struct pp_error *);
enum pp_status pp_command_validate(struct pp_arena *, const struct pp_parsed *, FILE *,
                                   struct pp_error *);

#endif
