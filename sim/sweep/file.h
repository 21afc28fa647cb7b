/* sim/sweep/file.h — the two kinds of result file of a sweep: resumable, and a stream. */
#pragma once

#include "core/heap.h"
#include "core/text/output.h"
#include "sim/sweep/read.h"

/* Row of a stream that waits for its turn in a heap, the lowest point on top. */
struct pp_sweep_held {
    int64_t point;
    size_t length;
    char *row;
};

static inline bool pp_sweep_is_before(struct pp_sweep_held a, struct pp_sweep_held b)
{
    return a.point < b.point;
}

PP_HEAP(pp_sweep_heap, struct pp_sweep_held, 2, pp_sweep_is_before)

struct pp_sweep_file {
    struct pp_arena *arena; /* its own */
    const struct pp_grid *grid;
    const char *path;
    bool *wanted;                                  /* [point] */
    struct pp_sweep_text header;                   /* without the newline */
    int status_column, reason_column, fits_column; /* -1: no such column */
    struct pp_sweep_counts counts;
    int64_t reason_point; /* of counts.first_reason */

    /* for a file: fd >= 0 */
    int fd;
    int64_t size;
    bool is_broken;     /* a write has failed */
    bool is_sorted;     /* the file is in order */
    int64_t last_point; /* of the file's last row */

    /* for a stream */
    bool is_json; /* rows are JSON objects, without a header */
    FILE *out;
    struct pp_output output; /* file NULL: `out` is the caller's */
    int64_t next;            /* point whose row comes next */
    struct pp_sweep_heap held;
};

void pp_sweep_file_count(struct pp_sweep_file *file, int64_t point, struct pp_sweep_text row);

/* Takes over the rows of the open file that belong to this sweep. `*keep_bytes` is the end of its
 * last whole row; 0 if its header is torn. PP_EINVAL leaves the file untouched. */
enum pp_status pp_sweep_resume(struct pp_sweep_file *file, int64_t *keep_bytes,
                               struct pp_error *err);

/* PP_EINVAL if the open file is not the result of a sweep, and so must not be replaced. */
enum pp_status pp_sweep_check_fresh(const struct pp_sweep_file *file, struct pp_error *err);
/* Replaces the file by one with its rows in the order of points, each once. */
enum pp_status pp_sweep_put_in_order(struct pp_sweep_file *file, struct pp_error *err);

/* Prints a row as a JSON object on one line: cells by the names of the header; an empty one is
 * null. */
void pp_sweep_json_line(struct pp_sweep_text header, struct pp_sweep_text row, FILE *out);

enum pp_status pp_sweep_stream_open(struct pp_sweep_file *file, struct pp_error *err);
enum pp_status pp_sweep_stream_add(struct pp_sweep_file *file, int64_t point,
                                   struct pp_sweep_text row, struct pp_error *err);
enum pp_status pp_sweep_stream_close(struct pp_sweep_file *file, struct pp_error *err);

/* PP_EFAIL, with the process, if another sweep writes to the file. The lock ends when this process
 * closes any descriptor of the file. File systems without locks are not locked. */
enum pp_status pp_sweep_lock(int fd, const char *path, struct pp_error *err);

enum pp_sweep_place_state { PP_PLACE_HELD, PP_PLACE_EMPTY, PP_PLACE_OTHER };
/* Finds the file at a path now: the open one, none, or another. */
enum pp_sweep_place_state pp_sweep_place_state(int fd, const char *place);
