/* The validation for programs: "pipesim.validation/1". What has no value is null. */
#include "core/text/json_write.h"
#include "sim/validate/validate.h"

#include <jansson.h>
#include <math.h>

static json_t *row_json(const struct pp_validation_row *row)
{
    const double nothing = (double)NAN;
    json_t *o = json_object();

    pp_json_put_text(o, "id", row->row->id);
    pp_json_put_text(o, "family", row->row->family);
    pp_json_put(o, "published_step_s", row->step_s);
    pp_json_put(o, "predicted_step_s", row->skipped ? nothing : row->prediction.step_s);
    pp_json_put(o, "error_frac", row->error_frac);
    pp_json_put(o, "published_mem_bytes", row->row->mem_bytes);
    pp_json_put(o, "predicted_mem_bytes", row->skipped ? nothing : row->prediction.mem_bytes);
    pp_json_put(o, "mem_error_frac", row->mem_error_frac);
    pp_json_put(o, "baseline_error_frac", row->baseline_error_frac);
    pp_json_put_bool(o, "published_oom", row->row->is_out_of_memory);
    json_object_set_new(o, "predicted_fits",
                        row->skipped ? json_null() : json_boolean(row->prediction.fits));
    pp_json_put_bool(o, "complete", pp_validation_is_complete(row));
    pp_json_put_text(o, "skipped", row->skipped);
    pp_json_put_text(o, "refused", row->refused);
    return o;
}

static void put_errors(json_t *o, const struct pp_validation_errors *e, const char *prefix)
{
    char key[64];

    snprintf(key, sizeof(key), "%sn", prefix);
    pp_json_put_int(o, key, e->n);
    snprintf(key, sizeof(key), "%smedian_abs_error_frac", prefix);
    pp_json_put(o, key, e->median_abs);
    snprintf(key, sizeof(key), "%sp90_abs_error_frac", prefix);
    pp_json_put(o, key, e->p90_abs);
    snprintf(key, sizeof(key), "%smean_abs_error_frac", prefix);
    pp_json_put(o, key, e->mean_abs);
    snprintf(key, sizeof(key), "%smedian_error_frac", prefix);
    pp_json_put(o, key, e->bias);
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
    pp_json_put_text(root, "schema", "pipesim.validation/1");
    json_object_set_new(root, "summary", summary);
    json_object_set_new(root, "rows", rows);
    pp_json_print(root, out);
}
