/* schedules/evaluate/evaluate.h — the exact contention-free evaluator: a longest path in integer
 * ps.
 *
 * Plan once, run many. pp_eval_create() turns a lowered program into a topologically sorted list of
 * max-plus nodes. pp_eval_run() evaluates it for any number of replicas at once (replicas are lanes
 * of a vector). Every value is a max/plus of final values, so neither folding nor lane width nor
 * order can change a bit of the result.
 *
 * Semantics (docs/architecture.md): SEND and RECV post at the rank's compute clock and never block.
 * WAIT blocks. Transfers of one channel follow one another. With rendezvous a transfer starts when
 * both sides have posted. With buffered:K it starts when the sender has posted and fewer than K
 * messages of the channel are arrived but not yet received. K = 0 is unbounded. A collective starts
 * when all its members of all replicas have posted it and their reduce streams are free. The ops of
 * a weight-gradient stream (weight_stream.h) run concurrently with the rank's other ops. */
#pragma once

#include "core/cost/cost.h"
#include "schedules/program/program.h"

struct pp_eval_options {
    bool is_buffered;
    int buffered;    /* K of buffered:K, 0 = unbounded */
    bool nic_fifo;   /* one send at a time per rank, in post order (an approximation) */
    bool ring_flows; /* gradient sums as 2(n-1) ring steps over replicas, scatters and gathers as
                      * n-1; off: one analytic cost */
    int steps;       /* K steps of the program, one after another; 0 = 1 */
    bool is_barrier_free; /* off: a step starts when the previous one has ended on all ranks of all
                           * replicas. On: ranks continue by themselves; clocks, streams, channels,
                           * buffers carry over */
    bool always_packs;    /* for tests: values share slots in small programs, too */
};

bool pp_eval_options_are_same(const struct pp_eval_options *a, const struct pp_eval_options *b);

struct pp_eval;
/* PP_EPROGRAM with the cycle (see verify) if the program deadlocks under these options, PP_EFAIL if
 * times would overflow. The program may be compute-only: then messages are implied by the data
 * dependencies, with unbounded buffers. In unit mode a message takes C from its post, independent
 * of others on its channel. The result keeps `program` by reference. */
enum pp_status pp_eval_create(struct pp_arena *arena, const struct pp_program *program,
                              const struct pp_costs *costs, const struct pp_eval_options *options,
                              struct pp_eval **eval, struct pp_error *err);
/* Is true if pp_eval_create() is cheap: the program keeps a compiled form, and only durations
 * change. The first two questions about a program that may keep one are answered no. */
bool pp_eval_is_known(const struct pp_program *program, const struct pp_costs *costs,
                      const struct pp_eval_options *options);

struct pp_perturbation {
    double jitter_frac; /* durations of compute ops times 1 + jitter * u, u uniform in [-1, 1] */
    uint64_t seed;
    const double *slow; /* [rank * replicas + replica] factor on SPEED, NULL = all 1 */
    /* Durations that replace those of the costs, jitter and slow devices; a fused pair has that of
     * its first op. Compute ops only, [(step * instructions + instruction) * replicas + replica].
     * They are not negative, and the sum along any path is below INT64_MAX. NULL = none. */
    const int64_t *compute_ps;
};

struct pp_times {
    int replicas;
    int steps;            /* 0 = 1 */
    int64_t makespan_ps;  /* latest end over ranks and replicas, of the last step */
    int64_t *step_end_ps; /* [step]: T_1 .. T_K, the latest end of each step */
    /* Filled on request: [(step * instructions + instruction) * replicas + replica]. Compute: start
     * and end. WAIT: the blocked interval. SEND, RECV: the transfer (equal on both sides). posted =
     * this side's post; matched = both sides have posted. Collectives: posted, start, end (equal on
     * all members). posted and matched of other instructions are not set. */
    int64_t *start_ps, *end_ps, *posted_ps, *matched_ps;
    /* Likewise, if they are measured: time of a compute op in exchanges of its tensor-parallel
     * group, and of the replicas that share its experts. The first op of a fused pair has the time
     * of both. NULL: as the costs say. */
    int64_t *tp_ps, *ep_ps;
};
enum pp_times_wanted {
    PP_TIMES_MAKESPAN,
    PP_TIMES_SPANS, /* start and end; the other arrays are NULL */
    PP_TIMES_POSTS, /* posted, too; matched is the later post of a message */
    PP_TIMES_ALL,
};

/* Evaluates `replicas` lanes (1 = folded). `perturbation` may be NULL. */
struct pp_times *pp_eval_run(struct pp_arena *arena, const struct pp_eval *eval, int replicas,
                             const struct pp_perturbation *perturbation,
                             enum pp_times_wanted wanted);
/* Returns (T_K - T_1) / (K - 1), or T_1 of a single step. */
double pp_times_iteration_s(const struct pp_times *times);
