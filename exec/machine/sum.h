/* exec/machine/sum.h — collectives over the copies of a stage: vectors and ranges. */
#pragma once

#include "exec/backend/backend.h"
#include "exec/stage/state.h"

struct pp_machine;

/* Sums or gathers `pieces` ranges of all copies. AR: all copies get the sum of the gradients. RS:
 * each gets the elements of that sum that it needs. AG: all get the weights that each updated. */
struct pp_sum {
    const struct pp_sum_rule *rule;
    bool is_exact;
    size_t element_bytes;
    int copies;
    char **at;  /* [copies] first element */
    int *owner; /* [copies] index of the worker */
    int pieces;
    struct pp_range piece[2]; /* elements */
    /* Only of RS and AG; NULL with AR. */
    struct pp_range *share; /* [copies] */
    struct pp_range *norm;  /* [copies] for the norm: begins with the share */
    struct pp_range tied;   /* needed by all copies, to add it to another matrix; often empty */
    int *status;            /* enum pp_fixed_status */
};

/* Rule of a kind of collective: its work, whose argument is a pp_sum, and the elements that a copy
 * gives and gets. `given` and `got` return the number of ranges, at most PP_SUM_RANGES. */
enum { PP_SUM_RANGES = 4 };
struct pp_sum_rule {
    pp_backend_work run;
    int (*given)(const struct pp_sum *sum, int copy, struct pp_range *ranges);
    int (*got)(const struct pp_sum *sum, int copy, struct pp_range *ranges);
};
extern const struct pp_sum_rule pp_sum_rules[];                       /* [kind] */
void pp_sum_run(const struct pp_kernels *k, void *stream, void *sum); /* `run` of AR */
/* Adds elements of copy `from` to those of copy `to`, or copies them there. */
void pp_sum_add(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int from,
                int to, struct pp_range range);
void pp_sum_copy(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int from,
                 int to, struct pp_range range);

struct pp_machine_collective {
    struct pp_sum sum;
    int32_t *rows, row_count; /* instructions of all members */
    int32_t *members;         /* [row_count] workers */
    int posts;
    int64_t ps; /* duration by the costs */
    pp_event_id done;
    int32_t stream_of; /* collective on whose stream this one runs: at first itself */
    int launch;        /* number on that stream in this step */
    int launches;      /* launches of this step on this collective's stream */
};
/* First bad enum pp_fixed_status of this process's sums in a step, else PP_FIXED_OK. */
int pp_sums_status(const struct pp_machine *m);
/* Stream of a collective. */
pp_stream_id pp_sum_stream(const struct pp_machine *m, int32_t collective);
