/* exec/worker/options.h — what a machine is made of: see exec/machine/machine.h. */
#pragma once

#include "core/cost/cost.h"
#include "exec/backend/backend.h"
#include "exec/data/text.h"
#include "exec/program/memory.h"
#include "exec/rendezvous/meeting.h"
#include "exec/stage/batch.h"
#include "exec/state/state.h"
#include "exec/tiers/budget.h"
#include "exec/worker/generation.h"
#include "exec/worker/inject.h"
#include "schedules/evaluate/evaluate.h"
#include "schedules/memory/memory.h"

struct pp_machine;
struct pp_transport;
struct pp_nccl_calls;
struct pp_ipc_calls;
enum pp_clock_kind { PP_CLOCK_VIRTUAL, PP_CLOCK_WALL };

static inline int64_t pp_later_ps(int64_t a_ps, int64_t b_ps)
{
    return a_ps > b_ps ? a_ps : b_ps;
}

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
    const struct pp_stage *const *stages; /* [tp][ep][stages]: those of each device of a group */
    int tp; /* devices of a tensor-parallel group, each a worker; 0 or 1 = one */
    int ep; /* replicas that share experts, which walk one list together; 0 or 1 = none */
    /* NULL: the program trains. Else see exec/machine/generate.h */
    const struct pp_machine_generation *generation;
    const struct pp_batch *batch;
    const struct pp_recipe *recipe;
    const struct pp_kernels *kernels;
    const struct pp_backend *backend;
    /* All but local need an immediate backend, or a launcher and a transport with is_apart. */
    const struct pp_transport *transport;
    struct pp_tier_options tiers;
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

/* Hook between the gradient sums of a step and its first update, for --check; NULL = none. The
 * caller of the step calls it while all workers wait. */
typedef void (*pp_gradient_hook)(void *closure, const struct pp_machine *machine, int step);
struct pp_machine_clock {
    double error_s; /* largest difference of two workers' stamps; 0 on one or virtual clocks */
    /* Largest jump of a clock, 0 = none; more than slewing can explain. */
    double jump_s;
    int jump_rank, jump_replica, jump_step; /* where, and after how many steps of the training */
};

/* True in all processes of a launcher but the first. These only serve: take part in steps until the
 * first process has no more. */
bool pp_machine_is_member(const struct pp_machine *machine);
int pp_machine_process(const struct pp_machine *machine); /* number of this process, from 0 */
