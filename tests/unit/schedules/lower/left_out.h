/* Whether an instruction is needed: programs without it fail a check. */
#ifndef PP_TESTS_LEFT_OUT_H
#define PP_TESTS_LEFT_OUT_H

#include "schedules/program/program.h"
#include "schedules/verify/verify.h"

/* Without instructions `at` and `also` of a rank: true when a check fails. */
static inline bool is_noticed(struct pp_arena *arena, const struct pp_program *p, int rank, int at,
                              int also)
{
    struct pp_program_head head = pp_program_head_of(p);
    struct pp_orders *lists = pp_program_thaw(arena, p), *rest = pp_orders_create(arena, p->ranks);
    struct pp_program *program;
    struct pp_error err = {0};

    for (int r = 0; r < p->ranks; r++)
        for (int i = 0; i < lists->count[r]; i++)
            if (r != rank || (i != at && i != also))
                pp_orders_add(arena, rest, r, lists->ops[r][i]);
    if (pp_program_freeze(arena, &head, rest, &program, &err) != PP_OK)
        return true;
    return pp_verify(program, NULL, &err) != PP_OK;
}

#endif
