/* sim/sweep/set.h — rows of result files as a set: ordered, each point once, for writing. */
#pragma once

#include "sim/sweep/read.h"

#include <stdio.h>

struct pp_sweep_entry {
    const struct pp_sweep_line *row;
    int64_t point; /* its number in the written file */
    int file;      /* index into `files` */
};
struct pp_sweep_set {
    const struct pp_sweep_lines *files; /* with the same columns; their text outlives the set */
    int file_count;
    struct pp_sweep_text header;
    struct pp_sweep_entry *entries;
    int64_t count;
};

/* Returns all rows under their own numbers, with the header of the first file that has one. */
struct pp_sweep_set pp_sweep_set_of(struct pp_arena *arena, const struct pp_sweep_lines *files,
                                    int count);
/* Is true if the program ended while it computed this row, which may not happen again. */
bool pp_sweep_set_has_failed(const struct pp_sweep_set *set, const struct pp_sweep_entry *entry);

/* Orders of entries; rows that compare equal keep the order of files and lines. */
typedef int pp_sweep_compare(const struct pp_sweep_entry *, const struct pp_sweep_entry *);
int pp_sweep_by_point(const struct pp_sweep_entry *a, const struct pp_sweep_entry *b);
int pp_sweep_by_key(const struct pp_sweep_entry *a, const struct pp_sweep_entry *b);
int pp_sweep_by_file(const struct pp_sweep_entry *a, const struct pp_sweep_entry *b);
void pp_sweep_set_sort(struct pp_sweep_set *set, pp_sweep_compare *compare);
/* Sorts, and keeps one of rows that compare equal: the first that has not failed, else the last.
 * PP_EINVAL, with name:line of both, for rows that contradict each other. */
enum pp_status pp_sweep_set_once(struct pp_sweep_set *set, pp_sweep_compare *compare,
                                 struct pp_error *err);

/* Writes header and rows as those of a sweep of `points` points. */
void pp_sweep_set_write(const struct pp_sweep_set *set, int64_t points, FILE *out);
/* Writes the set to a file, whole or not at all. */
enum pp_status pp_sweep_set_save(struct pp_arena *arena, const struct pp_sweep_set *set,
                                 int64_t points, const char *path, struct pp_error *err);
