/* Sums up errors of groups of rows. */
#include "sim/validate/parts.h"

#include "core/quantile.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool pp_validation_is_any(const struct pp_validation_row *row)
{
    return !row->skipped && !row->inferred && !row->is_figure && !row->is_generation;
}

bool pp_validation_is_figure(const struct pp_validation_row *row)
{
    return !row->skipped && row->is_figure;
}

bool pp_validation_is_generation(const struct pp_validation_row *row)
{
    return !row->skipped && row->is_generation;
}

bool pp_validation_is_inferred(const struct pp_validation_row *row)
{
    return !row->skipped && row->inferred;
}

bool pp_validation_is_complete(const struct pp_validation_row *row)
{
    return pp_validation_is_any(row) && row->row->is_complete && !row->is_mixture;
}

bool pp_validation_is_incomplete(const struct pp_validation_row *row)
{
    return pp_validation_is_any(row) && !pp_validation_is_complete(row);
}

bool pp_validation_is_pipelined(const struct pp_validation_row *row)
{
    return pp_validation_is_complete(row) && row->pp > 1;
}

const char *const pp_validation_key_names[PP_VALIDATION_KEYS] = {
    "family", "device", "schedule", "precision", "framework", "use"};

static const char *key_of(const struct pp_validation_row *row, enum pp_validation_key key)
{
    const char *const keys[PP_VALIDATION_KEYS] = {row->row->family, row->device,    row->schedule,
                                                  row->precision,   row->framework, row->use};

    return keys[key];
}

struct pp_validation_errors pp_validation_errors_of(double *values, int n)
{
    struct pp_validation_errors e = {.n = n, .bias = pp_median(values, n)};

    for (int i = 0; i < n; i++) {
        values[i] = fabs(values[i]);
        e.mean_abs += values[i] / n;
    }
    if (n == 0)
        e.mean_abs = (double)NAN;
    e.median_abs = pp_median(values, n);
    e.p90_abs = pp_quantile(values, n, 0.9);
    return e;
}

struct selection {
    const struct pp_validation *validation;
    pp_validation_filter filter;
    enum pp_validation_key key;
    const char *value; /* of the key; NULL = any */
};

/* `place`: offset of a double in the row. */
static struct pp_validation_errors collect(struct pp_arena *arena, const struct selection *s,
                                           size_t place)
{
    const struct pp_arena_mark mark = pp_arena_mark(arena);
    double *values = PP_ARRAY(arena, double, s->validation->count + 1);
    int n = 0;

    for (int i = 0; i < s->validation->count; i++) {
        const struct pp_validation_row *row = &s->validation->rows[i];
        const double error = *(const double *)((const char *)row + place);
        if (s->filter(row) && isfinite(error) &&
            (!s->value || !strcmp(s->value, key_of(row, s->key))))
            values[n++] = error;
    }
    const struct pp_validation_errors e = pp_validation_errors_of(values, n);
    pp_arena_release(arena, mark);
    return e;
}

static struct pp_validation_group group(struct pp_arena *arena, const struct selection *s,
                                        const char *name)
{
    return (struct pp_validation_group){
        .name = name,
        .time = collect(arena, s, offsetof(struct pp_validation_row, error_frac)),
        .memory = collect(arena, s, offsetof(struct pp_validation_row, mem_error_frac)),
        .baseline = collect(arena, s, offsetof(struct pp_validation_row, baseline_error_frac))};
}

struct pp_validation_group pp_validation_all(struct pp_arena *arena,
                                             const struct pp_validation *validation,
                                             pp_validation_filter filter, const char *name)
{
    const struct selection s = {.validation = validation, .filter = filter};

    return group(arena, &s, name);
}

struct pp_validation_group *pp_validation_by(struct pp_arena *arena,
                                             const struct pp_validation *validation,
                                             pp_validation_filter filter,
                                             enum pp_validation_key key, int *count)
{
    struct pp_validation_group *groups = NULL;
    int capacity = 0;

