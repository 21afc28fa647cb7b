/* sim/resolve/subjects.h — the schedules and program files that --schedule names. */
#pragma once

#include "schedules/select/select.h"
#include "sim/cli/wish.h"

/* The subjects of --schedule: names, a file, or "all". `*subjects` in the arena. */
enum pp_status pp_subjects_open(struct pp_arena *arena, const struct pp_wish *wish,
                                struct pp_subject **subjects, int *count, struct pp_error *err);
