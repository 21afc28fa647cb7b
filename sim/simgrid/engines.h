/* sim/simgrid/engines.h — the engines of this build, with SimGrid (sim/simgrid/simgrid.c) or
 * without it (sim/simgrid/none.c).
 *
 * SimGrid comes with a good 25 libraries, which would cost every start of pipesim tens of
 * milliseconds. Our code against it is a shared module (sim/simgrid/module/module.h), loaded when
 * two transfers meet or a platform file is read. */
#pragma once

#include "sim/engine/engine.h"

/* NULL-terminated; the first is the default. */
extern const struct pp_engine *const pp_engines[];
/* The engine of a run: the first, or dag in unit mode, which is exact without a network. */
const struct pp_engine *pp_engine_default(bool is_unit);
/* By name. PP_EINVAL for one that this build lacks, with what to build it from. */
enum pp_status pp_engine_find(const char *name, const struct pp_engine **engine,
                              struct pp_error *err);
