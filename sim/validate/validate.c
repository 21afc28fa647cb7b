/* Predicts rows one by one, also by a baseline that knows one number: MFU. */
#include "sim/validate/parts.h"

#include "core/quantile.h"
#include "sim/published/figures.h"
#include "sim/resolve/resolve.h"

#include <math.h>
#include <string.h>

static double error_of(double predicted, double published)
{
    return isfinite(published) ? predicted / published - 1 : (double)NAN;
}

void pp_validation_predict(struct pp_arena *arena, const struct pp_measure_case *open,
                           struct pp_validation_row *row, struct pp_result *result)
{
    const struct pp_config *config = &open->config;
    const struct pp_measurement *m = open->row;
    struct pp_result own;
    struct pp_error err = {0};

    *row = (struct pp_validation_row){.row = m,
                                      .skipped = open->skipped,
                                      .inferred = open->command.inferred,
                                      .refused = open->refused,
                                      .step_s = open->step_s,
                                      .error_frac = (double)NAN,
                                      .mem_error_frac = (double)NAN,
                                      .mfu = (double)NAN,
                                      .baseline_error_frac = (double)NAN,
                                      .is_generation = m->is_generation};
    pp_generation_published(m, row->published);
    result = result ? result : &own;
    if (!row->skipped && pp_simulate(arena, config, PP_METRICS, NULL, result, &err) != PP_OK)
        row->skipped = pp_measure_reason(arena, &err);
    if (!row->skipped && row->is_generation &&
        pp_generation_predicted(arena, result, row->predicted, &err) != PP_OK)
        row->skipped = pp_measure_reason(arena, &err);
    if (row->skipped)
        return;
    row->device = config->cluster.device.name;
    row->schedule = config->schedule_name;
    row->precision = pp_precision_names[config->cluster.device.precision];
    row->framework = config->costs.framework->name;
    row->pp = config->layout.pp;
    row->is_multi_node = config->layout.gpus > config->cluster.gpus_per_node;
    row->use = pp_arena_printf(arena, "%s, %s, %s", row->device, row->pp > 1 ? "PP > 1" : "PP 1",
                               row->is_multi_node ? "several nodes" : "one node");
    row->is_mixture = config->model.experts.count > 0;
    row->prediction = pp_measure_prediction(m, result);
    if (row->is_generation) {
        row->prediction.mem_bytes = row->predicted[PP_GENERATION_MEMORY];
        return;
    }
    row->error_frac = error_of(row->prediction.step_s, row->step_s);
    row->mem_error_frac = error_of(row->prediction.mem_bytes, m->mem_bytes);
    row->mfu = row->prediction.model_flops /
               (row->step_s * row->prediction.peak_flops_per_s * config->layout.gpus);
}

void pp_validation_run(struct pp_arena *arena, const struct pp_measurements *list,
                       struct pp_validation *validation)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();

    validation->rows = PP_ARRAY(arena, struct pp_validation_row, list->count);
    validation->count = list->count;
    for (int i = 0; i < list->count; i++) {
        const struct pp_arena_mark mark = pp_arena_mark(scratch);
        struct pp_validation_row *row = &validation->rows[i];
        struct pp_measure_case open;

        if (pp_figure_is(&list->rows[i])) {
            pp_validation_figure(arena, &list->rows[i], row);
            continue;
        }
        pp_measure_case_open(scratch, &list->rows[i], &open);
        pp_validation_predict(scratch, &open, row, NULL);
        const char **texts[] = {&row->skipped, &row->inferred, &row->refused, &row->schedule,
                                &row->use};
        for (size_t k = 0; k < PP_COUNT(texts); k++)
            *texts[k] = *texts[k] ? pp_arena_strdup(arena, *texts[k]) : NULL;
        pp_arena_release(scratch, mark);
    }
    pp_validation_baseline(arena, validation);
}

/* Returns the median MFU of a family's complete rows; NAN without any. */
static double mfu_of(double *scratch, const struct pp_validation *v, const char *family)
{
    int n = 0;

    for (int i = 0; i < v->count; i++)
        if (pp_validation_is_complete(&v->rows[i]) && isfinite(v->rows[i].mfu) &&
            !strcmp(v->rows[i].row->family, family))
            scratch[n++] = v->rows[i].mfu;
    return pp_median(scratch, n);
}

/* Returns one MFU for every run: the median over the other families, which weigh alike. */
static double mfu_without(double *scratch, const struct pp_validation_group *families, int count,
                          const char *family)
{
    int n = 0;

    for (int i = 0; i < count; i++)
        if (isfinite(families[i].mfu) && strcmp(families[i].name, family) != 0)
            scratch[n++] = families[i].mfu;
    return pp_median(scratch, n);
}

void pp_validation_baseline(struct pp_arena *arena, struct pp_validation *v)
{
    double *scratch = PP_ARRAY(arena, double, v->count + 1), mfu = (double)NAN;
    const char *family = NULL;
    int count;
    struct pp_validation_group *families =
        pp_validation_by(arena, v, pp_validation_is_any, PP_BY_FAMILY, &count);

    for (int i = 0; i < count; i++)
        families[i].mfu = mfu_of(scratch, v, families[i].name);
    for (int i = 0; i < v->count; i++) {
        struct pp_validation_row *row = &v->rows[i];
        if (!isfinite(row->mfu))
            continue;
        if (!family || strcmp(family, row->row->family) != 0)
            mfu = mfu_without(scratch, families, count, row->row->family);
        family = row->row->family;
        row->baseline_error_frac = row->mfu / mfu - 1;
    }
}
