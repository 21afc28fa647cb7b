/* tests/property/judge_parts.h — inside of brute_force.c: the machine, and what its parts ask of
 * each other. A part that lets an instruction run returns 1; 0: it must wait; -1: nonsense, and
 * why. */
#ifndef PP_TESTS_JUDGE_PARTS_H
#define PP_TESTS_JUDGE_PARTS_H

#include "tests/property/brute_force.h"

enum { RANKS = 8, THINGS = 4096, WHY_BYTES = 256 };

/* A tensor on a rank, by its letter:
 *   'A' output activation of a stage    'G' gradient of 'A'
 *   'S' saved activation                'R' recomputed
 *   'K' keys and values of a split      'k' gradient of 'K'
 *   'D' weight gradient                 'U' updated weights
 *   'Y' summed gradient (of a bucket)   'T' tied gradient, summed
 *   'N' new weights, gathered */
struct thing {
    char what;
    int rank, stage, granule, split;
};

struct post { /* a SEND, RECV or collective that was issued */
    struct pp_op op;
    int rank;
    bool is_over, is_waited;
};

enum {
    KEPT = PP_OP_KINDS
}; /* class of an F that is recomputed; others by their kind, R like F, and
    * COPY.up like the F of what it brings back */
struct buffer {
    int rank, class, slot;
    uint64_t used; /* bit g: granule g of its owner still needs it */
    struct pp_op owner;
};

enum { STAGES = 64 };
struct shards { /* a stage on a rank */
    bool is_present, is_dirty;
    int layer;     /* of several units the one that is there; -1: whichever is needed */
    bool is_whole; /* a gradient of a backward or a visit is in no shard that is kept */
};

struct gradients { /* of a chunk on a rank that live on another tier: contributions by place */
    int whole, pending, flying; /* before a scatter of the visit, of the part; scattered now */
    int here, below, coming;
};

struct machine {
    const struct pp_program_head *head;
    const struct pp_orders *lists;
    char *why;
    int at[RANKS], bars[RANKS];
    struct thing things[THINGS];
    struct post posts[THINGS];
    struct buffer buffers[THINGS];
    int thing_count, post_count, buffer_count;
    struct shards shards[RANKS][STAGES];
    struct gradients gradients[RANKS][STAGES]; /* by pipeline * stages + stage */
};

/* ---- judge_lists.c */
bool judge_is_lowered(const struct machine *m);
int judge_pipe_of(const struct machine *m, int granule);
int judge_home(const struct machine *m, int pipe, int stage);
int judge_complain(struct machine *m, const struct pp_op *op, int rank, const char *what);
bool judge_has(const struct machine *m, char what, int rank, int stage, int granule, int split);
void judge_put(struct machine *m, char what, int rank, int stage, int granule, int split);
bool judge_is_listed(const struct machine *m, int kind, int stage, int granule, int split);
int judge_purpose_of(const struct pp_op *op);
int judge_count_chunk(const struct machine *m, int kind, int pipe, int stage);
int judge_count_sums(const struct machine *m, int pipe, int stage);
bool judge_is_complete(const struct machine *m);
bool judge_is_pair(const struct machine *m, int rank, int i);

/* ---- judge_compute.c */
int judge_take(struct machine *m, int rank, int class, const struct pp_op *op);
int judge_take_saved(struct machine *m, int rank, const struct pp_op *op);
void judge_leave(struct machine *m, int rank, int class, int stage, int granule, int split);
void judge_leave_saved(struct machine *m, int rank, const struct pp_op *op);
int judge_compute(struct machine *m, int rank, const struct pp_op *op, int count);

/* ---- judge_posts.c */
bool judge_is_same_post(const struct pp_op *a, const struct pp_op *b);
int judge_partner_stage(const struct pp_op *op);
int judge_send(struct machine *m, int rank, const struct pp_op *op);
int judge_move_messages(struct machine *m);
bool judge_is_tied(const struct pp_op *op);
bool judge_is_member(const struct machine *m, int rank, const struct pp_op *op);
int judge_move_collectives(struct machine *m);
bool judge_has_gradient(const struct machine *m, int rank, int pipe, int stage);
bool judge_has_tied_gradients(const struct machine *m, int rank);
bool judge_is_updated(const struct machine *m, int rank, int pipe, int stage);

/* ---- judge_shards.c */
/* Returns the stage of the model whose parameters an op names. */
int judge_weights_of(const struct machine *m, const struct pp_op *op);
bool judge_is_fetch(const struct machine *m, const struct pp_op *op);
bool judge_is_load(const struct pp_op *op);
int judge_post_load(struct machine *m, int rank, const struct pp_op *op);
int judge_unwaited(const struct machine *m, int rank, int stage, int purpose);
bool judge_is_last_bucket(const struct pp_op *op);
bool judge_is_too_early(const struct machine *m, int rank, const struct pp_op *op);
int judge_post_of_shards(struct machine *m, int rank, const struct pp_op *op);
int judge_use_shards(struct machine *m, int rank, const struct pp_op *op, int count);
int judge_drop_shards(struct machine *m, int rank, const struct pp_op *op);
bool judge_are_shards_left(const struct machine *m);

/* ---- judge_sums.c */
int judge_collective(struct machine *m, int rank, const struct pp_op *op);
bool judge_posts_tied(const struct machine *m, int rank);
bool judge_is_summed(const struct machine *m, int rank, const struct pp_op *op);
/* All gradients of a chunk are there and summed; false: complained. */
bool judge_is_ready(struct machine *m, int rank, const struct pp_op *op);
int judge_update(struct machine *m, int rank, const struct pp_op *op);

/* ---- judge_grads.c */
int judge_make_gradients(struct machine *m, int rank, const struct pp_op *op);
int judge_move_gradients(struct machine *m, int rank, const struct pp_op *op);
void judge_scatter_gradients(struct machine *m, int rank, const struct pp_op *op);
void judge_gradients_arrive(struct machine *m, int rank, const struct pp_op *op);
int judge_sum_gradients(struct machine *m, int rank, const struct pp_op *op);
int judge_gradients_are_below(struct machine *m, int rank, const struct pp_op *op, bool all);
bool judge_are_gradients_left(const struct machine *m);

/* ---- judge_moves.c */
int judge_use_saved(struct machine *m, int rank, const struct pp_op *op);
int judge_post_copy(struct machine *m, int rank, const struct pp_op *op);
int judge_update_has_moved(struct machine *m, int rank, const struct pp_op *op);
int judge_use_state(struct machine *m, int rank, const struct pp_op *op);
/* New parameters of a chunk arrive: nothing took the old ones home. */
int judge_has_not_gone(struct machine *m, int rank, const struct pp_op *op);
bool judge_are_moves_left(const struct machine *m);

/* ---- judge_kv.c */
int judge_post_cache(struct machine *m, int rank, const struct pp_op *op);
int judge_use_cache(struct machine *m, int rank, const struct pp_op *op);
bool judge_is_cache_left(const struct machine *m);

#endif
