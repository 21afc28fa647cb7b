/* Single values of a config.json. */
#include "core/model/config_json.h"

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

enum pp_status pp_model_read_required(const struct pp_model_reader *r, const char *keys,
                                      int64_t high, int *value)
{
    int64_t number;

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
