/* sim/sweep/read.c — reads the result file of a sweep strictly. */
#include "sim/sweep/read.h"

#include "core/units.h"

#include <string.h>

static const int64_t POINTS_MAX = (int64_t)1 << 31;

/* Returns the newline that ends a row, outside of quotes; NULL if there is none. */
static const char *end_of_row(const char *text, const char *end)
{
    bool is_quoted = false;

    for (; text < end; text++) {
        if (*text == '"')
            is_quoted = !is_quoted;
        else if (*text == '\n' && !is_quoted)
            return text;
    }
    return NULL;
}

/* Returns the end of the field at `text`: a comma or `end`. NULL for a stray quote. */
static const char *end_of_field(const char *text, const char *end)
{
    if (text < end && *text == '"') {
        for (text++; text < end; text++) {
            if (*text != '"')
                continue;
            if (text + 1 == end || text[1] != '"')
                break;
            text++;
        }
        if (text == end) /* never closed */
            return NULL;
        text++;
        return text == end || *text == ',' ? text : NULL;
    }
    while (text < end && *text != ',' && *text != '"')
        text++;
    return text < end && *text == '"' ? NULL : text;
}

/* Returns the number of fields; -1 for a stray quote. */
static int count_fields(struct pp_sweep_text row)
{
    const char *end = row.data + row.length;
    int count = 0;

    for (const char *at = row.data;; at++) {
        at = end_of_field(at, end);
        if (!at)
            return -1;
        count++;
        if (at == end)
            return count;
    }
}

struct pp_sweep_text pp_sweep_field(struct pp_sweep_text row, int index)
{
    const char *end = row.data + row.length;

    for (const char *at = row.data;; at++) {
        const char *begin = at;

        at = end_of_field(at, end);
        if (!at)
            return (struct pp_sweep_text){0};
        if (index-- == 0)
            return (struct pp_sweep_text){begin, (size_t)(at - begin)};
        if (at == end)
            return (struct pp_sweep_text){0};
    }
}

bool pp_sweep_text_is(struct pp_sweep_text field, const char *text)
{
    return pp_sweep_text_is_same(field, (struct pp_sweep_text){text, strlen(text)});
}

int pp_sweep_column(struct pp_sweep_text header, const char *name)
{
    for (int i = 0;; i++) {
        const struct pp_sweep_text field = pp_sweep_field(header, i);

        if (!field.data || pp_sweep_text_is(field, name))
            return field.data ? i : -1;
    }
}

static bool is_header(struct pp_sweep_text header, int columns)
{
    return columns >= 3 && pp_sweep_text_is(pp_sweep_field(header, 0), "point") &&
           pp_sweep_text_is(pp_sweep_field(header, columns - 2), "points") &&
           pp_sweep_text_is(pp_sweep_field(header, columns - 1), "key");
}

bool pp_sweep_is_begin(const char *text, size_t length)
{
    const char *newline = end_of_row(text, text + length);
    const struct pp_sweep_text row = {text, newline ? (size_t)(newline - text) : length};

    if (!newline)
        return strncmp(text, "point,", length < 6 ? length : 6) == 0 && !memchr(text, '\n', length);
    return !memchr(text, '\0', row.length) && is_header(row, count_fields(row));
}

static enum pp_status check_header(const char *name, struct pp_sweep_text header, int *columns,
                                   struct pp_error *err)
{
    *columns = count_fields(header);
    if (!is_header(header, *columns))
        return pp_error_set(err, PP_EINVAL,
                            "%s:1: not the result of a sweep: its columns begin with point and end "
                            "with points,key",
                            name);
    return PP_OK;
}

/* Reads an integer as a sweep writes it: digits alone, without leading zeros. */
static bool read_number(struct pp_sweep_text field, int64_t low, int64_t high, int64_t *value)
{
    char text[16];

    if (field.length == 0 || field.length >= sizeof text ||
        (field.data[0] == '0' && field.length > 1))
        return false;
    memcpy(text, field.data, field.length);
    text[field.length] = '\0';
    return text[0] != '-' && pp_units_parse_int(text, low, high, value, NULL) == PP_OK;
}

static bool read_key(struct pp_sweep_text field, char key[PP_SWEEP_KEY_BYTES])
{
    if (field.length != PP_SWEEP_KEY_BYTES - 1)
        return false;
    for (size_t i = 0; i < field.length; i++)
        if (!strchr("0123456789abcdef", field.data[i]) || field.data[i] == '\0')
            return false;
    memcpy(key, field.data, field.length);
    key[field.length] = '\0';
    return true;
}

static enum pp_status read_row(const char *name, int columns, struct pp_sweep_line *row,
                               struct pp_error *err)
{
    const int fields = count_fields(row->row);

    if (fields < 0)
        return pp_error_set(err, PP_EINVAL, "%s:%d: a quote where none belongs", name, row->line);
    if (fields != columns)
        return pp_error_set(err, PP_EINVAL, "%s:%d: %d fields, but there are %d columns", name,
                            row->line, fields, columns);
    const struct pp_sweep_text point = pp_sweep_field(row->row, 0);
    const struct pp_sweep_text points = pp_sweep_field(row->row, columns - 2);
    if (!read_number(points, 1, POINTS_MAX, &row->points))
        return pp_error_set(err, PP_EINVAL, "%s:%d: points \"%.*s\": expected how many there are",
                            name, row->line, (int)(points.length < 40 ? points.length : 40),
                            points.data);
    if (!read_number(point, 0, row->points - 1, &row->point))
        return pp_error_set(err, PP_EINVAL, "%s:%d: point \"%.*s\": expected 0 to %lld", name,
                            row->line, (int)(point.length < 40 ? point.length : 40), point.data,
                            (long long)row->points - 1);
    if (!read_key(pp_sweep_field(row->row, columns - 1), row->key))
        return pp_error_set(err, PP_EINVAL,
                            "%s:%d: the key at the end is not 16 hexadecimal digits", name,
                            row->line);
    row->values.data = point.data + point.length + 1;
    row->values.length = columns > 3 ? (size_t)(points.data - 1 - row->values.data) : 0;
    return PP_OK;
}

static int count_newlines(const char *text, const char *end)
{
    int count = 0;

    for (; text < end; text++)
        count += *text == '\n';
    return count;
}

enum pp_status pp_sweep_read(struct pp_arena *arena, const char *name, const char *text,
                             size_t length, struct pp_sweep_lines *lines, struct pp_error *err)
{
    const char *const begin = text, *const end = text + length;
    int64_t capacity = 0;
    int columns = 0, line = 1;

    *lines = (struct pp_sweep_lines){.name = name};
    for (const char *newline; (newline = end_of_row(text, end)) != NULL; text = newline + 1) {
        struct pp_sweep_line row = {.row = {text, (size_t)(newline - text)}, .line = line};

        if (memchr(row.row.data, '\0', row.row.length))
            return pp_error_set(err, PP_EINVAL, "%s:%d: a NUL byte: this is not a text file", name,
                                line);
        if (!lines->header.data) {
            PP_TRY(check_header(name, row.row, &columns, err));
            lines->header = row.row;
        } else {
            PP_TRY(read_row(name, columns, &row, err));
            *PP_PUSH(arena, lines->rows, lines->count, capacity) = row;
        }
        line += 1 + count_newlines(text, newline);
    }
    if (!lines->header.data && length > 0 && strncmp(text, "point,", length < 6 ? length : 6) != 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s:1: not the result of a sweep: it begins with "
                            "point,",
                            name);
    lines->whole_bytes = (size_t)(text - begin);
    lines->torn_line = text < end ? line : 0;
    return PP_OK;
}
