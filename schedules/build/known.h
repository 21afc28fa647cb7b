/* schedules/build/known.h — programs that are built once and used for many costs. A search tries
 * the same program with many degrees: its lists depend on few of them. */
#pragma once

#include "schedules/build/build.h"

/* Starts as {0}, or with an arena of the caller. */
struct pp_known_programs {
    struct pp_arena *arena; /* of the programs; NULL = none yet */
    struct pp_known_program *first;
    int64_t instructions;
    struct pp_arena *list_arena; /* of the orders; NULL = none yet */
    struct pp_known_list *lists; /* orders; of searches alone, unless `is_bounded` */
    int64_t ops;
    bool is_bounded; /* orders are kept for bounds (pp_build_known_least()) */
};
/* Forgets all programs and orders, and ends their arenas. */
void pp_known_programs_drop(struct pp_known_programs *known);
/* Forgets all programs if they take too much memory, and then all orders if these do. For the time
 * between two configurations. */
void pp_known_programs_trim(struct pp_known_programs *known);

/* Does what pp_build() does. The program lies in `arena`, or in `known`, and then keeps its
 * compiled form for other costs (pp_eval_create()). An order that is given is always built; so is
 * all if `known` is NULL. Others ignore `most_bytes`. */
enum pp_status pp_build_known(struct pp_arena *arena, struct pp_known_programs *known,
                              const struct pp_build *build, struct pp_program **program,
                              struct pp_error *err);
/* Finds lower bounds of a build's memory by its order, which is kept; 0 if `known` is not
 * `is_bounded`, or keeps no such program. */
enum pp_status pp_build_known_least(struct pp_arena *arena, struct pp_known_programs *known,
                                    const struct pp_build *build, struct pp_least *least,
                                    struct pp_error *err);
