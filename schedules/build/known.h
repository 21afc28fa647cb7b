/* schedules/build/known.h — programs that are built once and used for many costs. A search tries
 * the same program with many degrees: its lists depend on few of them. */
#pragma once

#include "schedules/build/build.h"

/* Starts as {0}; or with an arena and `is_kept`. */
struct pp_known_programs {
    struct pp_arena *arena; /* of the programs; NULL = none yet */
    bool is_kept;           /* programs last as long as the arena, which is the caller's */
    struct pp_known_program *first;
    int64_t instructions;
};
/* Forgets all programs. */
void pp_known_programs_drop(struct pp_known_programs *known);

/* Does what pp_build() does. The program lies in `arena`, or in `known` until the next call
 * (`is_kept`: as long as its arena). An order that depends on costs, or is given, is always built;
 * so is all if `known` is NULL. Others ignore `most_bytes`. */
enum pp_status pp_build_known(struct pp_arena *arena, struct pp_known_programs *known,
                              const struct pp_build *build, struct pp_program **program,
                              struct pp_error *err);
