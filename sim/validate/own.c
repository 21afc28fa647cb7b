/* Fits constants to a user's own steps, and writes them for --constants. */
#include "sim/validate/own.h"

#include "core/cost/fitted.h"
#include "core/quantile.h"
#include "core/text/output.h"
#include "core/text/terminal.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 8, WIDTH = 80 };

/* Returns the median of |predicted / measured - 1|. */
static double median_of(struct pp_arena *arena, const double *residuals, int count)
{
    double *sizes = PP_ARRAY(arena, double, count + 1);
    int n = 0;

    for (int i = 0; i < count; i++)
        if (isfinite(residuals[i]))
            sizes[n++] = fabs(expm1(residuals[i]));
    return pp_median(sizes, n);
}

static double median_now(struct pp_arena *arena, const struct pp_refit *refit)
{
    double *residuals = PP_ARRAY(arena, double, refit->row_count + 1);

    for (int i = 0; i < refit->row_count; i++)
        residuals[i] = refit->rows[i].residual;
    return median_of(arena, residuals, refit->row_count);
}

/* Finds the median error of layouts that taught nothing; NAN with one layout. */
static enum pp_status leave_out(struct pp_arena *arena, const struct pp_refit *refit,
                                double *median, struct pp_error *err)
{
    double *values = PP_ARRAY(arena, double, refit->value_count + 1);
    double *residuals = PP_ARRAY(arena, double, refit->row_count + 1);
    int layouts = 0;

    for (int f = 0; f < refit->row_count; f++) {
        if (refit->rows[f].family != f)
            continue;
        layouts++;
        PP_TRY(pp_refit_without(refit, f, STEPS_MAX, values, err));
        PP_TRY(pp_refit_judge(refit, f, values, residuals, err));
    }
    *median = layouts > 1 ? median_of(arena, residuals, refit->row_count) : (double)NAN;
    return PP_OK;
}

/* A file is of one generation of devices and one framework. */
static enum pp_status check_owners(const struct pp_refit *refit, struct pp_fitted *fitted,
                                   struct pp_error *err)
{
    for (int i = 0; i < refit->value_count; i++) {
        const struct pp_refit_value *v = &refit->values[i];
        const bool is_framework = v->constant->home == PP_HOME_FRAMEWORK;
        const char **seen = is_framework ? &fitted->framework : &fitted->generation;
        if (*seen && strcmp(*seen, v->owner) != 0)
            return pp_error_set(err, PP_EINVAL,
                                "--refit -o: the rows are of %s and %s, and a file of constants is "
                                "of one %s; keep one with --family, or in a table of its own",
                                *seen, v->owner,
                                is_framework ? "framework" : "generation of devices");
        *seen = v->owner;
    }
    return PP_OK;
}

static void take_rows(struct pp_arena *arena, const struct pp_refit *refit, struct pp_fitted *f)
{
    f->ids = PP_ARRAY(arena, const char *, refit->row_count + 1);
    for (int i = 0; i < refit->row_count; i++) {
        const struct pp_measure_case *row = refit->rows[i].row;
        const struct pp_model *model = &row->config.model;
        f->ids[f->rows++] = row->row->id;
        if (!pp_fitted_has_model(f, model))
            *PP_PUSH(arena, f->models, f->model_count, f->model_capacity) =
                (struct pp_fitted_model){model->name, model->hidden, model->ffn};
    }
}

/* Takes the fitted constants, those of devices first. */
static void take_values(struct pp_arena *arena, const struct pp_refit *refit, struct pp_fitted *f)
{
    for (int of_framework = 0; of_framework < 2; of_framework++)
        for (int i = 0; i < refit->value_count; i++) {
            const struct pp_refit_value *v = &refit->values[i];
            if ((v->constant->home == PP_HOME_FRAMEWORK) == of_framework)
                *PP_PUSH(arena, f->values, f->count, f->capacity) =
                    (struct pp_fitted_value){v->constant, v->owner, exp(v->log_value)};
        }
}

enum pp_status pp_refit_own(struct pp_arena *arena, const struct pp_measurements *list,
                            struct pp_refit *refit, struct pp_fitted *f, struct pp_error *err)
{
    struct pp_measure_case *cases = PP_ARRAY(arena, struct pp_measure_case, list->count + 1);

    *f = (struct pp_fitted){.strength = pp_refit_own_width};
    for (int i = 0; i < list->count; i++)
        pp_measure_case_open(arena, &list->rows[i], &cases[i]);
    pp_refit_open(arena, cases, list->count, PP_REFIT_OWN, refit);
    if (refit->row_count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "--refit: no row has a measured step time, stated settings "
                            "and a prediction");
    PP_TRY(check_owners(refit, f, err));
    PP_TRY(pp_refit_evaluate(refit, err));
    f->before = median_now(arena, refit);
    PP_TRY(pp_refit_solve(refit, STEPS_MAX, err));
    f->after = median_now(arena, refit);
    PP_TRY(leave_out(arena, refit, &f->left_out, err));
    take_rows(arena, refit, f);
    take_values(arena, refit, f);
    return PP_OK;
}

enum pp_status pp_fitted_write(struct pp_arena *arena, const struct pp_fitted *fitted,
                               const char *path, struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(arena, path, &output, err));
    pp_fitted_print(fitted, output.file);
    return pp_output_commit(&output, err);
}

static int layouts_of(const struct pp_refit *refit)
{
    int layouts = 0;

    for (int i = 0; i < refit->row_count; i++)
        layouts += refit->rows[i].family == i;
    return layouts;
}

void pp_refit_own_print(struct pp_arena *arena, const struct pp_refit *refit,
                        const struct pp_fitted *f, const char *path, FILE *out)
{
    const int layouts = layouts_of(refit);

    fprintf(out, "constants of %d step%s of %d layout%s, for %s%s%s\n\n", f->rows,
            f->rows == 1 ? "" : "s", layouts, layouts == 1 ? "" : "s", f->generation,
            f->framework ? " with " : "", f->framework ? f->framework : "");
    fprintf(out, "%-15s %-15s %-8s %10s %10s\n", "constant", "of", "part", "built in", "fitted");
    for (int i = 0; i < refit->value_count; i++) {
        const struct pp_refit_value *v = &refit->values[i];
        fprintf(out, "%-15s %-15s %-8s %10.4g %10.4g\n", v->constant->name, v->owner,
                pp_constant_parts[v->constant->part], exp(v->mean), exp(v->log_value));
    }
    fprintf(out,
            "\nmedian error of these steps: %.1f %% with the built-in constants, %.1f %% with "
            "these\n",
            100 * f->before, 100 * f->after);
    if (isfinite(f->left_out))
        fprintf(out, "median error of each layout with constants of the others: %.1f %%\n",
                100 * f->left_out);
    pp_text_wrap(
        out, WIDTH, 0, 0,
        pp_arena_printf(arena,
                        "prior: built-in values, wide by a factor of exp(%g); so few steps "
                        "change them little (docs/validate.md)",
                        f->strength));
    if (path)
        fprintf(out, "  next  pipesim plan --constants %s ...\n", path);
}
