/* schedules/verify/text.c — texts of verify's messages. */
#include "schedules/verify/parts.h"

#include <stdarg.h>
#include <stdio.h>

const char *pp_verify_name(const struct pp_program *p)
{
    return p->file ? p->file : p->name;
}

static const char *cell(const struct pp_verify *v, struct pp_op op)
{
    char text[PP_OP_TEXT_BYTES];

    pp_op_print(&op, pp_program_style(v->p), text);
    return pp_arena_strdup(v->arena, text);
}

const char *pp_verify_text(const struct pp_verify *v, int i)
{
    return cell(v, pp_program_op(v->p, i));
}

const char *pp_verify_unit_text(const struct pp_verify *v, int kind, int64_t unit)
{
    const int splits = v->p->splits;

    return cell(v, (struct pp_op){.kind = (uint8_t)kind,
                                  .split = (uint8_t)(unit % splits),
                                  .granules = 1,
                                  .mb = (int32_t)(unit / splits % v->granules),
                                  .stage = (uint16_t)(unit / splits / v->granules),
                                  .arg = -1,
                                  .slot = -1});
}

const char *pp_verify_place(const struct pp_verify *v, int i)
{
    const struct pp_program *p = v->p;
    const int rank = pp_program_rank_at(p, i);

    if (p->line && p->line[i] > 0)
        return pp_arena_printf(v->arena, "rank %d line %d col %d", rank, p->line[i], p->column[i]);
    return pp_arena_printf(v->arena, "rank %d op %d", rank, i - p->begin[rank] + 1);
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
    const int rank = pp_program_rank_at(p, mark), position = mark - p->begin[rank];
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

enum pp_status pp_verify_refuse(struct pp_verify *v, int i, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *words = format_words(v, format, args);
    va_end(args);
    return pp_verify_fail(v, i, "%s %s", pp_verify_text(v, i), words);
}

enum pp_status pp_verify_fail_unwaited(struct pp_verify *v, int i, const char *uses, int post,
                                       const char *brings)
{
    const char *text = pp_verify_text(v, post);

    return pp_verify_refuse(v, i, "%s what %s %s, but (%s)WAIT is missing", uses, text, brings,
                            text);
}

enum pp_status pp_verify_fail_twice(struct pp_verify *v, int first, int second)
{
    return pp_verify_refuse(v, second, "is listed twice, first at %s", pp_verify_place(v, first));
}

enum pp_status pp_verify_fail_before(struct pp_verify *v, int i, int needed)
{
    return pp_verify_refuse(v, i, "is listed before %s, which it needs%s",
                            pp_verify_text(v, needed), pp_verify_fix(v, needed, i));
}

enum pp_status pp_verify_fail_elsewhere(struct pp_verify *v, int i)
{
    const struct pp_program *p = v->p;

    return pp_verify_refuse(v, i, "is on the wrong rank: stage %d is on rank %d", p->stage[i],
                            pp_program_rank_of(p, p->pipe[i], p->stage[i]));
}

const char *pp_verify_fix(struct pp_verify *v, int needed, int before)
{
    return pp_arena_printf(v->arena, "\n  fix: move %s before %s on rank %d",
                           pp_verify_text(v, needed), pp_verify_text(v, before),
                           pp_program_rank_at(v->p, before));
}
