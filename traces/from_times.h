/* traces/from_times.h — a trace from the times of every instruction, which engines and machines
 * keep. Instructions have numbers; op() returns them as values. */
#pragma once

#include "core/cost/cost.h"
#include "traces/metrics.h"

struct pp_program_cut;

enum { PP_TRACE_CELL_BYTES = 2 * PP_OP_TEXT_BYTES + 16 };

/* A run: instructions and their times. Only its texts must outlive the call. */
struct pp_trace_source {
    const char *name; /* name of the program */
    uint64_t hash;    /* hash of the program */
    const char *engine;
    const char *time_unit; /* of the trace; NULL: seconds */
    int ranks;
    const int32_t *begin; /* [ranks + 1]: instructions of rank r are begin[r] .. begin[r + 1] - 1 */
    struct pp_op (*op)(const void *program, int instruction);
    const void *program;
    /* Columns of the instructions, as in op(); for figures without a trace. */
    const uint8_t *kind, *aux, *split, *granules, *purpose;
    const uint16_t *stage;
    const int32_t *arg;
    /* cost of a compute op at its place, with the next op if fused; NULL: from costs */
    struct pp_cost (*cost)(const void *program, const struct pp_costs *costs, int instruction,
                           bool is_fused);
    const bool *is_concurrent;    /* [instruction]: concurrent with compute of its rank; or NULL */
    struct pp_op_style style;     /* style of cells; slots are not printed */
    const struct pp_costs *costs; /* bytes, and shares of compute ops */
    int replicas, steps;          /* at least 1 */
    /* [(step * instructions + instruction) * replicas + replica]; posted and matched may be NULL,
     * and are read only for ops that have them */
    const int64_t *start_ps, *end_ps, *posted_ps, *matched_ps;
    /* Likewise, of compute ops: their measured time in exchanges of tensor parallelism and of
     * experts. Other shares then divide the rest of an op. NULL: as the costs say. Both or none.
     * Only a trace with a table has them. */
    const int64_t *tp_ps, *ep_ps;
    /* [message] its SEND and RECV: without matched_ps, the later post of both; or NULL */
    const int32_t (*sides)[2];
    const int64_t *latest_ps; /* [step] latest end; for figures without a trace */
    /* Steps of instructions, and their number, if a list has several (`steps` is 1); else NULL. */
    const int *step_of;
    int steps_in_list;
    /* Periods that the list leaves out, for figures without a trace. Times are those of the whole
     * list, in which an instruction comes as much later in each of them. NULL: none. */
    const struct pp_program_cut *cut;
};

/* Shares of a compute op's nominal duration, by its costs. */
struct pp_shares {
    double of[PP_SHARES];
    double forward; /* share of a fused pair's forward; NAN of other ops */
};
/* Shares of instruction `instruction`, which is `op`; the first of a pair stands for both. */
struct pp_shares pp_trace_shares(const struct pp_trace_source *source, const struct pp_op *op,
                                 int instruction);

/* Makes a trace in the arena. Both ops of a fused pair share the event of the first. */
struct pp_trace *pp_trace_from_source(struct pp_arena *arena, const struct pp_trace_source *source);
/* Makes the same trace without its table (traces/events.h). Keeps the source by reference. */
struct pp_trace *pp_trace_of_source(struct pp_arena *arena, const struct pp_trace_source *source);
/* The rank and the op of a row of the times. */
int pp_trace_source_rank(const struct pp_trace_source *source, int row);
static inline struct pp_op pp_trace_source_op(const struct pp_trace_source *source, int row)
{
    return source->op(source->program, row / source->replicas % source->begin[source->ranks]);
}
/* The event of a row of the times; its cell is printed into `cell`, or is NULL without it. It has
 * neither shares nor `waits_for`. */
struct pp_trace_event pp_trace_source_event(const struct pp_trace_source *source, int row,
                                            char cell[PP_TRACE_CELL_BYTES]);
/* Figures of pp_metrics_compute() for that trace, equal to the bit, without making it. Reads
 * neither posted nor matched; needs no `name`, `hash` and `engine`. In traces/metrics_source.c. */
enum pp_status pp_metrics_from_source(struct pp_arena *arena, const struct pp_trace_source *source,
                                      struct pp_metrics *metrics, struct pp_error *err);
