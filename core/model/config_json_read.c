/* Single values of a config.json. */
#include "core/model/config_json.h"

#include <string.h>

enum pp_status pp_model_read_int(const struct pp_model_reader *r, const char *keys, int64_t high,
                                 int *value)
{
    int64_t number;
    bool found;

    PP_TRY(pp_json_int(r->json, r->object, keys, 1, high, &number, &found, r->err));
    if (found)
        *value = (int)number;
    return PP_OK;
}

/* Refuses keys of one meaning ("num_hidden_layers|n_layer") with different values. */
static enum pp_status check_alike(const struct pp_model_reader *r, const char *keys)
{
    const char *first = NULL;
    const json_t *value = NULL;

    for (const char *key = keys; *key; key += strcspn(key, "|"), key += *key == '|') {
        const json_t *other = json_object_getn(r->object, key, strcspn(key, "|"));
        if (!json_is_integer(other))
            continue;
        if (value && !json_equal(value, other))
            return pp_error_set(r->err, PP_EINVAL,
                                "%s: \"%.*s\" is %lld, \"%.*s\" is %lld: leave one of them out",
                                r->json->name, (int)strcspn(first, "|"), first,
                                (long long)json_integer_value(value), (int)strcspn(key, "|"), key,
                                (long long)json_integer_value(other));
        value = value ? value : other;
        first = first ? first : key;
    }
    return PP_OK;
}

enum pp_status pp_model_read_required(const struct pp_model_reader *r, const char *keys,
                                      int64_t high, int *value)
{
    int64_t number;

    PP_TRY(check_alike(r, keys));
    PP_TRY(pp_json_int(r->json, r->object, keys, 1, high, &number, NULL, r->err));
    *value = (int)number;
    return PP_OK;
}

enum pp_status pp_model_read_bool(const struct pp_model_reader *r, const char *keys, bool *value)
{
    bool flag, found;

    PP_TRY(pp_json_bool(r->json, r->object, keys, &flag, &found, r->err));
    if (found)
        *value = flag;
    return PP_OK;
}

/* Weights in fp8 are computed with as they are stored, which --precision says of a run. Those of
 * other methods are packed, and are unpacked for each use. */
enum pp_status pp_model_check_quantization(const struct pp_model_reader *r)
{
    json_t *const places[] = {r->json->root, r->object};

    for (size_t i = 0; i < PP_COUNT(places); i++) {
        const char *method = "";
        bool found;
        json_t *value = json_object_get(places[i], "quantization_config");
        if (!value || json_is_null(value))
            continue;
        PP_TRY(pp_json_string(r->json, value, "quant_method", &method, &found, r->err));
        if (strcmp(method, "fp8"))
            return pp_error_set(r->err, PP_EINVAL,
                                "%s: quantization_config%s%.32s is not modeled: packed weights are "
                                "unpacked for each use; expected fp8, or the file of the model "
                                "before it was quantised",
                                r->json->name, found ? " " : "", method);
    }
    return PP_OK;
}
