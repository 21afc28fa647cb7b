#include "core/text/json_stream.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct pp_json_stream *of(struct pp_arena *arena, const char *text)
{
    static struct pp_bytes bytes;

    bytes = (struct pp_bytes){(char *)text, strlen(text)};
    return pp_json_stream_of(arena, "t", &bytes, "list");
}

/* "key[index]=text " of all pieces. */
static const char *all(struct pp_arena *arena, struct pp_json_stream *stream, struct pp_error *err)
{
    const char *seen = "";
    struct pp_json_piece piece;

    while (pp_json_stream_next(stream, &piece, err) == PP_OK) {
        if (!piece.key)
            return seen;
        seen = pp_arena_printf(arena, "%s%s[%d]=%.*s ", seen, piece.key, (int)piece.index,
                               (int)piece.length, piece.text);
    }
    return NULL;
}

Test(json_stream, members_and_elements_come_one_by_one)
{
    static const struct {
        const char *text, *pieces;
    } cases[] = {
        {"{}", ""},
        {" { \"a\" : 1 }", "a[-1]=1 "},
        {"{\"list\":[]}", ""},
        {"{\"list\":[ ] , \"b\":null}", "b[-1]=null "},
        {"{\"a\":[1,2],\"list\":[{\"x\":\"}]\"},[[]],\"s\\\"]\",-1.5e3],\"c\":{\"list\":[3]}} more",
         "a[-1]=[1,2] list[0]={\"x\":\"}]\"} list[1]=[[]] list[2]=\"s\\\"]\" list[3]=-1.5e3 "
         "c[-1]={\"list\":[3]} "},
        {"{\"list\":{\"a\":1},\"e\":\"\\\\\",\"f\":\"\\\\\\\"\"}",
         "list[-1]={\"a\":1} e[-1]=\"\\\\\" f[-1]=\"\\\\\\\"\" "},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_json_stream *stream = of(arena, cases[k].text);
        for (int again = 0; again < 2; again++) {
            struct pp_error err = {0};
            const char *seen = all(arena, stream, &err);
            cr_assert_not_null(seen, "%zu: %s", k, err.message);
            cr_assert_str_eq(seen, cases[k].pieces, "%zu", k);
            cr_assert_eq(pp_json_stream_rewind(stream, &err), PP_OK);
        }
    }
}

Test(json_stream, what_is_no_object_is_refused_where_it_goes_wrong)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "t: byte 0: a JSON object is expected"},
        {"[1]", "t: byte 0: a JSON object is expected"},
        {"{", "t: byte 1: a key in quotes is expected"},
        {"{1:2}", "t: byte 1: a key in quotes is expected"},
        {"{\"a\" 1}", "t: byte 5: ':' is expected after a key"},
        {"{\"a\":}", "t: byte 5: a value is expected"},
        {"{\"a\":", "t: byte 5: ends where a value is expected"},
        {"{\"a\":1", "t: byte 5: ends within the value that begins here"},
        {"{\"a\":{\"b\":[}", "t: byte 5: ends within the value that begins here"},
        {"{\"a\":1 \"b\"", "t: byte 7: ',' or '}' is expected"},
        {"{\"list\":[1 2]}", "t: byte 11: ',' or ']' is expected"},
        {"{\"list\":[1,]}", "t: byte 11: a value is expected"},
        {"{\"list\":[{}", "t: byte 11: ends within an array"},
        {"{\"list\":[1]", "t: byte 11: ends within the object"},
    };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        struct pp_error err = {0};
        cr_assert_null(all(arena, of(arena, cases[k].text), &err), "%zu", k);
        cr_assert_eq(err.status, PP_EINVAL, "%zu", k);
        cr_assert_str_eq(err.message, cases[k].why, "%zu: %s", k, err.message);
    }
}

/* Of pieces of all sizes, those that no buffer holds at first among them, none is cut. */
Test(json_stream, a_file_is_read_through_a_window)
{
    enum { COUNT = 600, LONGEST = 3 << 20 };
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    char path[] = "/tmp/pipesim-json-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct pp_json_stream *stream;
    struct pp_json_piece piece;
    struct pp_error err = {0};

    cr_assert_not_null(file);
    fputs("{\"list\":[", file);
    for (int k = 0; k < COUNT; k++) {
        const int length = k == COUNT / 2 ? LONGEST : k * 37;
        fprintf(file, "%s\"%d:%0*d\\\"\"", k ? ",\n" : "", length, length, k);
    }
    fputs("],\"last\":true}", file);
    fclose(file);
    cr_assert_eq(pp_json_stream_open(arena, path, "list", &stream, &err), PP_OK, "%s", err.message);
    for (int k = 0; k < COUNT; k++) {
        int length, number;
        cr_assert_eq(pp_json_stream_next(stream, &piece, &err), PP_OK, "%s", err.message);
        cr_assert_eq(piece.index, k);
        cr_assert_eq(sscanf(piece.text, "\"%d:", &length), 1);
        const char *colon = memchr(piece.text, ':', piece.length);
        const size_t digits = piece.length - (size_t)(colon - piece.text) - 4;
        cr_assert_eq(digits, (size_t)(length > 3 ? length : k > 99 ? 3 : k > 9 ? 2 : 1), "%d", k);
        cr_assert_eq(sscanf(colon + 1 + (digits > 9 ? digits - 9 : 0), "%9d", &number), 1);
        cr_assert_eq(number, k);
    }
    cr_assert_eq(pp_json_stream_next(stream, &piece, &err), PP_OK);
    cr_assert(piece.key && !strcmp(piece.key, "last") && piece.length == 4);
    cr_assert_eq(pp_json_stream_next(stream, &piece, &err), PP_OK);
    cr_assert_null(piece.key);
    cr_assert_eq(pp_json_stream_rewind(stream, &err), PP_OK);
    cr_assert_eq(pp_json_stream_next(stream, &piece, &err), PP_OK);
    cr_assert(piece.index == 0 && !strncmp(piece.text, "\"0:0", 4));
    unlink(path);
}
