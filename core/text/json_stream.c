/* A JSON file piece by piece: members, and elements of one array. */
#include "core/text/json_stream.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20, MOST_KEY = 256 };

/* The expected next part. */
enum state { OBJECT, FIRST_KEY, KEY, FIRST_ELEMENT, ELEMENT, NOTHING };

struct pp_json_stream {
    struct pp_file *file; /* NULL: all text is in `data` from the start */
    const char *name, *array;
    char *buffer;     /* of `room` bytes; NULL without a file */
    const char *data; /* buffer or text; bytes not taken yet are [begin, end) */
    size_t room, begin, end;
    int64_t taken; /* bytes of the file before data[0] */
    bool has_ended;
    enum state state;
    char key[MOST_KEY];
    int64_t index;
};

/* ---- bytes ----------------------------------------------------------------------------------- */

static enum pp_status fail(const struct pp_json_stream *s, const char *what, struct pp_error *err)
{
    return pp_error_set(err, PP_EINVAL, "%s: byte %" PRId64 ": %s", s->name,
                        s->taken + (int64_t)s->begin, what);
}

static enum pp_status make_room(struct pp_json_stream *s, struct pp_error *err)
{
    if (s->begin > 0) {
        memmove(s->buffer, s->buffer + s->begin, s->end - s->begin);
        s->taken += (int64_t)s->begin;
        s->end -= s->begin;
        s->begin = 0;
    }
    if (s->room - s->end >= CHUNK_BYTES)
        return PP_OK;
    if (s->room >= PP_JSON_PIECE_MOST_BYTES)
        return fail(s, "a value of more than 64 MiB", err);
    const size_t room = s->room ? 2 * s->room : 2 * (size_t)CHUNK_BYTES;
    char *buffer = realloc(s->buffer, room);
    if (!buffer)
        return pp_error_set(err, PP_EFAIL, "cannot read %s: out of memory", s->name);
    s->data = s->buffer = buffer;
    s->room = room;
    return PP_OK;
}

/* Reads more bytes; the addresses of those at hand change. */
static enum pp_status fill(struct pp_json_stream *s, struct pp_error *err)
{
    size_t got = 0;

    if (s->file) {
        PP_TRY(make_room(s, err));
        PP_TRY(pp_file_next(s->file, s->buffer + s->end, CHUNK_BYTES, &got, err));
    }
    s->end += got;
    s->has_ended = got == 0;
    return PP_OK;
}

/* Looks at the next byte that is no space, without taking it; 0 at the end. */
static enum pp_status look(struct pp_json_stream *s, char *byte, struct pp_error *err)
{
    *byte = '\0';
    while (!s->has_ended) {
        while (s->begin < s->end && strchr(" \t\r\n", s->data[s->begin]) && s->data[s->begin])
            s->begin++;
        if (s->begin < s->end) {
            *byte = s->data[s->begin];
            return PP_OK;
        }
        PP_TRY(fill(s, err));
    }
    return PP_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Search for the end of a value, resumed when there are more bytes. */
struct search {
    size_t at; /* searched bytes of the value */
    int depth;
    bool is_in_string, is_scalar;
};

/* Returns the position after the closing quote, or `end`. */
static const char *skip_string(struct search *f, const char *value, const char *p, const char *end)
{
    for (;;) {
        const char *quote = memchr(p, '"', (size_t)(end - p)), *escape = quote;

        if (!quote)
            return end;
        while (escape > value && escape[-1] == '\\')
            escape--;
        p = quote + 1;
        if ((quote - escape) % 2 == 0) {
            f->is_in_string = false;
            return p;
        }
    }
}

static const bool ENDS_SCALAR[UCHAR_MAX + 1] = {
    [' '] = true, ['\t'] = true, ['\r'] = true, ['\n'] = true, [','] = true, [']'] = true,
    ['}'] = true, [':'] = true,  ['['] = true,  ['{'] = true,  ['"'] = true};
static const signed char BRACKETS[UCHAR_MAX + 1] = {['{'] = 1, ['['] = 1, ['}'] = -1, [']'] = -1};

/* Is true if the value ends within [value + f->at, end); then f->at is its length. */
static bool find_end(struct search *f, const char *value, const char *end)
{
    const char *p = value + f->at;

    if (f->at == 0)
        f->is_scalar = *p != '"' && *p != '{' && *p != '[';
    if (f->is_scalar) {
        while (p < end && !ENDS_SCALAR[(unsigned char)*p])
            p++;
        f->at = (size_t)(p - value);
        return p < end;
    }
    while (p < end) {
        if (f->is_in_string) {
            p = skip_string(f, value, p, end);
        } else {
            f->depth += BRACKETS[(unsigned char)*p];
            f->is_in_string = *p++ == '"';
            if (f->is_in_string)
                continue;
        }
        if (f->depth == 0 && !f->is_in_string) {
            f->at = (size_t)(p - value);
            return true;
        }
    }
    f->at = (size_t)(p - value);
    return false;
}

static enum pp_status take_value(struct pp_json_stream *s, const char **text, size_t *length,
                                 struct pp_error *err)
{
    struct search f = {0};
    char first;

