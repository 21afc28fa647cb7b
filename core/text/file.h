/* core/text/file.h — files, whole up to a limit, or piece by piece. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>

/* Reads a whole file ("-" = stdin, ".gz" is decompressed); PP_EFAIL if it cannot be read. Adds a
 * NUL after the end that `*length` does not count. Refuses more than 1 GiB. PP_EINVAL for devices,
 * and for pipes with a name, which may wait for ever. */
enum pp_status pp_file_read(struct pp_arena *arena, const char *path, char **text, size_t *length,
                            struct pp_error *err);

struct pp_bytes {
    char *data; /* followed by a NUL that `length` does not count; in the arena */
    size_t length;
};

/* Reads as pp_file_read(); more than `limit` bytes, before or after decompression, are PP_EFAIL. */
enum pp_status pp_file_read_limited(struct pp_arena *arena, const char *path, size_t limit,
                                    struct pp_bytes *bytes, struct pp_error *err);

/* An open file, read from begin to end, packed or not; PP_EFAIL with its name if that fails.
 * Refuses more than `limit` bytes before decompression. */
struct pp_file;
enum pp_status pp_file_open(const char *path, size_t limit, struct pp_file **file,
                            struct pp_error *err);
/* Reads the next bytes, at most `most` of at most 1 GiB; `*got` is 0 only at the end. */
enum pp_status pp_file_next(struct pp_file *file, char *to, size_t most, size_t *got,
                            struct pp_error *err);
enum pp_status pp_file_rewind(struct pp_file *file, struct pp_error *err);
void pp_file_close(struct pp_file *file); /* accepts NULL */

/* Makes a folder and its parents. True: it is new. False, with errno: it or a parent cannot be
 * made, or it is there (EEXIST). */
bool pp_folder_make(const char *path);

/* Is true if the path ends in the suffix, with a name before it. */
bool pp_has_suffix(const char *path, const char *suffix);
