/* traces/from_times.h — a trace from the times of every instruction, as engines and machines keep
 * them. Knows instructions by their numbers and asks for each as a value. */
#pragma once

#include "core/cost/cost.h"
#include "traces/metrics.h"

/* What ran, and when. Everything is read only during the call but `name` and `engine`. */
struct pp_trace_source {
    const char *name; /* of the program */
    uint64_t hash;    /* of the program */
    const char *engine;
    int ranks;
    const int32_t *begin; /* [ranks + 1]: instructions of rank r are begin[r] .. begin[r + 1] - 1 */
    struct pp_op (*op)(const void *program, int instruction);
    const void *program;
    const uint8_t *kind, *aux; /* of every instruction, as op() says; for figures without a trace */
    const int32_t *arg;
    /* cost of a compute op at its place, with the next op if fused; NULL: from costs */
    struct pp_cost (*cost)(const void *program, const struct pp_costs *costs, int instruction,
                           bool is_fused);
    const bool *is_concurrent; /* [instruction]: computed concurrently with the others of its rank;
                                * NULL: none */
    struct pp_op_style style;  /* of cells; slots are not printed */
    const struct pp_costs *costs; /* bytes, and shares of compute ops */
    int replicas, steps;          /* at least 1 */
    /* [(step * instructions + instruction) * replicas + replica]; posted and matched are read where
     * they mean something, NULL where nothing has any */
    const int64_t *start_ps, *end_ps, *posted_ps, *matched_ps;
    const int64_t *latest_ps; /* [step]: latest end; for figures without a trace */
    /* Where one list holds several steps: [instruction] the step it belongs to, and how many there
     * are; `steps` is 1 then. Else NULL. */
    const int *step_of;
    int steps_in_list;
};

/* Shares of a compute op's nominal duration, by its costs. */
struct pp_shares {
    double of[PP_SHARES];
    double forward; /* fused pair: what counts as forward; NAN of others */
};
/* Of an instruction that is op; the first of a pair stands for both. */
struct pp_shares pp_trace_shares(const struct pp_trace_source *source, const struct pp_op *op,
                                 int instruction);

/* In the arena. Both ops of a fused pair share the event of the first. */
struct pp_trace *pp_trace_from_source(struct pp_arena *arena, const struct pp_trace_source *source);
/* What pp_metrics_compute() says of that trace, to the bit, without making it. Reads neither posted
 * nor matched; `name`, `hash` and `engine` are not needed. In traces/metrics_source.c. */
enum pp_status pp_metrics_from_source(struct pp_arena *arena, const struct pp_trace_source *source,
                                      struct pp_metrics *metrics, struct pp_error *err);
