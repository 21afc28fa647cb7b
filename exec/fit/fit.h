/* exec/fit/fit.h — the caps of each rank, --device-memory and --host-memory, before anything runs.
 */
#pragma once

#include "exec/resolve/config.h"

/* Checks the layouts of all ranks, of the run and of --calibrate-on. PP_EFIT says what the fullest
 * rank needs by class, its cap, and options that fit. `run` has its plans. */
enum pp_status pp_exec_fit(struct pp_arena *arena, const struct pp_exec_wish *wish,
                           const struct pp_exec_run *run, struct pp_error *err);
