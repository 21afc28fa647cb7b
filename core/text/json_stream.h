/* core/text/json_stream.h — a JSON object of any size, read piece by piece. A piece is a member, or
 * an element of one of the arrays that have a certain key. Memory holds one piece at a time.
 *
 * Only brackets and strings are read, to find the end of a piece. Parsing checks its content
 * (core/text/json.h). */
#pragma once

#include "core/text/file.h"

#include <stddef.h>
#include <stdint.h>

enum { PP_JSON_PIECE_MOST_BYTES = 64 << 20 };

struct pp_json_stream;

struct pp_json_piece {
    const char *key;  /* of the member, as written in the file; NULL: the object has ended */
    int64_t index;    /* of the array's element; -1: the member's whole value */
    const char *text; /* [length]; valid until the next call */
    size_t length;
};

/* Opens a stream, which the arena closes. `array`: the key whose elements are pieces of their own.
 * PP_EFAIL if it cannot be opened. The text, and all names, must outlive the stream. */
enum pp_status pp_json_stream_open(struct pp_arena *arena, const char *path, const char *array,
                                   struct pp_json_stream **stream, struct pp_error *err);
struct pp_json_stream *pp_json_stream_of(struct pp_arena *arena, const char *name,
                                         const struct pp_bytes *bytes, const char *array);
/* Reads the next piece. PP_EINVAL with name and byte for a syntax error, an early end, or a piece
 * of more than PP_JSON_PIECE_MOST_BYTES; PP_EFAIL if unreadable. Stops after the object. */
enum pp_status pp_json_stream_next(struct pp_json_stream *stream, struct pp_json_piece *piece,
                                   struct pp_error *err);
enum pp_status pp_json_stream_rewind(struct pp_json_stream *stream, struct pp_error *err);
