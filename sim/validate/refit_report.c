/* Prints a fit: the constants, and the errors of each family if it teaches nothing. */
#include "sim/validate/refit.h"
#include "sim/validate/validate.h"

#include "core/quantile.h"

#include <math.h>

enum { STEPS_MAX = 8 };

/* Prints a constant as in the rows of devices and frameworks. */
static void print_value(const struct pp_refit_value *value, const double *without, int families,
                        int stride, int index, FILE *out)
{
    double low = value->log_value, high = value->log_value;

    for (int f = 0; f < families; f++) {
        low = fmin(low, without[f * stride + index]);
        high = fmax(high, without[f * stride + index]);
    }
    fprintf(out, "%-15s %-10s %10.4g %10.4g %10.4g %6d\n", value->constant->name, value->owner,
            exp(value->log_value), exp(low), exp(high), value->rows);
}

static void print_values(const struct pp_refit *refit, const double *without, FILE *out)
{
    fprintf(out, "%-15s %-10s %10s %10s %10s %6s\n", "constant", "of", "fitted", "least", "most",
            "rows");
    for (const struct pp_constant *c = pp_constants; c->name != NULL; c++)
        for (int i = 0; i < refit->value_count; i++)
            if (refit->values[i].constant == c)
                print_value(&refit->values[i], without, refit->family_count, refit->value_count, i,
                            out);
    fputs("\nfitted on all rows; least and most over the fits that leave one family out\n", out);
}

/* Finds the errors of rows at the values fitted without their families. */
static enum pp_status judge_all(const struct pp_refit *refit, double *without, double *residuals,
                                struct pp_error *err)
{
    for (int f = 0; f < refit->family_count; f++) {
        PP_TRY(pp_refit_without(refit, f, STEPS_MAX, without + f * refit->value_count, err));
        PP_TRY(pp_refit_judge(refit, f, without + f * refit->value_count, residuals, err));
    }
    return PP_OK;
}

static double median_abs(double *scratch, const struct pp_refit *refit, const double *residuals,
                         int family)
{
    int n = 0;

    for (int i = 0; i < refit->row_count; i++)
        if (refit->rows[i].family == family && isfinite(residuals[i]))
            scratch[n++] = fabs(expm1(residuals[i]));
    return pp_median(scratch, n);
}

/* Prints the median errors of families with and without their own rows. */
static enum pp_status print_families(struct pp_refit *refit, const double *residuals, FILE *out,
                                     struct pp_error *err)
{
    double *taught = PP_ARRAY(refit->arena, double, refit->row_count + 1);
    double *scratch = PP_ARRAY(refit->arena, double, refit->row_count + 1);

    fprintf(out, "\n%-25s %8s %8s\n", "median error of a family", "with it", "without");
    for (int f = 0; f < refit->family_count; f++) {
        PP_TRY(pp_refit_judge(refit, f, NULL, taught, err));
        const double with = median_abs(scratch, refit, taught, f);
        fprintf(out, "%-25.25s %6.1f %% %6.1f %%\n", refit->families[f], 100 * with,
                100 * median_abs(scratch, refit, residuals, f));
    }
    fputc('\n', out);
    return PP_OK;
}

static enum pp_status leave_out(struct pp_refit *refit, const struct pp_measure_case *cases,
                                struct pp_validation *validation, FILE *out, struct pp_error *err)
{
    double *without = PP_ARRAY(refit->arena, double, refit->family_count * refit->value_count + 1);
    double *residuals = PP_ARRAY(refit->arena, double, refit->row_count + 1);

    PP_TRY(judge_all(refit, without, residuals, err));
    for (int i = 0; i < refit->row_count; i++) {
        struct pp_validation_row *row = &validation->rows[refit->rows[i].row - cases];
        row->error_frac = expm1(residuals[i]);
        row->prediction.step_s = row->step_s * exp(residuals[i]);
    }
    if (!out)
        return PP_OK;
    print_values(refit, without, out);
    return print_families(refit, residuals, out, err);
}

enum pp_status pp_refit_validation(struct pp_arena *arena, const struct pp_measurements *list,
                                   struct pp_validation *validation, FILE *out,
                                   struct pp_error *err)
{
    struct pp_measure_case *cases = PP_ARRAY(arena, struct pp_measure_case, list->count);
    struct pp_refit refit;

    for (int i = 0; i < list->count; i++)
        pp_measure_case_open(arena, &list->rows[i], &cases[i]);
    pp_refit_open(arena, cases, list->count, PP_REFIT_PUBLISHED, &refit);
    if (refit.row_count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "--refit: no row has a published step time, stated settings "
                            "and a prediction");
    PP_TRY(pp_refit_solve(&refit, STEPS_MAX, err));
    if (out)
        fprintf(out, "fitted in %d steps on %d rows of %d families\n\n", refit.steps,
                refit.row_count, refit.family_count);
    return leave_out(&refit, cases, validation, out, err);
}
