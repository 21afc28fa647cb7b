/* sim/sweep/set.c — sorts rows of result files and keeps each point once. */
#define _GNU_SOURCE /* qsort_r */
#include "sim/sweep/set.h"

#include "core/text/output.h"

#include <inttypes.h>
#include <stdlib.h>

struct pp_sweep_set pp_sweep_set_of(struct pp_arena *arena, const struct pp_sweep_lines *files,
                                    int count)
{
    struct pp_sweep_set set = {.files = files, .file_count = count};

    for (int i = 0; i < count; i++) {
        set.count += files[i].count;
        if (!set.header.data)
            set.header = files[i].header;
    }
    set.entries = PP_ARRAY(arena, struct pp_sweep_entry, set.count + 1);
    set.count = 0;
    for (int i = 0; i < count; i++)
        for (int64_t j = 0; j < files[i].count; j++)
            set.entries[set.count++] = (struct pp_sweep_entry){
                .row = &files[i].rows[j], .point = files[i].rows[j].point, .file = i};
    return set;
}

bool pp_sweep_set_has_failed(const struct pp_sweep_set *set, const struct pp_sweep_entry *entry)
{
    const int column = pp_sweep_column(set->header, "status");

    return column >= 0 && pp_sweep_text_is(pp_sweep_field(entry->row->row, column), "failed");
}

/* ---- orders ---------------------------------------------------------------------------------- */

int pp_sweep_by_point(const struct pp_sweep_entry *a, const struct pp_sweep_entry *b)
{
    return (a->point > b->point) - (a->point < b->point);
}

int pp_sweep_by_key(const struct pp_sweep_entry *a, const struct pp_sweep_entry *b)
{
    return strcmp(a->row->key, b->row->key);
}

int pp_sweep_by_file(const struct pp_sweep_entry *a, const struct pp_sweep_entry *b)
{
    return a->file != b->file ? a->file - b->file : pp_sweep_by_point(a, b);
}

/* Rows of a file are in one array, so pointers have its order. */
static int compare_entries(const void *left, const void *right, void *compare)
{
    const struct pp_sweep_entry *a = left, *b = right;
    const int order = (*(pp_sweep_compare **)compare)(a, b);

    if (order != 0)
        return order;
    return a->file != b->file ? a->file - b->file : (a->row > b->row) - (a->row < b->row);
}

void pp_sweep_set_sort(struct pp_sweep_set *set, pp_sweep_compare *compare)
{
    if (set->count > 0)
        qsort_r(set->entries, (size_t)set->count, sizeof(*set->entries), compare_entries, &compare);
}

/* ---- each once ------------------------------------------------------------------------------- */

static enum pp_status refuse_rows(const struct pp_sweep_set *set, const struct pp_sweep_entry *a,
                                  const struct pp_sweep_entry *b, struct pp_error *err)
{
    return pp_error_set(
        err, PP_EINVAL, "%s:%d and %s:%d contradict each other: one point, and not the same values",
        set->files[a->file].name, a->row->line, set->files[b->file].name, b->row->line);
}

enum pp_status pp_sweep_set_once(struct pp_sweep_set *set, pp_sweep_compare *compare,
                                 struct pp_error *err)
{
    int64_t kept = 0;

    pp_sweep_set_sort(set, compare);
    for (int64_t i = 0; i < set->count; i++) {
        const struct pp_sweep_entry *b = &set->entries[i];
        struct pp_sweep_entry *a = kept ? &set->entries[kept - 1] : NULL;

        if (!a || compare(a, b) != 0)
            set->entries[kept++] = *b;
        else if (pp_sweep_set_has_failed(set, a))
            *a = *b;
        else if (!pp_sweep_set_has_failed(set, b) &&
                 !pp_sweep_text_is_same(a->row->values, b->row->values))
            return refuse_rows(set, a, b, err);
    }
    set->count = kept;
    return PP_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put(struct pp_sweep_text text, FILE *out)
{
    fwrite(text.data, 1, text.length, out);
}

static void write_row(const struct pp_sweep_entry *entry, int64_t points, FILE *out)
{
    const struct pp_sweep_line *row = entry->row;

    if (row->point == entry->point && row->points == points) {
        put(row->row, out);
    } else {
        fprintf(out, "%" PRId64 ",", entry->point);
        put(row->values, out);
        fprintf(out, "%s%" PRId64 ",%s", row->values.length ? "," : "", points, row->key);
    }
    fputc('\n', out);
}

void pp_sweep_set_write(const struct pp_sweep_set *set, int64_t points, FILE *out)
{
    put(set->header, out);
    fputc('\n', out);
    for (int64_t i = 0; i < set->count; i++)
        write_row(&set->entries[i], points, out);
}

enum pp_status pp_sweep_set_save(struct pp_arena *arena, const struct pp_sweep_set *set,
                                 int64_t points, const char *path, struct pp_error *err)
{
    struct pp_output output;

    PP_TRY(pp_output_open(arena, path, &output, err));
    pp_sweep_set_write(set, points, output.file);
    return pp_output_commit(&output, err);
}
