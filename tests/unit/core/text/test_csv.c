#include "core/text/csv.h"
#include "core/text/file.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static struct pp_arena *arena;
static struct pp_csv csv, comments;
static struct pp_error err;

static void set_up(void)
{
    arena = pp_arena_create();
}

static void tear_down(void)
{
    pp_arena_destroy(arena);
}

TestSuite(csv, .init = set_up, .fini = tear_down);
TestSuite(file, .init = set_up, .fini = tear_down);

static enum pp_status parse(const char *text)
{
    err = (struct pp_error){0};
    return pp_csv_parse(arena, "f.csv", text, strlen(text), &csv, &comments, &err);
}

/* "2:a|b;4:c": rows with their lines and fields. */
static const char *shape(const struct pp_csv *table)
{
    char *text = pp_arena_strdup(arena, "");

    for (int i = 0; i < table->count; i++) {
        text = pp_arena_printf(arena, "%s%s%d:", text, i ? ";" : "", table->rows[i].line);
        for (int j = 0; j < table->rows[i].count; j++)
            text = pp_arena_printf(arena, "%s%s%s", text, j ? "|" : "", table->rows[i].fields[j]);
        if (table->rows[i].count == 0)
            text = pp_arena_printf(arena, "%s()", text);
    }
    return text;
}

static const struct {
    const char *text, *rows, *comments;
} good[] = {
    {"", "", ""},
    {"a", "1:a", ""},
    {"a,b\n", "1:a|b", ""},
    {"a,b\r\nc,d\r\n", "1:a|b;2:c|d", ""},
    {"a,b\n\nc", "1:a|b;2:();3:c", ""},
    {"\n", "1:()", ""},
    {" \t\r\n,\n", "1:();2:|", ""},
    {"a,,b,\n", "1:a||b|", ""},
    {" a , b c ,\td\n", "1:a|b c|d", ""},
    {"\"a,b\",\"c \"\"d\"\"\"\n", "1:a,b|c \"d\"", ""},
    {"\"a\" , \"b\"\r\n", "1:a|b", ""},
    {"\"two\nlines\",x\ny\n", "1:two\nlines|x;3:y", ""},
    {"\"two\r\nlines\"\r\ny", "1:two\r\nlines;3:y", ""},
    {"\"a\n\n#b\",c\n#d\ne\n", "1:a\n\n#b|c;5:e", "4:#d"},
    {"# one, \"two\" \r\na\n#\n#x", "2:a", "1:# one, \"two\" ;3:#;4:#x"},
    {"a,#b\n #c\n", "1:a|#b;2:#c", ""},
    {"\"\"\n", "1:", ""},
    {"\"#a\"\n", "1:#a", ""},
    {"\xef\xbb\xbf#x\na\n", "2:a", "1:#x"},
    {"\xc3\xa9,\xff\n", "1:\xc3\xa9|\xff", ""},
    {"(0F3;3B5)OVERLAP_F_B,0F0\n", "1:(0F3;3B5)OVERLAP_F_B|0F0", ""},
};

Test(csv, rows_fields_lines_and_comments)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert_eq(parse(good[i].text), PP_OK, "%s: %s", good[i].text, err.message);
        cr_assert_str_eq(shape(&csv), good[i].rows);
        cr_assert_str_eq(shape(&comments), good[i].comments);
        cr_assert_eq(pp_csv_parse(arena, "f", good[i].text, strlen(good[i].text), &csv, NULL, &err),
                     PP_OK);
        cr_assert_str_eq(shape(&csv), good[i].rows);
    }
}

static const struct {
    const char *text, *says;
} bad[] = {
    {"a\nb\"c\n", "f.csv:2: stray quote near column 2"},
    {"a\n\"b\"c\n", "f.csv:2: stray quote near column 4"},
    {"\"a\nb\" x\n", "f.csv:2: stray quote"},
    {"a\n\"b\nc\n", "f.csv:2: the quote opened in this row is never closed"},
    {"\"", "f.csv:1: the quote"},
    {"x\n\"\"\"", "f.csv:2: the quote"},
};

Test(csv, bad_quoting_is_refused_with_its_line)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_assert_eq(parse(bad[i].text), PP_EINVAL, "%s", bad[i].text);
        cr_assert_not_null(strstr(err.message, bad[i].says), "%s", err.message);
    }
    cr_assert_eq(pp_csv_parse(arena, "f", "a\nb\0c\n", 6, &csv, NULL, &err), PP_EINVAL);
    cr_assert_not_null(strstr(err.message, "f:2: a NUL byte"), "%s", err.message);
    cr_assert_eq(pp_csv_parse(arena, "f", "#\0", 2, &csv, &comments, &err), PP_EINVAL);
}

/* Every combination of a few hostile letters survives writing and reading. */
Test(csv, what_is_written_reads_back)
{
    static const char letters[] = "a,\"\n\r #";
    const int kinds = (int)sizeof(letters) - 1;

    for (int code = 0; code < kinds * kinds * kinds * kinds; code++) {
        char first[3] = {letters[code % kinds], letters[code / kinds % kinds], 0};
        char second[3] = {letters[code / kinds / kinds % kinds],
                          letters[code / kinds / kinds / kinds % kinds], 0};
        char *text = NULL;
        size_t length = 0;
        FILE *out = open_memstream(&text, &length);

        pp_csv_write_field(out, first);
        fputc(',', out);
        pp_csv_write_field(out, second);
        fputc('\n', out);
        fclose(out);
        cr_assert_eq(parse(text), PP_OK, "%s: %s", text, err.message);
        cr_assert_eq(csv.count, 1, "%s", text);
        cr_assert_eq(csv.rows[0].count, 2, "%s", text);
        cr_assert_str_eq(csv.rows[0].fields[0], first);
        cr_assert_str_eq(csv.rows[0].fields[1], second);
        cr_assert_eq(comments.count, 0);
        free(text);
    }
}

