/* schedules/evaluate/eval.h — inside of the evaluator: the graph of a program, its compiled form,
 * the kernels. Private to this folder and its tests; other folders include evaluate.h.
 *
 *   program -> struct pp_graph (graph.c, compute.c): nodes t = max(inputs) + duration, unsorted
 *   graph -> struct pp_eval (order.c, code.c): nodes in topological order, values in few slots
 *   struct pp_eval -> times (run.c, kernels.c): lanes of replicas, block by block */
#pragma once

#include "schedules/evaluate/evaluate.h"

/* ---- graph --------------------------------------------------------------------------------- */

enum pp_node_type {
    PP_NODE_STEP,  /* one replica by itself: max of at most three inputs, plus a duration */
    PP_NODE_ENTRY, /* one replica by itself: what the step before has left, time zero in the first
                    */
    PP_NODE_MEET,  /* all replicas together: max of any number of inputs over all lanes */
};
enum { PP_STEP_INPUTS = 3, PP_NO_OWNER = -1 };

struct pp_node {
    int32_t
        in[PP_STEP_INPUTS]; /* STEP: nodes, 0 = time zero. MEET: first input, inputs, number of its
                               ring (from 1; 0 = its duration does not depend on who is late) */
    int32_t owner;          /* instruction it belongs to, or PP_NO_OWNER */
    int64_t ps;             /* duration; of a ring when all start together */
    uint8_t type;           /* enum pp_node_type */
    bool is_compute;        /* jitter and slow devices apply */
    uint8_t numerator, denominator; /* STEP: share of ps that passes, 0 of 0 = all */
};

/* The hops of a collective that is passed around a ring whose hops differ. After `steps` steps of
 * now[i] = max(now[i], now[i - 1]) + hop[i] the last position is done. With equal hops that is the
 * latest start and the steps, so that no ring is needed. */
struct pp_ring_plan {
    int positions, steps;
    const int64_t *hop_ps;  /* [position] */
    const int32_t *input;   /* [position]: input of the meet whose rank it is */
    const int32_t *replica; /* [position] */
    int32_t start;          /* node: when the last member is ready */
};
/* Duration and, where its hops differ, the ring of collective c, whose `posts` members post in
 * ascending order of their ranks. False when it is not passed around a ring. */
bool pp_ring_plan(struct pp_arena *arena, const struct pp_costs *costs,
                  const struct pp_collective *c, int posts, struct pp_ring_plan *ring, int64_t *ps);

/* Node 0 is time zero. */
struct pp_graph {
    struct pp_arena *arena, *eval_arena; /* the second outlives the graph */
    const struct pp_program *program;
    const struct pp_costs *costs;
    const struct pp_eval_options *options;
    struct pp_node *nodes;
    int count, capacity;
    int32_t *inputs; /* of meets */
    int input_count, input_capacity;
    int32_t *node_of;    /* [instruction]: whose end is the instruction's end; 0 = none */
    int32_t (*posts)[2]; /* [message]: what the posts of SEND and RECV follow */
    int32_t *inside;     /* [instruction]: when a bucket is posted inside a backward, 0 = it is not;
                          * NULL without buckets */
    struct pp_ring_plan *rings;
    int ring_count, ring_capacity;
    struct pp_carry *carries;
    int carry_count, carry_capacity;
    int32_t *entry_of; /* [rank]: entry of its clock; 0 = time zero */
};

/* Steps without a barrier: the node whose value the next step finds in `entry`. */
struct pp_carry {
    int32_t entry, exit;
};

/* What a step takes over from the one before; 0 = time zero, where nothing carries over. Every
 * entry gets its exit once, which may be the entry itself. */
int32_t pp_graph_entry(struct pp_graph *g);
void pp_graph_carry(struct pp_graph *g, int32_t entry, int32_t exit);

int32_t pp_graph_add(struct pp_graph *g, struct pp_node node);
/* Let `node` not end before `input` has; more than three inputs of a step are folded into a node of
 * their own. Input 0 is ignored. */
