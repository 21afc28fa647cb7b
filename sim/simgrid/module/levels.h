/* sim/simgrid/module/levels.h — bandwidths and latencies by level of a <cluster>, which SimGrid's
 * XML does not know: given as properties (sim/platform/platform.h), set here in the loaded
 * platform. In the module.
 */
#ifndef PP_SIM_SIMGRID_MODULE_LEVELS_H
#define PP_SIM_SIMGRID_MODULE_LEVELS_H

#include "core/arena.h"
#include "core/error.h"

#include <simgrid/host.h>
#include <simgrid/link.h>

/* Set the links to the properties of `host`, where it has any. PP_EINVAL for a value that is no
 * bandwidth or latency, and for a level without links. */
enum pp_status pp_simgrid_set_levels(struct pp_arena *arena, sg_host_t host, sg_link_t *links,
                                     int count, struct pp_error *err);

#endif
