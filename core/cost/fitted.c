/* A user's own constants: written to a file, applied to a run. */
#include "core/cost/fitted.h"

#include "core/text/json_write.h"

#include <math.h>
#include <string.h>

static json_t *constants_json(const struct pp_fitted *f)
{
    json_t *list = json_array(), *set = NULL;

    for (int i = 0; i < f->count; i++) {
        const struct pp_fitted_value *v = &f->values[i];
        if (i == 0 || strcmp(v->owner, v[-1].owner) != 0) {
            set = json_object();
            pp_json_put_text(set, "of", v->owner);
            json_array_append_new(list, set);
        }
        pp_json_put(set, v->constant->name, v->value);
    }
    return list;
}

static json_t *models_json(const struct pp_fitted *f)
{
    json_t *list = json_array();

    for (int i = 0; i < f->model_count; i++) {
        json_t *o = json_object();
        pp_json_put_text(o, "name", f->models[i].name);
        pp_json_put_int(o, "hidden", f->models[i].hidden);
        pp_json_put_int(o, "ffn", f->models[i].ffn);
        json_array_append_new(list, o);
    }
    return list;
}

void pp_fitted_print(const struct pp_fitted *f, FILE *out)
{
    json_t *root = json_object(), *ids = json_array();

    for (int i = 0; i < f->rows; i++)
        json_array_append_new(ids, pp_json_text(f->ids[i]));
    pp_json_put_text(root, "schema", PP_FITTED_SCHEMA);
    pp_json_put_text(root, "version", PP_VERSION);
    json_object_set_new(root, "constants", constants_json(f));
    json_object_set_new(root, "models", models_json(f));
    json_object_set_new(root, "rows", ids);
    pp_json_put(root, "prior_width", f->strength);
    pp_json_put(root, "median_abs_error_frac_before", f->before);
    pp_json_put(root, "median_abs_error_frac_after", f->after);
    pp_json_put(root, "median_abs_error_frac_left_out", f->left_out);
    pp_json_print(root, out);
}

const double pp_fitted_other_share = 1.0 / 3;

bool pp_fitted_has_model(const struct pp_fitted *f, const struct pp_model *model)
{
    for (int i = 0; i < f->model_count; i++)
        if (f->models[i].hidden == model->hidden && f->models[i].ffn == model->ffn)
            return true;
    return false;
}

enum pp_status pp_fitted_apply(const struct pp_fitted *f, const struct pp_model *model,
                               struct pp_cluster *cluster, struct pp_framework *framework,
                               struct pp_error *err)
{
    const double share = pp_fitted_has_model(f, model) ? 1 : pp_fitted_other_share;

    if (f->generation && strcmp(f->generation, cluster->device.generation) != 0)
        return pp_error_set(
            err, PP_EINVAL, "--constants %s: measured on devices of generation %s; %s is of %s",
            f->path, f->generation, cluster->device.name, cluster->device.generation);
    if (f->framework && strcmp(f->framework, framework->name) != 0)
        return pp_error_set(err, PP_EINVAL, "--constants %s: measured with %s, not with %s",
                            f->path, f->framework, framework->name);
    for (int i = 0; i < f->count; i++) {
        const struct pp_fitted_value *v = &f->values[i];
        const double built_in = pp_constant_get(v->constant, cluster, framework);
        pp_constant_set(v->constant, cluster, framework,
                        share < 1 && built_in > 0
                            ? exp(log(built_in) + share * log(v->value / built_in))
                            : v->value);
    }
    return PP_OK;
}

const char *pp_fitted_text(struct pp_arena *arena, const struct pp_fitted *f,
                           const struct pp_model *model)
{
    return pp_arena_printf(
        arena, "%s: %d measured step%s of %s (%s%s%s)%s", f->path, f->rows, f->rows == 1 ? "" : "s",
        f->model_count == 1  ? f->models[0].name
        : f->model_count > 1 ? "several models"
                             : "no model",
        f->generation ? f->generation : "", f->generation && f->framework ? ", " : "",
        f->framework ? f->framework : "",
        pp_fitted_has_model(f, model) ? "" : "; for another model, a third of their change");
}
