/* One element of a profile: its JSON object and its times; the order of ranges by cell; notes. */
#include "traces/kineto/parts.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* Most microseconds whose nanoseconds fit next to a base. */
static const double LONGEST_US = 4e15;

enum pp_status pp_kineto_parse(const char *name, const struct pp_json_piece *piece, json_t **object,
                               struct pp_error *err)
{
    json_error_t error;

    *object = json_loadb(piece->text, piece->length, 0, &error);
    if (json_is_object(*object))
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "%s: %s[%" PRId64 "]: %s", name, piece->key, piece->index,
                 *object ? "is not an object" : error.text);
    json_decref(*object);
    return PP_EINVAL;
}

static bool read_us(json_t *slice, const char *key, double low, int64_t *ns)
{
    const json_t *value = json_object_get(slice, key);
    const double us = json_number_value(value);

    if (!json_is_number(value) || !(us >= low && us <= LONGEST_US))
        return false;
    *ns = json_is_integer(value) ? 1000 * (int64_t)json_integer_value(value) : llround(us * 1e3);
    return true;
}

enum pp_status pp_kineto_times(json_t *slice, int64_t *start_ns, int64_t *end_ns,
                               struct pp_error *err)
{
    int64_t duration_ns;

    if (!read_us(slice, "ts", -LONGEST_US, start_ns))
        return pp_error_set(err, PP_EINVAL, "\"ts\" is not a number of microseconds");
    if (!read_us(slice, "dur", 0, &duration_ns))
        return pp_error_set(err, PP_EINVAL, "\"dur\" is not a number of microseconds of 0 or more");
    *end_ns = *start_ns + duration_ns;
    return PP_OK;
}

void pp_kineto_note(struct pp_arena *arena, struct pp_kineto *run, const char *text)
{
    *PP_PUSH(arena, run->notes, run->note_count, run->note_capacity) = text;
}

int pp_kineto_by_cell(const void *left, const void *right)
{
    const struct pp_kineto_range *a = *(struct pp_kineto_range *const *)left,
                                 *b = *(struct pp_kineto_range *const *)right;
    const int order = strcmp(a->cell, b->cell);

    return order ? order : (a > b) - (a < b);
}
