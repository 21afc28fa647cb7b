/* schedules/order/schedule.h — a schedule: a placement plus exactly one order rule.
 *
 * A schedule is a pure function of its shape. Passes in schedules/lower add communication and
 * memory. To add one: write one file, add one row to rows.h, one line to schedules/meson.build
 * (docs/add-a-schedule.md shows an example that a test builds). */
#pragma once

#include "core/arena.h"
#include "core/cli/options.h"
#include "core/cost/cost.h"
#include "core/cost/tool.h"
#include "core/error.h"
#include "core/op.h"
#include "schedules/order/options.h"
#include "schedules/program/lists.h"
#include "schedules/program/placement.h"
#include "schedules/program/shape.h"

#include <stdbool.h>
#include <stdint.h>

/* Sizes of a program, beyond ranks and micro-batches, that a schedule lets the user choose. A size
 * or option that the schedule lacks is refused, but ignored from a preset or for a list of
 * schedules. */
enum pp_shape_size {
    PP_SIZE_CHUNKS = 1 << 0,    /* --vp */
    PP_SIZE_SPLITS = 1 << 1,    /* --splits */
    PP_SIZE_PIPELINES = 1 << 2, /* --pipelines */
    PP_SIZE_GRANULES = 1 << 3,  /* for backwards of half a micro-batch; options choose */
};

/* A schedule is a row, struct pp_schedule below. Its order comes from exactly one of three rules:
 *
 *   .phases    appends patterns of ops to each rank's list: warm-up, steady state, cool-down
 *   .key       gives each op a number; a rank runs its ops by ascending numbers
 *   .generate  returns all lists, for an order that comes from a search
 *
 * Lists of .phases and .key repeat: of many micro-batches, those of a few stand for those of all.
 * A test holds each row to it. Lists of .generate may do without what repeats, too (shape->least,
 * out->left_out).
 *
 * A schedule that is no row, but comes from outside, has .programs instead. */

/* For .phases: appends `times` repetitions of `pattern` to the rank's list (none if `times` is
 * below 1). A pattern is read left to right.
 *
 *   "F" next forward, "B" full backward, "I" input gradient, "W" oldest pending weight gradient
 *   "F1", "W0" are those of one chunk
 *   "F+B" is one overlapped op; when no F or no B is left, it is the other one alone
 *
 * An op of which none is left is skipped. On a two-way placement the number counts pipelines first,
 * pipeline * chunks + chunk.
 *
 * The next op of a chunk is that of its next micro-batch, splits ascending in F and descending in
 * B. Ops without a number follow .next of the schedule. Without .next, --group micro-batches (all
 * if not given) go through all chunks, B from the last to the first, then the next group. A rank's
 * list uses numbers or not, never both for one kind. */
struct pp_phases;
void pp_phase(struct pp_phases *out, int times, const char *pattern);
struct pp_schedule_work { /* chunk, micro-batch and split of one F or B */
    int chunk, mb, split;
};

/* For .key: a rank runs its ops by ascending key. The rule gives a key at every stage of every
 * pipeline, for the B of each granule and the F of each micro-batch. F names its first granule. */
struct pp_key_op {
    int kind; /* PP_F or PP_B */
    int stage, pipeline;
    int index; /* of the granule within its pipeline: 0, 1, ... */
    int mb;    /* id of the granule; of an F, its first */
};

/* One of the orders that `auto` compares: a value of an option, and its effect on a shape. */
struct pp_schedule_variant {
    const char *option, *value; /* "concat", "doubling" */
    int number;                 /* of the value */
    void (*choose)(struct pp_shape *shape, int number);
};

/* A training framework's name of a schedule: "torchtitan", "Interleaved1F1B". */
struct pp_schedule_call {
    const char *tool, *name;
    bool (*is_same)(const struct pp_shape *shape); /* then runs this order; NULL = always */
};
#define PP_CALLS(...)                                                                              \
    (const struct pp_schedule_call[])                                                              \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, NULL, NULL                                                                       \
        }                                                                                          \
    }

/* A figure by formula. `value` returns NAN where the formula does not hold. All zero: no formula is
 * known, and tests only compare engines. */
struct pp_closed_form {
    const char *text; /* "(D-1)/(N+D-1)"; set if and only if `value` is */
    bool is_exact;    /* equals the evaluator wherever `value` is not NAN; else approximate */
    double (*value)(const struct pp_shape *shape, const struct pp_unit_costs *unit, int rank);
};