void pp_graph_input(struct pp_graph *g, int32_t node, int32_t input);

/* The time up to which a rank has come: the latest of a few nodes. */
struct pp_clock {
    int32_t value[PP_STEP_INPUTS];
    int count;
};
/* The clock with which a rank begins a step. Returns its entry. */
int32_t pp_graph_clock(struct pp_graph *g, int rank, struct pp_clock *clock);
/* A compute node after the clock, and the clock set to its end. `fused` as in pp_costs_op. */
int32_t pp_graph_compute(struct pp_graph *g, struct pp_clock *clock, int i, bool is_fused);
/* Is instruction i the first of a fused pair whose second follows on the same rank? The rank's
 * instructions end before `end`. */
bool pp_graph_is_fused(const struct pp_program *program, int i, int end);

/* Fill the graph from a lowered and from a compute-only program. */
enum pp_status pp_graph_lowered(struct pp_graph *g, struct pp_error *err);
enum pp_status pp_graph_compute_only(struct pp_graph *g, struct pp_error *err);

/* ---- compiled form ------------------------------------------------------------------------- */

struct pp_eval_step {
    int32_t out, in[PP_STEP_INPUTS];
};
struct pp_meet {
    int32_t out, first, count; /* value written; values read: inputs[first ..] */
    int32_t ring;              /* of its rings, from 1; 0 = none */
    int64_t ps;
};
/* Of a step that lasts a share of `ps`; denominator 0 = it does not. */
struct pp_eval_part {
    int64_t ps;
    uint8_t numerator, denominator;
};
/* Steps of all lanes, block by block, then meets. */
struct pp_segment {
    int32_t steps_end, meets_end;
};
/* Two forms of one program. Either every value is kept (for start and end of every op), or values
 * share slots that are reused after their last reader. The second serves the makespan and stays in
 * the cache. */
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
    int steps; /* K: how often the code runs */
    bool is_barrier_free;
    int step_count, meet_count, segment_count, carry_count;
    int entry_count;   /* values 1 .. entry_count of `full` */
    int32_t *entry_of; /* [rank]: value of `full` with which its clock begins */
    struct pp_segment *segments;
    struct pp_ring_plan *rings;
    int64_t *ps;                /* [step] */
    struct pp_eval_part *parts; /* [step]; NULL without shares */
    int32_t *key;               /* [step]: instruction when it is compute, else PP_NO_OWNER */
    uint16_t *rank;             /* [step]: rank of `key` */
    int32_t *value_of;          /* [instruction]: value of `full` that is its end; 0 = none */
    int64_t *value_ps;          /* [value of full]: duration */
    int32_t *start_of;   /* [value of full]: value that is its start, 0 = end - duration; NULL
                          * without rings */
    int32_t (*posts)[2]; /* [message]: values of the two posts */
    int32_t *inside;     /* [instruction]: value of the post of a bucket inside a backward, 0 = not
                          * inside; NULL without buckets */
};

/* PP_EPROGRAM with a cycle when nodes cannot be ordered, PP_EFAIL when times would overflow. */
enum pp_status pp_eval_order(struct pp_arena *arena, const struct pp_graph *g, struct pp_eval *eval,
                             struct pp_error *err);

/* ---- kernels ------------------------------------------------------------------------------- */

struct pp_jitter { /* of one block of lanes */
    const struct pp_eval *eval;
    const struct pp_perturbation *perturbation;
    int replicas, first; /* of all; of this block. Lanes beyond the last repeat it */
    int step;
};

/* Where a block's times go: columns `first` .. `first + live - 1` of the arrays of pp_times. */
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
/* By preference, terminated by name NULL. The last one works everywhere. */
extern const struct pp_eval_kernel pp_kernels[];

/* pp_eval_run with a given kernel. */
struct pp_times *pp_eval_run_with(struct pp_arena *arena, const struct pp_eval *eval, int replicas,
                                  const struct pp_perturbation *perturbation,
                                  enum pp_times_wanted wanted, const struct pp_eval_kernel *kernel);
