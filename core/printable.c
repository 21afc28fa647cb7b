/* Text with control characters and broken UTF-8 made visible. */
#include "core/printable.h"

#include <stdbool.h>
#include <string.h>

static bool is_between(unsigned char byte, int low, int high)
{
    return byte >= low && byte <= high;
}

/* Returns the bytes of a UTF-8 character (RFC 3629, section 4), 0 if invalid or a control one. */
static size_t character(const unsigned char *s)
{
    if (is_between(s[0], 0x20, 0x7e))
        return 1;
    if (is_between(s[0], 0xc2, 0xdf))
        return s[0] == 0xc2 && s[1] < 0xa0 ? 0 : is_between(s[1], 0x80, 0xbf) ? 2 : 0;
    const int low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    const int high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    if (!is_between(s[0], 0xe0, 0xf4) || !is_between(s[1], low, high) ||
        !is_between(s[2], 0x80, 0xbf))
        return 0;
    if (s[0] < 0xf0)
        return 3;
    return is_between(s[3], 0x80, 0xbf) ? 4 : 0;
}

const char *pp_printable(struct pp_arena *arena, const char *text)
{
    static const char HEX[] = "0123456789abcdef";
    const unsigned char *at = (const unsigned char *)text;

    while (*at && character(at))
        at += character(at);
    if (!*at)
        return text;
    char *out = pp_arena_alloc(arena, 4 * strlen(text) + 1), *end = out;
    for (at = (const unsigned char *)text; *at;) {
        const size_t length = character(at);
        if (length == 0) {
            *end++ = '\\';
            *end++ = 'x';
            *end++ = HEX[*at >> 4];
            *end++ = HEX[*at++ & 15];
        }
        for (size_t i = 0; i < length; i++)
            *end++ = (char)*at++;
    }
    *end = '\0';
    return out;
}
