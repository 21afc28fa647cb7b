/* sim/sweep/count.c — the counts of a result file, and the words of its statuses. */
#include "sim/sweep/file.h"

static const struct status {
    enum pp_status status;
    const char *name;
} STATUSES[] = {
    {PP_OK, "ok"}, {PP_EINVAL, "refused"}, {PP_EPROGRAM, "illegal"}, {PP_EFAIL, "failed"}};

const char *pp_sweep_status_name(enum pp_status status)
{
    const struct status *row = STATUSES;

    while (row->status != status && row->status != PP_EFAIL)
        row++;
    return row->name;
}

static enum pp_status status_of(struct pp_sweep_text name)
{
    const struct status *row = STATUSES;

    while (row->status != PP_EFAIL && !pp_sweep_text_is(name, row->name))
        row++;
    return row->status;
}

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
    const enum pp_status status = status_of(pp_sweep_field(row, file->status_column));

    counts->rows++;
    counts->unfit += pp_sweep_text_is(pp_sweep_field(row, file->fits_column), "false");
    if (status == PP_OK)
        return;
    if (counts->refused++ > 0 && point > file->reason_point)
        return;
    file->reason_point = point;
    counts->first_status = status;
    copy_field(pp_sweep_field(row, file->reason_column), counts->first_reason,
               sizeof(counts->first_reason));
}
