/* Medians to costs: by part for any program on the same net and batch, as a whole for the program
 * that was measured. */
#include "exec/calibration.h"

#include <math.h>

static const char *const part_names[PP_PARTS] = {"the embedding", "a block", "the head"};

/* Passes of which an op consists, and what stands in for them: the passes of a full backward for I
 * and W and the other way round, a forward for a recomputation, which repeats it. */
static const struct {
    int count;
    enum pp_pass pass[2][2]; /* [pass][choice] */
} needs[PP_OP_KINDS] = {
    [PP_F] = {1, {{PP_PASS_F, PP_PASS_F}}},
    [PP_R] = {1, {{PP_PASS_R, PP_PASS_F}}},
    [PP_I] = {1, {{PP_PASS_I, PP_PASS_BI}}},
    [PP_W] = {1, {{PP_PASS_W, PP_PASS_BW}}},
    [PP_B] = {2, {{PP_PASS_BI, PP_PASS_I}, {PP_PASS_BW, PP_PASS_W}}},
};

static int64_t rounded_ps(double ps)
{
    return ps > 0 ? llround(ps) : 0;
}

/* ---- what a program needs -------------------------------------------------------------------*/

/* [kind]: [stage * splits + split] an op of it occurs; alone, if fused ones do not count. */
struct used {
    bool *by_kind[PP_OP_KINDS];
};

static struct used find_used(struct pp_arena *arena, const struct pp_program *p, bool has_fused)
{
    struct used used;

    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        used.by_kind[kind] = PP_ARRAY(arena, bool, p->stages * p->splits);
    for (int i = 0; i < pp_program_size(p); i++)
        if (pp_op_is_compute(p->kind[i]) && (has_fused || p->aux[i] == 0))
            used.by_kind[p->kind[i]]
                        [p->stage[i] * p->splits + (p->kind[i] == PP_U ? 0 : p->split[i])] = true;
    return used;
}

/* ---- by part --------------------------------------------------------------------------------*/

/* One layer of a part in an op of `kind`; NAN when it was never measured. */
static double part_ps(const struct pp_calibration *c, int kind, int part, int split)
{
    double sum_ps = 0;

    for (int k = 0; k < needs[kind].count; k++) {
        const enum pp_pass *choice = needs[kind].pass[k];
        double ps = pp_samples_median(&c->part[choice[0]][part][split]);
        if (isnan(ps))
            ps = pp_samples_median(&c->part[choice[1]][part][split]);
        sum_ps += ps;
    }
    return sum_ps;
}

/* What an op takes beside its layers; of a kind that was never measured, as much as a forward. */
static double outside_ps(const struct pp_calibration *c, int kind)
{
    static const int stand_in = PP_F;
    struct pp_samples own = c->outside[kind], forward = c->outside[stand_in];

    if (own.count > 0)
        return pp_samples_median(&own);
    return forward.count > 0 ? pp_samples_median(&forward) : 0;
}

static enum pp_status fail_part(const struct pp_calibration *c, int kind, int part, int split,
                                struct pp_error *err)
{
    const char *what = pp_op_kinds[kind].text;

    if (c->batch.splits > 1)
        return pp_error_set(err, PP_EINVAL,
                            "%s of %s on sequence split %d was never measured: calibrate with a "
                            "schedule that runs it",
                            what, part_names[part], split);
    return pp_error_set(err, PP_EINVAL,
                        "%s of %s was never measured: calibrate with a schedule that runs it", what,
                        part_names[part]);
}

/* Of one granule. */
static enum pp_status op_ps(const struct pp_calibration *c, const struct pp_stage *stage, int kind,
                            int split, double *ps, struct pp_error *err)
{
    double sum_ps = outside_ps(c, kind);

    for (int part = 0; part < PP_PARTS; part++) {
        const int layers = pp_calibration_layers(&stage->shape, part);
        const double each_ps = layers > 0 ? part_ps(c, kind, part, split) : 0;
        if (isnan(each_ps))
            return fail_part(c, kind, part, split, err);
        sum_ps += layers * each_ps;
    }
    *ps = sum_ps;
    return PP_OK;
}

/* A calibration speaks of granules of one size. */
static enum pp_status check_shape(const struct pp_calibration *c, const struct pp_stage *stage,
                                  struct pp_error *err)
{
    const int rows = c->batch.mbs / c->batch.granules;

    if (stage->shape.rows == rows && stage->shape.splits == c->batch.splits)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "durations were measured with splits %d and %d samples at a time, this "
                        "program has splits %d and %d samples: calibrate with the same",
                        c->batch.splits, rows, stage->shape.splits, stage->shape.rows);
}

static enum pp_status update_ps(const struct pp_calibration *c, const struct pp_stage *stage,
                                int64_t *ps, struct pp_error *err)
{
    struct pp_samples update = c->update;

    if (update.count == 0 && stage->elements > 0)
        return pp_error_set(err, PP_EINVAL,
                            "U was never measured: calibrate with a program that updates weights");
    *ps =
        stage->elements > 0 ? rounded_ps(pp_samples_median(&update) * (double)stage->elements) : 0;
    return PP_OK;
}

static void mark(struct pp_costs *costs)
{
    costs->is_calibrated = true;
    costs->source = "durations measured on this machine";
}

