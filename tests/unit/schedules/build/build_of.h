/* tests/unit/schedules/build/build_of.h — a program to build. */
#pragma once

#include "schedules/build/build.h"
#include "schedules/registry.h"

/* What is needed to complete a schedule for 4 ranks. */
static inline struct pp_build of(const char *schedule, int micro_batches)
{
    return (struct pp_build){.schedule = pp_schedule_find(schedule),
                             .shape = {.ranks = 4, .micro_batches = micro_batches},
                             .wishes = {.recv_slots = PP_USUAL_RECV_SLOTS},
                             .has_update = true,
                             .proves_given = true,
                             .proves_result = true};
}