Test(csv, an_empty_field_and_a_plain_one_are_written_plainly)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    pp_csv_write_field(out, "0F0");
    pp_csv_write_field(out, "two words");
    pp_csv_write_field(out, "a,b");
    fclose(out);
    cr_assert_str_eq(text, "0F0two words\"a,b\"");
    free(text);
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *write_file(const char *suffix, const void *data, size_t length)
{
    char *path = pp_arena_printf(arena, "/tmp/pp_file_XXXXXX%s", suffix);
    const int fd = mkstemps(path, (int)strlen(suffix));
    FILE *file = fdopen(fd, "wb");

    fwrite(data, 1, length, file);
    fclose(file);
    return path;
}

static const char *write_gz(const char *suffix, const void *data, size_t length)
{
    const char *path = write_file(suffix, "", 0);
    gzFile file = gzopen(path, "wb1");

    gzwrite(file, data, (unsigned)length);
    gzclose(file);
    return path;
}

static enum pp_status read_and_remove(const char *path, char **text, size_t *length)
{
    err = (struct pp_error){0};
    const enum pp_status status = pp_file_read(arena, path, text, length, &err);
    unlink(path);
    return status;
}

Test(file, plain_and_compressed_files_read_whole)
{
    enum { BYTES = 3000001 };
    char *data = pp_arena_alloc(arena, BYTES), *text;
    size_t length;

    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i * 7 + i / 1000);
    cr_assert_eq(read_and_remove(write_file("", data, BYTES), &text, &length), PP_OK, "%s",
                 err.message);
    cr_assert_eq(length, BYTES);
    cr_assert_eq(memcmp(text, data, BYTES), 0);
    cr_assert_eq(text[BYTES], '\0');
    cr_assert_eq(read_and_remove(write_gz(".gz", data, BYTES), &text, &length), PP_OK, "%s",
                 err.message);
    cr_assert_eq(length, BYTES);
    cr_assert_eq(memcmp(text, data, BYTES), 0);
    cr_assert_eq(read_and_remove(write_file(".csv", "", 0), &text, &length), PP_OK);
    cr_assert_eq(length, 0);
    cr_assert_str_eq(text, "");
    cr_assert_eq(read_and_remove(write_gz(".gz", "", 0), &text, &length), PP_OK, "%s", err.message);
    cr_assert_eq(length, 0);
}

Test(file, what_cannot_be_read_says_why)
{
    char *text;
    size_t length;

    cr_assert_eq(pp_file_read(arena, "/tmp/no/such", &text, &length, &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "cannot open /tmp/no/such: No such file"), "%s",
                       err.message);
    cr_assert_eq(pp_file_read(arena, "", &text, &length, &err), PP_EFAIL);
    cr_assert_eq(pp_file_read(arena, "/tmp", &text, &length, &err), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "directory"), "%s", err.message);
    cr_assert_eq(read_and_remove(write_file(".gz", "plain", 5), &text, &length), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "not in gzip format"), "%s", err.message);

    /* A compressed file cut short, and one with a wrong byte. */
    char data[5000];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)(rand() & 0xff);
    const char *path = write_gz(".gz", data, sizeof(data));
    cr_assert_eq(truncate(path, 2500), 0);
    cr_assert_eq(read_and_remove(path, &text, &length), PP_EFAIL);
    path = write_gz(".gz", data, sizeof(data));
    FILE *file = fopen(path, "r+b");
    fseek(file, -6, SEEK_END);
    fputs("xx", file);
    fclose(file);
    cr_assert_eq(read_and_remove(path, &text, &length), PP_EFAIL);
}

Test(file, standard_input_is_a_dash)
{
    char *text;
    size_t length;
    const char *path = write_file("", "from stdin\n", 11);

    cr_assert_not_null(freopen(path, "r", stdin));
    cr_assert_eq(pp_file_read(arena, "-", &text, &length, &err), PP_OK, "%s", err.message);
    cr_assert_str_eq(text, "from stdin\n");
    unlink(path);
}

Test(file, limits_hold_before_and_after_decompression)
{
    enum { LIMIT = 1000000 };
    char *zeros = pp_arena_alloc(arena, LIMIT + 1), *text;
    size_t length;
    struct pp_bytes bytes;

    for (int extra = 0; extra < 2; extra++) {
        const char *paths[] = {write_file("", zeros, LIMIT + extra),
                               write_gz(".gz", zeros, LIMIT + extra),
                               write_gz("", zeros, LIMIT + extra)};

        for (int i = 0; i < 3; i++) {
            err = (struct pp_error){0};
            const enum pp_status status =
                pp_file_read_limited(arena, paths[i], LIMIT, &bytes, &err);
            unlink(paths[i]);
            cr_assert_eq(status, extra ? PP_EFAIL : PP_OK, "%s %s", paths[i], err.message);
            if (extra)
                cr_assert_not_null(strstr(err.message, "more than 1000000 bytes"), "%s",
                                   err.message);
            else
                cr_assert_eq(bytes.length, LIMIT);
        }
    }
    const char *path = write_file("", "", 0);
    cr_assert_eq(truncate(path, (1L << 30) + 1), 0); /* a hole, no disk space */
    cr_assert_eq(read_and_remove(path, &text, &length), PP_EFAIL);
    cr_assert_not_null(strstr(err.message, "(1024 MiB)"), "%s", err.message);
}
