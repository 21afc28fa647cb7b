/* pipesched.h — pipeline schedules as a library: build or read one, prove it, evaluate it.
 *
 *     cc example.c $(pkg-config --cflags --libs pipesched)
 *
 * A program is the list of instructions of every pipeline rank, in order. It comes from a built-in
 * schedule, from a file, or from text in the same form: PyTorch's pipelining CSV, one row per rank.
 * It is immutable. Pointers that a function returns belong to its program or times, and live as
 * long. Functions that can fail return a status, and the fault in `error`, which may be NULL; then
 * they do not change their result. Messages name the options of the command line, as listed in
 * struct pipesched_shape. Nothing is printed. Different threads may use different programs at once.
 * When memory runs out, the process ends with a message.
 *
 * Stages are positions in the model, counted from 0. A rank may hold several (chunks); a
 * bidirectional program has every stage once in each pipeline. Times are seconds, or any unit of
 * the given durations, kept exactly as multiples of 1e-12 of it. */
#ifndef PIPESCHED_H
#define PIPESCHED_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header; pipesched_version() returns that of the library. */
#define PIPESCHED_VERSION_MAJOR 0

const char *pipesched_version(void);

enum pipesched_status {
    PIPESCHED_OK = 0,
    PIPESCHED_FAIL = 1,    /* a file that cannot be read; times that overflow */
    PIPESCHED_INVALID = 2, /* an unknown schedule, a shape that it does not have, costs below 0 */
    PIPESCHED_ILLEGAL = 4, /* a program that cannot be parsed, is illegal, or deadlocks */
};

struct pipesched_error {
    char message[6144]; /* one or several lines, no newline at the end */
};

/* ---- built-in schedules ---------------------------------------------------------------------- */

struct pipesched_schedule {
    const char *name;
    const char *summary; /* half a line */
    const char *rule;    /* the order, at most two lines */
    const char *limits;  /* on shapes, in words */
    const char *source;  /* paper and section */
};
/* Sets `schedule` to schedule i, in alphabetical order. Returns 0 if there is none. */
int pipesched_schedule(int i, struct pipesched_schedule *schedule);

/* ---- programs -------------------------------------------------------------------------------- */

/* Sizes and options that an order may depend on. 0 = the schedule's default. */
struct pipesched_shape {
    int ranks;           /* --pp, never 0 */
    int micro_batches;   /* --micro-batches, of all pipelines together, never 0 */
    int chunks;          /* --vp: chunks of the model on a rank, in each pipeline */
    int splits;          /* --splits: parts of a micro-batch along its sequence */
    int pipelines;       /* --pipelines of a bidirectional schedule, an even number */
    int group;           /* --group: micro-batches through one chunk before the next */
    int extra_warmup;    /* --extra-warmup: 0 or 1 */
    int depth_first;     /* --depth-first: sweeps over the stages */
    int max_activations; /* --max-activations: chunk activations that a searching schedule holds on
                          * a rank, at most */
    enum {
        PIPESCHED_CONCAT_DIRECT,
        PIPESCHED_CONCAT_DOUBLING,
        PIPESCHED_CONCAT_HALVING
    } concat;                /* --concat: junction of chimera's basic units */
    int backward_descending; /* --bfs-backward descending: 0 or 1 */
    int warmup_lazy;         /* --warmup-style lazy: 0 or 1 */
    int shifted;             /* --shifted of 1f1b: 0 or 1 */
};

/* Durations of a stage for one whole micro-batch. */
struct pipesched_costs {
    double forward_s;
    double backward_s;    /* whole; 0 = the sum of the next two */
    double input_grad_s;  /* part that the stage before waits for; 0 = half of backward_s */
    double weight_grad_s; /* part off the critical path of messages; 0 = the rest of backward_s */
    double recompute_s;   /* repeated forward, before its backward */
    double sum_s; /* gradient sum over replicas and pipelines; scatter and gather half of it each */
    double update_s;
};
struct pipesched_durations {
    const struct pipesched_costs *stages; /* [count] */
    int count;                            /* 1: all stages alike; else the stages of the program */
    double message_s;                     /* of every message between two ranks */
    double pair_s; /* a forward and a backward that a schedule runs as one op; 0 = their sum */
};

struct pipesched_program; /* opaque */

