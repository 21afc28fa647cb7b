/* sim/simgrid/module/platform.h — a platform in SimGrid: start, hosts, properties and levels. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <simgrid/host.h>
#include <simgrid/link.h>

/* Starts the engine: CM02 without crosstraffic and TCP window, small stacks. A transfer alone takes
 * latency + bytes / bandwidth; shares are max-min fair. Called once in a process, before a platform
 * is loaded; these settings win over those of a platform file. */
void pp_simgrid_start(void);

/* Lists the hosts in the order of the file (`text`), not by name as SimGrid does. Hosts of a
 * cluster are in natural order of their names (g2 before g10). `*hosts` is in the arena. */
enum pp_status pp_simgrid_hosts(struct pp_arena *arena, const char *text, sg_host_t **hosts,
                                int *count, struct pp_error *err);
struct pp_simgrid_properties {
    const char *words;    /* description of a device as words of a cluster text; in the arena */
    double alpha_s;       /* latency of every route in addition to its links; default 0 */
    double eta_link_frac; /* reached share of the bandwidths; default 1 */
};
/* Reads the properties of the hosts, or of the zones around them. PP_EINVAL if hosts differ. */
enum pp_status pp_simgrid_properties(struct pp_arena *arena, struct pp_simgrid_properties *found,
                                     struct pp_error *err);

/* Sets the links of a <cluster> to the bandwidths and latencies of their levels, if `host` has such
 * properties (sim/platform/platform.h). SimGrid's XML has no levels. PP_EINVAL for a value that is
 * no bandwidth or latency, and for a level without links. */
enum pp_status pp_simgrid_set_levels(struct pp_arena *arena, sg_host_t host, sg_link_t *links,
                                     int count, struct pp_error *err);
