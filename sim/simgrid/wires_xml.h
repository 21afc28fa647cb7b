/* sim/simgrid/wires_xml.h — the wires of a run as a SimGrid platform. */
#ifndef PP_SIM_SIMGRID_WIRES_XML_H
#define PP_SIM_SIMGRID_WIRES_XML_H

#include "sim/engine/wires.h"

#include <stdint.h>
#include <stdio.h>

/* Each wire that can meet another one gets its own ordered pair of endpoints, so that n wires
 * need about sqrt(n) hosts. It also gets a route of its shared links. Latencies are 0: the
 * interpreter waits for them first. */
struct pp_endpoints {
    int hosts;
    int32_t *source, *dest; /* [wire]; -1 = none */
};
/* `is_plain`: for all wires. */
struct pp_endpoints pp_endpoints_make(struct pp_arena *arena, const struct pp_wires *wires,
                                      bool is_plain);
/* XML, DTD 4.1; bandwidths times `scale`. */
void pp_endpoints_print(const struct pp_wires *wires, const struct pp_endpoints *endpoints,
                        double scale, FILE *out);

#endif
