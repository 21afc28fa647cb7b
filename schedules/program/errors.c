/* Errors of a program that is frozen or read: place of the instruction, its cell, the fault. */
#include "schedules/program/freeze.h"

#include <stdarg.h>

struct pp_op_style pp_program_style(const struct pp_program *p)
{
    const bool is_lowered = p->level == PP_LEVEL_LOWERED;

    return (struct pp_op_style){.splits = p->splits > 1,
                                .pipelines = p->pipelines > 1,
                                .slots = is_lowered,
                                .versions = is_lowered};
}

void pp_program_print_op(const struct pp_program *p, int i, char text[static PP_OP_TEXT_BYTES])
{
    const struct pp_op op = pp_program_op(p, i);

    pp_op_print(&op, pp_program_style(p), text);
}

int pp_program_rank_at(const struct pp_program *p, int i)
{
    int low = 0, high = p->ranks - 1;

    while (low < high) { /* finds the last rank that begins at or before i */
        const int middle = (low + high + 1) / 2;
        if (p->begin[middle] <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

enum pp_status pp_freeze_error(const struct pp_freeze *f, int i, const char *format, ...)
{
    const struct pp_program_head *head = f->head;
    const int rank = pp_program_rank_at(f->p, i), position = i - f->p->begin[rank];
    char cell[PP_OP_TEXT_BYTES], what[512];
    va_list args;

    pp_op_print(&f->lists->ops[rank][position], pp_program_style(f->p), cell);
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (head->line && head->line[rank][position] > 0)
        return pp_error_set(f->err, PP_EPROGRAM, "%s:%d:%d: %s: %s",
                            head->file ? head->file : head->name, head->line[rank][position],
                            head->column[rank][position], cell, what);
    return pp_error_set(f->err, PP_EPROGRAM, "rank %d, instruction %d (%s): %s", rank, position,
                        cell, what);
}

enum pp_status pp_reading_error(const struct pp_reading *reading, int rank, int position,
                                const char *format, ...)
{
    const struct pp_op_style style = {.splits = reading->head.splits > 1,
                                      .pipelines = reading->head.pipelines > 1};
    char cell[PP_OP_TEXT_BYTES], what[512];
    va_list args;

    pp_op_print(&reading->lists->ops[rank][position], style, cell);
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return pp_error_set(reading->err, PP_EPROGRAM, "%s:%d:%d: %s: %s", reading->file,
                        reading->line[rank][position], reading->column[rank][position], cell, what);
}
