/* Paragraphs and lines of the report. */
#include "exec/report/report.h"

#include <stdarg.h>

void pp_exec_paragraph(const struct pp_exec_page *page, const char *label, const char *format, ...)
{
    char text[PP_EXEC_TEXT_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    pp_text_paragraph(page->out, page->terminal.width, PP_EXEC_LABEL, label, text);
}

void pp_exec_line(const struct pp_exec_page *page, const char *label, const char *format, ...)
{
    va_list arguments;

    fprintf(page->out, "  %-*s", PP_EXEC_LABEL - 2, label);
    va_start(arguments, format);
    vfprintf(page->out, format, arguments);
    va_end(arguments);
    fputc('\n', page->out);
}

size_t pp_exec_append(char text[PP_EXEC_TEXT_BYTES], size_t used, const char *format, ...)
{
    const size_t room = PP_EXEC_TEXT_BYTES - used;
    va_list arguments;

    va_start(arguments, format);
    const size_t wanted = (size_t)vsnprintf(text + used, room, format, arguments);
    va_end(arguments);
    return used + (wanted < room ? wanted : room - 1);
}

const char *pp_exec_seconds(double value, char text[PP_UNITS_TEXT_BYTES])
{
    return pp_units_print(value, PP_UNIT_SECONDS, text);
}

const char *pp_exec_star(unsigned chosen, unsigned bit)
{
    return chosen & bit ? "*" : "";
}
