/* exec/machine/machine.h — executes a lowered program: the same lists that engines simulate.
 *
 * A worker is a rank of a replica, or one of its `tp` devices. Devices of a tensor-parallel group
 * walk the same list together, each with its part of the blocks. So do replicas that share experts.
 * Before the first step, instructions are bound to their work and memory, messages to their
 * buffers, collectives to their members. A step only walks the lists.
 *
 * Semantics: docs/architecture.md, "What a program means". Headers of messages are checked when
 * they are matched. On the virtual clock, an op advances its worker's clock by its CPU time, and a
 * wait to the end of the awaited work. So any number of ranks can share a few cores. Durations of
 * transfers and sums come from the costs. On the wall clock all times are stamps. */
#pragma once

#include "exec/worker/options.h"

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

/* In processes of which pp_machine_is_member() is true. PP_EFAIL with the error of any process. */
enum pp_status pp_machine_serve(struct pp_machine *machine, struct pp_error *err);
/* Clocks of other processes are compared with that of the first one before the run, now and then,
 * and after it. This does so last, between steps. PP_EFAIL: a process has failed or is gone. */
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
    const double *expert_tokens; /* [pp_net_expert_tokens()] until the next step or forward */
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
 * process, and only the ranges of *state are set. The vectors are reached with `*reach`. */
bool pp_machine_state_here(const struct pp_machine *machine, int replica, int tp_index, int pipe,
                           int stage, struct pp_state *state, struct pp_state_reach *reach);
/* Asks all processes, between steps; the answers are in the arena. PP_EFAIL: a process has failed
 * or is gone. Else the error of the first process that has one, which it names. */
enum pp_status pp_machine_ask(struct pp_arena *arena, const struct pp_machine *machine,
                              const struct pp_question *question, struct pp_answers *answers,
                              struct pp_error *err);
/* True if another process has ended, or its connection to this one has. Asked by process 0, also
 * after a failed step. */
bool pp_machine_is_gone(const struct pp_machine *machine, int process);
/* Between steps: sends states that the caller has changed to the device. The next step begins with
 * sending other processes those of theirs that are here. PP_EFAIL if it fails. */
enum pp_status pp_machine_changed(const struct pp_machine *machine, struct pp_error *err);
/* Reads the operands of a call, as a worker on the virtual clock does before an op. */
void pp_work_warm(const struct pp_kernels *kernels, const struct pp_stage_work *work,
                  bool has_gradients);
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
