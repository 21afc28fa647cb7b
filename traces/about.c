/* The settings of a run, as JSON inside a trace. */
#include "traces/about.h"

#include "core/printable.h"
#include "core/text/json.h"
#include "core/units.h"

#include <stddef.h>
#include <string.h>

enum { MOST_CORES = 1 << 20, MOST_BYTES = 64, MOST_OPTIONS = 256 };
static const double MOST_ALPHA_S = 10, LEAST_BYTES_PER_S = 1, MOST_BYTES_PER_S = 1e18;

/* Names and offsets of all texts, in the order of output. */
#define FIELD(name)                                                                                \
    {                                                                                              \
#name, offsetof(struct pp_trace_about, name)                                               \
    }
static const struct {
    const char *key;
    size_t offset;
} texts[] = {FIELD(version),   FIELD(cpu),   FIELD(backend), FIELD(kernels),
             FIELD(transport), FIELD(clock), FIELD(what_if)};
enum { TEXTS = PP_COUNT(texts) };

static const char *text_of(const struct pp_trace_about *about, int k)
{
    const char *text;

    memcpy(&text, (const char *)about + texts[k].offset, sizeof(text));
    return text ? text : "";
}

json_t *pp_trace_about_json(const struct pp_trace_about *about)
{
    json_t *object = json_object(), *options = json_array();

    for (int k = 0; k < TEXTS; k++) {
        json_t *text = json_string(text_of(about, k));
        json_object_set_new(object, texts[k].key, text ? text : json_string("?")); /* not UTF-8 */
    }
    json_object_set_new(object, "cores", json_integer(about->cores));
    for (int k = 0; k < about->option_count; k++) {
        json_t *text = json_string(about->options[k]);
        json_array_append_new(options, text ? text : json_string("?"));
    }
    json_object_set_new(object, "options", options);
    json_object_set_new(object, "alpha_s", json_real(about->alpha_s));
    json_object_set_new(object, "bytes_per_s", json_real(about->bytes_per_s));
    json_object_set_new(object, "value_bytes", json_integer(about->value_bytes));
    json_object_set_new(object, "gradient_bytes", json_integer(about->gradient_bytes));
    return object;
}

/* Reads the wires; those without bandwidth are of the wall clock. */
static enum pp_status read_wires(const struct pp_json *json, json_t *object,
                                 struct pp_trace_about *about, struct pp_error *err)
{
    PP_TRY(pp_json_number(json, object, "alpha_s", 0, MOST_ALPHA_S, &about->alpha_s, NULL, err));
    PP_TRY(pp_json_number(json, object, "bytes_per_s", 0, MOST_BYTES_PER_S, &about->bytes_per_s,
                          NULL, err));
    if (about->bytes_per_s > 0 && about->bytes_per_s < LEAST_BYTES_PER_S)
        return pp_error_set(err, PP_EINVAL,
                            "%s: \"bytes_per_s\" is %g, must be between %g and %g, or 0 on the "
                            "wall clock",
                            json->name, about->bytes_per_s, LEAST_BYTES_PER_S, MOST_BYTES_PER_S);
    return PP_OK;
}

static enum pp_status read_options(struct pp_arena *arena, const struct pp_json *json,
                                   json_t *object, struct pp_trace_about *about,
                                   struct pp_error *err)
{
    json_t *list = json_object_get(object, "options"), *entry;
    size_t i;

    if (!json_is_array(list) || json_array_size(list) > MOST_OPTIONS)
        return pp_error_set(err, PP_EINVAL, "%s: \"options\" must be a list of at most %d texts",
                            json->name, MOST_OPTIONS);
    const char **options = PP_ARRAY(arena, const char *, json_array_size(list) + 1);
    json_array_foreach(list, i, entry)
    {
        if (!json_is_string(entry))
            return pp_error_set(err, PP_EINVAL, "%s: \"options\"[%zu] is not a text", json->name,
                                i);
        options[about->option_count++] =
            pp_arena_strdup(arena, pp_printable(arena, json_string_value(entry)));
    }
    about->options = options;
    return PP_OK;
}

enum pp_status pp_trace_about_read(struct pp_arena *arena, const char *name, json_t *object,
                                   const struct pp_trace_about **out, struct pp_error *err)
{
    struct pp_trace_about *about = PP_NEW(arena, struct pp_trace_about);
    const struct pp_json json = {.name = name, .root = object};
    int64_t cores, value_bytes, gradient_bytes;

    for (int k = 0; k < TEXTS; k++) {
        const char *text;
        PP_TRY(pp_json_string(&json, object, texts[k].key, &text, NULL, err));
        text = pp_arena_strdup(arena, pp_printable(arena, text));
        memcpy((char *)about + texts[k].offset, &text, sizeof(text));
    }
    PP_TRY(pp_json_int(&json, object, "cores", 1, MOST_CORES, &cores, NULL, err));
    PP_TRY(pp_json_int(&json, object, "value_bytes", 1, MOST_BYTES, &value_bytes, NULL, err));
    PP_TRY(pp_json_int(&json, object, "gradient_bytes", 1, MOST_BYTES, &gradient_bytes, NULL, err));
    PP_TRY(read_wires(&json, object, about, err));
    about->cores = (int)cores;
    about->value_bytes = (int)value_bytes;
    about->gradient_bytes = (int)gradient_bytes;
    PP_TRY(read_options(arena, &json, object, about, err));
    *out = about;
    return PP_OK;
}

const char *pp_trace_about_machine(struct pp_arena *arena, const struct pp_trace_about *about)
{
    const char *cores = about->cores > 0 ? pp_arena_printf(arena, ", %d core%s", about->cores,
                                                           about->cores == 1 ? "" : "s")
                                         : "";

    return pp_arena_printf(arena, "%s clock on %s%s, %s (%s), %s", about->clock, about->cpu, cores,
                           about->backend, about->kernels, about->transport);
}

const char *pp_trace_about_wires(struct pp_arena *arena, const struct pp_trace_about *about)
{
    char alpha[PP_UNITS_TEXT_BYTES];
    const char *wires =
        about->bytes_per_s > 0
            ? pp_arena_printf(arena, "wires of %s + bytes / (%.4g GB/s)",
                              pp_units_print(about->alpha_s, PP_UNIT_SECONDS, alpha),
                              1e-9 * about->bytes_per_s)
            : "wires as they are";

    return pp_arena_printf(arena, "%s, values of %d bytes, gradients of %d", wires,
                           about->value_bytes, about->gradient_bytes);
}

bool pp_trace_about_is_same_machine(const struct pp_trace_about *a, const struct pp_trace_about *b)
{
    return !strcmp(a->cpu, b->cpu) && a->cores == b->cores && !strcmp(a->backend, b->backend) &&
           !strcmp(a->kernels, b->kernels) && !strcmp(a->transport, b->transport) &&
           !strcmp(a->clock, b->clock) && a->alpha_s == b->alpha_s &&
           a->bytes_per_s == b->bytes_per_s && a->value_bytes == b->value_bytes &&
           a->gradient_bytes == b->gradient_bytes;
}
