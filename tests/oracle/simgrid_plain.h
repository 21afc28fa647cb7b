/* tests/oracle/simgrid_plain.h — a program in SimGrid as its manual would have it.
 *
 * One actor for each rank, one for each channel, one for each reduce stream; mailboxes between
 * hosts, sleeping for compute, semaphores for WAIT. Nothing is left out and nothing is known ahead:
 * slow, for small programs. Shows that the fair shares of the engines are those of SimGrid. */
#ifndef PP_TESTS_SIMGRID_PLAIN_H
#define PP_TESTS_SIMGRID_PLAIN_H

#include "tests/oracle/fluid.h"

/* As fluid_run(), in a child process; bytes of messages and ring steps must be whole numbers. One
 * step, or steps without a barrier; needs a network, takes no replay and no share of compute. NULL
 * when the child failed or the program got stuck. */
struct fluid_times *simgrid_plain_run(struct pp_arena *arena, const struct pp_program *program,
                                      const struct pp_costs *costs,
                                      const struct fluid_options *options);

#endif
