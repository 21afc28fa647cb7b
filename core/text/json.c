/* Strict values of a JSON object, with file and key in each message. */
#include "core/text/json.h"
#include "core/free_memory.h"
#include "core/text/file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/* Values take 7 times the bytes of a usual text, and 32 times those of a list of empty objects. */
enum { MOST_TIMES = 24, ALWAYS_BYTES = 1 << 20 };
/* State of the text that is being parsed. */
static _Thread_local size_t left_bytes = SIZE_MAX;
static _Thread_local bool is_short;

static void *allocate(size_t bytes)
{
    if (bytes > left_bytes) {
        is_short = true;
        return NULL;
    }
    left_bytes -= left_bytes == SIZE_MAX ? 0 : bytes;
    return malloc(bytes);
}

static size_t most_bytes(size_t length)
{
    const size_t all = pp_free_memory_bytes(), most = MOST_TIMES * length + ALWAYS_BYTES;

    return most < all ? most : all;
}

/* ---- texts ----------------------------------------------------------------------------------- */

enum pp_status pp_json_parse(const char *name, const char *text, size_t length,
                             struct pp_json *json, struct pp_error *err)
{
    const size_t most = most_bytes(length);
    json_error_t error;

    /* jansson itself bounds the nesting (2048) and refuses numbers that overflow. */
    json_set_alloc_funcs(allocate, free);
    left_bytes = most;
    is_short = false;
    *json = (struct pp_json){.name = name,
                             .root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error)};
    left_bytes = SIZE_MAX;
    if (json->root)
        return PP_OK;
    if (is_short || json_error_code(&error) == json_error_out_of_memory)
        return pp_error_set(err, PP_EFAIL, "%s: its values take more than %zu MiB of memory", name,
                            most >> 20);
    return pp_error_set(err, PP_EINVAL, "%s:%d:%d: %s", name, error.line, error.column, error.text);
}

enum pp_status pp_json_open(struct pp_arena *arena, const char *path, size_t limit,
                            struct pp_json *json, struct pp_error *err)
{
    struct pp_bytes bytes;

    *json = (struct pp_json){0};
    PP_TRY(pp_file_read_limited(arena, path, limit, &bytes, err));
    return pp_json_parse(pp_arena_strdup(arena, strcmp(path, "-") ? path : "<stdin>"), bytes.data,
                         bytes.length, json, err);
}

void pp_json_close(struct pp_json *json)
{
    json_decref(json->root);
    *json = (struct pp_json){0};
}

/* ---- typed access ---------------------------------------------------------------------------- */

/* One key of "a|b|c". */
struct key {
    const char *text;
    int length;
};

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null",
    };

    return names[json_typeof(value)];
}

/* Looks up the first key that is there and not null; *value is NULL if there is none. */
static enum pp_status look_up(const struct pp_json *json, const json_t *object, const char *keys,
                              struct key *key, json_t **value, struct pp_error *err)
{
    const json_t *place = object ? object : json->root;

    *value = NULL;
    if (!json_is_object(place))
        return pp_error_set(err, PP_EINVAL, "%s: an object with \"%s\" is expected, not %s",
                            json->name, keys, place ? type_name(place) : "nothing");
    for (const char *text = keys; *text;) {
        key->text = text;
        key->length = (int)strcspn(text, "|");
        json_t *found = json_object_getn(place, text, (size_t)key->length);
        if (found && !json_is_null(found)) {
            *value = found;
            return PP_OK;
        }
        text += key->length + (text[key->length] == '|');
    }
    return PP_OK;
}

/* Sets of JSON types that a reader takes. */
enum {
    INTEGER = 1 << JSON_INTEGER,
    NUMBER = INTEGER | 1 << JSON_REAL,
    BOOLEAN = 1 << JSON_TRUE | 1 << JSON_FALSE,
    STRING = 1 << JSON_STRING,
};

/* Takes a value of the wanted types; *value is NULL with PP_OK only if `found` allows it. */
static enum pp_status take(const struct pp_json *json, const json_t *object, const char *keys,
                           int types, const char *wanted, struct key *key, json_t **value,
                           bool *found, struct pp_error *err)
{
    assert(keys && *keys);
    PP_TRY(look_up(json, object, keys, key, value, err));
    if (found)
        *found = *value != NULL;
    if (*value && !(types & 1 << json_typeof(*value)))
        return pp_error_set(err, PP_EINVAL, "%s: \"%.*s\" must be %s, not %s", json->name,
                            key->length, key->text, wanted, type_name(*value));
    if (*value || found)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "%s: \"%.*s\" is missing", json->name, (int)strcspn(keys, "|"),
                 keys);
    const char *others = strchr(keys, '|');
    if (others)
        pp_error_append(err, " (or %s)", others + 1);
    return PP_EINVAL;
}

enum pp_status pp_json_int(const struct pp_json *json, json_t *object, const char *keys,
                           int64_t low, int64_t high, int64_t *value, bool *found,
                           struct pp_error *err)
{
    struct key key;
    json_t *entry;

    PP_TRY(take(json, object, keys, INTEGER, "an integer", &key, &entry, found, err));
    if (!entry)
        return PP_OK;
    const int64_t number = json_integer_value(entry);
    if (number < low || number > high)
        return pp_error_set(err, PP_EINVAL,
                            "%s: \"%.*s\" is %" PRId64 ", outside %" PRId64 " to %" PRId64,
                            json->name, key.length, key.text, number, low, high);
    *value = number;
    return PP_OK;
}

enum pp_status pp_json_number(const struct pp_json *json, json_t *object, const char *keys,
                              double low, double high, double *value, bool *found,
                              struct pp_error *err)
{
    struct key key;
    json_t *entry;

    PP_TRY(take(json, object, keys, NUMBER, "a number", &key, &entry, found, err));
    if (!entry)
        return PP_OK;
    const double number = json_number_value(entry);
    if (!(number >= low && number <= high))
        return pp_error_set(err, PP_EINVAL, "%s: \"%.*s\" is %g, outside %g to %g", json->name,
                            key.length, key.text, number, low, high);
    *value = number;
    return PP_OK;
}

enum pp_status pp_json_bool(const struct pp_json *json, json_t *object, const char *keys,
                            bool *value, bool *found, struct pp_error *err)
{
    struct key key;
    json_t *entry;

    PP_TRY(take(json, object, keys, BOOLEAN, "true or false", &key, &entry, found, err));
    if (entry)
        *value = json_is_true(entry);
    return PP_OK;
}

enum pp_status pp_json_string(const struct pp_json *json, json_t *object, const char *keys,
                              const char **value, bool *found, struct pp_error *err)
{
    struct key key;
    json_t *entry;

    PP_TRY(take(json, object, keys, STRING, "a string", &key, &entry, found, err));
    if (entry)
        *value = json_string_value(entry);
    return PP_OK;
}
