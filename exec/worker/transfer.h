/* exec/worker/transfer.h — what workers exchange: messages between two of a replica, collectives
 * over the copies of a stage. */
#pragma once

#include "exec/backend/backend.h"
#include "exec/state/state.h"

#include <stdatomic.h>

struct pp_machine;
struct pp_worker;

/* ---- messages -------------------------------------------------------------------------------- */

/* Description of a message by one side; both must be equal. */
struct pp_header {
    uint64_t program_hash, bytes;
    int32_t step, mb, sequence;
    uint16_t stage;
    uint8_t kind, split, granules;
};
struct pp_message_side {
    int32_t row; /* row of the SEND or RECV, see worker.h */
    void *buffer;
    struct pp_header header;
};
struct pp_machine_message {
    struct pp_machine *machine;
    struct pp_message_side send, recv;
    atomic_int posts;  /* sides posted in this step */
    atomic_int landed; /* without shared memory: 1 for the match, 1 for the bytes */
    int32_t channel;   /* index into `channel_ps` */
    int32_t launch;    /* number on the stream of the channel */
    pp_event_id done;
    size_t bytes;
};

/* ---- exchanges ------------------------------------------------------------------------------- */

/* An exchange of a worker with its group, if its members are on devices of other processes. */
struct pp_worker_exchange {
    struct pp_worker *worker;
    const struct pp_group_exchange *of;
    const void *const *from; /* [members] the parts of all, in the addresses of this process */
};

/* ---- collectives ----------------------------------------------------------------------------- */

/* Sums or gathers `pieces` ranges of all copies. AR: all copies get the sum of the gradients. RS:
 * each gets the elements of that sum that it needs. AG: all get the weights that each updated.
 *
 * If a state keeps only a share, `at` is a whole buffer, and `own` the share. RS then adds what it
 * has summed to the share. AR, of a tied matrix, first moves the share into the buffer, and last
 * the sum into the share. AG begins with a copy of the share in the buffer. */
struct pp_own {
    char *at;            /* first element of `has` */
    struct pp_range has; /* numbered as those of the buffer */
    bool is_blank;       /* nothing has filled the buffer: the sum begins with zeros */
};
struct pp_sum {
    const struct pp_sum_rule *rule;
    bool is_exact;
    size_t element_bytes;
    int copies;
    char **at;  /* [copies] first element */
    int *owner; /* [copies] index of the worker */
    int *group; /* [copies] copies with the same number are summed, or gathered; NULL: all */
    struct pp_range *has; /* [copies] the elements of the vector; NULL: all */
    int pieces;
    struct pp_range piece[2]; /* elements */
    /* Only of RS and AG; NULL with AR. */
    struct pp_range *share; /* [copies] */
    struct pp_range *norm;  /* [copies] for the norm: begins with the share */
    struct pp_own *own;     /* [copies]; NULL: `at` is the state */
    struct pp_range tied;   /* needed by all copies, to add it to another matrix; often empty */
    int *status;            /* enum pp_fixed_status */
    struct pp_sum *next;    /* of other elements and copies, in the same collective; NULL: none */
};

/* Rule of a kind of collective. `exchange` has all copies; `begin` and `end` are of one copy,
 * before and after it, and only called if the sum has `own`. A copy gives and gets some elements of
 * its buffer: `given` and `got` return the number of ranges, at most PP_SUM_RANGES. */
enum { PP_SUM_RANGES = 4 };
typedef void (*pp_sum_step)(const struct pp_kernels *k, void *stream, const struct pp_sum *sum,
                            int copy);
struct pp_sum_rule {
    void (*exchange)(const struct pp_kernels *k, void *stream, const struct pp_sum *sum);
    pp_sum_step begin, end; /* NULL: nothing */
    int (*given)(const struct pp_sum *sum, int copy, struct pp_range *ranges);
    int (*got)(const struct pp_sum *sum, int copy, struct pp_range *ranges);
};
/* Rules by kind, and one between groups: copies sum the ranges that each has, `norm`. */
enum { PP_SUM_OF_SHARES = PP_OP_KINDS };
extern const struct pp_sum_rule pp_sum_rules[];
/* Returns the address of an element of a copy. */
char *pp_sum_at(const struct pp_sum *sum, int copy, int64_t element);
/* Work of a collective whose copies are all here; its argument is a pp_sum. */
void pp_sum_run(const struct pp_kernels *k, void *stream, void *sum);
/* Begin and end of one copy. */
void pp_sum_begin(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int copy);
void pp_sum_end(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int copy);
/* Adds elements of copy `from` to those of copy `to`, or copies them there. */
void pp_sum_add(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int from,
                int to, struct pp_range range);
void pp_sum_copy(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int from,
                 int to, struct pp_range range);

struct pp_machine_collective {
    struct pp_machine *machine;
    struct pp_sum sum;
    int32_t *rows, row_count; /* instructions of all members */
    int32_t *members;         /* [row_count] workers */
    int32_t *before;          /* [row_count] collective of the member that must be over; -1: none.
                               * Those of a worker that use the same share run in order */
    int posts;
    int64_t ps; /* duration by the costs */
    pp_event_id done;
    int32_t stream_of; /* collective on whose stream this one runs: at first itself */
    int launch;        /* number on that stream in this step */
    int launches;      /* launches of this step on this collective's stream */
};
/* First collective of the worker's list, from number `turn` on, that it posts in this pass. */
int pp_collective_turn(const struct pp_worker *w, int turn);
/* First bad enum pp_fixed_status of this process's sums in a step, else PP_FIXED_OK. */
int pp_sums_status(const struct pp_machine *m);
/* Stream of a collective. */
pp_stream_id pp_sum_stream(const struct pp_machine *m, int32_t collective);
