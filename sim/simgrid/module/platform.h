/* sim/simgrid/module/platform.h — a platform loaded by SimGrid: its start, hosts, properties and
 * levels. Inside the module. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <simgrid/host.h>
#include <simgrid/link.h>

/* ---- sim/simgrid/module/start.c ---- */
/* Start the engine: CM02 without crosstraffic and TCP window (a transfer alone takes latency +
 * bytes / bandwidth; shares are max-min fair), small stacks. Once in a process, before a platform
 * is loaded; these settings win over those of a platform file. */
void pp_simgrid_start(void);

/* ---- sim/simgrid/module/hosts.c ---- */
/* SimGrid lists hosts by name. Here they come as they stand in the file (`text`); those of a
 * cluster in natural order of their names (g2 before g10). `*hosts` in the arena. */
enum pp_status pp_simgrid_hosts(struct pp_arena *arena, const char *text, sg_host_t **hosts,
                                int *count, struct pp_error *err);
struct pp_simgrid_properties {
    const char *words;    /* what a device is, as words of a cluster text; in the arena */
    double alpha_s;       /* latency of every route in addition to its links; 0 when not given */
    double eta_link_frac; /* share of the bandwidths that is reached; 1 when not given */
};
/* Properties of the hosts, or of the zones around them. PP_EINVAL when hosts differ. */
enum pp_status pp_simgrid_properties(struct pp_arena *arena, struct pp_simgrid_properties *found,
                                     struct pp_error *err);

/* ---- sim/simgrid/module/levels.c ---- */
/* Bandwidths and latencies by level of a <cluster>, which SimGrid's XML does not know, are
 * properties (sim/platform/platform.h). Set the links to the properties of `host`, where it has
 * any. PP_EINVAL for a value that is no bandwidth or latency, and for a level without links. */
enum pp_status pp_simgrid_set_levels(struct pp_arena *arena, sg_host_t host, sg_link_t *links,
                                     int count, struct pp_error *err);
