/* Text with control characters and broken UTF-8 made visible. */
#include "core/printable.h"

#include "core/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
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

enum { ESCAPE = 4 };

static void escape(char *out, unsigned char byte)
{
    static const char HEX[] = "0123456789abcdef";

    memcpy(out, (char[ESCAPE]){'\\', 'x', HEX[byte >> 4], HEX[byte & 15]}, ESCAPE);
}

void pp_printable_lines(char *text, size_t bytes)
{
    for (char *at = text; *at;) {
        const size_t length = *at == '\n' || *at == '\t' ? 1 : character((unsigned char *)at);
        const size_t room = bytes - (size_t)(at - text), rest = strlen(at) - 1;

        if (length > 0) {
            at += length;
        } else if (room <= ESCAPE) {
            *at = '\0';
        } else {
            const size_t kept = rest < room - ESCAPE - 1 ? rest : room - ESCAPE - 1;
            const unsigned char byte = (unsigned char)*at;
            memmove(at + ESCAPE, at + 1, kept);
            at[ESCAPE + kept] = '\0';
            escape(at, byte);
            at += ESCAPE;
        }
    }
}

const char *pp_printable(struct pp_arena *arena, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at && character(at))
        at += character(at);
    if (!*at)
        return text;
    char *out = pp_arena_alloc(arena, ESCAPE * strlen(text) + 1), *end = out;
    for (at = (const unsigned char *)text; *at;) {
        const size_t length = character(at);
        if (length == 0) {
            escape(end, *at++);
            end += ESCAPE;
        }
        for (size_t i = 0; i < length; i++)
            *end++ = (char)*at++;
    }
    *end = '\0';
    return out;
}

void pp_tell(const char *format, ...)
{
    char text[PP_ERROR_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    pp_printable_lines(text, sizeof(text));
    fprintf(stderr, "%s\n", text);
}
