/* schedules/program/program.h — a program: instructions of every rank, in order.
 *
 * Each pipeline rank has one list. Its data-parallel replicas share it and differ only in clocks.
 * Instructions are a structure of arrays, 24 bytes each, in an arena; immutable once frozen. Two
 * levels: compute only (F B I W R, as PyTorch writes it) and lowered (everything). */
#pragma once

#include "core/arena.h"
#include "core/cost/state.h"
#include "core/error.h"
#include "core/op.h"
#include "schedules/program/lists.h"
#include "schedules/program/placement.h"
#include "schedules/program/shape.h"

#include <stdint.h>
#include <stdio.h>

enum pp_program_level { PP_LEVEL_COMPUTE, PP_LEVEL_LOWERED };
enum pp_program_mode { PP_MODE_TRAIN, PP_MODE_INFER }; /* infer: forward only */

/* FIFO from one rank to another: (source, destination, pipeline, kind). Its messages are numbered
 * first .. first+count-1 in the order in which the source sends them. */
struct pp_channel {
    uint16_t source, dest, pipe;
    uint8_t kind; /* PP_SEND_F or PP_SEND_B */
    int32_t first, count;
};

enum pp_group_kind { PP_GROUP_STAGE, PP_GROUP_TIED };
/* Members of a collective in one program. Every replica has the same, and all replicas of them take
 * part. STAGE: ranks that hold `stage` in any pipeline. TIED: those of the first or last stage. */
struct pp_group {
    enum pp_group_kind kind;
    int stage;
    int first, count; /* in program->members: ranks */
};
struct pp_collective { /* one collective operation; every member posts it once */
    uint8_t kind;      /* PP_AR, PP_RS, PP_AG, ... */
    uint8_t tied;
    uint8_t purpose;         /* enum pp_purpose */
    uint8_t bucket, buckets; /* bucket 0 .. buckets-1 of a collective that is cut; else 0 of 0 */
    uint16_t stage;
    int16_t pipe; /* only of the copies in this pipeline, which use a stage at the same places; -1:
                   * of all copies */
    int32_t group;
};

struct pp_weight_stream;
/* State sharded over the replicas of a stage or kept on another tier, which the program gathers,
 * scatters and loads. All zero if there is none. Kept by reference. */
struct pp_program_state {
    /* As lowered. A text only has p, m and g (meta.c): the shards are then the coarsest of that
     * kind. `buffers` is the most units that are gathered at once, one more where the two of a pair
     * use two chunks; 0: unknown. */
    struct pp_state_spec spec;
    const uint16_t *units; /* [stage]: units in which parameters are fetched, at least 1; NULL = not
                            * fetched */
};

/* Compiled forms of a program that meets many costs; schedules/evaluate/form.h makes them. */
struct pp_eval_form;
struct pp_memory_place;
struct pp_program_forms {
    struct pp_arena *arena; /* that of the program */
    struct pp_eval_form *eval;
    const struct pp_memory_place *places; /* schedules/memory */
    int uses;                             /* of pp_eval_is_known() */
};

/* Periods of a steady state that a program leaves out (schedules/build/cut.h). The whole program
 * repeats the period before each place so many times more. */
struct pp_cut_place {
    int32_t at, length; /* first instruction after the gap, global index; those of a period */
};
/* A queue has the posts of a rank that are alike. Their WAITs come in the same order. */
struct pp_cut_queue {
    int32_t posts; /* in the whole program */
    int32_t set;   /* of collectives, which all members post in one order; else -1 */
};
struct pp_program_cut {
    int periods;    /* left out at each place */
    int32_t *begin; /* [ranks + 1]: rank r has the places begin[r] .. begin[r+1]-1, in order */
    struct pp_cut_place *places;
    int queue_count, sets;
    struct pp_cut_queue *queues; /* by rank */
    int32_t *queue_of;           /* [instruction]: queue of a post and of its WAIT; else -1 */
};

struct pp_program {
    const char *name; /* schedule or file */
    const char *file; /* for messages with line and column; NULL for generated programs */
    enum pp_program_level level;
    enum pp_program_mode mode;
    int ranks;         /* D */
    int stages;        /* S, per pipeline */
    int pipelines;     /* 1, or 2f */
    int micro_batches; /* N */
    int granules;      /* per micro-batch */
    int splits;
    int versions; /* weight versions alive, 1 for synchronous schedules */
    int passes;   /* of a generating program; 0 in training. Stage v is stage v % (stages / passes)
                   * of the model, in pass v / (stages / passes) */
    struct pp_program_state state;
    const uint16_t *rank_of; /* [pipeline * stages + stage] */
    const uint16_t *pipe_of; /* [granule id], micro_batches * granules entries */