    *count = 0;
    for (int i = 0; i < validation->count; i++) {
        const struct pp_validation_row *row = &validation->rows[i];
        struct selection s = {.validation = validation, .filter = filter, .key = key};
        int k = 0;
        if (!filter(row))
            continue;
        s.value = key_of(row, key);
        while (k < *count && strcmp(groups[k].name, s.value) != 0)
            k++;
        if (k == *count) /* room first: the figures need the arena, too */
            PP_PUSH(arena, groups, *count, capacity)->name = s.value;
    }
    for (int k = 0; k < *count; k++) {
        const struct selection s = {
            .validation = validation, .filter = filter, .key = key, .value = groups[k].name};
        groups[k] = group(arena, &s, groups[k].name);
    }
    return groups;
}

double pp_validation_median_of_families(struct pp_arena *arena,
                                        const struct pp_validation *validation, bool of_baseline,
                                        int *count)
{
    int families;
    const struct pp_validation_group *groups =
        pp_validation_by(arena, validation, pp_validation_is_complete, PP_BY_FAMILY, &families);
    double *values = PP_ARRAY(arena, double, families + 1);

    *count = 0;
    for (int i = 0; i < families; i++) {
        const struct pp_validation_errors *e = of_baseline ? &groups[i].baseline : &groups[i].time;
        if (e->n > 0)
            values[(*count)++] = e->median_abs;
    }
    return pp_median(values, *count);
}

static int by_number(const void *a, const void *b)
{
    const struct pp_validation_reason *x = a, *y = b;

    return x->n != y->n ? y->n - x->n : strcmp(x->text, y->text);
}

struct pp_validation_reason *pp_validation_reasons(struct pp_arena *arena,
                                                   const struct pp_validation *validation,
                                                   bool is_refused, int *count)
{
    struct pp_validation_reason *reasons = NULL;
    int capacity = 0;

    *count = 0;
    for (int i = 0; i < validation->count; i++) {
        const struct pp_validation_row *row = &validation->rows[i];
        const char *text = is_refused ? row->refused : row->skipped;
        int k = 0;
        if (!text)
            continue;
        while (k < *count && strcmp(reasons[k].text, text) != 0)
            k++;
        if (k == *count)
            *PP_PUSH(arena, reasons, *count, capacity) =
                (struct pp_validation_reason){.text = text, .first = row->row};
        reasons[k].n++;
    }
    if (*count > 0)
        qsort(reasons, (size_t)*count, sizeof(*reasons), by_number);
    return reasons;
}

struct pp_validation_count pp_validation_count(const struct pp_validation *validation)
{
    struct pp_validation_count count = {.rows = 0};

    for (int i = 0; i < validation->count; i++) {
        const struct pp_validation_row *row = &validation->rows[i];
        const bool is_complete = row->row->is_complete, is_oom = row->row->is_out_of_memory,
                   has_run = (isfinite(row->step_s) || isfinite(row->row->mem_bytes)) &&
                             !row->row->is_computed && !is_oom;
        if (row->is_figure) {
            count.figure_rows++;
            count.figures += pp_validation_is_figure(row);
            continue;
        }
        if (row->is_generation) {
            count.generation_rows++;
            count.generations += pp_validation_is_generation(row);
            continue;
        }
        count.rows++;
        count.complete += is_complete;
        count.inferred += pp_validation_is_inferred(row);
        if (!pp_validation_is_any(row))
            continue;
        count.predicted++;
        count.complete_predicted += is_complete;
        count.oom += is_oom;
        count.oom_refused += is_oom && !row->prediction.fits;
        count.ran += has_run;
        count.ran_fits += has_run && row->prediction.fits;
    }
    return count;
}

const struct pp_validation_row **pp_validation_sorted(struct pp_arena *arena,
                                                      const struct pp_validation *v,
                                                      pp_validation_filter is_in,
                                                      int (*compare)(const void *, const void *),
                                                      int *count)
{
    const struct pp_validation_row **rows =
        PP_ARRAY(arena, const struct pp_validation_row *, v->count + 1);

    *count = 0;
    for (int i = 0; i < v->count; i++)
        if (is_in(&v->rows[i]))
            rows[(*count)++] = &v->rows[i];
    qsort(rows, (size_t)*count, sizeof(*rows), compare);
    return rows;
}
