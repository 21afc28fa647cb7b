/* exec/machine/sum.h — collectives over the copies of a stage: which vectors, who gives and gets
 * which ranges of elements. */
#pragma once

#include "exec/backend/backend.h"
#include "exec/stage/state.h"

struct pp_machine;

/* `pieces` ranges of the vectors of all copies. AR: all copies get the sum of the gradients. RS:
 * each copy gets what it needs of that sum. AG: all copies get the weights that each has updated.
 */
struct pp_sum {
    const struct pp_sum_rule *rule;
    bool is_exact;
    size_t element_bytes;
    int copies;
    char **at;  /* [copies] first element */
    int *owner; /* [copies] worker */
    int pieces;
    struct pp_range piece[2]; /* elements */
    /* RS and AG; NULL with AR */
    struct pp_range *share; /* [copies] */
    struct pp_range *norm;  /* [copies] what the norm needs, from the share on */
    struct pp_range tied;   /* what all copies need, to add it to another matrix; often empty */
    int *status;            /* enum pp_fixed_status */
};

/* Of a kind of collective: the work, whose argument is a pp_sum; the elements that a copy gives and
 * gets. Both return the number of ranges, at most PP_SUM_RANGES. */
enum { PP_SUM_RANGES = 4 };
struct pp_sum_rule {
    pp_backend_work run;
    int (*given)(const struct pp_sum *sum, int copy, struct pp_range *ranges);
    int (*got)(const struct pp_sum *sum, int copy, struct pp_range *ranges);
};
extern const struct pp_sum_rule pp_sum_rules[];                       /* [kind] */
void pp_sum_run(const struct pp_kernels *k, void *stream, void *sum); /* run of AR */
/* Adds the gradients of copy `from` to those of copy `to`; the same elements, copied. */
void pp_sum_add(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int from,
                int to, struct pp_range range);
void pp_sum_copy(const struct pp_kernels *k, void *stream, const struct pp_sum *sum, int from,
                 int to, struct pp_range range);

struct pp_machine_collective {
    struct pp_sum sum;
    int32_t *rows, row_count; /* of all members */
    int32_t *members;         /* [row_count] workers */
    int posts;
    int64_t ps; /* duration */
    pp_event_id done;
    int32_t stream_of; /* the collective on whose stream this one runs: at first its own */
    int launch;        /* its number on that stream in this step */
    int launches;      /* of this step on the stream of this collective */
};
/* enum pp_fixed_status of the sums that this process has made in a step: the first that is bad. */
int pp_sums_status(const struct pp_machine *m);
/* The stream on which a collective runs. */
pp_stream_id pp_sum_stream(const struct pp_machine *m, int32_t collective);
