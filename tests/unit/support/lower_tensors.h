/* Every tensor of a rank by naive search through its list: an oracle for slots and memory. */
#ifndef PP_TESTS_LOWER_TENSORS_H
#define PP_TESTS_LOWER_TENSORS_H

#include "core/cost/cost.h"
#include "schedules/program/program.h"

enum tensor_class { SAVED, KEPT, IN_F, IN_B, OUT_F, OUT_B, LOCAL, TENSOR_CLASSES };

/* Alive at positions from..until, both included. A saved tensor is one granule of an F, recomputed
 * or not. test_slots.c splits it into the parts that F keeps and R saves. */
struct tensor {
    enum tensor_class class;
    int from, until;
    int carrier;          /* position of the instruction that carries its slot */
    int recompute, input; /* SAVED: positions of R and I, or -1 */
    int stage, granules;  /* stage whose bytes count */
};

/* First position from `from` on of one of two kinds over (stage, granule, split), or -1. */
static inline int tensor_find(const struct pp_program *p, int rank, int from, const int kinds[2],
                              const int cell[3])
{
    for (int at = from; at < p->begin[rank + 1] - p->begin[rank]; at++) {
        const struct pp_op op = pp_program_op(p, p->begin[rank] + at);
        if ((op.kind == kinds[0] || op.kind == kinds[1]) && op.stage == cell[0] &&
            op.mb <= cell[1] && cell[1] < op.mb + op.granules && op.split == cell[2])
            return at;
    }
    return -1;
}

/* Last of the readers of all granules; a pair ends with its second op. */
static inline int tensor_read(const struct pp_program *p, int rank, const struct pp_op *op,
                              int stage, bool is_gradient)
{
    static const int forward[2] = {PP_F, PP_F}, backward[2] = {PP_B, PP_I};
    int last = -1;

    for (int g = 0; g < op->granules; g++) {
        const int at = tensor_find(p, rank, 0, is_gradient ? backward : forward,
                                   (int[3]){stage, op->mb + g, op->split});
        last = at > last ? at : last;
    }
    if (last >= 0) {
        const int i = p->begin[rank] + last;
        last += p->kind[i] == PP_F && p->aux[i] == PP_FUSED_FIRST;
    }
    return last;
}

static inline int tensor_waited(const struct pp_program *p, int rank, const struct pp_op *send)
{
    const int count = p->begin[rank + 1] - p->begin[rank];

    for (int at = 0; at < count; at++) {
        const struct pp_op op = pp_program_op(p, p->begin[rank] + at);
        if (op.kind == PP_WAIT && op.aux == send->kind && op.stage == send->stage &&
            op.mb == send->mb && op.split == send->split)
            return at;
    }
    return count;
}

/* Tensors of a rank into `out` (room for 3 a granule of each instruction); returns how many. */
static inline int tensors_of(const struct pp_program *p, int rank, struct tensor *out)
{
    int n = 0;

    for (int at = 0; at < p->begin[rank + 1] - p->begin[rank]; at++) {
        const struct pp_op op = pp_program_op(p, p->begin[rank] + at);
        const bool is_back = op.kind == PP_B || op.kind == PP_I, is_forward = op.kind == PP_F;
        const bool is_recv_b = op.kind == PP_RECV_B;
        const int reader = op.stage + (is_forward ? 1 : -1);

        for (int g = 0; is_forward && p->mode == PP_MODE_TRAIN && g < op.granules; g++) {
            const int cell[3] = {op.stage, op.mb + g, op.split};
            out[n++] = (struct tensor){SAVED,
                                       at,
                                       tensor_find(p, rank, 0, (int[2]){PP_B, PP_W}, cell),
                                       at,
                                       tensor_find(p, rank, 0, (int[2]){PP_R, PP_R}, cell),
                                       tensor_find(p, rank, 0, (int[2]){PP_I, PP_I}, cell),
                                       op.stage,
                                       1};
        }
        if ((is_forward || is_back) && reader >= 0 && reader < p->stages &&
            pp_program_rank_of(p, op.pipe, reader) == rank)
            out[n++] = (struct tensor){LOCAL,
                                       at,
                                       tensor_read(p, rank, &op, reader, is_back),
                                       -1,
                                       -1,
                                       -1,
                                       is_back ? reader : op.stage,
                                       op.granules};
        if (op.kind == PP_RECV_F || is_recv_b)
            out[n++] = (struct tensor){is_recv_b ? IN_B : IN_F,
                                       at,
                                       tensor_read(p, rank, &op, op.stage, is_recv_b),
                                       at,
                                       -1,
                                       -1,
                                       is_recv_b ? op.stage : op.stage - 1,
                                       op.granules};
        if (op.kind == PP_SEND_F || op.kind == PP_SEND_B) {
            const bool is_gradient = op.kind == PP_SEND_B;
            const int kinds[2] = {is_gradient ? PP_B : PP_F, is_gradient ? PP_I : PP_F};
            out[n++] =
                (struct tensor){is_gradient ? OUT_B : OUT_F,
                                tensor_find(p, rank, 0, kinds, (int[3]){op.stage, op.mb, op.split}),
                                tensor_waited(p, rank, &op),
                                at,
                                -1,
                                -1,
                                is_gradient ? op.stage - 1 : op.stage,
                                op.granules};
        }
    }
    return n;
}

#endif
