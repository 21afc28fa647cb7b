/* Reads a tokenizer.json of Hugging Face's tokenizers. Settings that would split a text unlike
 * GPT-2 are refused. Tokens that a post_processor adds to whole texts are not applied. */
#include "exec/data/tokenizer_build.h"

#include <string.h>

/* ---- what is refused ------------------------------------------------------------------------- */

/* Returns the value of "a" or "a.b"; NULL if it is missing or null. */
static const json_t *value_at(const json_t *root, const char *path)
{
    const char *dot = strchr(path, '.');
    const json_t *value =
        dot ? json_object_get(json_object_getn(root, path, (size_t)(dot - path)), dot + 1)
            : json_object_get(root, path);

    return json_is_null(value) ? NULL : value;
}

/* Is true if the value equals the JSON `expected`, or is absent and may be. */
static bool is_known(const json_t *value, const char *expected, bool may_be_absent)
{
    json_t *known = json_loads(expected, JSON_DECODE_ANY, NULL);
    const bool is_same = json_equal(value, known);

    json_decref(known);
    return is_same || (!value && may_be_absent);
}

static const struct {
    const char *path, *expected;
    bool may_be_absent;
} RULES[] = {
    {"model.type", "\"BPE\"", false},
    {"normalizer", "null", true},
    {"pre_tokenizer.type", "\"ByteLevel\"", false},
    {"pre_tokenizer.add_prefix_space", "false", false},
    {"pre_tokenizer.use_regex", "true", true},
    {"model.dropout", "null", true},
    {"model.continuing_subword_prefix", "\"\"", true},
    {"model.end_of_word_suffix", "\"\"", true},
    {"model.ignore_merges", "false", true},
};

static enum pp_status check_rules(const struct pp_json *json, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(RULES); i++)
        if (!is_known(value_at(json->root, RULES[i].path), RULES[i].expected,
                      RULES[i].may_be_absent))
            return pp_error_set(err, PP_EINVAL,
                                "%s: %s is not %s: only tokenizers that cut words as GPT-2's are "
                                "known",
                                json->name, RULES[i].path, RULES[i].expected);
    return PP_OK;
}

/* ---- what is taken --------------------------------------------------------------------------- */

static enum pp_status take_added(struct pp_arena *arena, const struct pp_json *json, json_t *object,
                                 struct pp_tokenizer *t, struct pp_error *err)
{
    static const char *const FLAGS[] = {"single_word", "lstrip", "rstrip"};
    const char *content;
    int64_t id;

    PP_TRY(pp_json_int(json, object, "id", 0, PP_MOST_TOKENS - 1, &id, NULL, err));
    PP_TRY(pp_json_string(json, object, "content", &content, NULL, err));
    for (size_t i = 0; i < PP_COUNT(FLAGS); i++)
        if (!is_known(value_at(object, FLAGS[i]), "false", true))
            return pp_error_set(err, PP_EINVAL,
                                "%s: added token %d: %s is not false: only tokens that stand for "
                                "their own text are known",
                                json->name, (int)id, FLAGS[i]);
    pp_tokenizer_take_special(
        arena, t,
        (struct pp_special){pp_arena_strdup(arena, content), strlen(content), (int32_t)id});
    return PP_OK;
}

static enum pp_status take_all_added(struct pp_arena *arena, const struct pp_json *json,
                                     struct pp_tokenizer *t, struct pp_error *err)
{
    json_t *added = json_object_get(json->root, "added_tokens"), *token;
    size_t i;

    if (added && !json_is_null(added) && !json_is_array(added))
        return pp_error_set(err, PP_EINVAL, "%s: added_tokens is no array", json->name);
    json_array_foreach(added, i, token)
    {
        if (!json_is_object(token))
            return pp_error_set(err, PP_EINVAL, "%s: added token %zu is no object", json->name, i);
        PP_TRY(take_added(arena, json, token, t, err));
    }
    return PP_OK;
}

static struct pp_spelled spelled(const json_t *string)
{
    return (struct pp_spelled){json_string_value(string), json_string_length(string)};
}

/* Adds a merge: "left right", or since 2024 ["left", "right"]. */
static enum pp_status take_merge(struct pp_arena *arena, struct pp_tokenizer *t,
                                 const json_t *merge, struct pp_error *err)
{
    const json_t *left = json_array_get(merge, 0), *right = json_array_get(merge, 1);

    if (json_is_string(merge))
        return pp_tokenizer_take_line(arena, t, spelled(merge), err);
    if (json_array_size(merge) != 2 || !json_is_string(left) || !json_is_string(right))
        return pp_error_set(err, PP_EINVAL, "it is neither \"LEFT RIGHT\" nor [LEFT, RIGHT]");
    return pp_tokenizer_take_merge(arena, t, spelled(left), spelled(right), err);
}

static enum pp_status take_merges(struct pp_arena *arena, const struct pp_json *json,
                                  struct pp_tokenizer *t, struct pp_error *err)
{
    const json_t *merges = value_at(json->root, "model.merges");

    if (!json_is_array(merges))
        return pp_error_set(err, PP_EINVAL, "%s: model.merges is no array", json->name);
    t->merged = PP_ARRAY(arena, int32_t, json_array_size(merges) + 1);
    for (size_t i = 0; i < json_array_size(merges); i++)
        if (take_merge(arena, t, json_array_get(merges, i), err) != PP_OK)
            return pp_error_prefix(err, "%s: model.merges, merge %zu: ", json->name, i + 1);
    return PP_OK;
}

static enum pp_status take_all(struct pp_arena *arena, const struct pp_json *json,
                               struct pp_tokenizer *t, struct pp_error *err)
{
    if (!json_is_object(json->root))
        return pp_error_set(err, PP_EINVAL, "%s: no object", json->name);
    PP_TRY(check_rules(json, err));
    PP_TRY(pp_tokenizer_take_vocab(arena, t, json->name, value_at(json->root, "model.vocab"), err));
    PP_TRY(take_merges(arena, json, t, err));
    return take_all_added(arena, json, t, err);
}

enum pp_status pp_tokenizer_parse_json(struct pp_arena *arena, struct pp_named_bytes file,
                                       struct pp_tokenizer **tokenizer, struct pp_error *err)
{
    struct pp_json json;

    PP_TRY(pp_tokenizer_begin(arena, file.name, tokenizer, err));
    PP_TRY(pp_json_parse(file.name, file.bytes, file.length, &json, err));
    const enum pp_status status = take_all(arena, &json, *tokenizer, err);
    pp_json_close(&json);
    return status;
}
