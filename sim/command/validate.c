/* pipesim validate: compares predictions with published measurements. */
#include "sim/command/commands.h"

#include "core/cost/fitted.h"
#include "core/printable.h"
#include "core/text/file.h"
#include "core/text/output.h"
#include "sim/cli/stdout.h"
#include "sim/published/figures.h"
#include "sim/report/report.h"
#include "sim/validate/own.h"
#include "sim/validate/transfer.h"
#include "sim/validate/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, LABEL = 10 };

static void warn_of_columns(const struct pp_measurements *list)
{
    for (int i = 0; i < list->hint_count; i++)
        pp_tell("pipesim: warning: %s", list->hints[i]);
}

/* Orders rows by name, those with one name by position. */
static int by_id(const void *a, const void *b)
{
    const struct pp_measurement *const *x = a, *const *y = b;
    const int order = strcmp((*x)->id, (*y)->id);

    return order ? order : (*x > *y) - (*x < *y);
}

/* Warns of rows with the name of an earlier one: a table that is read twice weighs twice. */
static void warn_of_twins(struct pp_arena *arena, const struct pp_measurements *list)
{
    const struct pp_measurement **rows =
        PP_ARRAY(arena, const struct pp_measurement *, list->count + 1);
    const struct pp_measurement *twin = NULL, *original = NULL;
    int count = 0;

    for (int i = 0; i < list->count; i++)
        rows[i] = &list->rows[i];
    qsort(rows, (size_t)list->count, sizeof(const struct pp_measurement *), by_id);
    for (int i = 1, first = 0; i < list->count; i++) {
        if (strcmp(rows[i]->id, rows[first]->id) != 0) {
            first = i;
            continue;
        }
        count++;
        if (!twin || rows[i] < twin) {
            twin = rows[i];
            original = rows[first];
        }
    }
    if (count > 0)
        pp_tell("pipesim: warning: %d row%s the id of an earlier one; first %s (%s:%d, as in "
                "%s:%d)",
                count, count == 1 ? " has" : "s have", twin->id, twin->file, twin->line,
                original->file, original->line);
}

/* Keeps the rows of one family. */
static enum pp_status select_family(struct pp_arena *arena, const char *family,
                                    struct pp_measurements *list, struct pp_error *err)
{
    const char **names = PP_ARRAY(arena, const char *, list->count + 1);
    int kept = 0;

    for (int i = 0; i < list->count; i++)
        names[i] = list->rows[i].family;
    const char *near = pp_suggest(family, names);
    for (int i = 0; i < list->count; i++)
        if (!strcmp(list->rows[i].family, family))
            list->rows[kept++] = list->rows[i];
    if (kept == 0) {
        pp_error_set(err, PP_EINVAL, "--family %s: no row is of that family", family);
        return near ? pp_error_append(err, "; did you mean %s?", near) : err->status;
    }
    list->count = kept;
    return PP_OK;
}

static enum pp_status find_row(struct pp_arena *arena, const char *id, const char *family,
                               const struct pp_measurements *list,
                               const struct pp_measurement **row, struct pp_error *err)
{
    const char **names = PP_ARRAY(arena, const char *, list->count + 1);

    for (int i = 0; i < list->count; i++) {
        *row = &list->rows[i];
        names[i] = list->rows[i].id;
        if (!strcmp(list->rows[i].id, id))
            return PP_OK;
    }
    const char *near = pp_suggest(id, names);
    pp_error_set(err, PP_EINVAL, "--row %s: no row%s%s has that id", id,
                 family ? " of family " : "", family ? family : "");
    return near ? pp_error_append(err, "; did you mean %s?", near) : err->status;
}

static enum pp_status check_median(const struct pp_wish *wish, const char *of,
                                   struct pp_validation_errors errors, struct pp_error *err)
{
    if (errors.n == 0 || errors.median_abs <= wish->tolerance)
        return PP_OK;
    return pp_error_set(err, PP_ETOLERANCE,
                        "the median error of %d %s is %.4g %%, more than the tolerance of %g %%",
                        errors.n, of, 100 * errors.median_abs, 100 * wish->tolerance);
}

