/* exec/machine/machine.h — executes a lowered program: the same lists that engines simulate.
 *
 * A worker is a rank of a replica. With tensor parallelism, it is one of `tp` workers of a group
 * that walk the same list together, each with its part of the blocks. Before the first step,
 * instructions are bound to their work and memory, messages to their buffers, collectives to their
 * members. A step only walks the lists.
 *
 * Semantics: docs/architecture.md, "What a program means". Headers of messages are checked when
 * they are matched. On the virtual clock, an op advances its worker's clock by its CPU time, and a
 * wait to the end of the awaited work. So any number of ranks can share a few cores. Durations of
 * transfers and sums come from the costs. On the wall clock all times are stamps. */
#pragma once

#include "core/cost/cost.h"
#include "exec/backend/backend.h"
#include "exec/data/text.h"
#include "exec/machine/inject.h"
#include "exec/program/memory.h"
#include "exec/rendezvous/meeting.h"
#include "exec/stage/batch.h"
#include "exec/state/state.h"
#include "schedules/evaluate/evaluate.h"
#include "schedules/memory/memory.h"

struct pp_machine;
struct pp_transport;
struct pp_nccl_calls;
struct pp_ipc_calls;
enum pp_clock_kind { PP_CLOCK_VIRTUAL, PP_CLOCK_WALL };

/* A question of the first process to all others and itself, between steps. Each answers in the
 * thread that steps or serves, so an answer may take long. */
struct pp_question {
    const void *at;
    size_t bytes, answer_bytes;
};
typedef enum pp_status (*pp_answer_fn)(void *closure, const struct pp_machine *machine,
                                       const struct pp_question *question, void *answer,
                                       struct pp_error *err);
struct pp_answers {
    char *at; /* [count][answer_bytes], by process */
    int count;
};

struct pp_machine_options {
    const struct pp_program *program;     /* lowered, verified */
    const struct pp_stage *const *stages; /* [tp][stages]: those of each device of a group */
    int tp; /* devices of a tensor-parallel group, each a worker; 0 or 1 = one */
    const struct pp_batch *batch;
    const struct pp_recipe *recipe;
    const struct pp_kernels *kernels;
    const struct pp_backend *backend;
    /* All but local need an immediate backend, or a launcher and a transport with is_apart. */
    const struct pp_transport *transport;
    const struct pp_nccl_calls *nccl; /* for transports between GPUs, both */
    const struct pp_ipc_calls *ipc;
    bool may_choose_transport; /* among those between GPUs, by what all processes find */
    /* Costs of messages (p2p) and sums (AR) on the virtual clock; of compute, if has_durations. */
    const struct pp_costs *costs;
    enum pp_clock_kind clock;
    bool has_durations; /* virtual clock: ops last as `costs` say, not their CPU time */
    const double *slow; /* [rank * replicas + replica] factor on compute speed; NULL = all 1. On the
                           wall clock at most 1: the rank sleeps */
    double timeout_s;   /* a step fails after so long without progress of any worker; 0 = never */
    /* Called by the watchdog if a thread of this process stays in its op after a failure. It cannot
     * be joined, nor its memory freed, so this must end the process. NULL: waits for the thread. */
    void (*on_stuck)(void *closure, const struct pp_error *err);
    void *stuck_closure;
    struct pp_inject inject;
    struct pp_meeting meeting; /* processes that a launcher has started; count 0 or 1 = none */
    const char *words;         /* options that all processes share, one a line; NULL: unknown */
    int cores;                 /* concurrent compute ops at most; 0 = the machine's cores */
    int kept_steps;            /* number of last steps whose times are kept */
    bool is_poisoned;          /* fill memory with a pattern, see exec/backend/poison.h */
    bool is_resumed;   /* the caller writes all states before the first step: none is drawn */
    bool reads_states; /* the caller reads all states: the check of memory counts their copies */
    size_t reserved_bytes; /* allocated later by the caller; counted in the check of memory */
    size_t reserved_staging_bytes; /* host bytes of the same kind, if is_apart */
    uint64_t seed;                 /* of the backend's order of work */
    enum pp_device_mode mode;      /* how workers share a device */
    bool uses_graphs;    /* capture work that is the same in every step, if the backend can */
    pp_answer_fn answer; /* NULL: nothing is asked */
    void *answer_closure;
};