/* All compute entries of a stage but U. */
static enum pp_status stage_ps(const struct pp_calibration *c, const struct pp_program *program,
                               const struct pp_stage *stage, int s, const struct used *used,
                               struct pp_costs *costs, struct pp_error *err)
{
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        for (int q = 0; q < program->splits; q++) {
            const int at = s * program->splits + q;
            double ps = 0;

            if (!used->by_kind[kind][at] || kind == PP_U)
                continue;
            if (needs[kind].count == 0)
                return pp_error_set(err, PP_EINVAL, "%s cannot be predicted",
                                    pp_op_kinds[kind].text);
            PP_TRY(op_ps(c, stage, kind, q, &ps, err));
            costs->op[kind][at].ps = rounded_ps(program->granules * ps);
        }
    return PP_OK;
}

enum pp_status pp_calibration_costs(const struct pp_calibration *calibration,
                                    const struct pp_program *program,
                                    const struct pp_stage *const *stages, struct pp_costs *costs,
                                    struct pp_error *err)
{
    struct pp_arena *scratch PP_ARENA_AUTO = pp_arena_create();
    const struct used used = find_used(scratch, program, true);

    for (int s = 0; s < program->stages; s++) {
        PP_TRY(check_shape(calibration, stages[s], err));
        if (stage_ps(calibration, program, stages[s], s, &used, costs, err) != PP_OK)
            return pp_error_prefix(err, "stage %d: ", s);
        if (used.by_kind[PP_U][s * program->splits])
            PP_TRY(update_ps(calibration, stages[s], &costs->op[PP_U][s].ps, err));
    }
    mark(costs);
    return PP_OK;
}

/* ---- in situ --------------------------------------------------------------------------------*/

/* A whole granule; of an op that only ran in pairs, its share of those. NAN when neither is known.
 */
static double whole_ps(const struct pp_calibration *c, int kind, int at)
{
    const double ps = pp_samples_median(&c->whole[kind][at]);

    return isnan(ps) ? pp_samples_median(&c->in_pair[kind][at]) : ps;
}

static enum pp_status whole_op_ps(const struct pp_calibration *c, int kind, int at, bool is_needed,
                                  int64_t *ps, struct pp_error *err)
{
    const int splits = c->batch.splits;
    double granule_ps = whole_ps(c, kind, at);

    if (isnan(granule_ps) && kind == PP_B)
        granule_ps = whole_ps(c, PP_I, at) + whole_ps(c, PP_W, at);
    if (isnan(granule_ps) && is_needed)
        return pp_error_set(err, PP_EINVAL,
                            "%s of stage %d (sequence split %d of %d) was never measured",
                            pp_op_kinds[kind].text, at / splits, at % splits, splits);
    *ps = isnan(granule_ps) ? 0 : rounded_ps(c->batch.granules * granule_ps);
    return PP_OK;
}

/* Pairs that were never measured take the sum of their ops. */
static void add_pairs(const struct pp_calibration *c, struct pp_arena *arena,
                      struct pp_costs *costs)
{
    const int stages = c->stages, splits = c->batch.splits;
    bool has_pairs = false;

    for (int k = 0; k < stages * stages; k++)
        has_pairs |= c->pair[k].count > 0;
    if (!has_pairs)
        return;
    costs->overlap = PP_ARRAY(arena, struct pp_cost, stages * stages);
    for (int k = 0; k < stages * stages; k++) {
        const double ps = pp_samples_median(&c->pair[k]);
        int64_t sum_ps = 0;

        for (int q = 0; q < splits; q++)
            sum_ps += costs->op[PP_F][k / stages * splits + q].ps +
                      costs->op[PP_B][k % stages * splits + q].ps;
        costs->overlap[k].ps = isnan(ps) ? sum_ps : rounded_ps(ps);
    }
}

static enum pp_status whole_update_ps(const struct pp_calibration *c, int s, int64_t *ps,
                                      struct pp_error *err)
{
    const double whole_ps = pp_samples_median(&c->whole[PP_U][s * c->batch.splits]);

    if (isnan(whole_ps))
        return pp_error_set(err, PP_EINVAL, "U of stage %d was never measured", s);
    *ps = rounded_ps(whole_ps);
    return PP_OK;
}

enum pp_status pp_calibration_costs_in_situ(const struct pp_calibration *calibration,
                                            const struct pp_program *program,
                                            struct pp_costs *costs, struct pp_error *err)
{
    struct pp_arena *scratch PP_ARENA_AUTO = pp_arena_create();
    const struct used used = find_used(scratch, program, true);
    const struct used alone = find_used(scratch, program, false);

    if (calibration->stages == 0 || calibration->program_hash != pp_program_hash(program))
        return pp_error_set(err, PP_EINVAL, "%s is not the program that was measured last",
                            program->name);
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        for (int at = 0; needs[kind].count > 0 && at < program->stages * program->splits; at++)
            if (used.by_kind[kind][at])
                PP_TRY(whole_op_ps(calibration, kind, at, alone.by_kind[kind][at],
                                   &costs->op[kind][at].ps, err));
    for (int s = 0; s < program->stages; s++)
        if (used.by_kind[PP_U][s * program->splits])
            PP_TRY(whole_update_ps(calibration, s, &costs->op[PP_U][s].ps, err));
    add_pairs(calibration, calibration->arena, costs);
    mark(costs);
    return PP_OK;
}
