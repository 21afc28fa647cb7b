/* exec/predict/profile.h — the layers of one layout, timed apart from its schedule.
 *
 * One thread runs the members of a group in turn: a micro-batch of each, stage by stage. As on the
 * virtual clock, a segment lasts as long as on the slowest member. Two profiles, of the measured
 * layout and of another one, say by which factors durations of layers differ: with --tp, --ep and
 * --recompute. Both get the same weights, so experts have the tokens that they have in training. */
#pragma once

#include "exec/machine/machine.h"

struct pp_profile;
/* Takes the memory of a group and one micro-batch of each member. `options` are kept by reference.
 * PP_EINVAL: work of the backend does not run at once. PP_EFAIL: too little memory. */
enum pp_status pp_profile_create(struct pp_arena *arena, const struct pp_machine_options *options,
                                 struct pp_profile **profile, struct pp_error *err);
/* A machine between steps, and what it is made of: its weights are those of the profile. */
struct pp_profiled {
    const struct pp_machine *machine;
    const struct pp_machine_options *options;
};
/* Runs granule `number` of each replica of the group, on the samples of a step, and adds its times.
 * Those of the next replicas that share experts follow. PP_EINVAL, PP_EFAIL: the text has no such
 * samples, or pp_machine_fetch() fails. */
enum pp_status pp_profile_run(struct pp_profile *profile, struct pp_profiled from,
                              const struct pp_text *text, int step, int number,
                              struct pp_error *err);
