/* schedules/evaluate/eval.h — internals of the evaluator: the graph of a program, its compiled
 * form, the kernels. Private to this folder and its tests; other folders include evaluate.h.
 *
 *   program -> struct pp_graph (graph.c, compute.c): nodes t = max(inputs) + duration, unsorted
 *   graph -> struct pp_eval (order.c, code.c): nodes in topological order, values in few slots
 *   struct pp_eval -> times (run.c, kernels.c): lanes of replicas, block by block */
#pragma once

#include "schedules/evaluate/evaluate.h"

/* ---- graph ----------------------------------------------------------------------------------- */

enum pp_node_type {
    PP_NODE_STEP,  /* one replica by itself: max of at most three inputs, plus a duration */
    PP_NODE_ENTRY, /* one replica by itself: a value of the previous step, time zero in the first */
    PP_NODE_MEET,  /* all replicas together: max of any number of inputs over all lanes */
};
enum { PP_STEP_INPUTS = 3, PP_NO_OWNER = -1 };
/* Source of a node's duration. */
enum pp_node_price {
    PP_PRICE_NONE,    /* nothing, it lasts no time */
    PP_PRICE_COMPUTE, /* its owner, and the other op of a fused pair */
    PP_PRICE_MESSAGE, /* the message of its owner, a SEND */
    PP_PRICE_OWN,     /* its owner, which is not compute */
    PP_PRICE_SUM,     /* the collective of its owner */
};

struct pp_node {
    int32_t in[PP_STEP_INPUTS]; /* STEP: nodes, 0 = time zero. MEET: first input, inputs, number of
                                 * its ring (from 1; 0 = no late member changes its duration) */
    int32_t owner;              /* instruction it belongs to, or PP_NO_OWNER */
    int64_t ps;                 /* duration; for a ring, if all start together */
    uint8_t type;               /* enum pp_node_type */
    bool is_compute;            /* jitter and slow devices apply */
    uint8_t numerator, denominator; /* STEP: share of ps that passes, 0 of 0 = all */
    uint8_t price;                  /* enum pp_node_price */
};

/* The hops of a collective around a ring whose hops differ. After `steps` steps of now[i] =
 * max(now[i], now[i - 1]) + hop[i] the last position is done. With equal hops that is the latest
 * start plus the steps, without a ring. */
struct pp_ring_plan {
    int positions, steps;
    const int64_t *hop_ps;  /* [position] */
    const int32_t *input;   /* [position]: input of the meet for its rank */
    const int32_t *replica; /* [position] */
    int32_t start;          /* node: all members are ready */
};
/* Computes the duration of collective c and, if its hops differ, its ring. Its `posts` members post
 * in ascending order of their ranks. False if it does not use a ring. */
bool pp_ring_plan(struct pp_arena *arena, const struct pp_costs *costs,
                  const struct pp_collective *c, int posts, struct pp_ring_plan *ring, int64_t *ps);

/* Node 0 is time zero. */
struct pp_graph {
    struct pp_arena *arena, *eval_arena; /* eval_arena outlives the graph */
    const struct pp_program *program;
    const struct pp_costs *costs;
    const struct pp_eval_options *options;
    struct pp_node *nodes;
    int count, capacity;
    int32_t *inputs; /* inputs of meets */
    int input_count, input_capacity;
    int32_t *node_of;    /* [instruction]: node whose end is the instruction's end; 0 = none */
    int32_t (*posts)[2]; /* [message]: nodes after which SEND and RECV are posted */
    int32_t *inside;     /* [instruction]: node of its post inside a backward, 0 = not inside; NULL
                          * without buckets */
    struct pp_ring_plan *rings;
    int ring_count, ring_capacity;
    struct pp_carry *carries;
    int carry_count, carry_capacity;
    int32_t *entry_of;         /* [rank]: entry of its clock; 0 = time zero */
    struct pp_eval_form *form; /* gets the prices of all nodes; NULL = none */
};

/* Steps without a barrier: the next step starts with the value of node `exit` in `entry`. */
struct pp_carry {
    int32_t entry, exit;
};

/* Adds an entry: a value that a step takes over from the previous one; 0 = time zero, if nothing
 * carries over. Every entry gets its exit once, which may be the entry itself. */
int32_t pp_graph_entry(struct pp_graph *g);
void pp_graph_carry(struct pp_graph *g, int32_t entry, int32_t exit);

int32_t pp_graph_add(struct pp_graph *g, struct pp_node node);
/* Makes `node` end no earlier than `input`. More than three inputs of a step are folded into a node
 * of their own. Input 0 is ignored. */
void pp_graph_input(struct pp_graph *g, int32_t node, int32_t input);

