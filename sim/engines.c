#include "sim/engine.h"

/* The first is the default. */
const struct pp_engine *const pp_engines[] = {&pp_engine_dag, NULL};
