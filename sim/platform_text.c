#include "sim/platform_text.h"

#include "core/file.h"
#include "sim/platform_file.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

bool pp_platform_is_file(const char *cluster)
{
    return strchr(cluster, '/') || pp_has_suffix(cluster, ".xml") ||
           pp_has_suffix(cluster, ".xml.gz");
}

enum pp_status pp_platform_hint(const char *cluster, enum pp_status status, struct pp_error *err)
{
    struct stat file;

    if (status != PP_EINVAL || stat(cluster, &file) != 0 || !S_ISREG(file.st_mode))
        return status;
    return pp_error_append(err, "; for the file of that name: ./%.60s", cluster);
}

static bool is_blank(char c)
{
    return isspace((unsigned char)c);
}

/* Go on to `to`, counting lines. */
static void advance(struct pp_elements *e, const char *to)
{
    for (; e->rest < to; e->rest++)
        e->line += *e->rest == '\n';
}

/* The value of attribute `id` in the tag [at, end). */
static bool find_id(const char *at, const char *end, struct pp_element *element)
{
    for (; at + 4 < end; at++) {
        if (!is_blank(at[0]) || at[1] != 'i' || at[2] != 'd')
            continue;
        const char *value = at + 3;
        while (value < end && is_blank(*value))
            value++;
        if (value == end || *value++ != '=')
            continue;
        while (value < end && is_blank(*value))
            value++;
        const char *close =
            value < end ? memchr(value + 1, *value, (size_t)(end - value - 1)) : NULL;
        if (!close || (*value != '"' && *value != '\''))
            continue;
        element->id = value + 1;
        element->id_length = (int)(close - value - 1);
        return true;
    }
    return false;
}

bool pp_elements_next(struct pp_elements *e, struct pp_element *element)
{
    for (;;) {
        const char *open = strchr(e->rest, '<');
        if (!open)
            return false;
        advance(e, open);
        const bool is_comment = !strncmp(open, "<!--", 4);
        const char *close = is_comment ? strstr(open + 4, "-->") : strchr(open, '>');
        if (!close)
            return false;
        const char *tag = open + 1;
        int length = 0;
        while (isalnum((unsigned char)tag[length]) || tag[length] == '_')
            length++;
        *element = (struct pp_element){.tag = tag, .tag_length = length, .line = e->line};
        const bool found = !is_comment && length > 0 && find_id(tag + length, close, element);
        advance(e, close);
        if (found)
            return true;
    }
}

static bool is_text(const char *start, int length, const char *text)
{
    return strlen(text) == (size_t)length && !memcmp(start, text, (size_t)length);
}

int pp_element_line(const char *text, const char *tag, const char *id, int nth)
{
    struct pp_elements elements = {.rest = text, .line = 1};
    struct pp_element e;

    while (pp_elements_next(&elements, &e))
        if (is_text(e.tag, e.tag_length, tag) && is_text(e.id, e.id_length, id) && --nth == 0)
            return e.line;
    return 0;
}
