/* sim/simgrid/module/hosts.h — the hosts of a loaded platform in the order of its file, and their
 * properties. Inside the module. */
#ifndef PP_SIM_SIMGRID_MODULE_HOSTS_H
#define PP_SIM_SIMGRID_MODULE_HOSTS_H

#include "core/arena.h"
#include "core/error.h"

#include <simgrid/host.h>

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

#endif
