/* Finds the constants to fit, and the residuals of published rows at their values. */
#include "sim/validate/refit.h"

#include "core/process/pool.h"
#include "sim/resolve/resolve.h"

#include <math.h>
#include <string.h>

/* Step of a logarithm for slopes: large against rounding to picoseconds, small against spreads. */
static const double SLOPE_STEP = 0.03;
/* Weight of rows whose configuration is not stated in full. */
static const double INCOMPLETE_WEIGHT = 0.2;
/* Most rows of a family that teach, spread evenly over it; all are judged. */
enum { TEACHERS_MAX = 40, INCOMPLETE_TEACHERS_MAX = 10, OBSERVATIONS_MAX = 10 };
enum { OWN_MAX = 64 };
/* PUBLISHED: spread of a constant's siblings as a whole around its typical value, in spreads. */
static const double COMMON_SPREADS = 2;
const double pp_refit_own_width = 0.08;
/* OWN: spread of the constants of a part around their common change, in widths. */
static const double PART_SPREAD = 0.3;

/* ---- values and rows ------------------------------------------------------------------------- */

void pp_refit_typical(struct pp_refit_value *v)
{
    v->mean = log(v->constant->typical);
    v->spread = v->constant->spread;
    v->common = COMMON_SPREADS * v->constant->spread;
    v->siblings = (int)(v->constant - pp_constants);
}

/* Siblings are the constants of one part of a step, of one owner. */
static void set_prior(const struct pp_refit *refit, struct pp_refit_value *v)
{
    int owner = 0;

    if (refit->prior == PP_REFIT_PUBLISHED) {
        pp_refit_typical(v);
        return;
    }
    while (strcmp(refit->values[owner].owner, v->owner) != 0)
        owner++;
    v->mean = v->log_value;
    v->spread = PART_SPREAD * pp_refit_own_width;
    v->common = pp_refit_own_width;
    v->siblings = owner * PP_CONSTANT_PARTS + (int)v->constant->part;
}

static int value_index(struct pp_refit *refit, const struct pp_constant *constant,
                       const char *owner, double value)
{
    for (int i = 0; i < refit->value_count; i++)
        if (refit->values[i].constant == constant && !strcmp(refit->values[i].owner, owner))
            return i;
    *PP_PUSH(refit->arena, refit->values, refit->value_count, refit->value_capacity) =
        (struct pp_refit_value){.constant = constant,
                                .owner = owner,
                                .log_value =
                                    log(fmin(fmax(value, constant->least), constant->most))};
    set_prior(refit, &refit->values[refit->value_count - 1]);
    return refit->value_count - 1;
}

static void take_values(struct pp_refit *refit, struct pp_refit_row *row)
{
    const struct pp_config *config = &row->row->config;
    int index[OWN_MAX];

    for (const struct pp_constant *c = pp_constants; c->name != NULL && row->count < OWN_MAX; c++) {
        const char *owner = pp_constant_owner(c, &config->cluster, config->costs.framework);
        if (owner && !(c->is_given && (refit->prior == PP_REFIT_PUBLISHED || config->platform)))
            index[row->count++] = value_index(
                refit, c, owner, pp_constant_get(c, &config->cluster, config->costs.framework));
    }
    row->index = PP_ARRAY(refit->arena, int, row->count);
    row->slope = PP_ARRAY(refit->arena, double, row->count);
    memcpy(row->index, index, sizeof(*index) * (size_t)row->count);
}

/* Is true for two runs of one layout: they err alike. */
static bool is_same_layout(const struct pp_config *a, const struct pp_config *b)
{
    return a->schedule == b->schedule && a->layout.tp == b->layout.tp &&
           a->layout.pp == b->layout.pp && a->layout.cp == b->layout.cp &&
           a->layout.ep == b->layout.ep && a->layout.dp == b->layout.dp &&
           a->layout.mbs == b->layout.mbs && a->shape.chunks == b->shape.chunks &&
           a->costs.recompute == b->costs.recompute && a->costs.again == b->costs.again &&
           !memcmp(a->wanted.shard, b->wanted.shard, sizeof(a->wanted.shard)) &&
           a->wanted_zero == b->wanted_zero;
}

/* Returns the number of the layout: the first row of it. */
static int layout_index(const struct pp_refit *refit, const struct pp_refit_row *row)
{
    int i = 0;

    while (!is_same_layout(&refit->rows[i].row->config, &row->row->config))
        i++;
    return i;
}

