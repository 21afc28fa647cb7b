/* Attention windows in config.json: a width, and which blocks have it, by "layer_types" or by what
 * the family's configuration class does without. */
#include "core/model/config_json.h"

#include <string.h>

static bool is_full(const json_t *type)
{
    const char *text = json_string_value(type);

    return text != NULL && strcmp(text, "full_attention") == 0;
}

bool pp_model_has_windows(json_t *object)
{
    const json_t *types = json_object_get(object, "layer_types");

    for (size_t i = 0; i < json_array_size(types); i++)
        if (!is_full(json_array_get(types, i)))
            return true;
    return false;
}

/* Full ones are every n-th, or the first n. */
static bool is_pattern(const json_t *types, const struct pp_model *model)
{
    for (size_t i = 0; i < json_array_size(types); i++)
        if (is_full(json_array_get(types, i)) == pp_model_is_windowed(model, (int)i))
            return false;
    return true;
}

/* `model` has the width; false: no rule of ours gives the list. */
static bool find_pattern(const json_t *types, struct pp_model *model)
{
    const int count = (int)json_array_size(types);
    int first = 0;

    while (first < count && !is_full(json_array_get(types, (size_t)first)))
        first++;
    model->window.full_every = first < count ? first + 1 : 0;
    model->window.full_first = 0;
    if (is_pattern(types, model))
        return true;
    for (first = 0; first < count && is_full(json_array_get(types, (size_t)first)); first++)
        ;
    model->window.full_every = 0;
    model->window.full_first = first;
    return is_pattern(types, model);
}

static enum pp_status read_rule(const struct pp_model_reader *r,
                                const struct pp_model_family *family, struct pp_window *window)
{
    window->full_every = family->full_every;
    if (family->pattern_key != NULL)
        PP_TRY(pp_model_read_int(r, family->pattern_key, 100000, &window->full_every));
    if (family->switched_from != NULL)
        PP_TRY(pp_model_read_int(r, family->switched_from, 100000, &window->full_first));
    return PP_OK;
}

enum pp_status pp_model_read_window(const struct pp_model_reader *r,
                                    const struct pp_model_family *family, struct pp_model *model)
{
    const json_t *types = json_object_get(r->object, "layer_types");
    bool is_on = !family->has_window_switch;
    int keys = family->window; /* one that is switched off must be a width, too */

    if (family->window_key == NULL)
        return PP_OK;
    PP_TRY(pp_model_read_bool(r, "use_sliding_window", &is_on));
    PP_TRY(pp_model_read_int(r, family->window_key, 1 << 28, &keys));
    if (is_on && !json_is_null(json_object_get(r->object, family->window_key)))
        model->window.keys = keys;
    if (model->window.keys == 0)
        return PP_OK;
    model->window.is_chunked = family->is_chunked;
    PP_TRY(read_rule(r, family, &model->window));
    if (json_array_size(types) > 0 && !find_pattern(types, model))
        model->window = (struct pp_window){0};
    return PP_OK;
}