static enum pp_status check_tolerance(struct pp_arena *arena, const struct pp_wish *wish,
                                      const struct pp_validation *v, struct pp_error *err)
{
    const struct pp_validation_group all = pp_validation_all(arena, v, pp_validation_is_any, "");
    const struct pp_validation_errors generation = pp_validation_generation_errors(arena, v);

    if (!wish->given.tolerance.count)
        return PP_OK;
    if (all.time.n + generation.n == 0)
        return pp_error_set(err, PP_ETOLERANCE,
                            "--tolerance %g%%: no row has a published step time, stated "
                            "settings and a prediction",
                            100 * wish->tolerance);
    PP_TRY(check_median(wish, "rows", all.time, err));
    return check_median(wish, "rows that generate", generation, err);
}

static enum pp_status check_options(const struct pp_wish *wish, struct pp_error *err)
{
    const struct pp_given *const of_all[] = {&wish->given.json,      &wish->given.markdown,
                                             &wish->given.output,    &wish->given.worst,
                                             &wish->given.tolerance, &wish->given.refit};

    if (wish->request.flags->operand_count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "pipesim validate needs a table of measurements; 'pipesim validate "
                            "--template' prints one to fill");
    if (wish->explain && !wish->row)
        return pp_error_set(err, PP_EINVAL, "--explain needs --row ID: it shows one row in depth");
    for (size_t i = 0; wish->row && i < PP_COUNT(of_all); i++)
        if (of_all[i]->count)
            return pp_error_set(err, PP_EINVAL,
                                "--row shows one row to people; --%s is about all rows: give one "
                                "of them",
                                of_all[i]->option->name);
    return PP_OK;
}

static bool is_compared(const struct pp_validation_row *row)
{
    return !row->skipped && (row->figure || row->is_generation || isfinite(row->error_frac) ||
                             isfinite(row->mem_error_frac) || row->row->is_out_of_memory);
}

/* Refuses to call it a success if nothing is compared and a column was ignored, which may have the
 * measurements. A table without measurements is for its predictions. */
static enum pp_status check_compared(const struct pp_measurements *list,
                                     const struct pp_validation *v, struct pp_error *err)
{
    for (int i = 0; i < v->count; i++)
        if (is_compared(&v->rows[i]))
            return PP_OK;
    if (list->hint_count == 0)
        return PP_OK;
    return pp_error_set(err, PP_EFAIL,
                        "nothing is compared: no predicted row has a measurement, and columns are "
                        "ignored: see the warnings above");
}

/* Refuses to call a table without any prediction a success; its reasons are printed. */
static enum pp_status check_predicted(const struct pp_measurements *list,
                                      const struct pp_validation *v, struct pp_error *err)
{
    const struct pp_validation_count count = pp_validation_count(v);

    if (count.predicted + count.inferred + count.figures + count.generations > 0)
        return check_compared(list, v, err);
    if (v->count == 0)
        return pp_error_set(err, PP_EFAIL, "the table has no rows, so nothing is predicted");
    if (v->count == 1)
        return pp_error_set(err, PP_EFAIL,
                            "nothing is predicted: the row is skipped, for the reason above");
    return pp_error_set(err, PP_EFAIL,
                        "nothing is predicted: all %d rows are skipped, for the reasons above",
                        v->count);
}

static enum pp_status write_rows(struct pp_arena *arena, const char *path,
                                 const struct pp_validation *validation, struct pp_error *err)
{
    struct pp_output output;

    if (!path)
        return PP_OK;
    PP_TRY(pp_output_open(arena, path, &output, err));
    pp_validation_csv(validation, output.file);
    return pp_output_commit(&output, err);
}

static enum pp_status report(struct pp_arena *arena, const struct pp_wish *wish,
                             enum pp_stdout owner, const struct pp_measurements *list, FILE *out,
                             struct pp_error *err)
{
    const bool is_refit = wish->refit;
    struct pp_validation validation, built_in;

