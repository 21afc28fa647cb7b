/* core/output.h — result files that are there whole or not at all.
 *
 * Everything is written to a temporary file next to the target, which gets its name only when all
 * bytes have been written; ".gz" compresses. "-" is stdout. A symbolic link stays: its target is
 * replaced. An existing file keeps its mode, one without write permission is refused. Devices,
 * pipes, open descriptors ("/dev/fd/3") and files with several names or of another owner are
 * written in place: there, what a failed writing has written remains. */
#ifndef PP_CORE_OUTPUT_H
#define PP_CORE_OUTPUT_H

#include "core/arena.h"
#include "core/error.h"

#include <stdio.h>

struct pp_output {
    FILE *file;       /* write here; errors are sticky and reported by the commit */
    const char *path; /* the target, as given */
    char *place;      /* the target behind all links; NULL for a descriptor */
    char *temporary;  /* NULL where nothing is replaced */
};

/* PP_EFAIL when the file cannot be created. */
enum pp_status pp_output_open(struct pp_arena *arena, const char *path, struct pp_output *output,
                              struct pp_error *err);
/* Flush, check and rename. PP_EFAIL leaves neither a half-written nor a temporary file behind. */
enum pp_status pp_output_commit(struct pp_output *output, struct pp_error *err);

#endif
