/* Durations of ops as samples. Samples by part serve any program on the same net and batch; samples
 * of whole ops serve the measured program. Means of them are costs, draws from them a band. */
#include "exec/predict/profile_parts.h"

#include <math.h>

static const char *const part_names[PP_PARTS] = {"the embedding", "a block", "the head",
                                                 "a block with experts"};

static bool has_passes(int kind)
{
    for (int pass = 0; pass < PP_TIMED_PASSES; pass++)
        if (pp_passes[pass].kind == kind)
            return true;
    return false;
}

static void add(struct pp_terms *terms, const struct pp_samples *samples, double factor)
{
    terms->term[terms->count++] = (struct pp_term){samples, factor};
}

/* ---- what a program needs -------------------------------------------------------------------- */

/* Whether a program has an op, by kind and [stage * splits + split], U by [stage]. */
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
                        [p->kind[i] == PP_U ? p->stage[i] : p->stage[i] * p->splits + p->split[i]] =
                true;
    return used;
}

static void create(struct pp_arena *arena, const struct pp_program *p, struct pp_op_terms *table)
{
    *table = (struct pp_op_terms){.stages = p->stages, .splits = p->splits};
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        if (pp_op_is_compute(kind))
            table->op[kind] = PP_ARRAY(arena, struct pp_terms, p->stages * p->splits);
}

/* ---- by part --------------------------------------------------------------------------------- */

/* Adds what was measured in ops of a kind with probes, less their delay: one event for each. */
static void add_probed(const struct pp_calibration *c, int kind, const struct pp_samples *samples,
                       double factor, struct pp_terms *terms)
{
    add(terms, samples, factor);
    if (c->delay[kind].count > 0)
        add(terms, &c->delay[kind], -factor);
}

static bool is_other(const struct pp_calibration *c, int kind)
{
    return c->to && (kind == PP_R || !c->is_same_group);
}

/* In another layout, a longer or shorter time is that much more or less in proportion. */
static double outside_factor(const struct pp_calibration *c, int measured, int wanted)
{
    const double mean_ps = pp_samples_mean(&c->outside[measured]);

    if (!is_other(c, wanted) || mean_ps <= 0)
        return 1;
    return fmax(0, 1 + pp_profile_more_ps(c->from, c->to, measured, wanted) / mean_ps);
}

static double layer_factor(const struct pp_calibration *c, int taken, int wanted, int part)
{
    return is_other(c, pp_passes[wanted].kind)
               ? pp_profile_factor(c->from, c->to, taken, wanted, part)
               : 1;
}

