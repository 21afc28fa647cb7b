/* Reads saved reports, to run them again with their own options. */
#include "sim/check/baseline.h"

#include "core/text/file.h"
#include "schedules/select/select.h"
#include "sim/cli/cli.h"

#include <string.h>

static const char *const SCHEMAS[] = {"pipesim.report/1", "pipesim.comparison/1"};

static enum pp_status check_schema(const struct pp_json *json, struct pp_error *err)
{
    const char *schema;

    if (!json_is_object(json->root))
        return pp_error_set(err, PP_EINVAL,
                            "%s: expected what pipesim --json prints, one JSON object", json->name);
    PP_TRY(pp_json_string(json, json->root, "schema", &schema, NULL, err));
    for (size_t i = 0; i < PP_COUNT(SCHEMAS); i++)
        if (!strcmp(schema, SCHEMAS[i]))
            return PP_OK;
    return pp_error_set(
        err, PP_EINVAL,
        "%s: its schema is '%s'; expected '%s' or '%s', what pipesim --json of this "
        "version prints of one schedule or of several",
        json->name, schema, SCHEMAS[0], SCHEMAS[1]);
}

/* Runs of a comparison have the same inputs; refused ones have none. */
static enum pp_status find_inputs(const struct pp_json *json, json_t **inputs, struct pp_error *err)
{
    json_t *run;
    size_t i;

    *inputs = json_object_get(json->root, "inputs");
    json_array_foreach(json_object_get(json->root, "runs"), i, run)
    {
        if (*inputs == NULL)
            *inputs = json_object_get(run, "inputs");
    }
    if (json_is_object(*inputs))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: \"inputs\" is missing, the options of the run",
                        json->name);
}

/* ---- the command line ------------------------------------------------------------------------ */

struct words {
    struct pp_arena *arena;
    const struct pp_json *json;
    char **list;
    int count, capacity;
};

static enum pp_status add_value(struct words *w, const char *name, const json_t *value,
                                struct pp_error *err)
{
    const char *text = json_string_value(value);

    if (text == NULL && !json_is_true(value))
        return pp_error_set(err, PP_EINVAL, "%s: inputs: '%s' is neither a text nor true",
                            w->json->name, name);
    *PP_PUSH(w->arena, w->list, w->count, w->capacity) =
        text ? pp_arena_printf(w->arena, "--%s=%s", name, text)
             : pp_arena_printf(w->arena, "--%s", name);
    return PP_OK;
}

/* Adds an option as typed: true for a flag, a list if it was given several times. */
static enum pp_status add_input(struct words *w, const char *name, json_t *value,
                                struct pp_error *err)
{
    json_t *item;
    size_t i;

    if (!json_is_array(value))
        return add_value(w, name, value, err);
    json_array_foreach(value, i, item) PP_TRY(add_value(w, name, item, err));
    return PP_OK;
}

/* Is true if the texts of an option are those of the input. */
static bool is_same_input(const struct pp_option_value *value, json_t *input)
{
    json_t *item;
    size_t i;

    if (!json_is_array(input))
        return value->count == 1 && value->text && json_is_string(input) &&
               !strcmp(value->text, json_string_value(input));
    if (value->count != (int)json_array_size(input))
        return false;
    json_array_foreach(input, i, item)
    {
        if (!json_is_string(item) || strcmp(value->all[i], json_string_value(item)) != 0)
            return false;
    }
    return true;
}

/* Opens the preset of the inputs. Inputs with its values are left to it: flags win over it, and its
 * values may be derived anew. */
static enum pp_status preset_of(struct words *w, json_t *inputs, struct pp_request *request,
                                struct pp_error *err)
{
    const char *name = json_string_value(json_object_get(inputs, "preset"));
    struct pp_parsed *flags = PP_NEW(w->arena, struct pp_parsed);

    *request = (struct pp_request){0};
    if (!name)
        return PP_OK;
    char *argv[] = {"pipesim", pp_arena_printf(w->arena, "--preset=%s", name)};
    PP_TRY(pp_options_parse(w->arena, &pp_sim_cli, 2, argv, flags, err));
    return pp_request_open(w->arena, flags, request, err);
}

static bool is_of_run(const char *name)
{
    for (int i = 0; i < pp_sim_cli.option_count; i++)
        if (!strcmp(pp_sim_cli.options[i].name, name) &&
            (pp_sim_cli.options[i].commands >> PP_CMD_RUN & 1u))
            return strcmp(pp_sim_cli.options[i].group, PP_GROUP_OUTPUT) != 0 &&
                   strcmp(name, "from") != 0;
    return false;
}

