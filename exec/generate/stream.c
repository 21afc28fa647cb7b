/* Writes whole characters of UTF-8. */
#include "exec/generate/stream.h"

#include <stdbool.h>

static void put_unknown(struct pp_char_stream *s)
{
    fputs("\xef\xbf\xbd", s->out);
    s->count = s->need = 0;
}

/* Returns the bytes of the character that begins so; 0 = none does. */
static int length_of(unsigned char first)
{
    return first < 0x80                    ? 1
           : first >= 0xc2 && first < 0xe0 ? 2
           : first >= 0xe0 && first < 0xf0 ? 3
           : first >= 0xf0 && first < 0xf5 ? 4
                                           : 0;
}

/* Is false for overlong forms, surrogates, and numbers beyond 10FFFF. */
static bool may_follow(const struct pp_char_stream *s, unsigned char byte)
{
    const unsigned char first = s->held[0];

    if ((byte & 0xc0) != 0x80)
        return false;
    if (s->count > 1)
        return true;
    return !(first == 0xe0 && byte < 0xa0) && !(first == 0xed && byte > 0x9f) &&
           !(first == 0xf0 && byte < 0x90) && !(first == 0xf4 && byte > 0x8f);
}

static void put_whole(struct pp_char_stream *s)
{
    const unsigned char first = s->held[0];
    const bool controls = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f ||
                          (first == 0xc2 && s->held[1] < 0xa0);

    if (controls) {
        put_unknown(s);
        return;
    }
    fwrite(s->held, 1, (size_t)s->count, s->out);
    s->count = s->need = 0;
}

static void put_byte(struct pp_char_stream *s, unsigned char byte)
{
    if (s->count > 0 && !may_follow(s, byte))
        put_unknown(s);
    if (s->count == 0 && (s->need = length_of(byte)) == 0) {
        put_unknown(s);
        return;
    }
    s->held[s->count++] = byte;
    if (s->count == s->need)
        put_whole(s);
}

void pp_char_stream_put(struct pp_char_stream *stream, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        put_byte(stream, (unsigned char)bytes[i]);
}

void pp_char_stream_end(struct pp_char_stream *stream)
{
    if (stream->count > 0)
        put_unknown(stream);
}
