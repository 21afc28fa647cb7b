/* Rows of a sweep are pieces of the file, in its order, and the file without a torn end is made of
 * nothing else. */
#include "sim/sweep/read.h"
#include "tests/fuzz/fuzz.h"

/* Header and rows, each with its newline, are the bytes up to whole_bytes. */
static void check_pieces(const struct pp_sweep_lines *lines, const char *text, size_t size)
{
    const char *at = text;
    int line = 1;

    FUZZ_CHECK(lines->whole_bytes <= size);
    FUZZ_CHECK((lines->torn_line > 0) == (lines->whole_bytes < size));
    if (lines->header.data) {
        FUZZ_CHECK(lines->header.data == at);
        at += lines->header.length + 1;
    }
    for (int64_t i = 0; i < lines->count; i++) {
        const struct pp_sweep_line *row = &lines->rows[i];

        FUZZ_CHECK(row->row.data == at && row->line > line);
        FUZZ_CHECK(row->point >= 0 && row->point < row->points);
        FUZZ_CHECK(row->values.data > at);
        FUZZ_CHECK(row->values.data + row->values.length < at + row->row.length);
        FUZZ_CHECK(pp_sweep_field(row->row, 0).data == at);
        at += row->row.length + 1;
        line = row->line;
    }
    FUZZ_CHECK(at == text + lines->whole_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pp_arena *arena = pp_arena_create();
    struct pp_sweep_lines lines, again;
    struct pp_error err = {0};
    const char *text = (const char *)data;
    const enum pp_status status = pp_sweep_read(arena, "f", text, size, &lines, &err);

    if (status != PP_OK) {
        FUZZ_CHECK(status == PP_EINVAL && err.status == status && !strncmp(err.message, "f:", 2));
    } else {
        check_pieces(&lines, text, size);
        FUZZ_CHECK(pp_sweep_read(arena, "f", text, lines.whole_bytes, &again, &err) == PP_OK);
        FUZZ_CHECK(again.count == lines.count && again.torn_line == 0);
    }
    pp_arena_destroy(arena);
    return 0;
}
