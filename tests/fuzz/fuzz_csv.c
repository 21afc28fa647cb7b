/* What is read, written and read again is the same table. */
#include "core/text/csv.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static void write_table(FILE *out, const struct pp_csv *csv)
{
    for (int i = 0; i < csv->count; i++) {
        for (int j = 0; j < csv->rows[i].count; j++) {
            if (j > 0)
                fputc(',', out);
            pp_csv_write_field(out, csv->rows[i].fields[j]);
        }
        fputc('\n', out);
    }
}

static void check_same(const struct pp_csv *a, const struct pp_csv *b)
{
    FUZZ_CHECK(a->count == b->count);
    for (int i = 0; i < a->count; i++) {
        FUZZ_CHECK(a->rows[i].count == b->rows[i].count);
        for (int j = 0; j < a->rows[i].count; j++)
            FUZZ_CHECK(!strcmp(a->rows[i].fields[j], b->rows[i].fields[j]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_csv csv, comments, again;
    struct pp_error err = {0};
    int line = 0, lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    const enum pp_status status =
        pp_csv_parse(arena, "f", (const char *)data, size, &csv, &comments, &err);
    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && !strncmp(err.message, "f:", 2));
    } else {
        for (int i = 0; i < csv.count; i++) {
            FUZZ_CHECK(csv.rows[i].line > line && csv.rows[i].line <= lines);
            line = csv.rows[i].line;
        }
        FUZZ_CHECK(csv.count + comments.count <= lines);
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);
        write_table(out, &csv);
        fclose(out);
        FUZZ_CHECK(pp_csv_parse(arena, "f", text, length, &again, NULL, &err) == PP_OK);
        check_same(&csv, &again);
        free(text);
    }
    pp_arena_destroy(arena);
    return 0;
}