    /* Rank r has instructions begin[r] .. begin[r+1]-1 in each array. */
    int32_t *begin; /* [ranks + 1] */
    uint8_t *kind, *aux;
    union { /* two names for one array, as in struct pp_op */
        uint8_t *split, *bucket;
    };
    union {
        uint8_t *granule_count, *buckets;
    };
    union {
        uint8_t *version, *purpose;
    };
    uint16_t *stage, *pipe;
    union {
        uint16_t *peer, *last_stage;
    };
    int32_t *mb, *arg, *slot;
    int32_t *line, *column; /* place in the file (1-based); NULL for generated programs */

    struct pp_channel *channels;
    int channel_count, message_count;
    struct pp_group *groups;
    uint16_t *members;
    int group_count;
    struct pp_collective *collectives;
    int collective_count;

    /* Set if W runs concurrently with the rank's other ops (schedules/evaluate/weight_stream.h).
     * NULL: W runs in their order. Not printed and not hashed. */
    const struct pp_weight_stream *weight_stream;
    struct pp_program_forms *forms;   /* NULL: nothing is kept */
    const struct pp_program_cut *cut; /* NULL: the program is whole */
};

static inline int pp_program_size(const struct pp_program *p)
{
    return p->begin[p->ranks];
}
/* Returns instruction i (global index) as a value. */
static inline struct pp_op pp_program_op(const struct pp_program *p, int i)
{
    return (struct pp_op){.kind = p->kind[i],
                          .aux = p->aux[i],
                          .split = p->split[i],
                          .granules = p->granule_count[i],
                          .stage = p->stage[i],
                          .pipe = p->pipe[i],
                          .mb = p->mb[i],
                          .arg = p->arg[i],
                          .slot = p->slot[i],
                          .peer = p->peer[i],
                          .version = p->version[i]};
}
/* Is true if two instructions of a rank do the same, for other micro-batches. */
static inline bool pp_program_is_alike(const struct pp_program *p, int i, int k)
{
    return p->kind[i] == p->kind[k] && p->aux[i] == p->aux[k] && p->stage[i] == p->stage[k] &&
           p->pipe[i] == p->pipe[k] && p->split[i] == p->split[k] && p->peer[i] == p->peer[k] &&
           p->granule_count[i] == p->granule_count[k] &&
           (p->kind[i] != PP_WAIT || p->arg[k] - p->arg[i] == k - i);
}
/* Returns an op that costs and names of a collective are looked up by. */
static inline struct pp_op pp_collective_op(const struct pp_collective *c)
{
    return (struct pp_op){.kind = c->kind,
                          .aux = c->tied ? PP_TIED : 0,
                          .purpose = c->purpose,
                          .bucket = c->bucket,
                          .buckets = c->buckets,
                          .stage = c->stage};
}
int pp_program_rank_at(const struct pp_program *p, int i);
static inline int pp_program_rank_of(const struct pp_program *p, int pipe, int stage)
{
    return p->rank_of[pipe * p->stages + stage];
}
/* Returns the stages of the model: all passes of a generating program go through these. */
static inline int pp_program_model_stages(const struct pp_program *p)
{
    return p->passes > 1 ? p->stages / p->passes : p->stages;
}
/* Is true if the next stage is on the same rank in any pipeline: no message passes between them. */
static inline bool pp_program_has_edge(const struct pp_program *p, int stage)
{
    for (int pipe = 0; stage + 1 < p->stages && pipe < p->pipelines; pipe++)
        if (pp_program_rank_of(p, pipe, stage) == pp_program_rank_of(p, pipe, stage + 1))
            return true;
    return false;
}
static inline bool pp_program_has_kind(const struct pp_program *p, int kind)
{
    for (int i = 0; i < pp_program_size(p); i++)
        if (p->kind[i] == kind)
            return true;
    return false;
}
/* Is true if a sum adds the matrix that embedding and head share. */
static inline bool pp_program_has_tied(const struct pp_program *p)
{
    for (int c = 0; c < p->collective_count; c++)
        if (p->collectives[c].tied)
            return true;
    return false;
}
struct pp_op_style pp_program_style(const struct pp_program *p);
/* Prints instruction i in the style of the program. */
void pp_program_print_op(const struct pp_program *p, int i, char text[static PP_OP_TEXT_BYTES]);
/* Gradients become complete layer by layer while the last backward of their stage runs. So bucket j
 * of k of a sum (AR, RS) is posted when (j + 1) / k of that backward's time has passed. The post
 * must follow a B or W of its stage, with only SENDs, RECVs, DROPs and earlier buckets of the same
 * sum between. For such an instruction i, returns the backward and the fraction; of an overlapped
 * pair its second half. Returns -1 for all others, which are posted at their place in the list. The
 * last bucket is one of them: its time is the end of the backward. */