/* Time up to which a rank has run: the latest of a few nodes. */
struct pp_clock {
    int32_t value[PP_STEP_INPUTS];
    int count;
};
/* Sets the clock with which a rank begins a step. Returns its entry. */
int32_t pp_graph_clock(struct pp_graph *g, int rank, struct pp_clock *clock);
/* Adds a compute node after the clock, and sets the clock to its end. `fused` as in pp_costs_op. */
int32_t pp_graph_compute(struct pp_graph *g, struct pp_clock *clock, int i, bool is_fused);
/* Is true if instruction i is the first of a fused pair whose second follows on the same rank. The
 * rank's instructions end before `end`. */
bool pp_graph_is_fused(const struct pp_program *program, int i, int end);

/* Fill the graph from a lowered or from a compute-only program. */
enum pp_status pp_graph_lowered(struct pp_graph *g, struct pp_error *err);
enum pp_status pp_graph_compute_only(struct pp_graph *g, struct pp_error *err);

/* ---- compiled form --------------------------------------------------------------------------- */

struct pp_eval_step {
    int32_t out, in[PP_STEP_INPUTS];
};
struct pp_meet {
    int32_t out, first, count; /* value written; values read: inputs[first ..] */
    int32_t ring;              /* number of its ring, from 1; 0 = none */
    int64_t ps;
};
/* A step that lasts a share of `ps`; denominator 0 = it does not. */
struct pp_eval_part {
    int64_t ps;
    uint8_t numerator, denominator;
};
/* Ends of a segment: steps of all lanes, block by block, then meets. */
struct pp_segment {
    int32_t steps_end, meets_end;
};
/* Two forms of a program. `full` keeps every value (for start and end of every op). In `packed`,
 * values share slots that are reused after their last reader: for the makespan, in the cache. */
struct pp_code {
    int values; /* value 0 is always time zero */
    struct pp_eval_step *steps;
    struct pp_meet *meets;
    int32_t *inputs;
    struct pp_carry *carries;
};

struct pp_eval {
    const struct pp_program *program;
    struct pp_code full, packed;
    int steps; /* K: number of runs of the code */
    bool is_barrier_free;
    int step_count, meet_count, segment_count, carry_count;
    int entry_count;   /* values 1 .. entry_count of `full` */
    int32_t *entry_of; /* [rank]: value of `full` with which its clock begins */
    struct pp_segment *segments;
    struct pp_ring_plan *rings;
    int64_t *ps;                /* [step] */
    struct pp_eval_part *parts; /* [step]; NULL without shares */
    int32_t *key;               /* [step]: its instruction if it is compute, else PP_NO_OWNER */
    uint16_t *rank;             /* [step]: rank of `key` */
    int32_t *value_of;          /* [instruction]: value of `full` that is its end; 0 = none */
    int64_t *value_ps;          /* [value of full]: duration */
    int32_t *start_of;   /* [value of full]: value of its start, 0 = end - duration, or NULL */
    int32_t (*posts)[2]; /* [message]: values of the two posts */
    int32_t *inside;     /* [instruction]: value of its post inside a backward, 0 = not inside; NULL
                          * without buckets */
};

/* PP_EPROGRAM with a cycle if nodes cannot be ordered, PP_EFAIL if times would overflow. */
enum pp_status pp_eval_order(struct pp_arena *arena, const struct pp_graph *g, struct pp_eval *eval,
                             struct pp_error *err);

/* ---- kernels --------------------------------------------------------------------------------- */

struct pp_jitter { /* jitter of one block of lanes */
    const struct pp_eval *eval;
    const struct pp_perturbation *perturbation;
    int replicas, first; /* replicas in all; first of this block. Lanes beyond the last repeat it */
    int step;
};

/* Stores a block's times in columns `first` .. `first + live - 1` of the arrays of pp_times. */
struct pp_record {
    const struct pp_eval *eval;
    struct pp_times *times;
    const int64_t *values; /* of the block */
    int first, live, step;
};

struct pp_eval_kernel {
    const char *name;
    int lanes; /* of one block */
    bool (*is_usable)(void);
    void (*steps)(const struct pp_eval_step *steps, const int64_t *ps, int count, int64_t *values);
    void (*jittered)(const struct pp_jitter *jitter, const struct pp_eval_step *steps, int first,
                     int count, int64_t *values);
    void (*record)(const struct pp_record *record);
    /* One step of a ring of `count` positions: next[i] = max(now[i], now[i - 1]) + hop_ps[i]. */
    void (*ring)(const int64_t *now, int64_t *next, int count, const int64_t *hop_ps);
};
/* By preference, ended by name NULL. The last one works everywhere. */
extern const struct pp_eval_kernel pp_kernels[];

/* pp_eval_run() with a given kernel. */
struct pp_times *pp_eval_run_with(struct pp_arena *arena, const struct pp_eval *eval, int replicas,
                                  const struct pp_perturbation *perturbation,
                                  enum pp_times_wanted wanted, const struct pp_eval_kernel *kernel);