/* True if workers slow each other down on the wall clock: on one device, where each has a stream
 * but no part of its own. A step then differs from one with a device for each worker. */
static inline bool pp_machine_is_contended(const struct pp_machine_options *options)
{
    return options->mode == PP_DEVICE_STREAMS && options->clock == PP_CLOCK_WALL &&
           options->meeting.count <= 1 &&
           (options->program->ranks * options->batch->replicas > 1 || options->tp > 1);
}

/* Takes all memory and starts the workers. PP_EFAIL: too little memory, and what would help.
 * PP_EPROGRAM: a tensor has no slot, barriers differ by rank, or the last precedes a gradient. */
enum pp_status pp_machine_create(struct pp_arena *arena, const struct pp_machine_options *options,
                                 struct pp_machine **machine, struct pp_error *err);
void pp_machine_destroy(struct pp_machine *machine); /* accepts NULL; ends all workers */

/* How workers reach each other, as they have found when they met. */
struct pp_machine_way {
    const struct pp_transport *transport; /* that of the options, or the chosen one */
    const char *note; /* why it is not the usual one; NULL: it is. In the machine's arena */
    int left_free;    /* multiprocessors that multiplications leave to messages */
    int gpus;         /* of all processes, each once; 0 = unknown */
};
struct pp_machine_way pp_machine_way(const struct pp_machine *machine);

/* True in all processes of a launcher but the first. These only serve: take part in steps until the
 * first process has no more. PP_EFAIL with the error of any process. */
bool pp_machine_is_member(const struct pp_machine *machine);
enum pp_status pp_machine_serve(struct pp_machine *machine, struct pp_error *err);
/* Clocks of other processes are compared with that of the first one before the run, now and then,
 * and after it. This does so last, between steps. PP_EFAIL: a process has failed or is gone. */
struct pp_machine_clock {
    double error_s; /* largest difference of two workers' stamps; 0 on one or virtual clocks */
    /* Largest jump of a clock, 0 = none; more than slewing can explain. */
    double jump_s;
    int jump_rank, jump_replica, jump_step; /* where, and after how many steps of the training */
};
enum pp_status pp_machine_clock(struct pp_machine *machine, struct pp_machine_clock *clock,
                                struct pp_error *err);

/* Graphs of this process's device, see backend.h; zeros if it has none. Texts are in the arena. */
void pp_machine_graphs(struct pp_arena *arena, const struct pp_machine *machine,
                       struct pp_graph_stats *stats);

/* Sums over all processes what libraries refused in the last step. `attention`: that of a process
 * in which it differs from the first one's, after the process's rank; else empty. */
void pp_machine_fallbacks(const struct pp_machine *machine, struct pp_fallbacks *fallbacks);

struct pp_step_result {
    double loss, grad_norm; /* norm before clipping */
    double step_s;          /* on the machine's clock */
    double wall_s, cpu_s;   /* CPU time of all threads, in ops and outside */
    double outside_s;       /* CPU time outside ops: the pipeline machinery */
    /* Host time to issue the ops of this process, and their number; 0 with an immediate backend. */
    double issue_s;
    int64_t issued;
    int64_t instructions;
};
/* Runs one step: forward, backward, sums, update. With probes on, keeps seconds of the parts of
 * each op (pp_machine_probe). PP_EFAIL, with step, rank and op: the loss is not finite, a gradient
 * overflows, or a message is not the expected one. Further steps then fail with the same error. */
enum pp_status pp_machine_step(struct pp_machine *machine, const struct pp_text *text, int step,
                               struct pp_step_result *result, struct pp_error *err);
/* Runs the forwards of a step alone, on the samples of step `pass` of a text, after a step with
 * neither probes nor hook. No gradient, weight, kept time or virtual clock changes. `*loss` is the
 * mean over the samples. Errors: pp_machine_step(). */
