/* sim/simgrid/engines.h — the engines of this build, with SimGrid (sim/simgrid/simgrid.c) or
 * without it (sim/simgrid/none.c). Both have simgrid and dag (sim/engine/).
 *
 * SimGrid has over 25 libraries, which would add tens of milliseconds to every start of pipesim.
 * So the code that calls it is a shared module (sim/simgrid/module/module.h). It is loaded when
 * two transfers meet in simgrid-lmm, or a platform file is read. */
#pragma once

#include "sim/engine/engine.h"

/* NULL-terminated; the first is the default. */
extern const struct pp_engine *const pp_engines[];
/* Default engine of a run: the first, or dag in unit mode, which is exact without a network. */
const struct pp_engine *pp_engine_default(bool is_unit);
/* Finds an engine by name. PP_EINVAL if this build lacks it, with the library that it needs. */
enum pp_status pp_engine_find(const char *name, const struct pp_engine **engine,
                              struct pp_error *err);
