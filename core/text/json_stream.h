/* core/text/json_stream.h — a JSON object of any size, piece by piece. A piece is a member,
 * or an element of one of the arrays that have a certain key. One piece is in memory at a
 * time.
 *
 * Only brackets and strings are looked at, to find the end of a piece. Its content is checked
 * when it is parsed (core/text/json.h). */
#pragma once

#include "core/text/file.h"

#include <stddef.h>
#include <stdint.h>

enum { PP_JSON_PIECE_MOST_BYTES = 64 << 20 };

struct pp_json_stream;

struct pp_json_piece {
    const char *key;  /* of the member, as it is written in the file; NULL: the object has ended */
    int64_t index;    /* of the element of the array; -1: the whole of the member's value */
    const char *text; /* [length]; until the next call */
    size_t length;
};

/* `array`: the key whose elements are pieces of their own. PP_EFAIL for what cannot be opened. Is
 * closed when the arena is destroyed. The text, and all names, have to outlive the stream. */
enum pp_status pp_json_stream_open(struct pp_arena *arena, const char *path, const char *array,
                                   struct pp_json_stream **stream, struct pp_error *err);
struct pp_json_stream *pp_json_stream_of(struct pp_arena *arena, const char *name,
                                         const struct pp_bytes *bytes, const char *array);
/* PP_EINVAL with the name and the byte for a syntax error, an early end, or a piece of more
 * than PP_JSON_PIECE_MOST_BYTES. PP_EFAIL where it cannot be read. Bytes after the object are
 * not read. */
enum pp_status pp_json_stream_next(struct pp_json_stream *stream, struct pp_json_piece *piece,
                                   struct pp_error *err);
enum pp_status pp_json_stream_rewind(struct pp_json_stream *stream, struct pp_error *err);
