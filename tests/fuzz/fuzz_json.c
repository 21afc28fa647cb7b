/* Every access to every object either gives a value within the bounds or a message. */
#include "core/text/json.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static void read_object(const struct pp_json *json, json_t *object)
{
    static const char keys[] = "a|n_layer|hidden_size|x";
    struct pp_error err = {0};
    int64_t integer = 0;
    double number = 0;
    bool flag, found = false;
    const char *text = NULL;

    if (pp_json_int(json, object, keys, -5, 1000, &integer, &found, &err) == PP_OK)
        FUZZ_CHECK(integer >= -5 && integer <= 1000);
    else
        FUZZ_CHECK(err.status == PP_EINVAL && err.message[0]);
    if (pp_json_number(json, object, keys, 0, 1e30, &number, NULL, &err) == PP_OK)
        FUZZ_CHECK(isfinite(number) && number >= 0 && number <= 1e30);
    pp_json_bool(json, object, keys, &flag, &found, &err);
    if (pp_json_string(json, object, keys, &text, &found, &err) == PP_OK && found)
        FUZZ_CHECK(strlen(text) < SIZE_MAX);
}

/* The depth is bounded by the reader. */
static void walk(const struct pp_json *json, json_t *value) // NOLINT(misc-no-recursion)
{
    const char *key;
    json_t *inner;
    size_t index;

    read_object(json, value);
    if (json_is_object(value))
        json_object_foreach(value, key, inner) walk(json, inner);
    if (json_is_array(value))
        json_array_foreach(value, index, inner) walk(json, inner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_json json;
    struct pp_error err = {0};

    if (pp_json_parse("f", (const char *)data, size, &json, &err) == PP_OK)
        walk(&json, json.root);
    else
        FUZZ_CHECK(err.status == PP_EINVAL && !strncmp(err.message, "f:", 2));
    pp_json_close(&json);
    return 0;
}
