/* exec/train/log.h — a CSV file with a row for each step, which other programs may read meanwhile.
 *
 * Each row is written whole, at once. A resumed training goes on in the same file: rows of steps
 * after its checkpoint are cut off, because these steps run again. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdint.h>

/* `tokens` and `time_s` are sums over all steps so far. Times are by the watch. */
#define PP_LOG_HEADER "step,loss,valid_loss,grad_norm,lr,tokens,tokens_per_s,time_s\n"

struct pp_log_row {
    int step;                                 /* done */
    double loss, valid_loss, grad_norm, rate; /* NAN: an empty cell */
    double elapsed_s;                         /* of this step, with the pause before it */
    int64_t tokens;                           /* of this step */
};

/* Header and rows of the first `steps` steps of a log. */
struct pp_log_past {
    size_t bytes; /* of header and rows; 0: not even the header is whole */
    int64_t tokens;
    double time_s;
};
/* PP_EINVAL with file and line for what is no log. A last line without an end is no row. */
enum pp_status pp_log_parse(const char *name, const char *text, size_t length, int steps,
                            struct pp_log_past *past, struct pp_error *err);

struct pp_log;
/* Opens the file, which is made if it is not there. With steps > 0, it is continued. PP_EFAIL if
 * that fails; PP_EINVAL if it is there and is no log. Changes nothing of a file that is there. */
enum pp_status pp_log_open(struct pp_arena *arena, const char *path, int steps, struct pp_log **log,
                           struct pp_error *err);
/* Cuts off what the training replaces: all, or rows after the first `steps` steps. PP_EFAIL. */
enum pp_status pp_log_begin(struct pp_log *log, struct pp_error *err);
/* Appends a row. PP_EFAIL, and the file ends with its last whole row. */
enum pp_status pp_log_add(struct pp_log *log, const struct pp_log_row *row, struct pp_error *err);