    pp_validation_run(arena, list, &validation);
    built_in = validation;
    if (is_refit) { /* errors of constants that were fitted without the row's family */
        const size_t bytes = sizeof(*validation.rows) * (size_t)validation.count;
        built_in.rows = pp_arena_grow(arena, validation.rows, bytes, bytes);
        PP_TRY(pp_refit_validation(arena, list, &validation, owner == PP_STDOUT_REPORT ? out : NULL,
                                   err));
    }
    const struct pp_validation_page page = {.built_in = &built_in,
                                            .judged = is_refit ? &validation : NULL};
    if (owner == PP_STDOUT_JSON)
        pp_validation_json(arena, &validation, out);
    else if (owner == PP_STDOUT_MARKDOWN)
        pp_validation_markdown(arena, &page, out);
    else
        pp_validation_print(arena, &validation, wish->worst, out);
    PP_TRY(write_rows(arena, wish->output, &validation, err));
    PP_TRY(check_tolerance(arena, wish, &validation, err));
    return check_predicted(list, &validation, err);
}

static bool is_constants(const struct pp_wish *wish)
{
    return wish->refit && wish->output && pp_has_suffix(wish->output, ".json");
}

/* --refit -o FILE.json */
static enum pp_status write_constants(struct pp_arena *arena, const struct pp_wish *wish,
                                      enum pp_stdout owner, const struct pp_measurements *list,
                                      FILE *out, struct pp_error *err)
{
    struct pp_refit refit;
    struct pp_fitted fitted;

    if (owner == PP_STDOUT_MARKDOWN)
        return pp_error_set(err, PP_EINVAL,
                            "-o %s writes constants, --markdown a page about all rows; give one",
                            wish->output);
    PP_TRY(pp_refit_own(arena, list, &refit, &fitted, err));
    PP_TRY(pp_fitted_write(arena, &fitted, wish->output, err));
    if (owner == PP_STDOUT_JSON)
        pp_fitted_print(&fitted, out);
    else
        pp_refit_own_print(arena, &refit, &fitted, wish->output, out);
    return PP_OK;
}

/* Gives the constants of --constants to every row: it becomes an option of its command. */
static enum pp_status take_constants(struct pp_arena *arena, const struct pp_wish *wish,
                                     struct pp_measurements *list, struct pp_error *err)
{
    struct pp_fitted *fitted;

    if (!wish->constants)
        return PP_OK;
    if (wish->refit)
        return pp_error_set(
            err, PP_EINVAL,
            "--refit starts from the built-in constants, --constants replaces them; "
            "give one of them");
    PP_TRY(pp_fitted_read(arena, wish->constants, &fitted, err));
    for (int i = 0; i < list->count; i++)
        list->rows[i].constants = wish->constants;
    return PP_OK;
}

enum pp_status pp_command_validate(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                   struct pp_error *err)
{
    const char *family = wish->family, *id = wish->row;
    struct pp_measurements list = {0};
    const struct pp_measurement *row = NULL;
    enum pp_stdout owner;

    if (wish->template)
        return pp_measurements_template(out), PP_OK;
    PP_TRY(check_options(wish, err));
    PP_TRY(pp_stdout_owner(wish, &owner, err));
    for (int i = 0; i < wish->request.flags->operand_count; i++)
        PP_TRY(pp_measurements_read(arena, wish->request.flags->operands[i], &list, err));
    warn_of_columns(&list);
    warn_of_twins(arena, &list);
    if (family)
        PP_TRY(select_family(arena, family, &list, err));
    PP_TRY(take_constants(arena, wish, &list, err));
    if (wish->leave_layouts_out)
        return pp_transfer_print(arena, &list, owner == PP_STDOUT_MARKDOWN, out, err);
    if (is_constants(wish))
        return write_constants(arena, wish, owner, &list, out, err);
    if (id) {
        PP_TRY(find_row(arena, id, family, &list, &row, err));
        return pp_validation_print_row(arena, row, wish->explain, out, err);
    }
    return report(arena, wish, owner, &list, out, err);
}
