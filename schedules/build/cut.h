/* schedules/build/cut.h — orders without most periods of their steady state.
 *
 * Between warm-up and cool-down a rank repeats a pattern of ops, each time with the next
 * micro-batches. A cut order leaves out the same number of these periods on every rank. So it is
 * the order of a run with fewer micro-batches, which is faster to lower, to measure and to play.
 * The periods are found in the lists alone. */
#pragma once

#include "schedules/program/lists.h"
#include "schedules/program/program.h"

/* Returns the least micro-batches of lists that are cut. */
int64_t pp_cut_least(int ranks, int pipelines, int steps);
/* Cuts lists, and their head, in `arena`. Lists of several steps leave out the same number of
 * micro-batches in each. The lists are already those of `more` micro-batches less than the whole
 * has, which would only repeat. NULL, with both unchanged, if no pattern repeats on all ranks, or
 * too little would be left out. So it is if `more` are not whole periods of all steps and
 * pipelines. */
struct pp_program_cut *pp_cut_lists(struct pp_arena *arena, int steps, int more,
                                    struct pp_orders **lists, struct pp_program_head *head);
/* Finds the places of the cut in the program that these lists became, and adds them to it. WAITs
 * for what a zone posts may stand together elsewhere: then they have a place there. False unless
 * the program's instructions repeat around each place, and pp_cut_number() succeeds. Else the
 * program says nothing of the whole. */
bool pp_cut_bind(struct pp_arena *arena, const struct pp_program_cut *cut,
                 struct pp_program *program);
/* Fills in the queues of a cut with places. False unless each rank waits for what it posts in one
 * order, and ranks agree on these orders. The periods that are left out must have all that belongs
 * to them. So no part of the program outside of them depends on their number. RECVs that are all
 * posted first would, for example. */
bool pp_cut_number(struct pp_arena *arena, struct pp_program_cut *cut,
                   const struct pp_program *program);
/* Returns a cut program with `periods` more at each place, in `arena`; the whole one with all. It
 * is for engines alone. Micro-batches and weight versions are those that remain, and there are no
 * slots. NULL if the messages of a channel are posted out of order. */
struct pp_program *pp_cut_unfold(struct pp_arena *arena, const struct pp_program *program,
                                 int periods);
/* Returns how many periods to try after `periods` did not suffice: all, if little would be saved.
 */
int pp_cut_more(const struct pp_program *program, int periods);
