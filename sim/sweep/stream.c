/* Writes rows to stdout, a device or a pipe in the order of points, as soon as possible. */
#include "sim/sweep/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum pp_status check_written(struct pp_sweep_file *file, struct pp_error *err)
{
    if (fflush(file->out) == 0 && !ferror(file->out))
        return PP_OK;
    return pp_error_set(err, PP_EFAIL, "cannot write %s: %s", file->path, strerror(errno));
}

static void skip_unwanted(struct pp_sweep_file *file)
{
    while (file->next < file->grid->points && !file->wanted[file->next])
        file->next++;
}

enum pp_status pp_sweep_stream_open(struct pp_sweep_file *file, struct pp_error *err)
{
    skip_unwanted(file);
    if (!file->is_json) {
        fwrite(file->header.data, 1, file->header.length, file->out);
        fputc('\n', file->out);
    }
    return check_written(file, err);
}

static void print_top(struct pp_sweep_file *file)
{
    const struct pp_sweep_held top = pp_sweep_heap_pop(&file->held);

    if (file->is_json)
        pp_sweep_json_line(file->header, (struct pp_sweep_text){top.row, top.length}, file->out);
    else
        fwrite(top.row, 1, top.length, file->out);
    free(top.row);
}

enum pp_status pp_sweep_stream_add(struct pp_sweep_file *file, int64_t point,
                                   struct pp_sweep_text row, struct pp_error *err)
{
    const struct pp_sweep_held held = {point, row.length, malloc(row.length + 1)};

    if (!held.row)
        return pp_error_set(err, PP_EFAIL, "no memory for rows that wait for their turn");
    memcpy(held.row, row.data, row.length);
    pp_sweep_heap_push(file->arena, &file->held, held);
    if (point != file->next)
        return PP_OK;
    while (file->held.count > 0 && file->held.data[0].point == file->next) {
        print_top(file);
        file->next++;
        skip_unwanted(file);
    }
    return check_written(file, err);
}

/* Rows may be missing after an interrupt; the others are printed. */
enum pp_status pp_sweep_stream_close(struct pp_sweep_file *file, struct pp_error *err)
{
    while (file->held.count > 0)
        print_top(file);
    const enum pp_status status = check_written(file, err);
    if (!file->output.file)
        return status;
    return status == PP_OK ? pp_output_commit(&file->output, err)
                           : (pp_output_discard(&file->output), status);
}
