/* core/process/mapped.h — files that are mapped for reading. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct pp_mapped_file {
    const char *path; /* kept by reference */
    void *bytes;
    size_t length;
    struct pp_mapped_file *next; /* private */
};

/* Maps the first `length` bytes of an open file; false, with errno, if that fails. `mapped` must
 * stay in place until it is unmapped. If the file becomes shorter and a thread reads beyond its new
 * end, the process ends with a message that names the file, and PP_EFAIL. Call from one thread. */
bool pp_map_file(struct pp_mapped_file *mapped, const char *path, int fd, size_t length);
void pp_unmap_file(struct pp_mapped_file *mapped);
