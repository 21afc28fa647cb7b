/* core/file.h — whole files with a limit of one's own; pp_file_read() of core/csv.h has 1 GiB. */
#ifndef PP_CORE_FILE_H
#define PP_CORE_FILE_H

#include "core/arena.h"
#include "core/error.h"

struct pp_bytes {
    char *data; /* followed by a NUL that `length` does not count; in the arena */
    size_t length;
};

/* As pp_file_read(); more than `limit` bytes, before or after decompression, are PP_EFAIL. */
enum pp_status pp_file_read_limited(struct pp_arena *arena, const char *path, size_t limit,
                                    struct pp_bytes *bytes, struct pp_error *err);

#endif
