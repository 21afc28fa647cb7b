/* Text wrapped to a width. */
#include "core/text/terminal.h"

#include <string.h>

void pp_text_wrap(FILE *out, int width, int column, int indent, const char *text)
{
    bool is_first = true;

    for (const char *p = text; *p;) {
        const size_t word = strcspn(p, " ");
        if (!is_first && column + 1 + (int)word > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!is_first) {
            column += fprintf(out, " ");
        }
        for (size_t i = 0; i < word; i++)
            fputc(p[i] == '~' ? ' ' : p[i], out);
        column += (int)word;
        is_first = false;
        p += word;
        p += strspn(p, " ");
    }
    fputc('\n', out);
}

void pp_text_paragraph(FILE *out, int width, int indent, const char *label, const char *text)
{
    pp_text_wrap(out, width, fprintf(out, "  %-*s", indent - 2, label), indent, text);
}
