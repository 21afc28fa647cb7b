/* The validation for programs: "pipesim.validation/1". What has no value is null. */
#include "sim/validate/validate.h"

#include <jansson.h>
#include <math.h>

static void put(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, isfinite(value) ? json_real(value) : json_null());
}

/* Cells and reasons are UTF-8: pp_printable(). */
static void put_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, text ? json_string(text) : json_null());
}

static json_t *row_json(const struct pp_validation_row *row)
{
    const double nothing = (double)NAN;
    json_t *o = json_object();

    put_text(o, "id", row->row->id);
    put_text(o, "family", row->row->family);
    put(o, "published_step_s", row->step_s);
    put(o, "predicted_step_s", row->skipped ? nothing : row->prediction.step_s);
    put(o, "error_frac", row->error_frac);
    put(o, "published_mem_bytes", row->row->mem_bytes);
    put(o, "predicted_mem_bytes", row->skipped ? nothing : row->prediction.mem_bytes);
    put(o, "mem_error_frac", row->mem_error_frac);
    put(o, "baseline_error_frac", row->baseline_error_frac);
    json_object_set_new(o, "published_oom", json_boolean(row->row->is_out_of_memory));
    json_object_set_new(o, "predicted_fits",
                        row->skipped ? json_null() : json_boolean(row->prediction.fits));
    json_object_set_new(o, "complete", json_boolean(pp_validation_is_complete(row)));
    put_text(o, "skipped", row->skipped);
    put_text(o, "refused", row->refused);
    return o;
}

static void put_errors(json_t *o, const struct pp_validation_errors *e, const char *prefix)
{
    char key[64];

    snprintf(key, sizeof(key), "%sn", prefix);
    json_object_set_new(o, key, json_integer(e->n));
    snprintf(key, sizeof(key), "%smedian_abs_error_frac", prefix);
    put(o, key, e->median_abs);
    snprintf(key, sizeof(key), "%sp90_abs_error_frac", prefix);
    put(o, key, e->p90_abs);
    snprintf(key, sizeof(key), "%smean_abs_error_frac", prefix);
    put(o, key, e->mean_abs);
    snprintf(key, sizeof(key), "%smedian_error_frac", prefix);
    put(o, key, e->bias);
}

static json_t *group_json(const struct pp_validation_group *g)
{
    json_t *o = json_object();

    put_errors(o, &g->time, "");
    put_errors(o, &g->memory, "mem_");
    put(o, "baseline_median_abs_error_frac", g->baseline.median_abs);
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
        put_text(o, "reason", reasons[i].text);
        json_object_set_new(o, "n", json_integer(reasons[i].n));
        json_array_append_new(list, o);
    }
    return list;
}

void pp_validation_json(struct pp_arena *arena, const struct pp_validation *v, FILE *out)
{
    const struct pp_validation_fit fit = pp_validation_fit(v);
    const struct pp_validation_group pipelined =
        pp_validation_all(arena, v, pp_validation_is_pipelined, "");
    int skipped, refused;
    const struct pp_validation_reason *reasons = pp_validation_reasons(arena, v, &skipped);
    const struct pp_validation_reason *refusals = pp_validation_refusals(arena, v, &refused);
    json_t *root = json_object(), *rows = json_array();
    json_t *summary = part_json(arena, v, pp_validation_is_any);
    json_t *complete = part_json(arena, v, pp_validation_is_complete);

    for (int i = 0; i < v->count; i++)
        json_array_append_new(rows, row_json(&v->rows[i]));
    json_object_set_new(complete, "pipelined", group_json(&pipelined));
    json_object_set_new(summary, "complete_dense", complete);
    json_object_set_new(summary, "out_of_memory",
                        json_pack("{si si si si}", "published", fit.oom, "published_and_predicted",
                                  fit.oom_refused, "ran", fit.ran, "ran_and_predicted_to_fit",
                                  fit.ran_fits));
    json_object_set_new(summary, "skipped", reasons_json(reasons, skipped));
    json_object_set_new(summary, "refused", reasons_json(refusals, refused));
    put_text(root, "schema", "pipesim.validation/1");
    json_object_set_new(root, "summary", summary);
    json_object_set_new(root, "rows", rows);
    json_dumpf(root, out, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(root);
}
