/* exec/transport/gpu.h — transports between GPUs: what carries messages, and what carries sums.
 * Private to gpu*.c, ipc.c and nccl*.c. */
#pragma once

#include "exec/backend/ipc.h"
#include "exec/nccl/nccl.h"
#include "exec/transport/parts.h"

struct pp_nccl_run;
struct pp_ipc_run;
struct pp_carrier;
enum pp_gpu_way { PP_WAY_NCCL, PP_WAY_IPC, PP_WAY_IPC_NCCL, PP_WAYS };
/* State of these transports, above that of tcp; NULL before all processes have met. A carrier's
 * part is NULL unless it is open. */
struct pp_gpu_run {
    const struct pp_transport *const *ways;   /* [PP_WAYS] */
    const struct pp_carrier *messages, *sums; /* may be the same */
    struct pp_nccl_place *places;             /* [process]; empty without NCCL */
    struct pp_nccl_run *nccl;
    struct pp_ipc_run *ipc;
    int failed_looks;
};
static inline struct pp_gpu_run *pp_gpu_of(const struct pp_machine *m)
{
    const struct pp_tcp *t = pp_tcp_of(m);

    return t ? t->above : NULL;
}

/* A way from GPU to GPU, for messages, sums, or both. */
struct pp_carrier {
    /* Plans and opens what it carries in this run; all processes call it. PP_EFAIL in any. */
    enum pp_status (*open)(struct pp_machine *m, struct pp_error *err);
    pp_backend_work message, sum; /* of a pp_machine_message, of a pp_machine_collective */
};
extern const struct pp_carrier pp_carrier_nccl, pp_carrier_ipc;

/* gpu_way.c: finds places and carriers, maybe of another way. Opens IPC, or leaves its part to NCCL
 * if GPUs do not reach each other. Both change the way only if the run may choose. PP_EFAIL: no way
 * is open. */
enum pp_status pp_gpu_find_way(struct pp_machine *m, struct pp_error *err);
enum pp_status pp_gpu_open_ipc(struct pp_machine *m, struct pp_error *err);

/* ipc.c: ends waits of all streams; unmaps memory of others, after a good run. */
void pp_ipc_give_up(const struct pp_machine *m);
enum pp_status pp_ipc_leave(const struct pp_machine *m, struct pp_error *err);
bool pp_ipc_is_mapped(const struct pp_machine *m); /* opened, and has not left */

/* ---- nccl.c, nccl_sums.c --------------------------------------------------------------------- */

/* Communicators of this process at most. With messages its worker has one for each channel. Sums
 * have at most one for each of its chunks, and one for the tied matrix. */
int pp_nccl_communicators(const struct pp_machine *m, bool has_messages);
/* Multiprocessors that waiting messages by NCCL may occupy, in the process with the most. */
int pp_nccl_held_multiprocessors(const struct pp_machine *m);

/* Parts of a collective, as operations of its group on the first copy of this process. */
struct nccl_pieces {
    struct pp_nccl_piece *at;
    int count, capacity;
};
struct nccl_sum {
    const struct pp_machine_collective *of;
    struct pp_sum all;                   /* copies that sum with those of this process */
    struct pp_sum here;                  /* copies of this process */
    const struct pp_nccl_group *members; /* NULL: no other processes */
    int group;                           /* -1: no other processes */
    struct nccl_pieces summed;           /* AR: for all; RS: for the copy that updates each */
    struct nccl_pieces given;            /* RS: pieces that others need, too; AG: updated weights */
    struct nccl_sum *next; /* of other elements and copies, as in struct pp_sum; NULL: none */
};

/* Its part in a run. */
struct pp_nccl_run {
    struct pp_nccl_plan plan;
    struct pp_nccl *nccl;
    int first_group;   /* that of rank 0 and replica 0, of devices that share each block */
    int first_of_rows; /* likewise, of replicas that share experts; see pp_nccl_group_of_rows() */
    void *room;        /* on the device, for the parts of all members of a group */
    struct nccl_sum *sums; /* [collective]; NULL: others carry them */
};

/* nccl_groups.c: plan the groups of devices that share each block, and of replicas that share
 * experts; the bytes of their room, and its memory. */
void pp_nccl_plan_groups(struct pp_machine *m, struct pp_nccl_run *run,
                         struct pp_nccl_group *groups);
size_t pp_nccl_room_bytes(const struct pp_machine *m);
enum pp_status pp_nccl_open_groups(struct pp_machine *m, struct pp_nccl_run *run,
                                   struct pp_error *err);
/* nccl_rows.c: exchanges rows of experts; the room that this takes; its groups, and their number.
 */
void pp_nccl_exchange_rows(const struct pp_kernels *k, void *stream,
                           const struct pp_worker_exchange *exchange);
size_t pp_nccl_rows_bytes(const struct pp_machine *m);
int pp_nccl_plan_rows(struct pp_machine *m, struct pp_nccl_group *groups);
int pp_nccl_group_of_rows(const struct pp_worker *w); /* of them */
/* Issues an operation of the group of a worker in an exchange. */
void pp_nccl_issue_exchange(const struct pp_worker_exchange *exchange, void *stream,
                            struct pp_nccl_operation operation);
/* Work of groups: see struct pp_transport. */
void pp_nccl_exchange(const struct pp_kernels *k, void *stream, void *exchange);
void pp_ipc_meet(const struct pp_kernels *k, void *stream, void *worker);
void pp_ipc_exchange(const struct pp_kernels *k, void *stream, void *exchange);
/* Exchange rows of experts alone. All else goes by NCCL, which needs no meeting. */
void pp_ipc_meet_for_rows(const struct pp_kernels *k, void *stream, void *worker);
void pp_ipc_exchange_rows(const struct pp_kernels *k, void *stream, void *exchange);

/* nccl_members.c: returns the number of this process's group in a sum of a collective, whose copies
 * have groups, or are not those of all members. -1: it is alone. Adds all groups to the plan. */
int pp_nccl_find_group(struct pp_machine *m, int collective, const struct pp_sum *sum,
                       struct pp_nccl_run *run, struct pp_nccl_group *groups);
int pp_nccl_most_groups(const struct pp_machine *m); /* that these add */
/* Returns the copies of this process's group; all, if a collective has no groups. */
struct pp_sum pp_nccl_own_copies(const struct pp_machine *m, const struct pp_sum *sum);

/* nccl_sums.c: plans a process's part in a sum of `group` (-1: none), and runs a collective. */
struct nccl_sum pp_nccl_plan_sum(const struct pp_machine_collective *collective,
                                 const struct pp_sum *sum, const struct pp_nccl_group *groups,
                                 int group);
void pp_nccl_sum_run(const struct pp_kernels *k, void *stream, void *collective);
