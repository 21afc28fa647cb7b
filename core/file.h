/* core/file.h — whole files, up to a limit. */
#ifndef PP_CORE_FILE_H
#define PP_CORE_FILE_H

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>

/* The whole of a file ("-" = stdin, ".gz" is decompressed); PP_EFAIL when it cannot be read. Adds a
 * NUL behind the end that `*length` does not count. Refuses more than 1 GiB. */
enum pp_status pp_file_read(struct pp_arena *arena, const char *path, char **text, size_t *length,
                            struct pp_error *err);

struct pp_bytes {
    char *data; /* followed by a NUL that `length` does not count; in the arena */
    size_t length;
};

/* As pp_file_read(); more than `limit` bytes, before or after decompression, are PP_EFAIL. */
enum pp_status pp_file_read_limited(struct pp_arena *arena, const char *path, size_t limit,
                                    struct pp_bytes *bytes, struct pp_error *err);

/* Is there a name in front of the suffix? ".gz" has none. */
bool pp_has_suffix(const char *path, const char *suffix);

#endif