    PP_TRY(look(s, &first, err));
    if (first == '\0' || (ENDS_SCALAR[(unsigned char)first] && !strchr("\"{[", first)))
        return fail(s, first ? "a value is expected" : "ends where a value is expected", err);
    while (!find_end(&f, s->data + s->begin, s->data + s->end)) {
        PP_TRY(fill(s, err));
        if (s->has_ended)
            return fail(s, "ends within the value that begins here", err);
    }
    *text = s->data + s->begin;
    *length = f.at;
    s->begin += f.at;
    return PP_OK;
}

/* ---- members --------------------------------------------------------------------------------- */

static enum pp_status expect(struct pp_json_stream *s, const char *what, const char *message,
                             char *found, struct pp_error *err)
{
    PP_TRY(look(s, found, err));
    if (*found == '\0' || !strchr(what, *found))
        return fail(s, message, err);
    s->begin++;
    return PP_OK;
}

static enum pp_status take_key(struct pp_json_stream *s, struct pp_error *err)
{
    const char *text;
    char first;
    size_t length;

    PP_TRY(look(s, &first, err));
    if (first != '"')
        return fail(s, "a key in quotes is expected", err);
    PP_TRY(take_value(s, &text, &length, err));
    if (length - 2 >= sizeof(s->key))
        return fail(s, "a key of more than 255 bytes", err);
    memcpy(s->key, text + 1, length - 2);
    s->key[length - 2] = '\0';
    return expect(s, ":", "':' is expected after a key", &first, err);
}

/* Takes another element of the array, or its end. */
static enum pp_status next_element(struct pp_json_stream *s, struct pp_json_piece *piece,
                                   bool *is_one, struct pp_error *err)
{
    const bool is_first = s->state == FIRST_ELEMENT;
    char found;

    PP_TRY(look(s, &found, err));
    *is_one = found != ']';
    if (!*is_one) {
        s->begin++;
        s->state = KEY;
        return PP_OK;
    }
    if (!is_first)
        PP_TRY(
            expect(s, ",", found ? "',' or ']' is expected" : "ends within an array", &found, err));
    s->state = ELEMENT;
    *piece = (struct pp_json_piece){.key = s->key, .index = s->index++};
    return take_value(s, &piece->text, &piece->length, err);
}

/* Takes another member, or the end of the object; `is_one` is false if elements follow. */
static enum pp_status next_member(struct pp_json_stream *s, struct pp_json_piece *piece,
                                  bool *is_one, struct pp_error *err)
{
    const bool is_first = s->state == FIRST_KEY;
    char found;

    *is_one = true;
    *piece = (struct pp_json_piece){.index = -1};
    PP_TRY(look(s, &found, err));
    if (found == '}') {
        s->begin++;
        s->state = NOTHING;
        return PP_OK;
    }
    if (!is_first)
        PP_TRY(expect(s, ",", found ? "',' or '}' is expected" : "ends within the object", &found,
                      err));
    PP_TRY(take_key(s, err));
    PP_TRY(look(s, &found, err));
    if (found == '[' && !strcmp(s->key, s->array)) {
        s->begin++;
        s->state = FIRST_ELEMENT;
        s->index = 0;
        *is_one = false;
        return PP_OK;
    }
    s->state = KEY;
    piece->key = s->key;
    return take_value(s, &piece->text, &piece->length, err);
}

enum pp_status pp_json_stream_next(struct pp_json_stream *s, struct pp_json_piece *piece,
                                   struct pp_error *err)
{
    bool is_one = false;
    char found;

    if (s->state == OBJECT) {
        PP_TRY(expect(s, "{", "a JSON object is expected", &found, err));
        s->state = FIRST_KEY;
    }
    if (s->state == NOTHING) {
        *piece = (struct pp_json_piece){.index = -1};
        return PP_OK;
    }
    while (!is_one)
        PP_TRY(s->state == FIRST_ELEMENT || s->state == ELEMENT
                   ? next_element(s, piece, &is_one, err)
                   : next_member(s, piece, &is_one, err));
    return PP_OK;
}

/* ---- streams --------------------------------------------------------------------------------- */

static void close_stream(void *context)
{
    struct pp_json_stream *s = context;

    pp_file_close(s->file);
    free(s->buffer);
}

enum pp_status pp_json_stream_open(struct pp_arena *arena, const char *path, const char *array,
                                   struct pp_json_stream **stream, struct pp_error *err)
{
    struct pp_json_stream *s = PP_NEW(arena, struct pp_json_stream);

    *s = (struct pp_json_stream){.name = path, .array = array};
    PP_TRY(pp_file_open(path, SIZE_MAX, &s->file, err));
    pp_arena_defer(arena, close_stream, s);
    *stream = s;
    return PP_OK;
}

struct pp_json_stream *pp_json_stream_of(struct pp_arena *arena, const char *name,
                                         const struct pp_bytes *bytes, const char *array)
{
    struct pp_json_stream *s = PP_NEW(arena, struct pp_json_stream);

    *s = (struct pp_json_stream){
        .name = name, .array = array, .data = bytes->data, .end = bytes->length};
    return s;
}

enum pp_status pp_json_stream_rewind(struct pp_json_stream *s, struct pp_error *err)
{
    if (s->file) {
        PP_TRY(pp_file_rewind(s->file, err));
        s->end = 0;
    }
    s->begin = 0;
    s->taken = 0;
    s->has_ended = false;
    s->state = OBJECT;
    return PP_OK;
}
