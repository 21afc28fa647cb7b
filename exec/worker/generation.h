/* exec/worker/generation.h — a machine that generates: what its options add, and the tokens that it
 * makes.
 *
 * A generating program has T passes through the S stages of the model: see schedules/program. One
 * run of its lists makes T tokens of every sequence. Sequences are numbered over all replicas:
 * replica * batch + sequence. Groups likewise: replica * groups + group. */
#pragma once

#include "core/model/generation.h"
#include "exec/stage/generate.h"

#include <stdatomic.h>

struct pp_machine;
struct pp_worker;

/* Takes the tokens that pass `pass` has made of a group: [batch / groups]. Called in the process
 * that conducts, in order: by pass, then by group. Workers go on meanwhile. */
typedef void (*pp_tokens_fn)(void *closure, int group, int pass, const int32_t *ids);

struct pp_machine_generation {
    struct pp_generation of; /* of a replica; passes, groups and pieces are those of the program */
    /* NULL: pp_choose_largest(). The worker that has the head calls it once for each token. So does
     * each device of a tensor-parallel group, and all must choose alike. So the choice depends on
     * the arguments alone. Threads and processes call it concurrently. */
    pp_choose_fn choose;
    void *choose_closure;
    pp_tokens_fn on_tokens; /* NULL: the result alone has them */
    void *tokens_closure;
    bool hashes_logits; /* for checks: the result has a hash of the logits of every token */
};

/* Ids that an F of the first stage reads: they come in several messages, which are put together. */
struct pp_fed {
    const char **from; /* [count] */
    char *to;
    int count;
    size_t bytes; /* of each */
};

/* Tokens that an F of the last stage makes of one granule, or of a whole group. */
struct pp_made {
    struct pp_worker *worker;
    const struct pp_stage *stage;
    int instruction, number; /* of the work in its call */
    int pass, first, count;  /* sequences, of the replica */
    const char *logits;
    char *ids; /* where the next stage finds them */
    struct pp_chooser {
        double *row; /* of logits */
        int32_t *ids;
        uint64_t *hashes;
        char *logits; /* of one call, in host memory; NULL: the host sees those of the device */
    } * chooser;      /* scratch of the worker */
};
/* All tokens so far, as the process that conducts has them. */
struct pp_generating {
    atomic_bool is_under_way; /* else kernels are only tried, without choices */
    int32_t *tokens;          /* [sequence of all replicas][pass] */
    uint64_t *hashes;         /* likewise; NULL: not wanted */
    atomic_int *made;         /* [pass][group of all replicas] sequences whose token is there */
    int32_t *handed;          /* scratch: those of a pass and group */
    atomic_uint changes;      /* a futex: counts changes of `made` */
};
