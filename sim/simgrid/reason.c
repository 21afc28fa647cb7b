/* What SimGrid wrote before it ended the process, as one line of ours. Its lines look like
 *   [0.000000] ./src/xbt/exception.cpp:95: [xbt_exception/ERROR] Parse error at a.xml:7: unknown
 * unit: GByte [0.000000] ./src/xbt/exception.cpp:48: [xbt_exception/CRITICAL] Uncaught exception
 * std::X by Y: Z */
#define _GNU_SOURCE /* memmem */
#include "sim/simgrid/child.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Where the text of an error line starts; NULL for other lines and those that only say that all is
 * over. */
static const char *error_text(const char *line, const char *end)
{
    static const char *const levels[] = {"/CRITICAL] ", "/ERROR] "};
    static const char *const empty[] = {"Exiting now", "Backtrace", "Current backtrace"};

    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(levels[i]);
        const char *found = memmem(line, (size_t)(end - line), levels[i], length);

        if (!found)
            continue;
        for (int k = 0; k < 3; k++)
            if (!strncmp(found + length, empty[k], strlen(empty[k])))
                return NULL;
        return found + length;
    }
    return NULL;
}

/* Skip `text` and all up to `until`, when the line has both. */
static const char *skip(const char *line, const char *end, const char *text, const char *until)
{
    const size_t length = strlen(text);

    if ((size_t)(end - line) < length || strncmp(line, text, length) != 0)
        return line;
    const char *found = memmem(line + length, (size_t)(end - line) - length, until, strlen(until));
    return found ? found + strlen(until) : line;
}

void pp_child_reason(const char *log, char *text, size_t size)
{
    const char *start = NULL, *end = log;

    text[0] = '\0';
    for (const char *line = log; *line && !start; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        start = error_text(line, end);
    }
    if (!start)
        return;
    start = skip(start, end, "Parse error at", " ");
    start = skip(start, end, "Uncaught exception ", ": ");
    size_t length = (size_t)(end - start);
    if (length >= size)
        length = size - 1;
    for (size_t i = 0; i < length; i++)
        text[i] = isprint((unsigned char)start[i]) ? start[i] : '?';
    text[length] = '\0';
}
