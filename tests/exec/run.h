/* tests/exec/run.h — small training runs for tests: a net, a program, a machine, from a few
 * numbers. */
#ifndef PP_TESTS_EXEC_RUN_H
#define PP_TESTS_EXEC_RUN_H

#include "exec/train/train.h"
#include "exec/transport/transports.h"
#include "schedules/lower/lower.h"

struct exec_case {
    const char *schedule;             /* registry name; NULL: `compute` is run */
    const struct pp_program *compute; /* compute only */
    struct pp_shape shape;            /* ranks, micro_batches, ... */
    int replicas;                     /* 0 = 1 */
    int mbs, steps;
    bool is_exact, is_untied, is_double, is_bf16, has_rope, is_recomputed, is_gated, has_qk_norm,
        is_sequence_parallel;
    struct pp_stage_again again;           /* with is_recomputed: parts of blocks */
    int layers, hidden, heads, seq, vocab; /* 0 = 8, 16, 2, 8, 48 */
    enum pp_post post;
    enum pp_grad_sync grad_sync;
    int act_bits;                     /* of saved activations; 0 = in full */
    int tp;                           /* devices of a tensor-parallel group; 0 = 1 */
    int tp_split;                     /* parts of its multiplications by rows; 0 = 1 */
    int zero;                         /* ZeRO stage over replicas and pipelines */
    int gather_buffers;               /* of ZeRO 2 and 3; 0 = 2 */
    int sharers;                      /* copies that `zero` cuts state over; 0 = all */
    int buckets;                      /* of the sum of every stage; 0 = 1 */
    const struct pp_backend *backend; /* NULL = cpu */
    const struct pp_kernels *kernels; /* NULL = those of the CPU, as is_double and is_bf16 say */
    enum pp_device_mode mode;         /* of a backend that has modes */
    bool uses_graphs;                 /* likewise */
    const struct pp_transport *transport; /* NULL = local */
    bool has_weight_stream;               /* W on streams of their own */
    enum pp_tier homes[PP_STATE_SHARDED]; /* of parameters, gradients, optimizer state */
    double moved_optimizer;               /* share of optimizer state that moves; 0 = all */
    bool is_cpu_update, is_early;         /* by the host, at the end or on its own stream */
    double bucket;                        /* parameters of a bucket of it; 0 = many */
    int bucket_count;                     /* buckets that have room; 0 = as usual */
    bool sums_on_host;                    /* gradients elsewhere are added up by the host */
    int cached;                           /* units of parameters that stay; 0 = 1 */
    enum pp_evict evict;
    enum pp_tier saved_home; /* of saved activations */
    double saved_share;      /* of them that moves; 0 = all */
    const char *nvme;        /* folder of files */
    enum pp_clock_kind clock;
    int cores; /* on which ops compute at a time; 0 = the machine's */
    double clip;
    uint64_t seed;
};

/* A case of `name` on `r` ranks with `m` micro-batches, and other fields as initialisers. */
#define EXEC_CASE(name, r, m, ...)                                                                 \
    {                                                                                              \
        .schedule = name, .shape.ranks = r, .shape.micro_batches = m, __VA_ARGS__                  \
    }

struct exec_run {
    struct pp_arena *arena;
    struct pp_stage_again again;
    struct pp_program *program;
    struct pp_stage **stages;
    struct pp_batch batch;
    struct pp_recipe recipe;
    struct pp_text valid;
    struct pp_training training;
    struct pp_training_result result;
};

/* PP_EINVAL when the schedule does not accept the shape. Fills all but `result`. */
enum pp_status exec_run_make(struct pp_arena *arena, const struct exec_case *c,
                             struct exec_run *run, struct pp_error *err);
/* A line that tells cases apart. */
const char *exec_case_text(struct pp_arena *arena, const struct exec_case *c);

#endif
