/* core/text/file.h — files, whole up to a limit, or piece by piece. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>

/* The whole of a file ("-" = stdin, ".gz" is decompressed); PP_EFAIL when it cannot be read.
 * Adds a NUL after the end that `*length` does not count. Refuses more than 1 GiB. */
enum pp_status pp_file_read(struct pp_arena *arena, const char *path, char **text, size_t *length,
                            struct pp_error *err);

struct pp_bytes {
    char *data; /* followed by a NUL that `length` does not count; in the arena */
    size_t length;
};

/* As pp_file_read(); more than `limit` bytes, before or after decompression, are PP_EFAIL. */
enum pp_status pp_file_read_limited(struct pp_arena *arena, const char *path, size_t limit,
                                    struct pp_bytes *bytes, struct pp_error *err);

/* A file being read from its begin to its end, packed or not; PP_EFAIL with its name when that
 * fails. Refuses more than `limit` bytes before decompression. */
struct pp_file;
enum pp_status pp_file_open(const char *path, size_t limit, struct pp_file **file,
                            struct pp_error *err);
/* The next bytes, at most `most` of at most 1 GiB; `*got` is 0 at the end and nowhere else. */
enum pp_status pp_file_next(struct pp_file *file, char *to, size_t most, size_t *got,
                            struct pp_error *err);
enum pp_status pp_file_rewind(struct pp_file *file, struct pp_error *err);
void pp_file_close(struct pp_file *file); /* accepts NULL */

/* Is there a name in front of the suffix? ".gz" has none. */
bool pp_has_suffix(const char *path, const char *suffix);
