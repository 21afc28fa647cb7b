/* tests/unit/exec/predict/measured.h — durations as a run would have measured them. Those of parts
 * add up. */
#ifndef PP_TESTS_PREDICT_MEASURED_H
#define PP_TESTS_PREDICT_MEASURED_H

#include "tests/unit/exec/predict/predict_case.h"

#include <math.h>

/* Time of a layer of a part, and of an op outside its layers, in the rows of a probe. All
 * differ. */
static inline int64_t layer_ps(int row, int part, int split)
{
    static const int64_t ps[3][PP_PARTS] = {
        {3000, 70000, 9000}, {1100, 90000, 13000}, {1700, 60000, 11000}};

    return ps[row][part] + 100 * split;
}

static inline int64_t outside_ps(int kind)
{
    return 100 + 10 * kind;
}

/* Of a granule in the passes of the given rows. */
static inline int64_t stage_ps(const struct pp_stage *stage, const int *rows, int count, int split)
{
    const struct pp_stage_shape *shape = &stage->shape;
    int64_t sum = 0;

    for (int k = 0; k < count; k++)
        sum += shape->has_embedding * layer_ps(rows[k], PP_PART_EMBEDDING, split) +
               shape->blocks * layer_ps(rows[k], PP_PART_BLOCK, split) +
               shape->has_head * layer_ps(rows[k], PP_PART_HEAD, split);
    return sum;
}

static const int rows_of[PP_OP_KINDS][2] = {
    [PP_F] = {0}, [PP_R] = {0}, [PP_I] = {1}, [PP_W] = {2}, [PP_B] = {1, 2}};

static inline int64_t op_ps(const struct pp_stage *stage, int kind, int split)
{
    return stage_ps(stage, rows_of[kind], kind == PP_B ? 2 : 1, split);
}

static inline int64_t update_ps(const struct pp_stage *stage)
{
    return 3 * stage->elements;
}

static inline struct pp_probe probe_of(const struct pp_stage *stage, const struct pp_op *op)
{
    struct pp_probe probe = {0};

    for (int k = 0; k < (op->kind == PP_B ? 2 : 1); k++)
        for (int part = 0; part < PP_PARTS; part++) {
            const int row = rows_of[op->kind][k];
            probe.s[row][part] =
                1e-12 * (double)(op->granules * pp_calibration_layers(stage, op->kind, part) *
                                 layer_ps(row, part, op->split));
        }
    return probe;
}

/* Exchanges of a granule: their number is in no proportion to layers or passes; W has none. */
static inline int64_t exchanges_of(const struct pp_stage *stage, int kind)
{
    if (kind == PP_W || kind == PP_U)
        return 0;
    return kind == PP_F || kind == PP_R ? 2 * stage->shape.blocks + stage->shape.has_embedding
                                        : 3 * stage->shape.blocks + 5 * stage->shape.has_head;
}

/* All ops of a case as if they had run, `scale` times as long. Exchanges take `exchange_ps`. */
static inline void measure_group(struct pp_calibration *calibration, const struct predict_case *c,
                                 double scale, int64_t exchange_ps)
{
    const struct pp_program *p = c->program;

    pp_calibration_begin(calibration, p);
    for (int i = 0; i < pp_program_size(p); i++) {
        const int count = 1 + (p->aux[i] == PP_FUSED_FIRST);
        struct pp_timed_op ops[2];
        struct pp_probe probes[2];
        int64_t duration_ps = 0, exchanged_ps = 0;

        if (!pp_op_is_compute(p->kind[i]) || p->aux[i] == PP_FUSED_SECOND)
            continue;
        for (int k = 0; k < count; k++) {
            const struct pp_op op = pp_program_op(p, i + k);
            const struct pp_stage *stage = c->stages[op.stage];
            probes[k] = probe_of(stage, &op);
            for (int at = 0; at < 3 * PP_PARTS; at++)
                probes[k].s[at / PP_PARTS][at % PP_PARTS] *= scale;
            ops[k] = (struct pp_timed_op){op, stage, &probes[k],
                                          op.granules * exchange_ps * exchanges_of(stage, op.kind)};
            exchanged_ps += ops[k].exchanged_ps;
            duration_ps +=
                op.kind == PP_U
                    ? update_ps(stage)
                    : op.granules * (op_ps(stage, op.kind, op.split) + outside_ps(op.kind));
        }
        pp_calibration_add(calibration, ops, count,
                           llround(scale * (double)duration_ps) + exchanged_ps);
        for (int k = 0; k < count; k++)
            ops[k].probe = NULL;
        pp_calibration_add(calibration, ops, count,
                           llround(scale * (double)duration_ps) + exchanged_ps);
    }
}

static inline void measure(struct pp_calibration *calibration, const struct predict_case *c,
                           double scale)
{
    measure_group(calibration, c, scale, 0);
}

#endif
