/* core/cost/measured/channels.h — messages and gradient sums of a run, from the channels that were
 * measured: a part of pp_cost_file_apply. Seconds and bytes. */
#ifndef PP_CORE_COST_MEASURED_CHANNELS_H
#define PP_CORE_COST_MEASURED_CHANNELS_H

#include "core/cost/measured/file.h"

/* PP_EINVAL where the run sends messages or sums gradients and no channel says how long that takes.
 */
enum pp_status pp_cost_channels_check(const struct pp_cost_file *file,
                                      const struct pp_cost_inputs *in, const struct pp_costs *costs,
                                      struct pp_error *err);
/* Put them into `costs`: after the check, nothing fails. */
void pp_cost_channels_put(struct pp_arena *arena, const struct pp_cost_file *file,
                          const struct pp_cost_inputs *in, struct pp_costs *costs);

#endif
