/* sim/sweep/missing.c — which points of a sweep are missing, as ranges and parts. */
#include "sim/sweep/missing.h"

#include <inttypes.h>
#include <stdbool.h>

/* Ranges and parts that are listed; more are "..". */
enum { RANGES_MAX = 8, PARTS_MAX = 8 };

/* A file holds the points of one part, which are multiples of the number of parts apart. */
int64_t pp_sweep_parts(int64_t parts, int64_t point_a, int64_t point_b)
{
    int64_t rest = point_a < point_b ? point_b - point_a : point_a - point_b;

    while (rest != 0) {
        const int64_t next = parts % rest;
        parts = rest;
        rest = next;
    }
    return parts;
}

/* Visits the gaps between the points that are there: from, to (both included). */
struct gaps {
    const struct pp_sweep_points *points;
    int64_t next;  /* index of the point after the gap */
    int64_t begin; /* the first that was not looked at */
};

static bool next_gap(struct gaps *gaps, int64_t *from, int64_t *to)
{
    const struct pp_sweep_points *points = gaps->points;

    while (gaps->next < points->count && points->numbers[gaps->next] == gaps->begin) {
        gaps->next++;
        gaps->begin++;
    }
    if (gaps->begin >= points->total)
        return false;
    *from = gaps->begin;
    *to = (gaps->next < points->count ? points->numbers[gaps->next] : points->total) - 1;
    gaps->begin = *to + 1;
    return true;
}

static void list_points(const struct pp_sweep_points *points, FILE *notes)
{
    struct gaps gaps = {.points = points};
    int64_t from, to;

    for (int i = 0; next_gap(&gaps, &from, &to); i++) {
        fputs(i ? ", " : ": ", notes);
        if (i == RANGES_MAX) {
            fputs("..", notes);
            return;
        }
        fprintf(notes, to > from ? "%" PRId64 "-%" PRId64 : "%" PRId64, from, to);
    }
}

/* Ascending in `parts`; how many there are, or -1 when they are too many to list. */
static int find_parts(const struct pp_sweep_points *points, int64_t parts[PARTS_MAX])
{
    struct gaps gaps = {.points = points};
    int64_t from, to;
    int count = 0;

    while (next_gap(&gaps, &from, &to)) {
        for (int64_t point = from; point <= to; point++) {
            const int64_t part = point % points->parts + 1;
            int at = 0;

            while (at < count && parts[at] < part)
                at++;
            if (at < count && parts[at] == part)
                continue;
            if (count == PARTS_MAX)
                return -1;
            for (int i = count++; i > at; i--)
                parts[i] = parts[i - 1];
            parts[at] = part;
        }
    }
    return count;
}

/* Half of what the parts seem to hold is there, so there are not fewer of them. */
static bool is_divided(const struct pp_sweep_points *points)
{
    return points->parts > 1 && points->parts <= points->total &&
           2 * points->count >= points->total / points->parts;
}

static void list_parts(const struct pp_sweep_points *points, FILE *notes)
{
    int64_t parts[PARTS_MAX];
    const int count = is_divided(points) ? find_parts(points, parts) : 0;

    if (count == 1)
        fprintf(notes, " (part %" PRId64 "/%" PRId64 ")", parts[0], points->parts);
    if (count < 2)
        return;
    fputs(" (parts ", notes);
    for (int i = 0; i < count; i++)
        fprintf(notes, "%s%" PRId64, i ? ", " : "", parts[i]);
    fprintf(notes, " of %" PRId64 ")", points->parts);
}

static void list_missing(const struct pp_sweep_points *points, FILE *notes)
{
    const int64_t missing = points->total - points->count;

    fprintf(notes, "%" PRId64 " of %" PRId64 " points %s missing", missing, points->total,
            missing == 1 ? "is" : "are");
    list_points(points, notes);
    list_parts(points, notes);
}

void pp_sweep_note_missing(const struct pp_sweep_points *points, FILE *notes)
{
    if (points->count >= points->total)
        return;
    fputs("pipesim: note: ", notes);
    list_missing(points, notes);
    fputc('\n', notes);
}

void pp_sweep_note_merged(const char *path, const struct pp_sweep_points *points, FILE *notes)
{
    fprintf(notes, "pipesim: %" PRId64 " point%s in %s", points->count,
            points->count == 1 ? "" : "s", path);
    if (points->count < points->total) {
        fputs(", ", notes);
        list_missing(points, notes);
    }
    fputc('\n', notes);
}
