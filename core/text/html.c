/* Escaped text of an HTML page. */
#include "core/text/html.h"

#include "core/printable.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static const char *entity(char c)
{
    static const char *const names[UCHAR_MAX + 1] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};

    return names[(unsigned char)c];
}

static void escape(FILE *out, const char *text)
{
    for (; *text; text++) {
        const char *name = entity(*text);
        if (!strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3)) {
            fputs("\xef\xbf\xbd", out); /* U+FFFE and U+FFFF are no characters of XML */
            text += 2;
        } else if (name)
            fputs(name, out);
        else
            fputc(*text, out);
    }
}

static void put_text(FILE *out, const char *text)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    escape(out, pp_printable(arena, text ? text : ""));
}

/* Copies one conversion with its letter; returns the rest of the format. */
enum { SPEC_BYTES = 16 };
static const char *read_spec(const char *format, char spec[SPEC_BYTES])
{
    const size_t length = strspn(format + 1, "#0- +123456789.*") + 2;
    const size_t kept = length < SPEC_BYTES ? length : SPEC_BYTES - 1;

    memcpy(spec, format, kept);
    spec[kept] = '\0';
    return format + length;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* pieces of a format that was checked */
void pp_html(FILE *out, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    while (*format) {
        char spec[SPEC_BYTES];
        const size_t plain = strcspn(format, "%");
        fwrite(format, 1, plain, out);
        format += plain;
        if (!*format)
            break;
        format = read_spec(format, spec);
        switch (format[-1]) {
        case 's':
            put_text(out, va_arg(arguments, const char *));
            break;
        case 'd':
        case 'c':
            fprintf(out, spec, va_arg(arguments, int));
            break;
        case 'x':
            fprintf(out, spec, va_arg(arguments, unsigned));
            break;
        case '%':
            fputc('%', out);
            break;
        default:
            fprintf(out, spec, va_arg(arguments, double));
        }
    }
    va_end(arguments);
}
#pragma GCC diagnostic pop

void pp_html_flags(FILE *out, const char *text)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (const char *flag; (flag = strstr(text, "--")) != NULL;) {
        const size_t length = 2 + strspn(flag + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
        pp_html(out, "%s<span class=\"flag\">%s</span>",
                pp_arena_printf(arena, "%.*s", (int)(flag - text), text),
                pp_arena_printf(arena, "%.*s", (int)length, flag));
        text = flag + length;
    }
    pp_html(out, "%s", text);
}

void pp_html_words(FILE *out, const char *words)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    for (const char *text = pp_printable(arena, words); *text;) {
        const size_t plain = strcspn(text, "~");
        pp_html_flags(out, pp_arena_printf(arena, "%.*s", (int)plain, text));
        text += plain;
        if (*text == '~')
            fputs("&#160;", out);
        text += *text == '~';
    }
}

void pp_html_lines(FILE *out, const char *lines)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();

    while (*lines) {
        const size_t length = strcspn(lines, "\n");
        pp_html(out, "%s", pp_arena_printf(arena, "%.*s", (int)length, lines));
        lines += length;
        if (*lines == '\n')
            fputc(*lines++, out);
    }
}

void pp_html_figure(FILE *out, const char *key, double value, const char *text)
{
    if (isfinite(value))
        pp_html(out, "<data data-key=\"%s\" value=\"%.17g\">%s</data>", key, value, text);
    else
        fputs("-", out);
}

void pp_html_code(FILE *out, const char *code, size_t bytes)
{
    fputs("/*<![CDATA[*/\n", out);
    fwrite(code, 1, bytes, out);
    fputs("/*]]>*/", out);
}
