/* exec/transport/nccl.h — what a process knows of its part in messages and sums by NCCL: private to
 * the files nccl*.c. */
#pragma once

#include "exec/nccl/nccl.h"
#include "exec/transport/parts.h"

/* Of a collective, as operations of its group on the first copy of this process. */
struct nccl_pieces {
    struct pp_nccl_piece *at;
    int count, capacity;
};
struct nccl_sum {
    struct pp_machine *m;
    struct pp_sum here;        /* the copies of this process */
    int group;                 /* -1: there are no others */
    int kind;                  /* of the collective */
    int processes;             /* of the group */
    struct nccl_pieces summed; /* AR: for all; RS: each for the copy that updates it */
    struct nccl_pieces given;  /* RS: of these, what others need as well; AG: what has changed */
};

/* pp_tcp_above(); NULL before all processes have met. */
struct pp_nccl_run {
    const struct pp_nccl_calls *calls;
    struct pp_nccl_plan plan;
    struct pp_nccl *nccl;  /* NULL: not open */
    struct nccl_sum *sums; /* [collective], of this process */
    int failed_looks;
};

/* nccl_sums.c: what a collective is to do, of which `group` (-1: none) is a group; that,
 * as work on a stream. */
struct nccl_sum pp_nccl_plan_sum(struct pp_machine *m, int collective, int group);
void pp_nccl_sum_run(const struct pp_kernels *k, void *stream, void *sum);
