/* core/op.h — the vocabulary: one instruction and its text, both ways.
 *
 * Text (PyTorch pipelining cells plus ours): "<stage><KIND><micro-batch>", e.g. 0F3, 2RECV_B7.
 *   0F3s1        sequence split 1 of micro-batch 3        0F0-1    granules 0 and 1 in one op
 *   (1RECV_F0)WAIT   blocks until that posted instruction has finished
 *   (0F3;3B5)OVERLAP_F_B   forward and full backward as one overlapped op: two pp_ops, see `aux`
 *   0AR  0U  0AR@1   no micro-batch; @p names the pipeline, printed when there are several
 *   (0;7)AR      gradient sum of a tied embedding over the first and the last stage
 *   0AR#1/4      bucket 1 of the 4, counted from 0, into which a collective of a stage is cut
 *   0AG.forward  a collective with another purpose than the end of a step, enum pp_purpose
 *   0COPY.down3  4COPY.kv-up0-1  0MOVE.grads  between memory tiers, enum pp_purpose
 *   1RECV_F0[2]  uses buffer slot 2 of its class   0F3v1   weight version 1 (printed when not 0) */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pp_op_kind {
#define PP_OP(name, text, stream, has_mb) PP_##name,
#include "core/op_kinds.h"
#undef PP_OP
    PP_OP_KINDS
};

enum pp_stream {
    PP_STREAM_COMPUTE,
    PP_STREAM_CHANNEL,
    PP_STREAM_REDUCE,
    PP_STREAM_COPY,
    PP_STREAM_CONTROL
};

struct pp_op_kind_info {
    const char *text;
    enum pp_stream stream;
    bool has_mb;
};
extern const struct pp_op_kind_info pp_op_kinds[PP_OP_KINDS];

static inline bool pp_op_is_send(int kind)
{
    return kind == PP_SEND_F || kind == PP_SEND_B;
}
static inline bool pp_op_is_recv(int kind)
{
    return kind == PP_RECV_F || kind == PP_RECV_B;
}
static inline bool pp_op_is_compute(int kind)
{
    return pp_op_kinds[kind].stream == PP_STREAM_COMPUTE;
}
/* Is true for computations of one micro-batch: F, B, I, W, R, Q, DQ. */
static inline bool pp_op_has_cell(int kind)
{
    return pp_op_is_compute(kind) && pp_op_kinds[kind].has_mb;
}
static inline bool pp_op_is_collective(int kind)
{
    return pp_op_kinds[kind].stream == PP_STREAM_REDUCE;
}
/* Is true for collectives of a stage, which may be cut into buckets. */
static inline bool pp_op_has_buckets(int kind)
{
    return pp_op_is_collective(kind) && !pp_op_kinds[kind].has_mb;
}
/* Is true for kinds that run concurrently with compute once posted, and can be waited for. */
static inline bool pp_op_is_posted(int kind)
{
    return pp_op_kinds[kind].stream != PP_STREAM_COMPUTE &&
           pp_op_kinds[kind].stream != PP_STREAM_CONTROL;
}

/* The purpose of a copy between memory tiers, or of a collective of a stage that does not end a
 * step. Its WAIT has the same purpose. Each purpose has a row in core/op.c. */
enum pp_purpose {
    PP_FOR_STEP,      /* sums of gradients, gathers of updated parameters */
    PP_FOR_FORWARD,   /* AG: parameters, before uses that begin with a forward */
    PP_FOR_BACKWARD,  /* AG: parameters, before uses that begin with a backward or recomputation */
    PP_FOR_VISIT,     /* RS: gradients of gathered parameters */
    PP_FOR_PART,      /* RS: gradients of one micro-batch, into the kept shards */
    PP_FOR_REST,      /* AR: a scattered sum over the groups that hold all its shards */
    PP_FOR_DOWN,      /* COPY: saved activations, from the device */
    PP_FOR_UP,        /* COPY: saved activations, back to the device */
    PP_FOR_GRADS,     /* MOVE: gradients down, to the optimizer on the host */
    PP_FOR_PARAMS,    /* MOVE: updated parameters up, from the optimizer on the host */
    PP_FOR_FETCH,     /* MOVE: optimizer state up, the first bucket of an update on the device */
    PP_FOR_STORE,     /* MOVE: optimizer state down, the last bucket of an update on the device */
    PP_FOR_LOAD,      /* MOVE: parameters up, before uses that begin with a forward */
    PP_FOR_RELOAD,    /* MOVE: parameters up, before a backward or recomputation */
    PP_FOR_HOME,      /* MOVE: updated parameters down, to their home tier */
    PP_FOR_GRAD_DOWN, /* MOVE: gradients of one visit down, to their home tier */
    PP_FOR_GRAD_UP,   /* MOVE: their sum so far up, before the device adds another visit's */
    PP_FOR_UPDATE,    /* MOVE: no copy but the update itself, on the processors of the host */
    PP_FOR_KV_UP,     /* COPY: keys and values of earlier passes, before a pass of a group */
    PP_FOR_KV_DOWN,   /* COPY: those that a pass has made, after it */
    PP_PURPOSES
};

