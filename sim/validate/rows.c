/* Prints rows as CSV, and all as JSON, "pipesim.validation/1". Missing values: empty, or null. */
#include "core/text/csv.h"
#include "core/text/json_write.h"
#include "sim/validate/parts.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Largest ratio of a stated MFU and that of the step, by the same flops. */
#define SAME_FLOPS_FACTOR 1.1

/* Figures of a row; NAN: none. */
enum { FIGURES = 7 };
static const char *const KEYS[FIGURES] = {
    "published_step_s",    "predicted_step_s", "error_frac",         "published_mem_bytes",
    "predicted_mem_bytes", "mem_error_frac",   "baseline_error_frac"};

static void find_figures(const struct pp_validation_row *row, double figures[FIGURES])
{
    const double nothing = (double)NAN;
    const bool has_none = row->skipped || row->is_figure,
               has_no_step = has_none || row->is_generation,
               has_no_memory = has_none || (row->is_generation && !isfinite(row->row->mem_bytes));
    const double found[FIGURES] = {row->step_s,
                                   has_no_step ? nothing : row->prediction.step_s,
                                   row->error_frac,
                                   row->row->mem_bytes,
                                   has_no_memory ? nothing : row->prediction.mem_bytes,
                                   row->mem_error_frac,
                                   row->baseline_error_frac};

    memcpy(figures, found, sizeof(found));
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_text(const char *text, FILE *out)
{
    if (text)
        pp_csv_write_field(out, text);
    fputc(',', out);
}

static const char *truth(bool value)
{
    return value ? "true" : "false";
}

/* Returns the stated MFU. If it is far from that of the published step, its source counts other
 * flops, and that of the step counts. NAN without both. */
static double published_mfu(const struct pp_validation_row *row)
{
    const double stated = pp_measure_number(row->row, PP_COL_MFU) / 100;
    const bool is_other = fabs(log(stated / row->mfu)) > log(SAME_FLOPS_FACTOR);

    return isfinite(stated) && !is_other ? stated : row->mfu;
}

/* Puts the criteria of runs that are alike, the published MFU (sim/error), and what is inferred. */
static void put_likeness(const struct pp_validation_row *row, FILE *out)
{
    if (row->skipped || row->is_figure || row->is_generation)
        fputs(",,,,", out);
    else
        fprintf(out, "%s,%d,%s,%s,", row->precision, row->pp, truth(row->is_multi_node),
                truth(row->is_mixture));
    const double mfu = published_mfu(row);
    if (isfinite(mfu))
        fprintf(out, "%.17g", mfu);
    fprintf(out, ",%s\n", row->inferred ? row->inferred : "");
}

void pp_validation_csv(const struct pp_validation *v, FILE *out)
{
    fputs("id,family,device,schedule,framework,complete,", out);
    for (int k = 0; k < FIGURES; k++)
        fprintf(out, "%s,", KEYS[k]);
    fputs("skipped,refused,source,precision,pp,multi_node,experts,published_mfu,inferred\n", out);
    for (int i = 0; i < v->count; i++) {
        const struct pp_validation_row *row = &v->rows[i];
        double figures[FIGURES];
        find_figures(row, figures);
        put_text(row->row->id, out);
        put_text(row->row->family, out);
        put_text(row->device, out);
        put_text(row->schedule, out);
        put_text(row->framework, out);
        fprintf(out, "%s,", truth(pp_validation_is_complete(row)));
        for (int k = 0; k < FIGURES; k++) {
            if (isfinite(figures[k]))
                fprintf(out, "%.17g", figures[k]);
            fputc(',', out);
        }
        put_text(row->skipped, out);
        put_text(row->refused, out);
        put_text(row->row->cell[PP_COL_SOURCE], out);
        put_likeness(row, out);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *row_json(const struct pp_validation_row *row)
{
    double figures[FIGURES];
    json_t *o = json_object();

    find_figures(row, figures);
    pp_json_put_text(o, "id", row->row->id);
    pp_json_put_text(o, "family", row->row->family);
    for (int k = 0; k < FIGURES; k++)
        pp_json_put(o, KEYS[k], figures[k]);
    pp_json_put_bool(o, "published_oom", row->row->is_out_of_memory);
    if (row->is_generation)
        pp_validation_put_generation(row, o);
    if (row->figure)
        json_object_set_new(o, "figure", pp_validation_figure_json(row));
    json_object_set_new(o, "predicted_fits",
                        row->skipped || row->is_figure ? json_null()
                                                       : json_boolean(row->prediction.fits));
    pp_json_put_bool(o, "complete", pp_validation_is_complete(row));
    pp_json_put_text(o, "inferred", row->inferred);
    pp_json_put_text(o, "skipped", row->skipped);
    pp_json_put_text(o, "refused", row->refused);
    return o;
}

static void put_errors(json_t *o, const struct pp_validation_errors *e, const char *prefix)
{
    const struct {
        const char *name;
        double value;
    } errors[] = {{"median_abs", e->median_abs},
                  {"p90_abs", e->p90_abs},
                  {"mean_abs", e->mean_abs},
                  {"median", e->bias}};
    char key[64];

    snprintf(key, sizeof(key), "%sn", prefix);
    pp_json_put_int(o, key, e->n);
    for (size_t i = 0; i < PP_COUNT(errors); i++) {
        snprintf(key, sizeof(key), "%s%s_error_frac", prefix, errors[i].name);
        pp_json_put(o, key, errors[i].value);
    }
}

static json_t *group_json(const struct pp_validation_group *g)
{
    json_t *o = json_object();

    put_errors(o, &g->time, "");
    put_errors(o, &g->memory, "mem_");
    pp_json_put(o, "baseline_median_abs_error_frac", g->baseline.median_abs);
    return o;
}

static json_t *by_json(struct pp_arena *arena, const struct pp_validation *v,
                       pp_validation_filter filter, enum pp_validation_key key)
{
    json_t *o = json_object();
    int count;
    const struct pp_validation_group *groups = pp_validation_by(arena, v, filter, key, &count);

    for (int i = 0; i < count; i++)
        json_object_set_new(o, groups[i].name, group_json(&groups[i]));
    return o;
}

static json_t *part_json(struct pp_arena *arena, const struct pp_validation *v,
                         pp_validation_filter filter)
{
    const struct pp_validation_group all = pp_validation_all(arena, v, filter, "");
    json_t *o = group_json(&all);

    for (int key = 0; key < PP_VALIDATION_KEYS; key++) {
        char name[32];
        snprintf(name, sizeof(name), "by_%s", pp_validation_key_names[key]);
        json_object_set_new(o, name, by_json(arena, v, filter, (enum pp_validation_key)key));
    }
    return o;
}

static json_t *reasons_json(const struct pp_validation_reason *reasons, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++) {
        json_t *o = json_object();
        pp_json_put_text(o, "reason", reasons[i].text);
        pp_json_put_int(o, "n", reasons[i].n);
        json_array_append_new(list, o);
    }
    return list;
}

void pp_validation_json(struct pp_arena *arena, const struct pp_validation *v, FILE *out)
{
    const struct pp_validation_count count = pp_validation_count(v);
    const struct pp_validation_group pipelined =
        pp_validation_all(arena, v, pp_validation_is_pipelined, "");
    const struct pp_validation_group inferred =
        pp_validation_all(arena, v, pp_validation_is_inferred, "");
    int skipped, refused;
    const struct pp_validation_reason *reasons = pp_validation_reasons(arena, v, false, &skipped);
    const struct pp_validation_reason *refusals = pp_validation_reasons(arena, v, true, &refused);
    json_t *root = json_object(), *rows = json_array();
    json_t *summary = part_json(arena, v, pp_validation_is_any);
    json_t *complete = part_json(arena, v, pp_validation_is_complete);

    for (int i = 0; i < v->count; i++)
        json_array_append_new(rows, row_json(&v->rows[i]));
    json_object_set_new(complete, "pipelined", group_json(&pipelined));
    json_object_set_new(summary, "complete_dense", complete);
    json_object_set_new(summary, "inferred", group_json(&inferred));
    json_object_set_new(summary, "out_of_memory",
                        json_pack("{si si si si}", "published", count.oom,
                                  "published_and_predicted", count.oom_refused, "ran", count.ran,
                                  "ran_and_predicted_to_fit", count.ran_fits));
    json_object_set_new(summary, "skipped", reasons_json(reasons, skipped));
    json_object_set_new(summary, "refused", reasons_json(refusals, refused));
    pp_json_put_text(root, "schema", "pipesim.validation/1");
    json_object_set_new(root, "summary", summary);
    json_object_set_new(root, "rows", rows);
    pp_json_print(root, out);
}
