/* schedules/verify/text.c — how verify speaks. */
#include "schedules/verify/parts.h"

#include <stdarg.h>
#include <stdio.h>

const char *pp_verify_name(const struct pp_program *p)
{
    return p->file ? p->file : p->name;
}

int pp_verify_rank(const struct pp_program *p, int i)
{
    int low = 0, high = p->ranks - 1;

    while (low < high) { /* the last rank that begins at or before i */
        const int middle = (low + high + 1) / 2;
        if (p->begin[middle] <= i)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

const char *pp_verify_op_text(const struct pp_program *p, int i, char *text)
{
    const struct pp_op op = pp_program_op(p, i);

    pp_op_print(&op, pp_program_style(p), text);
    return text;
}

const char *pp_verify_unit_text(const struct pp_verify *v, int kind, int64_t unit, char *text)
{
    const int splits = v->p->splits;
    const struct pp_op op = {.kind = (uint8_t)kind,
                             .split = (uint8_t)(unit % splits),
                             .granules = 1,
                             .mb = (int32_t)(unit / splits % v->granules),
                             .stage = (uint16_t)(unit / splits / v->granules),
                             .arg = -1,
                             .slot = -1};

    pp_op_print(&op, pp_program_style(v->p), text);
    return text;
}

const char *pp_verify_place(const struct pp_program *p, int i, char *text)
{
    const int rank = pp_verify_rank(p, i);

    if (p->line && p->line[i] > 0)
        snprintf(text, VERIFY_TEXT_BYTES, "rank %d line %d col %d", rank, p->line[i], p->column[i]);
    else
        snprintf(text, VERIFY_TEXT_BYTES, "rank %d op %d", rank, i - p->begin[rank] + 1);
    return text;
}

enum pp_status pp_verify_add_grid(struct pp_verify *v, int rank, int position)
{
    const char *grid = pp_program_grid(v->arena, v->p, rank, position);

    return grid && *grid ? pp_error_append(v->err, "\n%s", grid) : PP_EPROGRAM;
}

static char *format_words(struct pp_verify *v, const char *format, va_list args)
{
    char *words = pp_arena_alloc(v->arena, sizeof(v->err->message));

    vsnprintf(words, sizeof(v->err->message), format, args);
    return words;
}

enum pp_status pp_verify_fail(struct pp_verify *v, int mark, const char *format, ...)
{
    const struct pp_program *p = v->p;
    const int rank = pp_verify_rank(p, mark), position = mark - p->begin[rank];
    va_list args;

    va_start(args, format);
    const char *words = format_words(v, format, args);
    va_end(args);
    if (p->line && p->line[mark] > 0)
        pp_error_set(v->err, PP_EPROGRAM, "%s:%d:%d: rank %d: %s", pp_verify_name(p), p->line[mark],
                     p->column[mark], rank, words);
    else
        pp_error_set(v->err, PP_EPROGRAM, "%s: rank %d op %d: %s", pp_verify_name(p), rank,
                     position + 1, words);
    return pp_verify_add_grid(v, rank, position);
}

enum pp_status pp_verify_fail_rank(struct pp_verify *v, int rank, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *words = format_words(v, format, args);
    va_end(args);
    pp_error_set(v->err, PP_EPROGRAM, "%s: rank %d: %s", pp_verify_name(v->p), rank, words);
    return pp_verify_add_grid(v, rank, -1);
}

const char *pp_verify_fix(struct pp_verify *v, int needed, int before)
{
    char a[VERIFY_TEXT_BYTES], b[VERIFY_TEXT_BYTES];

    return pp_arena_printf(v->arena, "\n  fix: move %s before %s on rank %d",
                           pp_verify_op_text(v->p, needed, a), pp_verify_op_text(v->p, before, b),
                           pp_verify_rank(v->p, before));
}
