/* schedules/search/needs.h — which ops of a compute program need which. */
#pragma once

#include "schedules/program/program.h"

struct pp_needs {
    int32_t *first_use, *use; /* ops that need op i: use[first_use[i] .. first_use[i + 1] - 1] */
    int32_t *missing;         /* [unit]: needed ops; a unit is an op or an overlapped pair, by the
                               * index of its first op */
};
/* PP_EPROGRAM if an op is missing or exists twice. */
enum pp_status pp_needs_find(struct pp_arena *arena, const struct pp_program *program,
                             struct pp_needs *needs, struct pp_error *err);
