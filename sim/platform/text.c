/* Finds elements of a platform file by tag and id. */
#include "sim/platform/text.h"

#include "core/text/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Is true for a '/' outside of the value of a key: "nic:400Gb/s" has none. */
static bool has_path(const char *text)
{
    for (const char *word = text + strspn(text, " ,"); *word; word += strspn(word, " ,")) {
        const size_t length = strcspn(word, " ,");
        if (memchr(word, '/', strcspn(word, ":= ,")))
            return true;
        word += length;
    }
    return false;
}

bool pp_platform_is_file(const char *cluster)
{
    return has_path(cluster) || pp_has_suffix(cluster, ".xml") || pp_has_suffix(cluster, ".xml.gz");
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

/* Advances to `to`, counting lines. */
static void advance(struct pp_elements *e, const char *to)
{
    for (; e->rest < to; e->rest++)
        e->line += *e->rest == '\n';
}

/* Value and length of an attribute in the tag [at, end); NULL if there is none. */
static const char *find_attribute(const char *at, const char *end, const char *name, int *bytes)
{
    const ptrdiff_t length = (ptrdiff_t)strlen(name);

    for (; at + length + 2 < end; at++) {
        if (!is_blank(at[0]) || strncmp(at + 1, name, (size_t)length) != 0)
            continue;
        const char *value = at + 1 + length;
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
        *bytes = (int)(close - value - 1);
        return value + 1;
    }
    return NULL;
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
        *element =
            (struct pp_element){.tag = tag, .tag_length = length, .end = close, .line = e->line};
        if (!is_comment && length > 0)
            element->id = find_attribute(tag + length, close, "id", &element->id_length);
        advance(e, close);
        if (element->id)
            return true;
    }
}

static bool is_text(const char *start, int length, const char *text)
{
    return strlen(text) == (size_t)length && !memcmp(start, text, (size_t)length);
}

/* Number of hosts of a radical: "0-5,8,10-12" has ten. */
static int64_t count_radical(const char *at, const char *end)
{
    int64_t count = 0;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        char *rest;
        const long long first = strtoll(at, &rest, 10);
        const long long last = *rest == '-' && rest + 1 < end ? strtoll(rest + 1, NULL, 10) : first;

        if (first >= 0 && last >= first)
            count += last - first < INT64_MAX / 4 ? last - first + 1 : INT64_MAX / 4;
        count = count < INT64_MAX / 4 ? count : INT64_MAX / 4;
        at = comma ? comma + 1 : end;
    }
    return count;
}

int64_t pp_element_hosts(const struct pp_element *e)
{
    int length;

    if (is_text(e->tag, e->tag_length, "host") || is_text(e->tag, e->tag_length, "peer"))
        return 1;
    if (!is_text(e->tag, e->tag_length, "cluster") && !is_text(e->tag, e->tag_length, "cabinet"))
        return 0;
    const char *radical = find_attribute(e->tag + e->tag_length, e->end, "radical", &length);
    return radical ? count_radical(radical, radical + length) : 0;
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
