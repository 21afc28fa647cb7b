/* sim/emit/settings.c — adds settings and remarks to a fragment. */
#include "sim/emit/settings.h"

#include "core/printable.h"

/* File names hold any bytes; a fragment has one encoding. */
void pp_emit_remark(struct pp_emission *e, const char *text)
{
    if (text && *text)
        *PP_PUSH(e->arena, e->remarks, e->remark_count, e->remark_capacity) =
            pp_printable(e->arena, text);
}

void pp_emit_differs(struct pp_emission *e, const char *text)
{
    if (text)
        pp_emit_remark(e, pp_arena_printf(e->arena, "Differs: %s.", text));
}

void pp_emit_section(struct pp_emission *emission, const char *section)
{
    emission->section = section;
}

static void put(struct pp_emission *e, struct pp_emit_setting setting)
{
    setting.section = e->section;
    *PP_PUSH(e->arena, e->settings, e->count, e->capacity) = setting;
}

void pp_emit_int(struct pp_emission *emission, const char *name, int64_t value)
{
    put(emission, (struct pp_emit_setting){.name = name, .type = PP_EMIT_INT, .integer = value});
}

void pp_emit_given(struct pp_emission *emission, const char *name, int64_t value)
{
    if (value != 0)
        pp_emit_int(emission, name, value);
}

void pp_emit_degree(struct pp_emission *emission, const char *name, int64_t degree)
{
    if (degree != 1)
        pp_emit_int(emission, name, degree);
}

void pp_emit_bool(struct pp_emission *emission, const char *name, bool is)
{
    put(emission, (struct pp_emit_setting){.name = name, .type = PP_EMIT_BOOL, .integer = is});
}

void pp_emit_flag(struct pp_emission *emission, const char *name, bool is)
{
    if (is)
        pp_emit_bool(emission, name, true);
}

void pp_emit_text(struct pp_emission *emission, const char *name, const char *text)
{
    if (text)
        put(emission, (struct pp_emit_setting){.name = name, .type = PP_EMIT_TEXT, .text = text});
}

void pp_emit_share(struct pp_emission *emission, const char *name, double frac)
{
    if (frac < 1)
        put(emission,
            (struct pp_emit_setting){.name = name,
                                     .type = PP_EMIT_NUMBER,
                                     .text = pp_arena_printf(emission->arena, "%.6g", frac)});
}

void pp_emit_list(struct pp_emission *emission, const char *name, const char *text)
{
    if (text)
        put(emission, (struct pp_emit_setting){.name = name, .type = PP_EMIT_LIST, .text = text});
}