/* State of a stage that a device, or a memory tier for it, keeps. */
enum pp_state_class {
    PP_STATE_PARAMS,
    PP_STATE_GRADS,
    PP_STATE_OPTIMIZER,
    PP_STATE_SHARDED,                        /* number of classes that can be sharded */
    PP_STATE_ACTIVATIONS = PP_STATE_SHARDED, /* saved by forwards; has a home tier only */
    PP_STATE_CACHE,                          /* keys and values of a run that generates; as well */
    PP_STATE_CLASSES
};
/* End of a movement; core/cost/state.h maps it to a tier. */
enum pp_move_end {
    PP_AT_DEVICE, /* memory of the device */
    PP_AT_HOME,   /* home tier of the class */
    PP_AT_UPDATE  /* the tier whose processors run the optimizer */
};
enum pp_move_time { PP_WITH_USE, PP_BEFORE_UPDATE, PP_AS_UPDATE, PP_AFTER_UPDATE };

struct pp_purpose_row {
    const char *text; /* text after the '.' */
    uint8_t kind;     /* its kind; PP_OP_KINDS for PP_FOR_STEP, which many kinds have */
    uint8_t what;     /* moved class, enum pp_state_class */
    uint8_t from, to; /* enum pp_move_end, one is PP_AT_DEVICE but for an update of the host */
    uint8_t when;     /* enum pp_move_time */
};
extern const struct pp_purpose_row pp_purposes[PP_PURPOSES];

/* Is true for copies between memory tiers: COPY (saved activations, keys and values) and MOVE
 * (state). */
static inline bool pp_op_is_move(int kind)
{
    return pp_op_kinds[kind].stream == PP_STREAM_COPY;
}
/* Is true for quantising a micro-batch's saved activations, and for restoring them. */
static inline bool pp_op_is_packing(int kind)
{
    return kind == PP_Q || kind == PP_DQ;
}
static inline bool pp_op_has_purpose(int kind)
{
    return pp_op_has_buckets(kind) || pp_op_is_move(kind);
}
static inline bool pp_purpose_is_gather(int purpose)
{
    return pp_purposes[purpose].kind == PP_AG;
}
/* Copies run on two streams, as on PCIe: up to the device, and down, which all others use, too.
 * The work of the host is the third. */
enum pp_copy_stream { PP_COPY_DOWN, PP_COPY_UP, PP_COPY_HOST, PP_COPY_STREAMS };
static inline enum pp_copy_stream pp_move_stream(int purpose)
{
    return purpose == PP_FOR_UPDATE                    ? PP_COPY_HOST
           : pp_purposes[purpose].from != PP_AT_DEVICE ? PP_COPY_UP
                                                       : PP_COPY_DOWN;
}
/* Returns the stream whose work, posted before, ends before this op begins; its own stream's does
 * so, too. The host updates with gradients that went down, and what it has updated goes up. So do
 * keys and values that went down in the pass before. */
static inline enum pp_copy_stream pp_move_after(int purpose)
{
    return purpose == PP_FOR_UPDATE || purpose == PP_FOR_KV_UP ? PP_COPY_DOWN
           : purpose == PP_FOR_PARAMS                          ? PP_COPY_HOST
                                                               : pp_move_stream(purpose);
}
static inline bool pp_move_is_up(int purpose)
{
    return pp_move_stream(purpose) == PP_COPY_UP;
}
/* Is true for copies of keys and values, which name the passes of a program that generates. */
static inline bool pp_move_is_cache(int purpose)
{
    return pp_purposes[purpose].what == PP_STATE_CACHE;
}
/* Return the class that a copy moves, or PP_MOVES_HOST. Copies of activations need no purpose. */
enum { PP_MOVES_HOST = PP_STATE_CLASSES, PP_MOVE_CAUSES };
static inline int pp_move_cause(int kind, int purpose)
{
    return kind == PP_COPY && !pp_move_is_cache(purpose) ? PP_STATE_ACTIVATIONS
           : pp_move_stream(purpose) == PP_COPY_HOST     ? PP_MOVES_HOST
                                                         : pp_purposes[purpose].what;
}
/* Is true for parameters that move up for a use on the device. */
static inline bool pp_move_is_load(int purpose)
{
    const struct pp_purpose_row *row = &pp_purposes[purpose];

    return pp_move_is_up(purpose) && row->what == PP_STATE_PARAMS && row->when == PP_WITH_USE;
}

enum { PP_MAX_BUCKETS = UINT8_MAX };
enum { PP_FUSED_FIRST = 1, PP_FUSED_SECOND = 2, PP_TIED = 1 };

/* One instruction, 24 bytes, for building, passing and printing. Programs keep instructions as a
 * structure of arrays (schedules/program/program.h). */
