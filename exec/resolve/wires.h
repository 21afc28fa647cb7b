/* exec/resolve/wires.h — the wires of the virtual clock as text. */
#pragma once

#include "exec/predict/predict.h"

/* Parses "latency:10us bandwidth:10GBps", each at most once, in any order; a missing one is as
 * usual (NULL = both). Limits, as in a calibration: 10 s, and 1 to 1e18 bytes/s. PP_EINVAL with the
 * expected form. */
enum pp_status pp_wires_parse(const char *text, struct pp_exec_wires *wires, struct pp_error *err);
