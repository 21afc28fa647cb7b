/* schedules/program/whole.h — the whole program that a cut one stands for (schedules/build/cut.h).
 */
#pragma once

#include "schedules/program/program.h"

/* Returns the instructions of a program with those that it leaves out. */
static inline int64_t pp_program_whole_size(const struct pp_program *p)
{
    int64_t size = pp_program_size(p);

    for (int k = 0; p->cut && k < p->cut->begin[p->ranks]; k++)
        size += (int64_t)p->cut->periods * p->cut->places[k].length;
    return size;
}

/* A walk through all lists of the whole program in their order. A period that is left out shows
 * instructions of the one before it, for their kinds and stages. */
struct pp_whole_walk {
    int at;         /* global index */
    int turn;       /* periods shown again, of the next place */
    int next_place; /* in the cut */
};
/* Begins at the list of a rank. */
static inline struct pp_whole_walk pp_whole_walk(const struct pp_program *p, int rank)
{
    return (struct pp_whole_walk){.at = p->begin[rank],
                                  .next_place = p->cut ? p->cut->begin[rank] : 0};
}
static inline void pp_whole_next(const struct pp_program *p, struct pp_whole_walk *walk)
{
    const struct pp_program_cut *cut = p->cut;

    walk->at++;
    while (cut && walk->next_place < cut->begin[p->ranks] &&
           walk->at == cut->places[walk->next_place].at) {
        if (walk->turn++ < cut->periods) {
            walk->at -= cut->places[walk->next_place].length;
            return;
        }
        walk->next_place++;
        walk->turn = 0;
    }
}
