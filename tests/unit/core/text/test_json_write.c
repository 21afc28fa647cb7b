/* Reports: arrays of numbers stand on one line, and all else as ever. */
#include "core/text/json_write.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* `rows` is a text of its own, as pp_json_print_rows() prints it. */
static void check_rows(const char *rows)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    json_t *json = json_loads(rows, 0, NULL);

    cr_assert_not_null(json, "%s", rows);
    pp_json_print_rows(json, out);
    fclose(out);
    cr_expect_str_eq(text, rows);
    free(text);
}

Test(json_write, arrays_of_numbers_stand_on_one_line)
{
    check_rows("[1, 2.5, null, -3]\n");
    check_rows("{\n  \"tokens\": [\n    [1, 2],\n    [3]\n  ],\n  \"none\": []\n}\n");
    check_rows("[\n  {\n    \"a\": 1\n  },\n  2\n]\n");
    check_rows(
        "{\n  \"text\": [\n    \"[1,  2]\",\n    \"\\\"[1,  2]\\\\\",\n    \"[3,  4]\"\n  ]\n}\n");
}
