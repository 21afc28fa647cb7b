/* CSV rows: written with quotes where they are needed, read strictly. */
#include "core/text/csv.h"

#include <csv.h>
#include <stdbool.h>
#include <string.h>

enum { FIELDS_MAX = 1 << 28 };

/* Spreadsheets put it before the first line. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

struct reader {
    struct csv_parser parser;
    const char *name;
    const char **fields; /* room for every field of the text */
    char *bytes;         /* room for every byte of the text */
    size_t field_count;
    struct pp_csv *csv;
    int line, row_line; /* line being fed; line on which the open row began */
    bool is_open;       /* a row has begun and not ended */
};

static void end_field(void *bytes, size_t length, void *data)
{
    struct reader *reader = data;
    struct pp_csv_row *row = &reader->csv->rows[reader->csv->count];

    if (row->count++ == 0)
        row->fields = &reader->fields[reader->field_count];
    reader->fields[reader->field_count++] = reader->bytes;
    if (length > 0)
        memcpy(reader->bytes, bytes, length);
    reader->bytes[length] = '\0';
    reader->bytes += length + 1;
}

static void end_row(int terminator, void *data)
{
    struct reader *reader = data;

    (void)terminator;
    reader->csv->rows[reader->csv->count++].line = reader->row_line;
    reader->is_open = false;
}

/* A carriage return ends no row; before the line feed it is trimmed like a blank. */
static int is_space(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int is_end(unsigned char c)
{
    return c == '\n';
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!is_space((unsigned char)line[i]) && line[i] != '\n')
            return false;
    return true;
}

/* `at` is the offset in the line at which libcsv stopped. */
static enum pp_status refuse(struct reader *reader, size_t at, struct pp_error *err)
{
    const int code = csv_error(&reader->parser);

    if (code != CSV_EPARSE)
        return pp_error_set(err, PP_EFAIL, "%s:%d: %s", reader->name, reader->line,
                            csv_strerror(code));
    return pp_error_set(err, PP_EINVAL,
                        "%s:%d: stray quote near column %zu (a field with quotes is written "
                        "\"like \"\"this\"\"\")",
                        reader->name, reader->line, at + 1);
}

static void add_comment(struct pp_arena *arena, struct pp_csv *comments, int *capacity,
                        const char *text, size_t length, int line)
{
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    const char **field = PP_NEW(arena, const char *);
    *field = memcpy(pp_arena_alloc(arena, length + 1), text, length);
    *PP_PUSH(arena, comments->rows, comments->count, *capacity) =
        (struct pp_csv_row){.fields = field, .count = 1, .line = line};
}

static enum pp_status feed_line(struct reader *reader, const char *line, size_t length,
                                struct pp_error *err)
{
    if (!reader->is_open) {
        reader->row_line = reader->line;
        if (is_blank(line, length)) {
            end_row('\n', reader);
            return PP_OK;
        }
        reader->is_open = true;
    }
    const size_t fed = csv_parse(&reader->parser, line, length, end_field, end_row, reader);
    return fed == length ? PP_OK : refuse(reader, fed, err);
}

static size_t count_bytes(const char *text, size_t length, char wanted)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += text[i] == wanted;
    return count;
}

/* Allocates room for all rows, fields and bytes of the text: nothing grows while reading. */
static enum pp_status make_room(struct pp_arena *arena, struct reader *reader, const char *text,
                                size_t length, struct pp_error *err)
{
    const char *nul = length > 0 ? memchr(text, '\0', length) : NULL;

    if (nul)
        return pp_error_set(err, PP_EINVAL, "%s:%zu: a NUL byte: this is not a text file",
                            reader->name, 1 + count_bytes(text, (size_t)(nul - text), '\n'));
    const size_t rows = count_bytes(text, length, '\n') + 2;
    const size_t fields = rows + count_bytes(text, length, ',');
    if (fields > FIELDS_MAX)
        return pp_error_set(err, PP_EINVAL, "%s: %zu fields are too many (at most %d)",
                            reader->name, fields, (int)FIELDS_MAX);
    reader->csv->rows = PP_ARRAY(arena, struct pp_csv_row, rows);
    reader->fields = PP_ARRAY(arena, const char *, fields);
    reader->bytes = pp_arena_alloc_raw(arena, length + 2);
    return PP_OK;
}

static enum pp_status feed(struct pp_arena *arena, struct reader *reader, const char *text,
                           const char *end, struct pp_csv *comments, struct pp_error *err)
{
    int capacity = 0;

    for (reader->line = 1; text < end; reader->line++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const size_t length = newline ? (size_t)(newline + 1 - text) : (size_t)(end - text);

        if (!reader->is_open && *text == '#') {
            if (comments)
                add_comment(arena, comments, &capacity, text, length, reader->line);
        } else {
            PP_TRY(feed_line(reader, text, length, err));
        }
        text += length;
    }
    if (reader->is_open && csv_fini(&reader->parser, end_field, end_row, reader) != 0)
        return pp_error_set(err, PP_EINVAL, "%s:%d: the quote opened in this row is never closed",
                            reader->name, reader->row_line);
    return PP_OK;
}

enum pp_status pp_csv_parse(struct pp_arena *arena, const char *name, const char *text,
                            size_t length, struct pp_csv *csv, struct pp_csv *comments,
                            struct pp_error *err)
{
    struct reader reader = {.name = name, .csv = csv};

    *csv = (struct pp_csv){0};
    if (comments)
        *comments = (struct pp_csv){0};
    if (length >= 3 && !memcmp(text, byte_order_mark, 3)) {
        text += 3;
        length -= 3;
    }
    PP_TRY(make_room(arena, &reader, text, length, err));
    if (csv_init(&reader.parser, CSV_STRICT | CSV_STRICT_FINI) != 0)
        return pp_error_set(err, PP_EFAIL, "%s: libcsv cannot start", name);
    csv_set_space_func(&reader.parser, is_space);
    csv_set_term_func(&reader.parser, is_end);
    const enum pp_status status = feed(arena, &reader, text, text + length, comments, err);
    csv_free(&reader.parser);
    return status;
}

/* Is true for a field that the reader would trim, cut or take for something else. */
static bool needs_quotes(const char *field, size_t length)
{
    return length == 0 || strpbrk(field, "\",\r\n") || is_space((unsigned char)field[0]) ||
           is_space((unsigned char)field[length - 1]) || field[0] == '#' ||
           !strncmp(field, byte_order_mark, 3);
}

void pp_csv_write_field(FILE *out, const char *field)
{
    const size_t length = strlen(field);

    /* libcsv puts quotes around every field. */
    if (needs_quotes(field, length))
        csv_fwrite(out, field, length);
    else
        fwrite(field, 1, length, out);
}
