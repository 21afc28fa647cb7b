/* sim/simgrid/module/start.h — SimGrid with the settings that all its users here have, inside the
 * module.
 */
#ifndef PP_SIM_SIMGRID_MODULE_START_H
#define PP_SIM_SIMGRID_MODULE_START_H

/* Start the engine: CM02 without crosstraffic and TCP window (a transfer alone takes latency +
 * bytes / bandwidth; shares are max-min fair), small stacks. Once in a process, before a platform
 * is loaded; these settings win over those of a platform file. */
void pp_simgrid_start(void);

#endif