static int family_index(struct pp_refit *refit, const char *name)
{
    for (int i = 0; i < refit->family_count; i++)
        if (!strcmp(refit->families[i], name))
            return i;
    refit->families[refit->family_count] = name;
    return refit->family_count++;
}

/* Rows of a family err alike, but not wholly: n of them count as sqrt(n) observations, at most ten.
 * Families without a complete row count less. */
static void weigh(struct pp_refit *refit)
{
    const int families = refit->family_count;
    double *sum = PP_ARRAY(refit->arena, double, families + 1);
    double *most = PP_ARRAY(refit->arena, double, families + 1);
    int *rows = PP_ARRAY(refit->arena, int, families + 1);
    int *complete = PP_ARRAY(refit->arena, int, families + 1);
    int *seen = PP_ARRAY(refit->arena, int, families + 1);

    for (int i = 0; i < refit->row_count; i++) {
        rows[refit->rows[i].family]++;
        complete[refit->rows[i].family] += refit->rows[i].row->row->is_complete;
    }
    for (int i = 0; i < refit->row_count; i++) {
        struct pp_refit_row *row = &refit->rows[i];
        const int f = row->family, most_rows = complete[f] ? TEACHERS_MAX : INCOMPLETE_TEACHERS_MAX;
        const int stride = (rows[f] + most_rows - 1) / most_rows;
        if (seen[f]++ % stride)
            continue;
        row->weight = row->row->row->is_complete ? 1 : INCOMPLETE_WEIGHT;
        sum[f] += row->weight;
        most[f] = fmax(most[f], row->weight);
    }
    for (int i = 0; i < refit->row_count; i++)
        refit->rows[i].weight *= most[refit->rows[i].family] / sum[refit->rows[i].family] *
                                 fmin(sqrt(rows[refit->rows[i].family]), OBSERVATIONS_MAX);
}

/* Rows of a layout err alike, but not wholly: n of them count as sqrt(n) observations. */
static void weigh_layouts(struct pp_refit *refit)
{
    for (int i = 0; i < refit->row_count; i++) {
        int rows = 0;
        for (int j = 0; j < refit->row_count; j++)
            rows += refit->rows[j].family == refit->rows[i].family;
        refit->rows[i].weight = 1 / sqrt(rows);
    }
}

void pp_refit_open(struct pp_arena *arena, const struct pp_measure_case *cases, int count,
                   enum pp_refit_prior prior, struct pp_refit *refit)
{
    const bool is_own = prior == PP_REFIT_OWN;

    *refit = (struct pp_refit){.arena = arena,
                               .prior = prior,
                               .rows = PP_ARRAY(arena, struct pp_refit_row, count + 1),
                               .families = PP_ARRAY(arena, const char *, count + 1)};
    for (int i = 0; i < count; i++) {
        if (cases[i].skipped || cases[i].command.inferred || !(cases[i].step_s > 0))
            continue;
        struct pp_refit_row *row = &refit->rows[refit->row_count++];
        *row = (struct pp_refit_row){.row = &cases[i]};
        row->family = is_own ? layout_index(refit, row) : family_index(refit, cases[i].row->family);
        take_values(refit, row);
    }
    if (is_own)
        weigh_layouts(refit);
    else
        weigh(refit);
}

/* ---- predictions ----------------------------------------------------------------------------- */

struct overrides {
    const struct pp_refit *refit;
    const struct pp_refit_row *row;
    const double *log_values; /* [value_count], NULL: those of the fit */
    int moved;                /* value that is SLOPE_STEP higher; -1 = none */
    struct pp_framework framework;
};

static void apply(struct pp_config *config, struct overrides *o)
{
    o->framework = *config->costs.framework;
    for (int k = 0; k < o->row->count; k++) {
        const int i = o->row->index[k];
        const double log_value =
            (o->log_values ? o->log_values[i] : o->refit->values[i].log_value) +
            (i == o->moved ? SLOPE_STEP : 0);
        pp_constant_set(o->refit->values[i].constant, &config->cluster, &o->framework,
                        exp(log_value));
    }
    if (config->costs.framework != pp_framework_plain)
        config->costs.framework = &o->framework;
}

