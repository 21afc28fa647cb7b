/* sim/sweep/read.h — reads the rows of a result file of a sweep, or of a part of one. */
#pragma once

#include "sim/sweep/sweep.h"

#include <string.h>

/* Piece of the file's text, not terminated. */
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
    struct pp_sweep_text values; /* fields between point and points */
    int line;                    /* first line of the row, 1-based */
};
struct pp_sweep_lines {
    const char *name;            /* of the file, for messages */
    struct pp_sweep_text header; /* without the newline; empty if no line is whole */
    struct pp_sweep_line *rows;  /* in the order of the file */
    int64_t count;
    size_t whole_bytes; /* up to the end of the last whole row */
    int torn_line;      /* line of a row that the end of the file cuts off; 0 = none */
};

/* Reads rows strictly: columns begin with `point` and end with `points,key`. Every row has a field
 * for each column, and legal values of point, points and key. PP_EINVAL with name:line. A torn last
 * row or header is left out. The text must outlive the rows. */
enum pp_status pp_sweep_read(struct pp_arena *arena, const char *name, const char *text,
                             size_t length, struct pp_sweep_lines *lines, struct pp_error *err);
/* Is true if a sweep's file may begin so; also if the text is empty or its header is torn. */
bool pp_sweep_is_begin(const char *text, size_t length);
/* Returns field `index` as in the file, with quotes; empty data if there is none. */
struct pp_sweep_text pp_sweep_field(struct pp_sweep_text row, int index);
bool pp_sweep_text_is(struct pp_sweep_text field, const char *text);
/* Returns the index of a column, or -1. */
int pp_sweep_column(struct pp_sweep_text header, const char *name);
