#include "core/text/json.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pp_error err;
static struct pp_json json;

static enum pp_status parse(const char *text)
{
    err = (struct pp_error){0};
    return pp_json_parse("m.json", text, strlen(text), &json, &err);
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"", "m.json:1:0: "},
    {"{\n  \"a\": 1,\n  b: 2\n}", "m.json:3:3: "},
    {"{\"a\": 1}\n{}", "m.json:2:1: "},
    {"{\"a\": 1, \"a\": 1}", "duplicate"},
    {"{\"a\": 1e999}", "overflow"},
    {"{\"a\": 99999999999999999999}", "too big integer"},
    {"{\"a\": NaN}", "m.json:1:"},
    {"{\"a\": Infinity}", "m.json:1:"},
    {"{\"a\": 01}", "m.json:1:"},
    {"{\"a\": \"\xff\"}", "unable to decode"},
    {"{\"a\": \"\\u0000\"}", "m.json:1:"},
    {"{\"a\": [1, 2}", "m.json:1:"},
    {"[1,]", "m.json:1:"},
    {"\"text\"", "m.json:1:"},
};

Test(json, bad_syntax_is_refused_with_its_place)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(parse(bad[i].text), PP_EINVAL, "%s", bad[i].text);
        cr_assert_not_null(strstr(err.message, bad[i].says), "%s", err.message);
        cr_assert_null(json.root);
        pp_json_close(&json);
    }
}

Test(json, nesting_is_bounded)
{
    enum { DEPTH = 1000000 };
    char *text = malloc(2 * DEPTH + 1);

    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    text[2 * DEPTH] = '\0';
    cr_assert_eq(parse(text), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "depth"), "%s", err.message);
    cr_assert_eq(parse(text + DEPTH - 1000), PP_EINVAL);
    text[DEPTH + 1000] = '\0';
    cr_assert_eq(parse(text + DEPTH - 1000), PP_OK, "%s", err.message);
    pp_json_close(&json);
    free(text);
}

Test(json, typed_access)
{
    int64_t integer = 0;
    double number = 0;
    bool flag = false, found = false;
    const char *text = NULL;

    cr_assert_eq(
        parse("{\"n_layer\": 96, \"eps\": 1e-5, \"tie\": true, \"name\": \"gpt\", \"none\": null,"
              " \"in\": {\"x\": -3}, \"two\": 2}"),
        PP_OK, "%s", err.message);
    cr_assert_eq(
        pp_json_int(&json, json.root, "num_hidden_layers|n_layer", 1, 1000, &integer, NULL, &err),
        PP_OK, "%s", err.message);
    cr_assert_eq(integer, 96);
    cr_assert_eq(pp_json_int(&json, NULL, "none|n_layer", 1, 1000, &integer, &found, &err), PP_OK);
    cr_assert(found && integer == 96, "null counts as absent");
    cr_assert_eq(pp_json_number(&json, NULL, "eps", 0, 1, &number, &found, &err), PP_OK);
    cr_assert(found && number > 0.99e-5 && number < 1.01e-5);
    cr_assert_eq(pp_json_number(&json, NULL, "two", 0, 2, &number, &found, &err), PP_OK);
    cr_assert(number >= 2 && number <= 2, "an integer is a number");
    cr_assert_eq(pp_json_bool(&json, NULL, "tie", &flag, NULL, &err), PP_OK);
    cr_assert(flag);
    cr_assert_eq(pp_json_string(&json, NULL, "name", &text, NULL, &err), PP_OK);
    cr_assert_str_eq(text, "gpt");
    json_t *inner = json_object_get(json.root, "in");
    cr_assert_eq(pp_json_int(&json, inner, "x", -3, 0, &integer, NULL, &err), PP_OK);
    cr_assert_eq(integer, -3);
    integer = 7;
    cr_assert_eq(pp_json_int(&json, NULL, "none|absent", 0, 1, &integer, &found, &err), PP_OK);
    cr_assert(!found && integer == 7);
    pp_json_close(&json);
    pp_json_close(&json);
}