/* Returns log(predicted / published); NAN without a prediction. */
static double residual_at(struct pp_arena *arena, struct overrides *overrides)
{
    const struct pp_measure_case *row = overrides->row->row;
    struct pp_arena_mark mark = pp_arena_mark(arena);
    struct pp_config config = row->config;
    struct pp_result result = {0};
    struct pp_error err = {0};
    double residual = NAN;

    apply(&config, overrides);
    if (config.cluster.eta_link != row->config.cluster.eta_link &&
        pp_resolve_fabric(arena, &config, config.layout.gpus, &err) != PP_OK)
        return residual;
    if (pp_simulate(arena, &config, PP_QUICK, NULL, &result, &err) == PP_OK)
        residual = log(result.metrics.iteration_s / row->step_s);
    pp_arena_release(arena, mark);
    return residual;
}

struct evaluation {
    const struct pp_refit *refit;
    bool with_slopes;
    const double *log_values;
    int family;        /* -1: all rows that teach */
    int without;       /* family to leave out of them; -1: none */
    double *residuals; /* [row_count] destination; NULL: the rows */
    int refused;
};

static bool is_asked(const struct evaluation *e, const struct pp_refit_row *row)
{
    return e->family >= 0 ? row->family == e->family : row->weight > 0 && row->family != e->without;
}

static void evaluate_row(void *context, struct pp_arena *scratch, int64_t item, FILE *out)
{
    const struct evaluation *e = context;
    const struct pp_refit_row *row = &e->refit->rows[item];
    struct overrides overrides = {
        .refit = e->refit, .row = row, .log_values = e->log_values, .moved = -1};

    if (!is_asked(e, row))
        return;
    const double residual = residual_at(scratch, &overrides);
    fwrite(&residual, sizeof residual, 1, out);
    for (int k = 0; e->with_slopes && k < row->count; k++) {
        overrides.moved = row->index[k];
        const double slope = (residual_at(scratch, &overrides) - residual) / SLOPE_STEP;
        fwrite(&slope, sizeof slope, 1, out);
    }
}

static enum pp_status take_row(void *context, int64_t item, const char *text, size_t length,
                               const char *death, struct pp_error *err)
{
    struct evaluation *e = context;
    struct pp_refit_row *row = &e->refit->rows[item];
    double residual = NAN;

    if (!is_asked(e, row))
        return PP_OK;
    if (death)
        return pp_error_set(err, PP_EFAIL, "two workers that predicted one row %s", death);
    if (length >= sizeof residual)
        memcpy(&residual, text, sizeof residual);
    e->refused += !isfinite(residual);
    if (e->residuals)
        e->residuals[item] = residual;
    else
        row->residual = residual;
    if (e->with_slopes && length == sizeof residual * (size_t)(1 + row->count))
        memcpy(row->slope, text + sizeof residual, sizeof residual * (size_t)row->count);
    for (int k = 0; e->with_slopes && k < row->count; k++)
        if (!isfinite(row->slope[k]))
            row->slope[k] = 0;
    return PP_OK;
}

static enum pp_status evaluate(struct evaluation *e, struct pp_error *err)
{
    const struct pp_pool pool = {
        .items = e->refit->row_count, .context = e, .work = evaluate_row, .done = take_row};

    return e->refit->row_count ? pp_pool_run(&pool, err) : PP_OK;
}

enum pp_status pp_refit_residuals(struct pp_refit *refit, int without, struct pp_error *err)
{
    struct evaluation e = {.refit = refit, .family = -1, .without = without};

    return evaluate(&e, err);
}

enum pp_status pp_refit_evaluate(struct pp_refit *refit, struct pp_error *err)
{
    struct evaluation e = {.refit = refit, .with_slopes = true, .family = -1, .without = -1};

    PP_TRY(evaluate(&e, err));
    refit->refused = e.refused;
    for (int i = 0; i < refit->value_count; i++)
        refit->values[i].rows = 0;
    for (int i = 0; i < refit->row_count; i++)
        for (int k = 0; k < refit->rows[i].count; k++)
            refit->values[refit->rows[i].index[k]].rows += refit->rows[i].slope[k] != 0;
    return PP_OK;
}

enum pp_status pp_refit_judge(const struct pp_refit *refit, int family, const double *log_values,
                              double *residuals, struct pp_error *err)
{
    struct evaluation e = {.refit = refit,
                           .log_values = log_values,
                           .family = family,
                           .without = -1,
                           .residuals = residuals};

    return evaluate(&e, err);
}
