/* Predicts the second half of the passes of a generating program from the first half. */
#include "exec/predict/passes.h"

#include "core/quantile.h"
#include "core/units.h"
#include "exec/predict/calibration.h"

#include <math.h>

/* Durations of a pass on a stage of the model, in picoseconds: t is the pass. */
struct line {
    double at_0, slope;
};

struct fit {
    struct pp_arena *arena;
    const struct pp_program *p;
    const struct pp_step_times *times;
    int model, fitted;
    struct pp_samples *took; /* [stage of the program] a micro-batch */
};

/* ---- samples --------------------------------------------------------------------------------- */

/* An op of pass 0 has some granules of a micro-batch. */
static void take_all(const struct fit *f)
{
    const struct pp_program *p = f->p;

    for (int i = 0; i < pp_program_size(p); i++)
        for (int r = 0; p->kind[i] == PP_F && r < f->times->replicas; r++) {
            const int64_t ps = f->times->nominal_ps[pp_step_row(f->times, i, r)];
            pp_samples_push(f->arena, &f->took[p->stage[i]],
                            (double)ps * p->granules / p->granule_count[i]);
        }
}

/* ---- the line -------------------------------------------------------------------------------- */

/* Median of the slopes between passes that are half of the range apart (Theil 1950). Neighbours
 * tell little of a slope. A pass never meets fewer tokens than the one before. So a slope counts if
 * most of the pairs have one; else it is noise, which a continued line would multiply. */
static const double SURE = 0.25;
static double slope_of(struct pp_arena *arena, const double *ps, int count)
{
    const int apart = (count + 1) / 2;
    double *slopes = PP_ARRAY(arena, double, count + 1);
    int n = 0;

    for (int t = 0; t + apart < count; t++)
        slopes[n++] = (ps[t + apart] - ps[t]) / apart;
    if (n == 0)
        return 0;
    return pp_quantile(slopes, n, SURE) > 0 ? pp_median(slopes, n) : 0;
}

static struct line line_of(const struct fit *f, int stage)
{
    double *ps = PP_ARRAY(f->arena, double, f->fitted);

    for (int t = 1; t <= f->fitted; t++)
        ps[t - 1] = pp_samples_mean(&f->took[t * f->model + stage]);
    const double slope = slope_of(f->arena, ps, f->fitted);
    double sum = 0;
    for (int t = 0; t < f->fitted; t++)
        sum += ps[t] - slope * (t + 1);
    return (struct line){sum / f->fitted, slope};
}

static void fill(const struct fit *f, struct pp_costs *costs)
{
    struct pp_cost *op = PP_ARRAY(f->arena, struct pp_cost, f->p->stages);

    for (int stage = 0; stage < f->model; stage++) {
        const struct line line = line_of(f, stage);

        for (int v = stage; v < f->p->stages; v += f->model) {
            const double ps = v < f->model ? pp_samples_mean(&f->took[v])
                                           : line.at_0 + line.slope * (v / f->model);
            op[v] = costs->op[PP_F] ? costs->op[PP_F][v] : (struct pp_cost){0};
            op[v].ps = llround(ps);
        }
    }
    costs->op[PP_F] = op;
}

/* ---- ends of passes -------------------------------------------------------------------------- */

/* When pass t has ended on the last stage, of each group; [passes][groups] seconds. */
static double *ends_of(const struct fit *f, const int64_t *end_ps, int64_t begin_ps)
{
    const struct pp_program *p = f->p;
    const int groups = p->micro_batches * f->times->replicas;
    double *ends_s = PP_ARRAY(f->arena, double, p->passes *groups);

    for (int i = 0; i < pp_program_size(p); i++)
        for (int r = 0; r < f->times->replicas && p->kind[i] == PP_F; r++) {
            const int pass = p->stage[i] / f->model, last = p->mb[i] + p->granule_count[i] - 1;
            const double s = pp_units_s(end_ps[pp_step_row(f->times, i, r)] - begin_ps);

            for (int g = p->mb[i]; g <= last && (p->stage[i] + 1) % f->model == 0; g++) {
                double *end_s = &ends_s[pass * groups + r * p->micro_batches + g / p->granules];
                *end_s = fmax(*end_s, s);
            }
        }
    return ends_s;
}

static double latest(const double *s, int count)
{
    double most = 0;

    for (int i = 0; i < count; i++)
        most = fmax(most, s[i]);
    return most;
}

static void read_ends(const struct fit *f, double *ends_s, double *by_pass, double *first_s,
                      double *token_s)
{
    const int groups = f->p->micro_batches * f->times->replicas, passes = f->p->passes;

    for (int t = 0; t < passes; t++)
        by_pass[t] = latest(ends_s + t * groups, groups);
    *first_s = pp_median(ends_s, groups);
    *token_s = (by_pass[passes - 1] - by_pass[f->fitted]) / (passes - 1 - f->fitted);
}

/* ---- prediction ------------------------------------------------------------------------------ */

enum pp_status pp_predict_passes(struct pp_arena *arena, const struct pp_program *program,
                                 const struct pp_costs *costs, const struct pp_step_times *times,
                                 struct pp_replicas replicas,
                                 struct pp_passes_prediction *prediction, struct pp_error *err)
{
    enum { LEAST = 4 };
    const struct fit f = {
        .arena = arena,
        .p = program,
        .times = times,
        .model = pp_program_model_stages(program),
        .fitted = program->passes / 2,
        .took = pp_arena_alloc(arena, sizeof(struct pp_samples) * (size_t)program->stages)};
    const struct pp_perturbation slowed = {.slow = replicas.slow};
    struct pp_passes_prediction *to = prediction;
    struct pp_eval *eval;

    if (program->passes < LEAST)
        return pp_error_set(err, PP_EINVAL,
                            "%d tokens: at least %d are needed for the first half to predict the "
                            "second",
                            program->passes, LEAST);
    *to = (struct pp_passes_prediction){.passes = program->passes,
                                        .fitted = f.fitted,
                                        .costs = *costs,
                                        .measured_s = PP_ARRAY(arena, double, program->passes),
                                        .predicted_s = PP_ARRAY(arena, double, program->passes)};
    take_all(&f);
    fill(&f, &to->costs);
    PP_TRY(pp_eval_create(arena, program, &to->costs, &(struct pp_eval_options){0}, &eval, err));
    const struct pp_times *again =
        pp_eval_run(arena, eval, times->replicas, &slowed, PP_TIMES_SPANS);
    read_ends(&f, ends_of(&f, times->end_ps, times->begin_ps), to->measured_s, &to->first_token_s,
              &to->token_s);
    read_ends(&f, ends_of(&f, again->end_ps, 0), to->predicted_s, &to->predicted_first_token_s,
              &to->predicted_token_s);
    to->error_frac = to->predicted_token_s / to->token_s - 1;
    return PP_OK;
}
