/* schedules/build/drift.h — times of a whole program whose ranks repeat at different speeds.
 *
 * In a phase such as the forwards of `gpipe`, a fast rank runs ahead of a slow one. So its periods
 * are shorter, and its gap delays what follows by less. The cut program is played with one period
 * more at each place. Each instruction is taken to come as much later again for each further
 * period. That is proved by all that can delay an instruction: a post, the transfer before on a
 * channel, what a WAIT waits for. If none of these comes after the instruction with all periods,
 * what decided its time with one period more decides it with all. For it comes after nothing in
 * the cut program either, and the distance of both is linear in the periods. */
#pragma once

#include "schedules/evaluate/evaluate.h"

/* Is true if a proof is worth a try: ranks have two phases, and WAITs after them. With more phases,
 * a WAIT mostly begins to take time after more micro-batches than a cut program has. */
bool pp_drift_may_tell(const struct pp_program *program);
/* Makes the times of a cut program, PP_TIMES_POSTS of pp_makespan_spans(), those of the whole one,
 * as pp_steady_lengthen() does. Posts remain as they are. False, with `times` unchanged, unless
 * that is proved. */
bool pp_drift_lengthen(const struct pp_program *program, const struct pp_costs *costs,
                       const struct pp_eval_options *options, struct pp_times *times);
