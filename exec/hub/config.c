/* config.json of a model that is written. */
#include "exec/hub/export.h"

#include "core/text/file.h"
#include "core/text/json.h"

#include <stdlib.h>
#include <string.h>

static json_t *dense_blocks(const struct pp_experts *experts)
{
    json_t *list = json_array();

    for (int i = 0; i < experts->dense_first; i++)
        json_array_append_new(list, json_integer(i));
    for (int i = 0; i < experts->dense_count; i++)
        json_array_append_new(list, json_integer(experts->dense[i]));
    return list;
}

static json_t *value_of(const struct pp_hub_setting *setting, const struct pp_model *model)
{
    const void *at = (const char *)model + setting->offset;

    switch (setting->kind) {
    case PP_HUB_INT:
        return json_integer(*(const int *)at);
    case PP_HUB_COUNT:
        return *(const int *)at > 0 ? json_integer(*(const int *)at) : json_null();
    case PP_HUB_DENSE:
        return dense_blocks(at);
    case PP_HUB_BOOL:
        return json_boolean(*(const bool *)at);
    case PP_HUB_NOT:
        return json_boolean(!*(const bool *)at);
    case PP_HUB_REAL:
        return json_real(*(const double *)at);
    case PP_HUB_TEXT:
        break;
    }
    return json_string(*(const char *const *)at);
}

static void put_settings(json_t *root, const struct pp_hub_layout *layout)
{
    const struct pp_hub_family *family = layout->family;
    struct pp_model model = *layout->model;

    model.numerics = pp_model_numerics(&model);
    model.experts.every = model.experts.every > 0 ? model.experts.every : 1;
    json_object_set_new(root, "model_type", json_string(family->type));
    json_object_set_new(root, "architectures", json_pack("[s]", family->architecture));
    for (const struct pp_hub_setting *s = family->settings; s->key; s++)
        json_object_set_new(root, s->key, value_of(s, &model));
}

/* A file that is changed has them already. */
static void put_scaling(json_t *root, const struct pp_rope *rope)
{
    if (!rope->scaling)
        return;
    json_t *scaling = json_pack("{ss sf}", "rope_type", rope->scaling, "factor", rope->factor);
    if (rope->original_seq > 0) {
        json_object_set_new(scaling, "low_freq_factor", json_real(rope->low_factor));
        json_object_set_new(scaling, "high_freq_factor", json_real(rope->high_factor));
        json_object_set_new(scaling, "original_max_position_embeddings",
                            json_integer(rope->original_seq));
    }
    json_object_set_new(root, "rope_scaling", scaling);
}

/* Files without a loss of balance say nothing of it. */
static void put_balance(json_t *root, const struct pp_experts *experts)
{
    const bool is_added = experts->balance_loss > 0;

    if (is_added || json_object_get(root, "output_router_logits") != NULL)
        json_object_set_new(root, "output_router_logits", json_boolean(is_added));
    if (is_added)
        json_object_set_new(root, "router_aux_loss_coef", json_real(experts->balance_loss));
}

/* Drawn weights are written as floats. */
static void put_type(json_t *root)
{
    json_object_del(root, "dtype");
    json_object_set_new(root, "torch_dtype", json_string("float32"));
}

enum pp_status pp_hub_config(struct pp_arena *arena, const struct pp_hub_layout *layout,
                             const char *base, bool is_same, const char **text,
                             struct pp_error *err)
{
    struct pp_json json = {.root = NULL};
    const bool has_files = layout->pieces[0].tensor != NULL;
    char *copy;
    size_t length;

    if (base && is_same && has_files) {
        PP_TRY(pp_file_read(arena, base, &copy, &length, err));
        *text = copy;
        return PP_OK;
    }
    if (base)
        PP_TRY(pp_json_open(arena, base, PP_JSON_WRITTEN_BYTES, &json, err));
    else
        json.root = json_object();
    if (!is_same) {
        put_settings(json.root, layout);
        put_balance(json.root, &layout->model->experts);
    }
    if (!base)
        put_scaling(json.root, &layout->model->numerics.rope);
    if (!has_files)
        put_type(json.root);
    char *dumped = json_dumps(json.root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    pp_json_close(&json);
    *text = pp_arena_printf(arena, "%s\n", dumped ? dumped : "");
    free(dumped);
    return PP_OK;
}
