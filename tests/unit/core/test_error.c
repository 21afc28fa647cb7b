/* Messages quote files, options and peers: none of their bytes commands a terminal. */
#include "core/error.h"

#include "core/printable.h"

#include <criterion/criterion.h>
#include <string.h>

static const char FOREIGN[] = "caf\xc3\xa9 \x1b]0;x\x07\x1b[31m\r\xe9\x9b\n\tb";
#define SEEN "caf\xc3\xa9 \\x1b]0;x\\x07\\x1b[31m\\x0d\\xe9\\x9b\n\tb"

Test(error, foreign_text_is_visible)
{
    struct pp_error err;

    pp_error_set(&err, PP_EFAIL, "'%s'", FOREIGN);
    cr_assert_str_eq(err.message, "'" SEEN "'");
    pp_error_prefix(&err, "%s: ", FOREIGN);
    cr_assert_str_eq(err.message, SEEN ": '" SEEN "'");
    pp_error_append(&err, "; %s", FOREIGN);
    cr_assert_str_eq(err.message, SEEN ": '" SEEN "'; " SEEN);
}

/* Whatever its length, visible text ends within its room, and nothing of it is lost before. */
Test(error, visible_text_is_cut)
{
    for (size_t bytes = 1; bytes < 40; bytes++) {
        char text[64], whole[64];

        memset(text, '\x1b', sizeof(text));
        memset(whole, 0, sizeof(whole));
        for (size_t i = 0; i + 4 < bytes; i += 4)
            memcpy(whole + i, "\\x1b", 4);
        text[bytes - 1] = '\0';
        pp_printable_lines(text, bytes);
        cr_assert_lt(strlen(text), bytes);
        cr_assert_str_eq(text, whole, "%zu", bytes);
        cr_assert_eq(text[bytes], '\x1b', "written beyond %zu bytes", bytes);
    }
}

Test(error, messages_of_any_length)
{
    static char much[2 * PP_ERROR_BYTES];
    struct pp_error err;

    memset(much, '\x1b', sizeof(much) - 1);
    pp_error_set(&err, PP_EFAIL, "%s", much);
    cr_assert_lt(strlen(err.message), sizeof(err.message));
    cr_assert_null(strchr(err.message, '\x1b'));
    pp_error_append(&err, "%s", much);
    pp_error_prefix(&err, "%s", much);
    cr_assert_lt(strlen(err.message), sizeof(err.message));
    cr_assert_null(strchr(err.message, '\x1b'));
}