int pp_program_posted_inside(const struct pp_program *p, int i, int *numerator, int *denominator);
struct pp_shape pp_program_shape(const struct pp_program *p);

/* Header fields of a program to be frozen. rank_of and pipe_of are kept by reference. pipe_of may
 * be NULL for a single pipeline. */
struct pp_program_head {
    const char *name;
    enum pp_program_level level;
    enum pp_program_mode mode;
    int ranks, stages, pipelines, micro_batches, granules, splits, versions, passes;
    struct pp_program_state state;
    const uint16_t *rank_of, *pipe_of;
    const char *file;                           /* NULL for generated programs */
    const int32_t *const *line, *const *column; /* [rank][position], copied; or NULL */
};
struct pp_program_head pp_program_head_of(const struct pp_program *p);
static inline int pp_head_model_stages(const struct pp_program_head *head)
{
    return head->passes > 1 ? head->stages / head->passes : head->stages;
}
/* Returns the lists of a program, for a pass to change and freeze again. */
struct pp_orders *pp_program_thaw(struct pp_arena *arena, const struct pp_program *p);
/* Builds a program from lists: fills peer, builds channels, groups and collectives, resolves WAIT
 * targets to list indices. The k-th SEND meets the k-th RECV of its channel. A collective is the
 * k-th of its kind and stage on every member of its group. A malformed list is PP_EPROGRAM with
 * rank and op, or file:line:cell where the head has them. Examples are a SEND without a partner
 * stage, a WAIT for something never posted before it, and unequal numbers of SENDs and RECVs.
 * schedules/verify checks legality. */
enum pp_status pp_program_freeze(struct pp_arena *arena, const struct pp_program_head *head,
                                 const struct pp_orders *lists, struct pp_program **program,
                                 struct pp_error *err);

/* ---- text ------------------------------------------------------------------------------------
 *
 * Compute level: exactly PyTorch's compute-only CSV, one row per rank (extensions are s<split> and
 * granules). Lowered: the same cells plus ours, and metadata in leading lines, `# key: value`. */
enum pp_dialect {
    PP_DIALECT_2025,
    PP_DIALECT_2024
}; /* 2024: B = input gradient, BW = full backward */

void pp_program_print(const struct pp_program *p, FILE *out);
/* Prints only the cells of some kinds, bit k for kind k, as PyTorch writes them: without slots,
 * versions and metadata. A pair counts as F. */
void pp_program_print_kinds(const struct pp_program *p, uint64_t kinds, FILE *out);
char *pp_program_text(struct pp_arena *arena, const struct pp_program *p);
/* Returns FNV-1a of the text form, a name in traces and messages. Takes as long as printing. */
uint64_t pp_program_hash(const struct pp_program *p);

/* Reads either level strictly. Errors are PP_EPROGRAM as "file:line:cell: fault, expected"; a file
 * that cannot be opened is PP_EFAIL. Placement, pipelines, N, splits are inferred from the cells
 * (and checked against metadata if given). Files with SEND/RECV but without WAIT (PyTorch's
 * compute_comms) get a WAIT before each consumer and, for sends, at the end of a list. */
enum pp_status pp_program_read(struct pp_arena *arena, const char *path, enum pp_dialect dialect,
                               struct pp_program **program, struct pp_error *err);
enum pp_status pp_program_parse(struct pp_arena *arena, const char *name, const char *text,
                                size_t length, enum pp_dialect dialect, struct pp_program **program,
                                struct pp_error *err);

/* Returns a part of the lists as a grid for error messages: a few ranks and cells around
 * (mark_rank, mark_position), the marked cell in [brackets]. */
char *pp_program_grid(struct pp_arena *arena, const struct pp_program *p, int mark_rank,
                      int mark_position);