Test(json, wrong_types_ranges_and_missing_keys_name_the_key)
{
    static const char text[] = "{\"i\": 5, \"r\": 5.0, \"s\": \"x\", \"o\": {}, \"a\": []}";
    int64_t integer = 7;
    double number = 7;
    bool flag = false, found = false;
    const char *string = NULL;

    cr_assert_eq(parse(text), PP_OK);
    cr_assert_eq(pp_json_int(&json, NULL, "i", 6, 9, &integer, NULL, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "m.json: \"i\" is 5, outside 6 to 9");
    cr_assert_eq(pp_json_int(&json, NULL, "r", 0, 9, &integer, &found, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "m.json: \"r\" must be an integer, not a number");
    cr_assert_eq(pp_json_int(&json, NULL, "x|s", 0, 9, &integer, &found, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "m.json: \"s\" must be an integer, not a string");
    cr_assert_eq(pp_json_int(&json, NULL, "x|y|z", 0, 9, &integer, NULL, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "m.json: \"x\" is missing (or y|z)");
    cr_assert_eq(pp_json_number(&json, NULL, "r", 0, 4.5, &number, NULL, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "m.json: \"r\" is 5, outside 0 to 4.5");
    cr_assert_eq(pp_json_number(&json, NULL, "a", 0, 9, &number, NULL, &err), PP_EINVAL);
    cr_assert_eq(pp_json_bool(&json, NULL, "i", &flag, NULL, &err), PP_EINVAL);
    cr_assert_str_eq(err.message, "m.json: \"i\" must be true or false, not an integer");
    cr_assert_eq(pp_json_string(&json, NULL, "o", &string, NULL, &err), PP_EINVAL);
    cr_assert_eq(pp_json_string(&json, json_object_get(json.root, "a"), "x", &string, NULL, &err),
                 PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "not an array"), "%s", err.message);
    cr_assert(integer == 7 && number >= 7 && number <= 7 && !flag && !string);
    pp_json_close(&json);
}

Test(json, files_open_or_say_why)
{
    struct pp_arena *arena = pp_arena_create();
    char path[] = "/tmp/pp_json_XXXXXX";
    const int fd = mkstemp(path);

    cr_assert_eq(write(fd, "{\"a\":\n 1,}", 10), 10);
    close(fd);
    cr_assert_eq(pp_json_open(arena, path, 1 << 20, &json, &err), PP_EINVAL);
    cr_assert_eq(strncmp(err.message, path, strlen(path)), 0);
    cr_assert_not_null(strstr(err.message, ":2:"), "%s", err.message);
    unlink(path);
    cr_assert_eq(pp_json_open(arena, path, 1 << 20, &json, &err), PP_EFAIL);
    pp_json_close(&json);
    pp_arena_destroy(arena);
}

/* Returns a list of `count` copies of an element. */
static char *list_of(struct pp_arena *arena, const char *element, int count)
{
    const size_t length = strlen(element);
    char *text = pp_arena_alloc(arena, (length + 1) * (size_t)count + 2), *at = text;

    for (int i = 0; i < count; i++) {
        *at++ = i ? ',' : '[';
        at = (char *)memcpy(at, element, length) + length;
    }
    *at = ']';
    return text;
}

/* Empty objects take 32 times their text. */
Test(json, texts_that_inflate_are_refused)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char *fair = list_of(arena, "[1, \"x\"]", 200000), *bomb = list_of(arena, "{}", 200000);

    cr_assert_eq(pp_json_parse("m", fair, strlen(fair), &json, &err), PP_OK);
    pp_json_close(&json);
    cr_assert_eq(pp_json_parse("m", bomb, strlen(bomb), &json, &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "MiB of memory"), "%s", err.message);
}
