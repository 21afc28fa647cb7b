/* sim/simgrid_hosts.h — the hosts of a loaded platform in the order of its file, and their
 * properties. Inside the module. */
#ifndef PP_SIM_SIMGRID_HOSTS_H
#define PP_SIM_SIMGRID_HOSTS_H

#include "core/arena.h"
#include "core/error.h"

#include <simgrid/host.h>

/* SimGrid lists hosts by name. Here they come as they stand in the file (`text`); those of a
 * cluster in natural order of their names (g2 before g10). `*hosts` in the arena. */
enum pp_status pp_simgrid_hosts(struct pp_arena *arena, const char *text, sg_host_t **hosts,
                                int *count, struct pp_error *err);
/* Properties of the hosts, or of the zones around them, that say what a device is: as words of a
 * cluster text. PP_EINVAL when hosts differ. */
enum pp_status pp_simgrid_properties(struct pp_arena *arena, const char **words,
                                     struct pp_error *err);
/* Latency of every route beside its links', 0 when not given; share of the bandwidths that is
 * reached, 1 when not given. */
enum pp_status pp_simgrid_link_properties(sg_host_t host, double *alpha_s, double *eta_link_frac,
                                          struct pp_error *err);

#endif
