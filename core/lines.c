/* A text file line by line, and the words of a line. */
#include "core/lines.h"

#include <string.h>

enum pp_status pp_lines_next(struct pp_lines *l, char *line, size_t room, bool *found,
                             struct pp_error *err)
{
    *found = l->from < l->length;
    if (!*found)
        return PP_OK;
    const char *start = l->text + l->from, *end = memchr(start, '\n', l->length - l->from);
    const size_t bytes = end ? (size_t)(end - start) : l->length - l->from;

    l->number++;
    if (bytes >= room || memchr(start, '\0', bytes))
        return pp_error_set(err, PP_EINVAL, "%s:%d: not a line of text", l->name, l->number);
    memcpy(line, start, bytes);
    line[bytes] = '\0';
    l->from += bytes + 1;
    return PP_OK;
}

int pp_words(char *line, char **words, int most)
{
    int count = 0;

    for (char *save, *word = strtok_r(line, " \t\r", &save); word && count < most;
         word = strtok_r(NULL, " \t\r", &save))
        words[count++] = word;
    return count;
}

bool pp_is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}
