/* sim/sweep/count.c — the counts of a result file. */
#include "sim/sweep/file.h"

/* Copies a field without its quotes, cut to `size`. */
static void copy_field(struct pp_sweep_text field, char *text, size_t size)
{
    const bool is_quoted = field.length >= 2 && field.data[0] == '"';
    const char *at = field.data + is_quoted, *end = field.data + field.length - is_quoted;
    size_t length = 0;

    for (; at < end && length + 1 < size; at++) {
        text[length++] = *at;
        at += is_quoted && *at == '"'; /* written twice */
    }
    text[length] = '\0';
}

void pp_sweep_file_count(struct pp_sweep_file *file, int64_t point, struct pp_sweep_text row)
{
    struct pp_sweep_counts *counts = &file->counts;

    counts->rows++;
    counts->unfit += pp_sweep_text_is(pp_sweep_field(row, file->fits_column), "false");
    if (pp_sweep_text_is(pp_sweep_field(row, file->status_column), "ok"))
        return;
    if (counts->refused++ > 0 && point > file->reason_point)
        return;
    file->reason_point = point;
    copy_field(pp_sweep_field(row, file->reason_column), counts->first_reason,
               sizeof(counts->first_reason));
}
