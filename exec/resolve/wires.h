/* exec/resolve/wires.h — the wires of the virtual clock as text. */
#pragma once

#include "exec/predict/predict.h"

/* "latency:10us bandwidth:10GBps", each at most once, in any order; what is left out keeps its
 * usual value. NULL = all usual. At most 10 s, and 1 to 1e18 bytes/s, which is also what a
 * calibration takes. PP_EINVAL with what is expected. */
enum pp_status pp_wires_parse(const char *text, struct pp_exec_wires *wires, struct pp_error *err);
