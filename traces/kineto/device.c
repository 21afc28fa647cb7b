/* Times of ranges on the device, by launches of their kernels. Keeps launches, not kernels. */
#define _GNU_SOURCE /* memmem */
#include "traces/kineto/parts.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A call of the host that started work on the device. */
struct launch {
    int64_t correlation;
    int range;
};
struct linker {
    struct pp_arena *scratch;
    struct pp_kineto_file *file;
    struct launch *launches; /* [count] by correlation */
    int count, capacity;
};

/* ---- slices ---------------------------------------------------------------------------------- */

/* One pass over the file: slices of these categories. */
struct pass {
    const char *endings[4]; /* suffixes of the category; NULL: end */
    void (*add)(struct linker *l, json_t *slice, int64_t correlation, int64_t start_ns,
                int64_t end_ns);
};

static bool is_of_pass(const struct pass *pass, const char *category)
{
    const size_t length = strlen(category);

    for (int k = 0; k < 4 && pass->endings[k]; k++) {
        const size_t tail = strlen(pass->endings[k]);
        if (length >= tail && !strcmp(category + length - tail, pass->endings[k]))
            return true;
    }
    return false;
}

/* Is false if the piece cannot have a slice of the pass and need not be parsed. */
static bool may_be_of_pass(const struct pass *pass, const struct pp_json_piece *piece)
{
    for (int k = 0; k < 4 && pass->endings[k]; k++)
        if (memmem(piece->text, piece->length, pass->endings[k], strlen(pass->endings[k])))
            return true;
    return false;
}

static enum pp_status read_slice(struct linker *l, const struct pass *pass, json_t *slice,
                                 struct pp_error *err)
{
    const char *category = json_string_value(json_object_get(slice, "cat")),
               *phase = json_string_value(json_object_get(slice, "ph"));
    const json_t *correlation = json_object_get(json_object_get(slice, "args"), "correlation");
    int64_t start_ns, end_ns;

    if (!category || !phase || strcmp(phase, "X") != 0 || !is_of_pass(pass, category) ||
        !json_is_integer(correlation))
        return PP_OK;
    PP_TRY(pp_kineto_times(slice, &start_ns, &end_ns, err));
    pass->add(l, slice, json_integer_value(correlation), start_ns, end_ns);
    return PP_OK;
}

static enum pp_status read_pass(struct linker *l, const struct pass *pass,
                                struct pp_json_stream *stream, struct pp_error *err)
{
    struct pp_json_piece piece;
    json_t *slice;

    for (;;) {
        PP_TRY(pp_json_stream_next(stream, &piece, err));
        if (!piece.key)
            return PP_OK;
        if (piece.index < 0 || !may_be_of_pass(pass, &piece))
            continue;
        PP_TRY(pp_kineto_parse(l->file->name, &piece, &slice, err));
        const enum pp_status status = read_slice(l, pass, slice, err);
        json_decref(slice);
        if (status != PP_OK)
            return pp_error_prefix(err, "%s: %s[%" PRId64 "]: ", l->file->name, piece.key,
                                   piece.index);
    }
}

/* ---- launches and kernels -------------------------------------------------------------------- */

