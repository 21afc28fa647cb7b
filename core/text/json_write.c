/* Members and values of JSON reports. */
#include "core/text/json_write.h"

#include "core/printable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

json_t *pp_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *pp_json_text(const char *text)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    json_t *string = text ? json_string(text) : json_null();

    return string ? string : json_string(pp_printable(arena, text));
}

json_t *pp_json_reals(const double *values, int count)
{
    json_t *list = json_array();

    for (int i = 0; i < count; i++)
        json_array_append_new(list, pp_json_real(values[i]));
    return list;
}

void pp_json_put(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, pp_json_real(value));
}

void pp_json_put_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, pp_json_text(text));
}

void pp_json_put_int(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, json_integer(value));
}

void pp_json_put_bool(json_t *object, const char *key, bool value)
{
    json_object_set_new(object, key, json_boolean(value));
}

void pp_json_put_bytes(json_t *object, const char *key, double bytes)
{
    json_object_set_new(object, key, isfinite(bytes) ? json_integer(llround(bytes)) : json_null());
}

json_t *pp_json_meta(double wall_s)
{
    char host[256] = "";

    if (gethostname(host, sizeof(host) - 1) != 0)
        host[0] = '\0';
    json_t *o = json_pack("{ss ss}", "version", PP_VERSION, "host", host);
    pp_json_put(o, "wall_s", wall_s);
    return o;
}

void pp_json_print(json_t *report, FILE *out)
{
    json_dumpf(report, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    fputc('\n', out);
    json_decref(report);
}

/* Returns the end of an array without strings, objects and other arrays; NULL: it has some. */
static const char *end_of_numbers(const char *open)
{
    const char *end = strpbrk(open + 1, "[]{}\"");

    return end && *end == ']' ? end : NULL;
}

/* Prints an array as "[1, 2]". */
static void print_numbers(const char *open, const char *end, FILE *out)
{
    for (const char *c = open; c <= end; c++) {
        if (*c == ',')
            fputs(", ", out);
        else if (*c != '\n' && *c != ' ')
            fputc(*c, out);
    }
}

void pp_json_print_rows(json_t *report, FILE *out)
{
    char *text = json_dumps(report, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    bool is_string = false;

    for (const char *c = text, *end; c && *c; c++) {
        is_string ^= *c == '"';
        if (is_string && *c == '\\')
            fputc(*c++, out);
        if (!is_string && *c == '[' && (end = end_of_numbers(c))) {
            print_numbers(c, end, out);
            c = end;
        } else {
            fputc(*c, out);
        }
    }
    fputc('\n', out);
    free(text);
    json_decref(report);
}