/* Builds the compute ops of a schedule. `order` has the durations that a searching schedule
 * (zb-auto, ...) expects, for 1 or chunks * ranks stages; NULL = 1 for F, I and W each. */
enum pipesched_status pipesched_build(const char *schedule, const struct pipesched_shape *shape,
                                      const struct pipesched_durations *order,
                                      struct pipesched_program **program,
                                      struct pipesched_error *error);
/* Builds the complete program of compute ops: with sends, receives and waits, gradient sums if a
 * stage has several copies, updates, and buffer slots. */
struct pipesched_lowering {
    int replicas;         /* of the pipeline; 0 = 1 */
    int recv_slots;       /* receive buffers of a channel; 0 = 2 */
    int recomputes;       /* 1: repeats every forward before its backward */
    int sums_early;       /* 1 = after the last backward of their stage, 0 = of the rank */
    int shards_optimizer; /* 1 (ZeRO 1): scatters gradients and gathers parameters instead */
};
enum pipesched_status pipesched_lower(const struct pipesched_program *compute,
                                      const struct pipesched_lowering *lowering,
                                      struct pipesched_program **program,
                                      struct pipesched_error *error);
/* Read a file ("-": standard input), or text of `length` bytes that messages call `name`. */
enum pipesched_status pipesched_read(const char *path, struct pipesched_program **program,
                                     struct pipesched_error *error);
enum pipesched_status pipesched_parse(const char *name, const char *text, size_t length,
                                      struct pipesched_program **program,
                                      struct pipesched_error *error);
void pipesched_free(struct pipesched_program *program); /* accepts NULL */

struct pipesched_size {
    int ranks, stages, pipelines, micro_batches, splits;
    int is_complete; /* 0: compute ops alone */
    long instructions;
};
struct pipesched_size pipesched_size(const struct pipesched_program *program);
/* Returns the number of instructions of a rank; 0 if there is no such rank. */
int pipesched_count(const struct pipesched_program *program, int rank);

struct pipesched_op {
    const char *kind; /* "F" "B" "I" "W" "SEND_F" "RECV_F" "WAIT" "AR" "U" ..., a static text */
    int stage, pipeline;
    int micro_batch; /* -1 if the kind has none */
    int split;
    int peer;      /* the other rank of a message, else -1 */
    int of_a_pair; /* 1 and 2: first and second of two neighbours that run as one op; else 0 */
};
/* Returns instruction i of a rank; kind is NULL if there is none. */
struct pipesched_op pipesched_op(const struct pipesched_program *program, int rank, int i);
/* Returns the text that pipesched_read() takes and `pipesim program` prints. */
const char *pipesched_text(struct pipesched_program *program);

/* Proves that a program is complete, in an order that its data allow, and overwrites no buffer. It
 * cannot deadlock even on the strictest machine (rendezvous, channels in order). Else the error has
 * the place and the reason. max_activations bounds the chunk activations of a rank; 0 = none. */
enum pipesched_status pipesched_verify(const struct pipesched_program *program, int max_activations,
                                       struct pipesched_error *error);

/* ---- times ----------------------------------------------------------------------------------- */

struct pipesched_span {
    double start_s, end_s; /* of a WAIT: its blocking; of a message or sum: its transfer */
};
struct pipesched_rank {
    double busy_s;
    double peak_activations; /* chunk activations, a split counts for its share */
    int count;
    const struct pipesched_span *spans; /* [count], in the order of pipesched_op() */
};
struct pipesched_times {
    double step_s;
    double bubble_frac; /* share of all ranks' time without a compute op */
    int ranks;
    const struct pipesched_rank *rank; /* [ranks] */
};
/* Finds start and end of every instruction of one step, as a longest path in integers. Each op
 * starts as soon as its rank has finished the previous one and its data have arrived. In a
 * compute-only program a message leaves when its op ends. In a complete program it needs both sides
 * (rendezvous) and the end of the previous one on its channel. PIPESCHED_ILLEGAL: not legal. */
enum pipesched_status pipesched_evaluate(const struct pipesched_program *program,
                                         const struct pipesched_durations *durations,
                                         struct pipesched_times **times,
                                         struct pipesched_error *error);
void pipesched_times_free(struct pipesched_times *times); /* accepts NULL */

#ifdef __cplusplus
}
#endif
#endif