/* Orders from outside, as compute-only programs that are legal: those of files or of a command. A
 * program may have any placement, which PP_PLACE_FILE stands for, splits, pipelines and granules.
 */
struct pp_program;
struct pp_schedule_programs {
    void *context;
    int chunks; /* usual V; 0 = as many as the program has */
    /* Returns the program of a shape's ranks, chunks (0 = any), micro-batches, splits, pipelines
     * and options. It is valid until the next call. The same shape gets the same program. */
    enum pp_status (*of)(const struct pp_schedule_programs *programs, const struct pp_shape *shape,
                         const struct pp_program **program, struct pp_error *err);
};

/* An alias that means the schedule with one of its options: a row of a list that ends with NULL. */
enum { PP_SPLITS_AT = PP_SHAPE_OPTIONS }; /* --splits, as an option of a namesake */
struct pp_schedule_namesake {
    const char *alias;
    int option, value; /* where the option is not given */
};

/* A row needs a name, a summary, a rule, a placement and one of the three order rules. All other
 * fields may be left out. */
struct pp_schedule {
    const char *name;
    const char *summary;                          /* half a line */
    const char *rule;                             /* the order in at most two lines */
    const char *when;                             /* when to use it, one line; may be NULL */
    const char *source;                           /* paper and section; may be NULL */
    const char *const *aliases;                   /* PP_NAMES(), or NULL */
    const struct pp_schedule_namesake *namesakes; /* of aliases; or NULL */
    const struct pp_schedule_call *calls;         /* PP_CALLS(); NULL = no framework has it */
    enum pp_placement_kind placement;
    int chunks;     /* fixed V; 0 = --vp chooses (default 2) */
    unsigned sizes; /* PP_SIZE_* */
    const struct pp_schedule_option *options[PP_SHAPE_OPTIONS]; /* its own; NULL ends */
    bool is_simulated_only;
    bool is_forward_only; /* it generates: V counts passes through the model, in one pipeline */
    bool splits_backward; /* some backwards are an I and, later, a W: lower bounds depend on it */
    bool has_pairs;       /* some ops are F+B, overlapped */
    /* Number of steps and barrier outside of unit mode, unless --steps and --step-barrier are
     * given. 0 or 1 steps: one step between two barriers. */
    int default_steps;
    bool is_barrier_free;
    /* Asynchronous schedules, simulated only. Continuous: steps without a barrier are one long list
     * (shape->steps), not a list that is run again. Each chunk is updated after every backward, or
     * else once a step, at once after its last backward. `version`: index of the weights that a
     * micro-batch uses on a rank, among those alive (below 255); NULL = always 0. */
    bool is_continuous, updates_each_backward;
    int (*version)(const struct pp_shape *shape, int rank, int mb);

    const char *limits; /* in words: "D even, N a multiple of D or less than D" */
    /* Refuses a shape: PP_EINVAL with the fault and the nearest legal values. May be NULL.
     * pp_schedule_check() has already refused shapes that are illegal for every schedule. */
    enum pp_status (*accepts)(const struct pp_shape *shape, struct pp_error *err);
    /* Fills options left at 0 (group, ...). May be NULL. */
    void (*defaults)(struct pp_shape *shape);

    /* Exactly one of the three is set. */
    void (*phases)(const struct pp_shape *shape, int rank, struct pp_phases *out);
    int64_t (*key)(const struct pp_shape *shape, const struct pp_key_op *op);
    enum pp_status (*generate)(struct pp_arena *arena, const struct pp_shape *shape,
                               const struct pp_costs *costs, struct pp_orders *out,
                               struct pp_error *err);

    const struct pp_schedule_programs *programs; /* in place of the three; NULL for every row */

    /* Returns the choices of a shape with `auto`, in order of preference, ended by an option of
     * NULL. NULL if nothing is open. May be NULL. */
    const struct pp_schedule_variant *(*variants)(const struct pp_shape *shape);

