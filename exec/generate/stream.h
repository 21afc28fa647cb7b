/* exec/generate/stream.h — text as it comes: bytes in, whole characters out. */
#pragma once

#include <stddef.h>
#include <stdio.h>

/* A character may come in several tokens: its bytes are held until it is whole. What is no UTF-8,
 * and what controls a terminal, becomes U+FFFD. Set `out` and leave the rest zero. */
struct pp_char_stream {
    FILE *out;
    unsigned char held[4];
    int count, need;
};
void pp_char_stream_put(struct pp_char_stream *stream, const char *bytes, size_t length);
/* Ends the text: an incomplete character becomes U+FFFD. */
void pp_char_stream_end(struct pp_char_stream *stream);
