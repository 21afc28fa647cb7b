/* core/text/output.h — result files that are there whole or not at all.
 *
 * Everything is written to a temporary file next to the target. It gets the target's name when all
 * bytes have been written. ".gz" compresses. "-" is stdout. A symbolic link stays: its target is
 * replaced. An existing file keeps its mode; one without write permission is refused. Some targets
 * are written in place, where a failed write leaves its bytes. These are devices, pipes, open
 * descriptors ("/dev/fd/3"), files with several names and files of another owner. */
#pragma once

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>
#include <stdio.h>

struct stat;
struct pp_output {
    FILE *file;       /* write here; errors are sticky and reported by the commit */
    const char *path; /* the target, as given */
    char *place;      /* the target after all links; NULL for a descriptor */
    char *temporary;  /* NULL if nothing is replaced */
};

/* PP_EFAIL if the file cannot be created. */
enum pp_status pp_output_open(struct pp_arena *arena, const char *path, struct pp_output *output,
                              struct pp_error *err);
/* Flushes, checks and renames. PP_EFAIL leaves neither a half-written nor a temporary file. */
enum pp_status pp_output_commit(struct pp_output *output, struct pp_error *err);
/* Commits files that belong together: none gets its name before all of them are complete. */
enum pp_status pp_output_commit_all(struct pp_output *outputs, int count, struct pp_error *err);
/* Prints "wrote a.tex and a-graphics.pdf" to stderr if that is a terminal; nothing for "-". */
void pp_output_tell(const char *const *paths, int count);
/* Closes without a commit: only bytes written in place remain. */
void pp_output_discard(struct pp_output *output);

/* PP_EFAIL if a path cannot be opened: no such folder, no permission, a folder. Creates nothing. */
enum pp_status pp_output_check(struct pp_arena *arena, const char *path, struct pp_error *err);
/* Reports two options, "--json" and "--gantt", that both write to stdout: PP_EINVAL. */
enum pp_status pp_output_clash(const char *first, const char *second, struct pp_error *err);
/* Is true if two paths lead to one file, existing or not: by another spelling, or by links. */
bool pp_output_is_same(struct pp_arena *arena, const char *a, const char *b);

/* Returns the end of a chain of links, existing or not; NULL with errno if there is none. */
char *pp_output_place(struct pp_arena *arena, const char *path);
