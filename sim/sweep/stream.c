/* Rows to stdout, a device or a pipe: in the order of points, each as soon as its turn comes. */
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
    fwrite(file->header.data, 1, file->header.length, file->out);
    fputc('\n', file->out);
    return check_written(file, err);
}

/* ---- the heap ----------------------------------------------------------------------------- */

static void swap(struct pp_sweep_held *a, struct pp_sweep_held *b)
{
    const struct pp_sweep_held c = *a;

    *a = *b;
    *b = c;
}

static void push(struct pp_sweep_file *file, struct pp_sweep_held held)
{
    *PP_PUSH(file->arena, file->held, file->held_count, file->held_capacity) = held;
    for (int64_t i = file->held_count - 1; i > 0; i = (i - 1) / 2) {
        struct pp_sweep_held *above = &file->held[(i - 1) / 2];
        if (above->point <= file->held[i].point)
            return;
        swap(above, &file->held[i]);
    }
}

static struct pp_sweep_held pop(struct pp_sweep_file *file)
{
    const struct pp_sweep_held top = file->held[0];
    const int64_t count = --file->held_count;

    file->held[0] = file->held[count];
    for (int64_t i = 0, least; (least = 2 * i + 1) < count; i = least) {
        if (least + 1 < count && file->held[least + 1].point < file->held[least].point)
            least++;
        if (file->held[i].point <= file->held[least].point)
            break;
        swap(&file->held[i], &file->held[least]);
    }
    return top;
}

static void print_top(struct pp_sweep_file *file)
{
    const struct pp_sweep_held top = pop(file);

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
    push(file, held);
    if (point != file->next)
        return PP_OK;
    while (file->held_count > 0 && file->held[0].point == file->next) {
        print_top(file);
        file->next++;
        skip_unwanted(file);
    }
    return check_written(file, err);
}

/* After an interrupt rows are missing; those that are there are printed all the same. */
enum pp_status pp_sweep_stream_close(struct pp_sweep_file *file, struct pp_error *err)
{
    while (file->held_count > 0)
        print_top(file);
    const enum pp_status status = check_written(file, err);
    if (!file->output.file)
        return status;
    return status == PP_OK ? pp_output_commit(&file->output, err)
                           : (pp_output_discard(&file->output), status);
}
