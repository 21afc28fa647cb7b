/* exec/machine/generate.h — a machine that generates: it executes a generating program, the same
 * lowered text that engines simulate.
 *
 * pp_machine_create() makes one if options.generation is set. What differs from training:
 *
 *   stages   options.stages has all stages of the program, [tp][S T]: stage v of pass t is that of
 *            the model's stage v % S that reads prompts (t = 0), or tokens: pp_stages_make()
 *   batch    replicas; micro_batches = groups, mbs = sequences of a group, granules = pieces
 *   recipe   source or seed of the weights; options.is_resumed as in training
 *   memory   a worker has the weights of each of its stages of the model once, and its cache. It
 *            has neither gradients nor optimizer state
 *   program  F, SEND_F, RECV_F and WAIT alone; no BAR. An F of a later pass has a whole group
 *
 * All other calls of exec/machine/machine.h work: times, probes, traces, states (of stages below
 * S), faults, questions. A step is a run of the whole program. */
#pragma once

#include "exec/machine/machine.h"
#include "exec/passes/passes.h"

/* Tokens of all sequences, of all replicas; in the machine's arena, until the next run. */
struct pp_generated {
    int sequences, passes;
    const int32_t *tokens;      /* [sequence][pass] */
    const uint64_t *logits;     /* [sequence][pass] hash of the logits, pp_hash_of_logits(); NULL */
    struct pp_step_result step; /* times: step_s, wall_s, cpu_s, outside_s, instructions */
    double machinery_frac;      /* share of the CPU time that is outside of ops; 0 = unknown */
};
/* Runs the program once. prompts: [sequences of all replicas][prompt_tokens]. PP_EFAIL names rank,
 * op and pass if a worker fails; further runs then fail with the same error. */
enum pp_status pp_machine_generate(struct pp_machine *machine, const int32_t *prompts,
                                   struct pp_generated *generated, struct pp_error *err);
/* Bytes of the caches of a rank, per device: those that it has, and those that runs have written
 * so far. The latter are of a poisoned machine, after pp_machine_fetch_touched(). */
struct pp_cache_bytes {
    size_t computed, touched;
};
static inline struct pp_cache_bytes pp_machine_cache_bytes(const struct pp_machine *machine,
                                                           int rank, int replica)
{
    return (struct pp_cache_bytes){
        pp_machine_layout(machine)[rank].generating.cache_bytes,
        pp_cache_touched(machine, pp_worker_at(machine, rank, replica, 0))};
}
