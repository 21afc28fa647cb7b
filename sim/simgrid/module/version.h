/* sim/simgrid/module/version.h — differences between SimGrid 3.32 and 4.x, inside the module.
 *
 * Written for the headers of 3.32 (Debian 12) and 4.1, tested with 3.32 alone. 4.1 marks the
 * parts that 4.3 removes. The caller frees lists with free(); SimGrid owns their elements. */
#pragma once

#include <simgrid/host.h>
#include <simgrid/link.h>
#include <simgrid/version.h>
#include <simgrid/zone.h>

/* Name of the option of the smallest time that counts, in seconds. */
#if SIMGRID_VERSION < 33600
#define PP_SG_TIME_PRECISION "surf/precision"
#else
#define PP_SG_TIME_PRECISION "precision/timing"
#endif

/* Hosts of a zone, without those of inner zones. */
sg_host_t *pp_sg_zone_hosts(sg_netzone_t zone, int *count);
/* Zones inside a zone. */
sg_netzone_t *pp_sg_zone_children(sg_netzone_t zone, int *count);
/* Links from one host to another, in order. */
sg_link_t *pp_sg_route(sg_host_t source, sg_host_t dest, int *count);
