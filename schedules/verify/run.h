/* schedules/verify/run.h — state of verify's execution, shared with its deadlock report. */
#pragma once

#include "schedules/verify/parts.h"

struct pp_verify_run {
    struct pp_verify *v;
    const struct pp_program *p;
    int done; /* instructions executed */
    bool *is_done;
    int *next; /* [rank] next instruction */

    int *stack, depth; /* ranks to visit, each once */
    bool *is_waiting;

    int *channel_of;      /* [message] */
    int *sent, *received; /* [channel] posts so far */

    int *reduce;         /* posted collectives of rank r from begin[r]: front[r] .. posted[r]-1 */
    int *front, *posted; /* [rank] */
    bool *is_counted;    /* [rank] the front one has been added to `arrived` */
    int *arrived;        /* [collective] members that have it at the front */
    bool *is_summed;     /* [collective] */
    int *todo;           /* ranks whose front has changed */
    bool *is_todo;

    int barrier, at_barrier; /* barriers passed by all; ranks waiting at the next */
    int *bars;               /* [rank] barriers passed */
    bool *is_at_barrier;
};

int pp_verify_run_lacks(const struct pp_verify_run *run, int i);
enum pp_status pp_verify_deadlock(struct pp_verify_run *run);