struct pp_op {
    uint8_t kind; /* enum pp_op_kind */
    uint8_t aux;  /* WAIT: the kind waited for. Compute: PP_FUSED_FIRST on the F and PP_FUSED_SECOND
                   * on the B of an OVERLAP_F_B pair, neighbours. AR: PP_TIED for the tied
                   * embedding. Else 0 */
    union {
        uint8_t split;  /* sequence split, 0 without splits */
        uint8_t bucket; /* bucket of a collective, or of its WAIT */
    };
    union {
        uint8_t granules; /* granules covered, normally 1 (0 where has_mb is false) */
        uint8_t buckets;  /* number of buckets of a collective or of its WAIT, 0 = not cut */
    };
    uint16_t stage; /* position in the model of this micro-batch's pipeline */
    uint16_t pipe;  /* pipeline of a bidirectional program, else 0 */
    int32_t mb;     /* first granule; -1 where the kind has none */
    int32_t arg;    /* SEND/RECV: message id. Collective: collective id. WAIT: index in its own
                     * list of the instruction waited for. Else -1. Set when a program is frozen */
    int32_t slot;   /* buffer slot of its class, -1 = none or not assigned */
    union {
        uint16_t peer;       /* SEND/RECV: the other rank. Else 0 */
        uint16_t last_stage; /* AR with PP_TIED and its WAIT: `stage` is the first. Else 0 */
    };
    union {
        uint8_t version; /* version of the weights that F, B, I, W, R use (asynchronous). Else 0 */
        uint8_t purpose; /* enum pp_purpose of a collective of a stage, COPY, MOVE, or its WAIT */
    };
    uint8_t job; /* 0; reserved for several jobs on one machine */
};
_Static_assert(sizeof(struct pp_op) == 24, "an instruction is 24 bytes");

/* Returns the post of a purpose for a stage; its numbers are not yet assigned. */
/* Is true if both ops, of kinds that have cells, are on the same ones. */
static inline bool pp_op_has_same_cells(const struct pp_op *a, const struct pp_op *b)
{
    return a->stage == b->stage && a->pipe == b->pipe && a->mb == b->mb &&
           a->granules == b->granules && a->split == b->split;
}
static inline struct pp_op pp_op_for(enum pp_purpose purpose, int stage, int pipe)
{
    return (struct pp_op){.kind = pp_purposes[purpose].kind,
                          .purpose = (uint8_t)purpose,
                          .stage = (uint16_t)stage,
                          .pipe = (uint16_t)pipe,
                          .mb = -1,
                          .arg = -1,
                          .slot = -1};
}
/* Returns the COPY of what an op on the same cells saves, reads or makes. */
static inline struct pp_op pp_op_copy(struct pp_op op, enum pp_purpose purpose)
{
    op.kind = pp_purposes[purpose].kind;
    op.aux = 0;
    op.purpose = (uint8_t)purpose;
    op.arg = op.slot = -1;
    return op;
}
static inline struct pp_op pp_op_wait(struct pp_op post)
{
    post.aux = post.kind;
    post.kind = PP_WAIT;
    return post;
}

/* Is true for a gradient sum of the tied embedding, and for its WAIT (`last_stage` is set). */
static inline bool pp_op_is_tied(const struct pp_op *op)
{
    return (op->kind == PP_AR && op->aux == PP_TIED) ||
           (op->kind == PP_WAIT && op->aux == PP_AR && op->last_stage != 0);
}

enum { PP_OP_TEXT_BYTES = 96 };
struct pp_op_style {
    bool splits;    /* print sN */
    bool pipelines; /* print @p where there is no micro-batch */
    bool slots;     /* print [k] */
    bool versions;  /* print vK where it is not 0 */
    bool pytorch;   /* PyTorch's names: (0SEND_F1)WAIT is 0WAIT_SEND_F1, AR REDUCE_GRAD, AG UNSHARD,
                       DROP RESHARD */
};

/* Prints one cell; returns its length. `text` has PP_OP_TEXT_BYTES. A fused pair is two cells,
 * which the program printer joins. */
size_t pp_op_print(const struct pp_op *op, struct pp_op_style style, char *text);

/* Parses one cell strictly: trailing text, unknown kinds, numbers that overflow are errors
 * (PP_EPROGRAM; the message names the text and what was expected). A composite cell yields two ops,
 * so `ops` has room for 2; `*count` is set. Fields that the text lacks are 0, or -1 for mb, arg,
 * slot; `pipe` is 0 unless @p was given. PyTorch's REDUCE_GRAD parses as AR, UNSHARD as AG, RESHARD
 * as DROP, 0WAIT_SEND_F1 as (0SEND_F1)WAIT, WAIT_SEND_B and WAIT_REDUCE_GRAD likewise. */
enum pp_status pp_op_parse(const char *text, struct pp_op ops[2], int *count, struct pp_error *err);
