/* schedules/build/cut_zones.h — the parts of lists that repeat, and how much of them to leave out.
 * Private to the cut. */
#pragma once

#include "schedules/build/cut.h"

enum { PP_CUT_MOST_ZONES = 16 }; /* of a rank */
/* A key is what a rank does for a chunk: forward, backward, and the weight gradient of a split
 * backward. */
enum { PP_CUT_FORWARD, PP_CUT_BACKWARD, PP_CUT_WEIGHTS, PP_CUT_TYPES };

/* A part of a list that repeats: op i does the same as op i - length, for a micro-batch that is one
 * period later. */
struct pp_cut_zone {
    int first, end, length;
    int at;   /* first op that is left out */
    int step; /* of a list that has several */
};

struct pp_cut_rank {
    int count, zones;
    const struct pp_op *ops;
    int *key, *index; /* [position]: what is done, and place of its micro-batch in the pipeline */
    int chunks;
    int *place; /* [key * micro_batches + index]: position */
    struct pp_cut_zone zone[PP_CUT_MOST_ZONES];
};

struct pp_cut_search {
    struct pp_arena *arena;
    const struct pp_program_head *head;
    const int *index_of; /* [micro-batch] */
    int each, steps;     /* micro-batches of a pipeline, and the steps that share them */
    int more;            /* micro-batches of the whole that the lists lack */
    int period, periods; /* micro-batches of a period, and periods that are left out */
    int left_out;
    struct pp_cut_rank *ranks;
};

/* Finds the zones of all ranks, and chooses what each leaves out. `arena`, `head`, `steps` and
 * `more` are given. False if no pattern repeats on all ranks, or too little would be left out. */
bool pp_cut_find(struct pp_cut_search *s, const struct pp_orders *lists);
