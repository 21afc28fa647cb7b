/* Width and characters of a terminal, and text wrapped to a width. */
#define _GNU_SOURCE /* newlocale and nl_langinfo_l under their plain names */

#include "core/text/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { DEFAULT_WIDTH = 80, MIN_WIDTH = 20, MAX_WIDTH = 1000 };

static int find_width(int fd)
{
    struct winsize size = {0};
    const char *columns = getenv("COLUMNS");
    long width = 0;

    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width == 0 && columns != NULL)
        width = strtol(columns, NULL, 10);
    if (width <= 0)
        return DEFAULT_WIDTH;
    return width < MIN_WIDTH ? MIN_WIDTH : width > MAX_WIDTH ? MAX_WIDTH : (int)width;
}

/* Reads the locale of the environment without making it the program's. */
static bool find_utf8(void)
{
    const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);

    if (locale == (locale_t)0)
        return false;
    const bool has_utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return has_utf8;
}

/* https://no-color.org: any non-empty value switches color off; the option wins over it. */
static bool find_color(const char *option, int fd)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

    if (option != NULL && strcmp(option, "always") == 0)
        return true;
    if (option != NULL && strcmp(option, "never") == 0)
        return false;
    return isatty(fd) && (none == NULL || *none == '\0') && term != NULL && *term != '\0' &&
           strcmp(term, "dumb") != 0;
}

struct pp_terminal pp_terminal_detect(const char *color_option, FILE *out)
{
    const int fd = fileno(out);

    return (struct pp_terminal){.width = find_width(fd),
                                .has_color = find_color(color_option, fd),
                                .has_utf8 = find_utf8()};
}

int pp_text_columns(const char *text, size_t bytes)
{
    int count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80; /* not for continuation bytes */
    return count;
}

int pp_text_wrap(FILE *out, int width, int column, int indent, const char *text)
{
    bool is_first = true;
    int lines = 1;

    for (const char *p = text; *p;) {
        const size_t word = strcspn(p, " ");
        const int size = pp_text_columns(p, word);
        if (!is_first && column + 1 + size > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            lines++;
        } else if (!is_first) {
            column += fprintf(out, " ");
        }
        for (size_t i = 0; i < word; i++)
            fputc(p[i] == '~' ? ' ' : p[i], out);
        column += size;
        is_first = false;
        p += word;
        p += strspn(p, " ");
    }
    fputc('\n', out);
    return lines;
}

void pp_text_paragraph(FILE *out, int width, int indent, const char *label, const char *text)
{
    pp_text_wrap(out, width, fprintf(out, "  %-*s", indent - 2, label), indent, text);
}

static bool is_continued(const char *at)
{
    return (*at & 0xc0) == 0x80;
}

const char *pp_text_short(struct pp_arena *arena, const char *name, int width)
{
    static const char DOTS[] = "...";
    const int length = (int)strlen(name), kept = width - (int)strlen(DOTS);
    int head = kept - kept / 2;
    const char *tail = name + length - kept / 2;

    if (length <= width)
        return name;
    while (head > 0 && is_continued(name + head))
        head--;
    while (is_continued(tail))
        tail++;
    return pp_arena_printf(arena, "%.*s%s%s", head, name, DOTS, tail);
}