static enum pp_status add_inputs(struct words *w, json_t *inputs, struct pp_error *err)
{
    struct pp_request request;
    const char *name;
    json_t *value;

    if (preset_of(w, inputs, &request, err) != PP_OK)
        return pp_error_prefix(err, "%s: inputs: ", w->json->name);
    json_object_foreach(inputs, name, value)
    {
        if (!is_of_run(name))
            return pp_error_set(err, PP_EINVAL,
                                "%s: inputs: '%s' is no option of a run in this version",
                                w->json->name, name);
        if (!strcmp(name, "schedule") && json_is_string(value) &&
            pp_subject_has_command(json_string_value(value)))
            return pp_error_set(err, PP_EINVAL,
                                "%s: inputs: its schedule is a command, and only a command line "
                                "may name one; give --schedule",
                                w->json->name);
        if (!strcmp(name, "require-fit")) /* changes an exit code alone */
            continue;
        const struct pp_option_value *of_preset =
            request.preset.values ? pp_options_get(&request.preset, name) : NULL;
        if (!of_preset || !is_same_input(of_preset, value))
            PP_TRY(add_input(w, name, value, err));
    }
    return PP_OK;
}

static enum pp_status read_inputs(struct pp_arena *arena, struct pp_baseline *baseline,
                                  struct pp_error *err)
{
    struct words w = {.arena = arena, .json = &baseline->json};
    json_t *inputs;

    PP_TRY(check_schema(&baseline->json, err));
    PP_TRY(find_inputs(&baseline->json, &inputs, err));
    *PP_PUSH(arena, w.list, w.count, w.capacity) = "pipesim";
    *PP_PUSH(arena, w.list, w.count, w.capacity) = "run";
    PP_TRY(add_inputs(&w, inputs, err));
    if (pp_options_parse(arena, &pp_sim_cli, w.count, w.list, &baseline->inputs, err) != PP_OK)
        return pp_error_prefix(err, "%s: inputs: ", baseline->json.name);
    return PP_OK;
}

static void close_json(void *json)
{
    pp_json_close(json);
}

enum pp_status pp_baseline_parse(struct pp_arena *arena, const char *name, const char *text,
                                 size_t length, struct pp_baseline *baseline, struct pp_error *err)
{
    struct pp_json *json = PP_NEW(arena, struct pp_json);

    PP_TRY(pp_json_parse(name, text, length, json, err));
    pp_arena_defer(arena, close_json, json);
    *baseline = (struct pp_baseline){.json = *json};
    return read_inputs(arena, baseline, err);
}

enum pp_status pp_baseline_open(struct pp_arena *arena, const char *path,
                                struct pp_baseline *baseline, struct pp_error *err)
{
    const char *name = strcmp(path, "-") ? path : "<stdin>";
    struct pp_bytes bytes;

    PP_TRY(pp_file_read_limited(arena, path, PP_JSON_PRINTED_BYTES, &bytes, err));
    return pp_baseline_parse(arena, name, bytes.data, bytes.length, baseline, err);
}

struct pp_parsed pp_baseline_under(struct pp_arena *arena, const struct pp_baseline *baseline,
                                   const struct pp_parsed *flags)
{
    struct pp_parsed both = *flags;

    both.values = PP_ARRAY(arena, struct pp_option_value, pp_sim_cli.option_count);
    for (int i = 0; i < pp_sim_cli.option_count; i++)
        if (strcmp(pp_sim_cli.options[i].name, "from") != 0) /* already done */
            both.values[i] = flags->values[i].count ? flags->values[i] : baseline->inputs.values[i];
    return both;
}

enum pp_status pp_baseline_apply(struct pp_arena *arena, const struct pp_parsed **parsed,
                                 struct pp_error *err)
{
    const struct pp_option_value *from = pp_options_get(*parsed, "from");
    struct pp_parsed *both = PP_NEW(arena, struct pp_parsed);
    struct pp_baseline baseline;

    if (!from->count)
        return PP_OK;
    PP_TRY(pp_baseline_open(arena, from->text, &baseline, err));
    *both = pp_baseline_under(arena, &baseline, *parsed);
    *parsed = both;
    return PP_OK;
}