/* The range of the host at that time, -1: none. */
static int range_at(const struct pp_kineto_file *f, int64_t ns)
{
    int low = 0, high = f->count;

    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (f->ranges[middle].start_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && ns < f->ranges[low - 1].end_ns ? low - 1 : -1;
}

static void add_launch(struct linker *l, json_t *slice, int64_t correlation, int64_t start_ns,
                       int64_t end_ns)
{
    const int range = range_at(l->file, start_ns);

    (void)slice, (void)end_ns;
    if (range >= 0)
        *PP_PUSH(l->scratch, l->launches, l->count, l->capacity) =
            (struct launch){correlation, range};
}

static int by_correlation(const void *left, const void *right)
{
    const struct launch *a = left, *b = right;

    return (a->correlation > b->correlation) - (a->correlation < b->correlation);
}

static void extend(struct linker *l, struct pp_kineto_range *range, struct pp_kineto_extent part)
{
    struct pp_kineto_extent *e = range->extents;

    while (e && e->stream != part.stream)
        e = e->next;
    if (!e) {
        e = PP_NEW(l->scratch, struct pp_kineto_extent);
        part.next = range->extents;
        *e = part;
        range->extents = e;
        return;
    }
    e->start_ns = part.start_ns < e->start_ns ? part.start_ns : e->start_ns;
    e->end_ns = part.end_ns > e->end_ns ? part.end_ns : e->end_ns;
    e->busy_ns += part.busy_ns;
}

static void add_kernel(struct linker *l, json_t *slice, int64_t correlation, int64_t start_ns,
                       int64_t end_ns)
{
    const struct launch key = {.correlation = correlation};
    const struct launch *launch =
        bsearch(&key, l->launches, (size_t)l->count, sizeof(key), by_correlation);
    const json_t *stream = json_object_get(json_object_get(slice, "args"), "stream");

    if (launch)
        extend(l, &l->file->ranges[launch->range],
               (struct pp_kineto_extent){
                   .stream = json_integer_value(
                       json_is_integer(stream) ? stream : json_object_get(slice, "tid")),
                   .start_ns = start_ns,
                   .end_ns = end_ns,
                   .busy_ns = end_ns - start_ns});
}

static const struct pass LAUNCHES = {.endings = {"_runtime", "_driver"}, .add = add_launch},
                         KERNELS = {.endings = {"kernel", "gpu_memcpy", "gpu_memset"},
                                    .add = add_kernel};

/* ---- ranges of the profiler ------------------------------------------------------------------ */

static int by_drawn(const void *left, const void *right)
{
    const struct pp_kineto_drawn *a = left, *b = right;
    const int order = strcmp(a->cell, b->cell);

    if (order)
        return order;
    if (a->stream != b->stream)
        return a->stream < b->stream ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Ranges of a cell, by time. */
static struct pp_kineto_range **ranges_of(struct pp_kineto_range **all, int count, const char *cell,
                                          int *found)
{
    int from = 0, to;

    while (from < count && strcmp(all[from]->cell, cell) < 0)
        from++;
    for (to = from; to < count && !strcmp(all[to]->cell, cell); to++)
        ;
    *found = to - from;
    return &all[from];
}

/* Adds the k-th drawn range of a cell on a stream to its k-th range, if both are equally many. */
static void add_drawn(struct linker *l)
{
    struct pp_kineto_file *f = l->file;
    struct pp_kineto_range **all = PP_ARRAY(l->scratch, struct pp_kineto_range *, f->count);
    int count = 0, left = 0;

    for (; count < f->count; count++)
        all[count] = &f->ranges[count];
    qsort(all, (size_t)count, sizeof(*all), pp_kineto_by_cell);
    qsort(f->drawn, (size_t)f->drawn_count, sizeof(*f->drawn), by_drawn);
    struct pp_kineto_range **ranges = all;
    for (int from = 0, to; from < f->drawn_count; from = to) {
        const struct pp_kineto_drawn *d = &f->drawn[from];
        int found;
        for (to = from; to < f->drawn_count && f->drawn[to].stream == d->stream &&
                        !strcmp(f->drawn[to].cell, d->cell);
             to++)
            ;
        left = count - (int)(ranges - all);
        ranges = ranges_of(ranges, left, d->cell, &found);
        for (int k = 0; k < found && found == to - from; k++)
            extend(l, ranges[k],
                   (struct pp_kineto_extent){.stream = d->stream,
                                             .start_ns = d[k].start_ns,
                                             .end_ns = d[k].end_ns,
                                             .busy_ns = d[k].end_ns - d[k].start_ns});
    }
}

/* ---- times ----------------------------------------------------------------------------------- */

static bool has_extents(const struct pp_kineto_file *f)
{
    for (int k = 0; k < f->count; k++)
        if (f->ranges[k].extents)
            return true;
    return false;
}

/* The stream with most of the work, the first of equals. */
static int64_t compute_stream(struct linker *l)
{
    const struct pp_kineto_file *f = l->file;
    struct pp_kineto_range all = {.extents = NULL};
    struct pp_kineto_extent best = {.busy_ns = -1};

    for (int k = 0; k < f->count; k++)
        for (const struct pp_kineto_extent *e = f->ranges[k].extents;
             e && f->ranges[k].what == PP_KINETO_COMPUTE; e = e->next)
            extend(l, &all, *e);
    for (const struct pp_kineto_extent *e = all.extents; e; e = e->next)
        best = e->busy_ns >= best.busy_ns ? *e : best; /* new ones are prepended */
    return best.stream;
}

/* Extent of compute on its stream, of others where it took longest. NULL: it ran nowhere. */
static const struct pp_kineto_extent *extent_of(const struct pp_kineto_range *range, int64_t stream)
{
    const bool is_compute = range->what == PP_KINETO_COMPUTE || range->what == PP_KINETO_UPDATE;
    const struct pp_kineto_extent *best = NULL;

    for (const struct pp_kineto_extent *e = range->extents; e; e = e->next) {
        if (is_compute && e->stream != stream)
            continue;
        if (!best || e->end_ns - e->start_ns > best->end_ns - best->start_ns)
            best = e;
    }
    return best;
}

static int by_start(const void *left, const void *right)
{
    const struct pp_kineto_range *a = left, *b = right;

    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return strcmp(a->cell, b->cell);
}

/* Keeps only ranges with times on the device; a sum of one replica runs nothing. */
static void move_ranges(struct linker *l)
{
    struct pp_kineto_file *f = l->file;
    const int64_t stream = compute_stream(l);
    int count = 0;

    for (int k = 0; k < f->count; k++) {
        const struct pp_kineto_extent *e = extent_of(&f->ranges[k], stream);
        f->lost_count += !e && f->ranges[k].what != PP_KINETO_SUM;
        if (!e)
            continue;
        f->ranges[count] = f->ranges[k];
        f->ranges[count].start_ns = e->start_ns;
        f->ranges[count].end_ns = e->end_ns;
        f->ranges[count++].extents = NULL;
    }
    f->count = count;
    if (count > 0)
        qsort(f->ranges, (size_t)count, sizeof(*f->ranges), by_start);
}

/* Keeps only compute: on the host messages and sums are merely posted. */
static void keep_host(struct pp_kineto_file *f)
{
    int count = 0;

    f->is_of_host = true;
    for (int k = 0; k < f->count; k++)
        if (f->ranges[k].what == PP_KINETO_COMPUTE || f->ranges[k].what == PP_KINETO_UPDATE)
            f->ranges[count++] = f->ranges[k];
    f->count = count;
}

enum pp_status pp_kineto_find_device(struct pp_json_stream *stream, struct pp_kineto_file *file,
                                     struct pp_error *err)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct linker l = {.scratch = scratch, .file = file};

    PP_TRY(read_pass(&l, &LAUNCHES, stream, err));
    if (l.count > 0) {
        qsort(l.launches, (size_t)l.count, sizeof(*l.launches), by_correlation);
        PP_TRY(pp_json_stream_rewind(stream, err));
        PP_TRY(read_pass(&l, &KERNELS, stream, err));
    }
    file->is_drawn = !has_extents(file) && file->drawn_count > 0;
    if (file->is_drawn)
        add_drawn(&l);
    if (has_extents(file))
        move_ranges(&l);
    else
        keep_host(file);
    return PP_OK;
}
