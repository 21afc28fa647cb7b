/* Bytes become whole characters, wherever they are cut. */
#include "exec/generate/stream.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN "\xef\xbf\xbd"

/* Writes a text in pieces of `each` bytes. */
static char *stream_of(const char *text, size_t length, size_t each)
{
    char *bytes = NULL;
    size_t size = 0;
    struct pp_char_stream s = {.out = open_memstream(&bytes, &size)};

    for (size_t at = 0; at < length; at += each)
        pp_char_stream_put(&s, text + at, length - at < each ? length - at : each);
    pp_char_stream_end(&s);
    fclose(s.out);
    return bytes;
}

static const struct {
    const char *in, *out;
} cases[] = {
    {"The \n\tword", "The \n\tword"},
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
    {"\xe2\x82", UNKNOWN},      /* ends within a character */
    {"\xe2\x82z", UNKNOWN "z"}, /* the next one begins within it */
    {"\xe2\xc3\xa9", UNKNOWN "\xc3\xa9"},
    {"\x80z", UNKNOWN "z"},             /* begins within one */
    {"\xc0\xafz", UNKNOWN UNKNOWN "z"}, /* overlong */
    {"\xe0\x80\x80", UNKNOWN UNKNOWN UNKNOWN},
    {"\xed\xa0\x80", UNKNOWN UNKNOWN UNKNOWN}, /* surrogate */
    {"\xf4\x90\x80\x80", UNKNOWN UNKNOWN UNKNOWN UNKNOWN},
    {"\xff", UNKNOWN},
    {"\x1b[2J\r\x7f", UNKNOWN "[2J" UNKNOWN UNKNOWN}, /* controls a terminal */
    {"\xc2\x9bz", UNKNOWN "z"},
};

Test(stream, characters_come_whole)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t each = 1; each < 6; each++) {
            char *out = stream_of(cases[i].in, strlen(cases[i].in), each);
            cr_assert_str_eq(out, cases[i].out, "case %zu in pieces of %zu", i, each);
            free(out);
        }
}

Test(stream, nothing_is_held_back_but_part_of_a_character)
{
    char *bytes = NULL;
    size_t size = 0;
    struct pp_char_stream s = {.out = open_memstream(&bytes, &size)};
    const char *euro = "\xe2\x82\xac";

    pp_char_stream_put(&s, "a", 1);
    fflush(s.out);
    cr_assert_eq(size, 1);
    for (int i = 0; i < 3; i++) {
        fflush(s.out);
        cr_assert_eq(size, 1);
        pp_char_stream_put(&s, euro + i, 1);
    }
    fflush(s.out);
    cr_assert_eq(size, 4);
    fclose(s.out);
    free(bytes);
}

Test(stream, random_bytes_make_utf8)
{
    unsigned state = 1;

    for (int round = 0; round < 2000; round++) {
        char in[24];
        for (size_t i = 0; i < sizeof in; i++) {
            state = state * 1103515245 + 12345;
            in[i] = (char)(state >> 16 | 0x80u * (round & 1));
        }
        char *whole = stream_of(in, sizeof in, sizeof in), *pieces = stream_of(in, sizeof in, 1);
        cr_assert_str_eq(whole, pieces);
        char *again = stream_of(whole, strlen(whole), 3);
        cr_assert_str_eq(again, whole);
        free(whole), free(pieces), free(again);
    }
}
