/* Finds the figures in which two reports differ, as text and as JSON. */
#include "core/lines.h"
#include "core/text/json_write.h"
#include "sim/check/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Members without figures of the run: host, options, remarks, errors of other runs. */
static const char *const LEFT_OUT[] = {"meta", "inputs", "notes", "error", "published_mfu", NULL};
/* Keys that identify an element of a list; other elements are known by their place. */
static const char *const IDENTITIES[] = {"schedule", "rank", "name", NULL};
/* Seconds that are parts of the step; other seconds are measured against themselves. */
static const char *const OF_STEP[] = {"busy_s", "idle_s", "span_s", NULL};

struct diff {
    struct pp_arena *arena;
    struct pp_changes *changes;
    double tolerance_frac;
    double step_s, peak_bytes; /* of the current old report; 0 = missing */
};
struct pair {
    const char *path, *key;
    bool is_share; /* a part of time_frac */
};

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), last = strlen(end);

    return length >= last && !strcmp(text + length - last, end);
}

/* ---- one figure ------------------------------------------------------------------------------ */

static const char *print_value(struct pp_arena *arena, const json_t *value)
{
    static const char *const NAMES[] = {
        [JSON_OBJECT] = "{...}", [JSON_ARRAY] = "[...]", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",  [JSON_NULL] = "null",   [JSON_STRING] = "\"...\""};

    if (json_is_integer(value))
        return pp_arena_printf(arena, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (json_is_real(value))
        return pp_arena_printf(arena, "%.6g", json_real_value(value));
    return value ? NAMES[json_typeof(value)] : "-";
}

static void add_change(struct diff *d, const struct pair *p, const json_t *before,
                       const json_t *after, enum pp_whole whole, double frac)
{
    struct pp_changes *c = d->changes;
    const struct pp_change change = {
        .path = p->path, .before = before, .after = after, .whole = whole, .frac = frac};

    if (whole != PP_EXACT && (!c->largest.path || fabs(frac) > fabs(c->largest.frac)))
        c->largest = change;
    if (fabs(frac) > d->tolerance_frac)
        *PP_PUSH(d->arena, c->list, c->count, c->capacity) = change;
}

static enum pp_whole whole_of(const struct pair *p, const json_t *before, const json_t *after)
{
    const bool is_count = json_is_integer(before) && json_is_integer(after);

    if (p->is_share || ends_with(p->key, "_frac") || pp_is_one_of(p->key, OF_STEP))
        return PP_OF_STEP;
    if (ends_with(p->key, "_bytes") && strcmp(p->key, "peak_mem_bytes") != 0)
        return PP_OF_PEAK;
    return is_count && !ends_with(p->key, "bytes") ? PP_EXACT : PP_OF_ITSELF;
}

static void diff_numbers(struct diff *d, const struct pair *p, const json_t *before,
                         const json_t *after)
{
    const double was = json_number_value(before), is = json_number_value(after);
    const enum pp_whole whole = whole_of(p, before, after);
    const double wholes[] = {[PP_OF_ITSELF] = fabs(was),
                             [PP_OF_STEP] = pp_is_one_of(p->key, OF_STEP) ? d->step_s : 1,
                             [PP_OF_PEAK] = d->peak_bytes,
                             [PP_EXACT] = 0};

    if (was != is)
        add_change(d, p, before, after, whole,
                   wholes[whole] > 0 ? (is - was) / wholes[whole] : (double)INFINITY);
}

/* ---- trees ----------------------------------------------------------------------------------- */

static void diff_values(struct diff *d, const struct pair *p, json_t *before, json_t *after);

static double number_of(const json_t *report, const char *key)
{
    return json_number_value(json_object_get(report, key)); /* 0 if missing */
}

/* A report inside of a comparison has its own wholes. */
static void enter_report(struct diff *d, const json_t *object)
{
    if (!json_object_get(object, "schema"))
        return;
    d->step_s = number_of(object, "iteration_s");
    d->peak_bytes = number_of(object, "peak_mem_bytes");
}

static void diff_objects(struct diff *d, const struct pair *p, json_t *before, json_t *after)
{
    const bool is_time = !strcmp(p->key, "time_frac");
    const char *key;
    json_t *value;

    enter_report(d, before);
    json_object_foreach(before, key, value)
    {
        if (pp_is_one_of(key, LEFT_OUT))
            continue;
        const struct pair member = {.path = *p->path
                                                ? pp_arena_printf(d->arena, "%s.%s", p->path, key)
                                                : pp_arena_strdup(d->arena, key),
                                    .key = key,
                                    .is_share = is_time};
        diff_values(d, &member, value, json_object_get(after, key));
    }
    json_object_foreach(after, key, value)
    {
        d->changes->added += !pp_is_one_of(key, LEFT_OUT) && !json_object_get(before, key);
    }
}

/* Returns the identity of an element, "3" of {"rank": 3}; NULL if it has none. */
static const char *identity(struct pp_arena *arena, const json_t *element)
{
    for (const char *const *key = IDENTITIES; *key; key++) {
        const json_t *value = json_object_get(element, *key);
        if (json_is_string(value))
            return json_string_value(value);
        if (json_is_integer(value))
            return print_value(arena, value);
    }
    return NULL;
}

static bool has_identity(struct pp_arena *arena, const json_t *element, const char *name)
{
    const char *own = identity(arena, element);

    return own && !strcmp(own, name);
}

/* Returns the element of that name, first at its old place. */
static json_t *find_element(struct pp_arena *arena, json_t *list, size_t place, const char *name)
{
    json_t *element = json_array_get(list, place);
    size_t i;

    if (!name || has_identity(arena, element, name))
        return element;
    json_array_foreach(list, i, element)
    {
        if (has_identity(arena, element, name))
            return element;
    }
    return NULL;
}

static void diff_arrays(struct diff *d, const struct pair *p, json_t *before, json_t *after)
{
    json_t *element;
    size_t i;

    json_array_foreach(before, i, element)
    {
        const char *name = identity(d->arena, element);
        const struct pair member = {.path = name
                                                ? pp_arena_printf(d->arena, "%s[%s]", p->path, name)
                                                : pp_arena_printf(d->arena, "%s[%zu]", p->path, i),
                                    .key = p->key,
                                    .is_share = p->is_share};
        diff_values(d, &member, element, find_element(d->arena, after, i, name));
    }
    if (json_array_size(after) > json_array_size(before))
        d->changes->added += (int)(json_array_size(after) - json_array_size(before));
}

/* A value that is gone, or of another type, is one change. */
static void diff_values(struct diff *d, const struct pair *p, json_t *before, json_t *after)
{
    if (json_is_object(before) && json_is_object(after)) {
        diff_objects(d, p, before, after);
    } else if (json_is_array(before) && json_is_array(after)) {
        diff_arrays(d, p, before, after);
    } else if (json_is_string(before) && json_is_string(after)) {
        d->changes->words += strcmp(json_string_value(before), json_string_value(after)) != 0;
    } else {
        d->changes->figures++;
        if (json_is_number(before) && json_is_number(after))
            diff_numbers(d, p, before, after);
        else if (!after || json_typeof(before) != json_typeof(after))
            add_change(d, p, before, after, PP_EXACT, INFINITY);
    }
}

void pp_baseline_diff(struct pp_arena *arena, const json_t *before, const json_t *after,
                      double tolerance_frac, struct pp_changes *changes)
{
    struct diff d = {.arena = arena, .changes = changes, .tolerance_frac = tolerance_frac};
    const struct pair whole = {.path = "", .key = ""};

    *changes = (struct pp_changes){0};
    diff_values(&d, &whole, (json_t *)(uintptr_t)before, (json_t *)(uintptr_t)after);
}

/* ---- printing -------------------------------------------------------------------------------- */

enum { PATH_COLUMNS = 34 };

/* Returns the depth of a figure; 0 for one of the whole run, also in a comparison. */
static int depth_of(const struct pp_change *change)
{
    const char *path = change->path;
    int depth = 0;

    if (!strncmp(path, "runs[", 5) && strstr(path, "]."))
        path = strstr(path, "].") + 2;
    for (; *path; path++)
        depth += *path == '.' || *path == '[';
    return depth;
}

/* Order: exact figures, then by depth, then the largest. Equal changes keep the report's order. */
static int by_size(const void *left, const void *right)
{
    const struct pp_change *const *a = left, *const *b = right;
    const double x = fabs((*a)->frac), y = fabs((*b)->frac);
    const int deep = depth_of(*a) - depth_of(*b);

    if (((*a)->whole == PP_EXACT) != ((*b)->whole == PP_EXACT))
        return (*a)->whole == PP_EXACT ? -1 : 1;
    if (deep != 0)
        return deep;
    if (x != y)
        return x > y ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

static void print_change(struct pp_arena *arena, const struct pp_change *change, FILE *out)
{
    static const char *const WHOLES[] = {
        [PP_OF_ITSELF] = "", [PP_OF_STEP] = " of step", [PP_OF_PEAK] = " of peak"};

    fprintf(out, "  %-*s", PATH_COLUMNS, change->path);
    if (strlen(change->path) > PATH_COLUMNS)
        fprintf(out, "\n  %-*s", PATH_COLUMNS, "");
    fprintf(out, " %12s %12s", print_value(arena, change->before),
            print_value(arena, change->after));
    if (!isfinite(change->frac))
        fputs("  changed\n", out);
    else
        fprintf(out, "  %+.3g %%%s\n", 100 * change->frac, WHOLES[change->whole]);
}

void pp_changes_print(struct pp_arena *arena, const struct pp_changes *changes, int rows, FILE *out)
{
    const struct pp_change **order = PP_ARRAY(arena, const struct pp_change *, changes->count);

    for (int i = 0; i < changes->count; i++)
        order[i] = &changes->list[i];
    if (changes->count > 0)
        qsort(order, (size_t)changes->count, sizeof(struct pp_change *), by_size);
    if (changes->count > 0 && rows > 0)
        fprintf(out, "  %-*s %12s %12s  %s\n", PATH_COLUMNS, "figure", "before", "now", "change");
    for (int i = 0; i < changes->count && i < rows; i++)
        print_change(arena, order[i], out);
    if (changes->count > rows)
        fprintf(out, "  ... and %d more; --worst %d shows all\n", changes->count - rows,
                changes->count);
}

/* Returns the value of a figure; null for others. */
static json_t *figure_json(const json_t *value)
{
    return json_is_number(value) || json_is_boolean(value) ? json_deep_copy(value) : json_null();
}

json_t *pp_changes_json(const struct pp_changes *changes)
{
    static const char *const WHOLES[] = {
        [PP_OF_ITSELF] = "itself", [PP_OF_STEP] = "step", [PP_OF_PEAK] = "peak"};
    json_t *list = json_array();

    for (int i = 0; i < changes->count; i++) {
        const struct pp_change *c = &changes->list[i];
        json_array_append_new(list,
                              json_pack("{ss so so ss? so}", "figure", c->path, "before",
                                        figure_json(c->before), "after", figure_json(c->after),
                                        "of", c->whole == PP_EXACT ? NULL : WHOLES[c->whole],
                                        "change_frac", pp_json_real(c->frac)));
    }
    return list;
}
