/* exec/transport_nccl.h — what a process knows of its part in messages and sums by NCCL: private to
 * exec/transport_nccl*.c. */
#ifndef PP_EXEC_TRANSPORT_NCCL_H
#define PP_EXEC_TRANSPORT_NCCL_H

#include "exec/nccl_calls.h"
#include "exec/tcp.h"

/* What an operation needs to know when it is issued. */
struct nccl_message {
    struct pp_machine *m;
    const struct pp_machine_message *message;
    bool is_send;
};
struct nccl_sum {
    struct pp_machine *m;
    struct pp_sum here; /* the copies of this process */
    int group;          /* -1: there are no others */
};

struct pp_nccl_run {
    const struct pp_nccl_calls *calls;
    struct pp_nccl_plan plan;
    struct pp_nccl *nccl;          /* NULL: not open */
    struct nccl_message *messages; /* [message * replicas + replica], of this process */
    struct nccl_sum *sums;         /* [collective], likewise */
    int failed_looks;
};

/* Channels and groups of the plan, messages and sums. PP_EINVAL: a collective that is no AR. */
enum pp_status pp_nccl_plan_lines(struct pp_machine *m, struct pp_nccl_run *run,
                                  struct pp_error *err);

#endif