/* Adds the time of an op outside its layers; that of a forward if its kind was never measured. */
static void add_outside(const struct pp_calibration *c, int kind, struct pp_terms *terms)
{
    const int measured = c->outside[kind].count > 0 ? kind : PP_F;

    if (c->outside[measured].count > 0)
        add_probed(c, measured, &c->outside[measured],
                   c->batch.granules * outside_factor(c, measured, kind), terms);
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

static enum pp_status add_layers(const struct pp_calibration *c, int kind, int part, int layers,
                                 bool may_replace, int split, struct pp_terms *terms,
                                 struct pp_error *err)
{
    for (int pass = 0; pass < PP_TIMED_PASSES; pass++) {
        if (pp_passes[pass].kind != kind)
            continue;
        const bool is_measured = c->part[pass][part][split].count > 0;
        const int taken = is_measured || !may_replace ? pass : (int)pp_passes[pass].substitute;
        const struct pp_samples *samples = &c->part[taken][part][split];

        if (samples->count == 0)
            return fail_part(c, kind, part, split, err);
        add_probed(c, pp_passes[taken].kind, samples,
                   (double)layers * c->batch.granules * layer_factor(c, taken, pass, part), terms);
    }
    return PP_OK;
}

static enum pp_status op_by_part(const struct pp_calibration *c, const struct pp_stage *stage,
                                 int kind, int split, struct pp_terms *terms, struct pp_error *err)
{
    if (!has_passes(kind))
        return pp_error_set(err, PP_EINVAL, "%s cannot be predicted", pp_op_kinds[kind].text);
    const bool may_replace = kind != PP_R || !pp_stage_is_partly_again(&stage->shape);

    add_outside(c, kind, terms);
    for (int part = 0; part < PP_PARTS; part++) {
        const int layers = pp_calibration_layers(stage, kind, part);
        if (layers > 0)
            PP_TRY(add_layers(c, kind, part, layers, may_replace, split, terms, err));
    }
    return PP_OK;
}

/* A calibration is valid for granules of one size. */
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

/* Finds the terms of all compute entries of a stage but U. */
static enum pp_status stage_by_part(const struct pp_calibration *c, const struct pp_stage *stage,
                                    int s, const struct used *used, double zeroed_frac,
                                    struct pp_op_terms *table, struct pp_error *err)
{
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        for (int q = 0; q < table->splits; q++) {
            const int at = s * table->splits + q;
            if (!used->by_kind[kind][at] || kind == PP_U)
                continue;
            PP_TRY(op_by_part(c, stage, kind, q, &table->op[kind][at], err));
            if (kind == PP_B || kind == PP_W)
                pp_terms_zeroed(c, stage, zeroed_frac, &table->op[kind][at]);
        }
    return PP_OK;
}

static enum pp_status by_part(struct pp_arena *arena, const struct pp_calibration *c,
                              const struct pp_program *program,
                              const struct pp_stage *const *stages, int copies,
                              struct pp_op_terms *table, struct pp_error *err)
{
    const struct used used = find_used(arena, program, true);
    const double update_frac = pp_update_frac(program, copies),
                 zeroed_frac = pp_zeroed_frac(program);

    create(arena, program, table);
    table->omits_exchanges = c->omits_exchanges;
    for (int s = 0; s < program->stages; s++) {
        PP_TRY(check_shape(c, stages[s], err));
        PP_TRY(pp_layout_check(c, stages[s], used.by_kind[PP_R][s * program->splits], err));
        if (stage_by_part(c, stages[s], s, &used, zeroed_frac, table, err) != PP_OK)
            return pp_error_prefix(err, "stage %d: ", s);
        if (used.by_kind[PP_U][s])
            PP_TRY(pp_terms_update(c, stages[s], update_frac, &table->op[PP_U][s], err));
    }
    return PP_OK;
}

/* ---- in situ --------------------------------------------------------------------------------- */

/* Adds the samples of a whole op, or of its share in pairs. Is false if there are none. */
static bool add_whole(const struct pp_calibration *c, int kind, int at, struct pp_terms *terms)
{
    const struct pp_samples *alone = &c->whole[kind][at], *in_pair = &c->in_pair[kind][at];

    if (alone->count == 0 && in_pair->count == 0)
        return false;
    add(terms, alone->count > 0 ? alone : in_pair, c->batch.granules);
    return true;
}

static enum pp_status op_in_situ(const struct pp_calibration *c, int kind, int at, bool is_needed,
                                 struct pp_terms *terms, struct pp_error *err)
{
    const int splits = c->batch.splits;

    if (add_whole(c, kind, at, terms))
        return PP_OK;
    if (kind == PP_B && add_whole(c, PP_I, at, terms) && add_whole(c, PP_W, at, terms))
        return PP_OK;
    terms->count = 0;
    if (is_needed)
        return pp_error_set(err, PP_EINVAL,
                            "%s of stage %d (sequence split %d of %d) was never measured",
                            pp_op_kinds[kind].text, at / splits, at % splits, splits);
    return PP_OK;
}

static enum pp_status update_in_situ(const struct pp_calibration *c, int s, struct pp_terms *terms,
                                     struct pp_error *err)
{
    const struct pp_samples *whole = &c->whole[PP_U][s * c->batch.splits];

    if (whole->count == 0)
        return pp_error_set(err, PP_EINVAL, "U of stage %d was never measured", s);
    add(terms, whole, 1);
    return PP_OK;
}

/* Returns the terms of fused pairs; NULL if none was measured. */
static struct pp_terms *pairs_in_situ(struct pp_arena *arena, const struct pp_calibration *c)
{
    struct pp_terms *pairs = PP_ARRAY(arena, struct pp_terms, c->stages * c->stages);
    bool has_pairs = false;

    for (int k = 0; k < c->stages * c->stages; k++)
        if (c->pair[k].count > 0) {
            add(&pairs[k], &c->pair[k], 1);
            has_pairs = true;
        }
    return has_pairs ? pairs : NULL;
}

static enum pp_status in_situ(struct pp_arena *arena, const struct pp_calibration *c,
                              const struct pp_program *program, struct pp_op_terms *table,
                              struct pp_error *err)
{
    const struct used used = find_used(arena, program, true);
    const struct used alone = find_used(arena, program, false);

    if (c->stages == 0 || c->program_hash != pp_program_hash(program))
        return pp_error_set(err, PP_EINVAL, "%s is not the program that was measured last",
                            program->name);
    create(arena, program, table);
    for (int kind = 0; kind < PP_OP_KINDS; kind++)
        for (int at = 0; has_passes(kind) && at < program->stages * program->splits; at++)
            if (used.by_kind[kind][at])
                PP_TRY(op_in_situ(c, kind, at, alone.by_kind[kind][at], &table->op[kind][at], err));
    for (int s = 0; s < program->stages; s++)
        if (used.by_kind[PP_U][s])
            PP_TRY(update_in_situ(c, s, &table->op[PP_U][s], err));
    table->pair = pairs_in_situ(arena, c);
    return PP_OK;
}

enum pp_status pp_terms_find(struct pp_arena *arena, const struct pp_calibration *c,
                             const struct pp_program *program, const struct pp_stage *const *stages,
                             int copies, struct pp_op_terms *table, struct pp_error *err)
{
    return stages ? by_part(arena, c, program, stages, copies, table, err)
                  : in_situ(arena, c, program, table, err);
}