    /* Pipeline of a micro-batch; NULL = all in pipeline 0. */
    int (*pipeline_of)(const struct pp_shape *shape, int mb);
    /* For .phases: work of the k-th F or B (enum pp_direction) of any rank; NULL = groups. */
    struct pp_schedule_work (*next)(const struct pp_shape *shape, int direction, int k);
    struct pp_closed_form bubble_frac; /* of the makespan, equal stages, no communication */
    struct pp_closed_form peak;        /* peak chunk activations of a rank */
};

/* Fills fields that are 0 (chunks, splits, granules, pipelines, options and .defaults), then
 * refuses a shape that does not fit. Refused are sizes below 1, or beyond 65,535 stages, 2^26
 * stages of all pipelines, 2^24 ops per rank or 2^26 ops in all. So are sizes that the schedule
 * does not have, pipelines that do not divide, and shapes refused by .accepts. A shape with
 * variants is accepted if one of them is; the reason of a refusal is that of the first. */
enum pp_status pp_schedule_check(const struct pp_schedule *schedule, struct pp_shape *shape,
                                 struct pp_error *err);

/* Returns the names that `tool` gives the schedule, or NULL if it does not have it. */
const struct pp_schedule_call *pp_schedule_called(const struct pp_schedule *schedule,
                                                  const char *tool);

/* Is true for the order of one pipeline with a flush, in whole ops, on a loop or a V. Files that
 * frameworks read hold such orders. */
bool pp_schedule_is_list(const struct pp_schedule *schedule, const struct pp_shape *shape);

/* Is true if training software (core/cost/tool.h; NULL = any) runs this order: by name, or from a
 * file. `shape` NULL: for any shape. */
bool pp_schedule_runs_in(const struct pp_schedule *schedule, const struct pp_shape *shape,
                         const struct pp_tool *tool);
/* Returns the schedules that the software has by name: "1f1b, interleaved". */
const char *pp_schedules_of(struct pp_arena *arena, const struct pp_schedule *const *schedules,
                            const struct pp_tool *tool);

const struct pp_schedule_variant *pp_schedule_variants(const struct pp_schedule *schedule,
                                                       const struct pp_shape *shape);

/* Returns rank_of[pipeline * stages + stage] of a shape that pp_schedule_check() has accepted. */
const uint16_t *pp_schedule_ranks(struct pp_arena *arena, const struct pp_schedule *schedule,
                                  const struct pp_shape *shape);
/* Returns the number of micro-batches of each pipeline of such a shape. */
const int *pp_schedule_pipes(struct pp_arena *arena, const struct pp_schedule *schedule,
                             const struct pp_shape *shape);

/* Returns the lists of such a shape, with its maps for a program: pp_schedule_ranks(), and
 * pipe_of[granule]. */
struct pp_order_maps {
    const uint16_t *rank_of;
    uint16_t *pipe_of;
};
enum pp_status pp_schedule_orders(struct pp_arena *arena, const struct pp_schedule *schedule,
                                  const struct pp_shape *shape, const struct pp_costs *costs,
                                  struct pp_orders **orders, struct pp_order_maps *maps,
                                  struct pp_error *err);

/* Checks the shape, then returns the lists of its compute-only program and its head. They are for
 * fewer micro-batches if the shape allows it and the others repeat (`left_out`). `costs` may be
 * NULL for schedules that do not search. A shape that leaves a choice open is PP_EINVAL. */
struct pp_program_head;
enum pp_status pp_schedule_lists(struct pp_arena *arena, const struct pp_schedule *schedule,
                                 const struct pp_shape *shape, const struct pp_costs *costs,
                                 struct pp_orders **orders, struct pp_program_head *head,
                                 struct pp_error *err);

/* Sets the weight versions of lists of a shape, and returns their number. At least 2 means that
 * updates come without a flush. */
int pp_schedule_set_versions(const struct pp_schedule *schedule, const struct pp_shape *shape,
                             struct pp_orders *orders);

/* Returns the micro-batches of a chunk between two of its updates, for steps of `micro_batches`. 0
 * for a schedule that updates once at the end of a step, and for NULL (a program file). */
int pp_schedule_update_every(const struct pp_schedule *schedule, int micro_batches);

/* Returns the compute-only program of a schedule: the lists of pp_schedule_lists(), frozen. */
enum pp_status pp_schedule_program(struct pp_arena *arena, const struct pp_schedule *schedule,
                                   const struct pp_shape *shape, const struct pp_costs *costs,
                                   struct pp_program **program, struct pp_error *err);
