/* exec/transport/nccl.h — a process's part in messages and sums by NCCL: private to nccl*.c. */
#pragma once

#include "exec/nccl/nccl.h"
#include "exec/transport/parts.h"

/* Parts of a collective, as operations of its group on the first copy of this process. */
struct nccl_pieces {
    struct pp_nccl_piece *at;
    int count, capacity;
};
struct nccl_sum {
    struct pp_machine *m;
    struct pp_sum here;        /* copies of this process */
    int group;                 /* -1: no other processes */
    int kind;                  /* of the collective */
    int processes;             /* of the group */
    struct nccl_pieces summed; /* AR: for all; RS: for the copy that updates each */
    struct nccl_pieces given;  /* RS: pieces that others need, too; AG: updated weights */
};

/* State of the transport: pp_tcp_above(), NULL before all processes have met. */
struct pp_nccl_run {
    const struct pp_nccl_calls *calls;
    struct pp_nccl_plan plan;
    struct pp_nccl *nccl;  /* NULL: not open */
    struct nccl_sum *sums; /* [collective] */
    int failed_looks;
};

/* nccl_sums.c: plans a process's part in a collective of `group` (-1: none), and runs it. */
struct nccl_sum pp_nccl_plan_sum(struct pp_machine *m, int collective, int group);
void pp_nccl_sum_run(const struct pp_kernels *k, void *stream, void *sum);