enum pp_status pp_machine_forward(struct pp_machine *machine, const struct pp_text *text, int pass,
                                  double *loss, struct pp_error *err);
/* Hook between the gradient sums of a step and its first update, for --check; NULL = none. The
 * caller of the step calls it while all workers wait. */
typedef void (*pp_gradient_hook)(void *closure, const struct pp_machine *machine, int step);
void pp_machine_on_gradients(struct pp_machine *machine, pp_gradient_hook hook, void *closure);

/* Brings states of other processes and the device here, once a step; before the first one they are
 * drawn here. They stay until the next step begins. PP_EFAIL if a process has failed or is gone, or
 * without memory for them; no state may be read then. */
enum pp_status pp_machine_fetch(const struct pp_machine *machine, struct pp_error *err);
/* State of a chunk in a replica, by reference: of a device of its group. Errors:
 * pp_machine_fetch(); none in the hook. */
enum pp_status pp_machine_state_of(const struct pp_machine *machine, int replica, int tp_index,
                                   int pipe, int stage, struct pp_state *state,
                                   struct pp_error *err);
/* That of the first device. */
enum pp_status pp_machine_state(const struct pp_machine *machine, int replica, int pipe, int stage,
                                struct pp_state *state, struct pp_error *err);
/* State of a chunk of a worker of this process, between steps, in place. False: it is of another
 * process, and only the ranges of *state are set. `*device` is NULL where the host may read and
 * write it; else options.backend copies from and to there. */
bool pp_machine_state_here(const struct pp_machine *machine, int replica, int pipe, int stage,
                           struct pp_state *state, struct pp_backend_device **device);
/* Asks all processes, between steps; the answers are in the arena. PP_EFAIL: a process has failed
 * or is gone. Else the error of the first process that has one, which it names. */
enum pp_status pp_machine_ask(struct pp_arena *arena, const struct pp_machine *machine,
                              const struct pp_question *question, struct pp_answers *answers,
                              struct pp_error *err);
/* Between steps: sends states that the caller has changed to the device. The next step begins with
 * sending other processes those of theirs that are here. PP_EFAIL if it fails. */
enum pp_status pp_machine_changed(const struct pp_machine *machine, struct pp_error *err);
/* Times of kept steps, oldest first, as in the evaluator: a step begins at the end of the last. */
const struct pp_times *pp_machine_times(const struct pp_machine *machine);
/* Number of kept steps so far. */
int pp_machine_kept(const struct pp_machine *machine);
/* Stamps of kept step k, by row = instruction * replicas + replica: see pp_times. */
struct pp_step_times {
    int replicas;
    int64_t begin_ps;
    const int64_t *start_ps, *end_ps, *posted_ps, *matched_ps;
    const int64_t *duration_ps, *nominal_ps; /* of compute; the same on devices of speed 1 */
};
struct pp_step_times pp_machine_step_times(const struct pp_machine *machine, int k);
static inline int64_t pp_later_ps(int64_t a_ps, int64_t b_ps)
{
    return a_ps > b_ps ? a_ps : b_ps;
}
/* Seconds of the parts of a compute instruction in the last step; NULL when probes are off. */
const struct pp_probe *pp_machine_probe(const struct pp_machine *machine, int instruction,
                                        int replica);
void pp_machine_probes(struct pp_machine *machine, bool on);
bool pp_machine_has_probes(const struct pp_machine *machine);
/* Layout by rank (the prediction), and touched bytes of a worker's block (poisoned only). Areas
 * that calls share count whole: scratch, one tensor's gradient, and `saved` of an F whose R
 * recomputes it. Each is as large as its largest call needs. */
const struct pp_rank_layout *pp_machine_layout(const struct pp_machine *machine);
size_t pp_machine_touched(const struct pp_machine *machine, int rank, int replica);
/* Call it first: brings these numbers from other processes. PP_EFAIL as pp_machine_fetch(). */
enum pp_status pp_machine_fetch_touched(const struct pp_machine *machine, struct pp_error *err);
