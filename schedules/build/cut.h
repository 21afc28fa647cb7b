/* schedules/build/cut.h — orders without most periods of their steady state.
 *
 * Between warm-up and cool-down a rank repeats a pattern of ops, each time with the next
 * micro-batches. A cut order leaves out the same number of these periods on every rank. So it is
 * the order of a run with fewer micro-batches, which is faster to lower, to measure and to play.
 * The periods are found in the lists alone. */
#pragma once

#include "schedules/program/lists.h"
#include "schedules/program/program.h"

/* Cuts lists, and their head, in `arena`. NULL, with both unchanged, if no pattern repeats on all
 * ranks, or too little would be left out. */
struct pp_program_cut *pp_cut_lists(struct pp_arena *arena, struct pp_orders **lists,
                                    struct pp_program_head *head);
/* Finds the places of the cut in the program that these lists became, and keeps them there. False
 * unless its instructions repeat around each place, and each period has all that belongs to it.
 * Else the program says nothing of the whole. */
bool pp_cut_bind(struct pp_program_cut *cut, struct pp_program *program);
