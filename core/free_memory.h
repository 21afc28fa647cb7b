/* core/free_memory.h — memory that this process can still get before the kernel ends a process. */
#pragma once

#include <stddef.h>

/* Returns the bytes that can be had without swapping; SIZE_MAX if nothing says. This is the least
 * of MemAvailable (proc(5)) and the room in the control groups of this process, versions 1 and 2.
 * Room is limit less use. Inactive files do not count, as the kernel drops them. */
size_t pp_free_memory_bytes(void);
/* The same, with the files below `root` in place of "". */
size_t pp_free_memory_below(const char *root);
