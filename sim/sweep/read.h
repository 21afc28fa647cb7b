/* sim/sweep/read.h — the result file of a sweep, or of a part of one, as rows. */
#pragma once

#include "sim/sweep/sweep.h"

#include <string.h>

/* A piece of the file's text, not terminated. */
struct pp_sweep_text {
    const char *data;
    size_t length;
};
static inline bool pp_sweep_text_is_same(struct pp_sweep_text a, struct pp_sweep_text b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

struct pp_sweep_line {
    int64_t point, points; /* 0 <= point < points */
    char key[PP_SWEEP_KEY_BYTES];
    struct pp_sweep_text row;    /* whole, without the newline */
    struct pp_sweep_text values; /* of the row: what is between point and points */
    int line;                    /* on which it begins, 1-based */
};
struct pp_sweep_lines {
    const char *name;            /* of the file, for messages */
    struct pp_sweep_text header; /* without the newline; empty in a file without a whole line */
    struct pp_sweep_line *rows;  /* in the order of the file */
    int64_t count;
    size_t whole_bytes; /* length of the text up to and with the last whole row */
    int torn_line;      /* 0, or where a row begins that the end of the file cuts off */
};

/* Strict: the columns begin with `point` and end with `points,key`. Every row has as many fields as
 * there are columns, and legal values of point, points and key. PP_EINVAL with name:line. A last
 * row without its newline is torn and left out. So is a torn header; then there are no rows. The
 * text must outlive the rows. */
enum pp_status pp_sweep_read(struct pp_arena *arena, const char *name, const char *text,
                             size_t length, struct pp_sweep_lines *lines, struct pp_error *err);
/* Does a file that begins so belong to a sweep? Also what was cut off within its header, or is
 * empty. */
bool pp_sweep_is_begin(const char *text, size_t length);
/* Field `index` of a row or header as it is in the file, quotes included; empty data when there is
 * no such field. */
struct pp_sweep_text pp_sweep_field(struct pp_sweep_text row, int index);
bool pp_sweep_text_is(struct pp_sweep_text field, const char *text);
/* Index of the column of that name, or -1. */
int pp_sweep_column(struct pp_sweep_text header, const char *name);
