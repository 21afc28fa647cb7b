/* The strict reader of a file of measured durations. */
#include "core/cost/measured/file.h"

#include "core/cli/options.h"
#include "core/lines.h"
#include "core/printable.h"
#include "core/text/file.h"

#include <string.h>

enum { MOST = 1 << 28, MOST_LIST = 1 << 16 };
static const double LONGEST_S = 1e5;
static const char SCHEMA[] = "pipesim.cost/1";

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    struct pp_arena *arena;
    struct pp_json json;
    struct pp_cost_file *file;
};

static enum pp_status check_keys(const struct reader *r, json_t *object, const char *const *known,
                                 struct pp_error *err)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (pp_is_one_of(key, known))
            continue;
        const char *near = pp_suggest(key, known);
        pp_error_set(err, PP_EINVAL, "%s: unknown key \"%.40s\"", r->json.name,
                     pp_printable(r->arena, key));
        return near ? pp_error_append(err, "; did you mean \"%s\"?", near) : PP_EINVAL;
    }
    return PP_OK;
}

static const char *copy(const struct reader *r, const char *text)
{
    return pp_arena_strdup(r->arena, pp_printable(r->arena, text));
}

static enum pp_status read_int(const struct reader *r, json_t *object, const char *key, int low,
                               int *value, struct pp_error *err)
{
    int64_t number;

    PP_TRY(pp_json_int(&r->json, object, key, low, MOST, &number, NULL, err));
    *value = (int)number;
    return PP_OK;
}

static enum pp_status read_list(const struct reader *r, json_t *object, const char *key,
                                json_t **list, struct pp_error *err)
{
    *list = json_object_get(object, key);
    if (json_is_array(*list) && json_array_size(*list) <= MOST_LIST)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: \"%s\" must be a list of at most %d entries",
                        r->json.name, key, MOST_LIST);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Reads the modules that are recomputed; none, as in files without the key. */
static enum pp_status read_again(const struct reader *r, json_t *object,
                                 struct pp_measured_shape *shape, struct pp_error *err)
{
    const char *text;
    unsigned again = 0;
    bool found;

    PP_TRY(pp_json_string(&r->json, object, "recomputed", &text, &found, err));
    if (found && *text && pp_again_read(text, NULL, &again, err) != PP_OK)
        return pp_error_prefix(err, "%s: \"recomputed\" is ", r->json.name);
    shape->again = (int)again;
    return PP_OK;
}

enum { NEEDED = 10 }; /* files of dense models without tensor parallelism may leave out the rest */

static enum pp_status read_shape(const struct reader *r, json_t *object,
                                 struct pp_measured_shape *s, struct pp_error *err)
{
    static const char *const KEYS[] = {"hidden",      "heads", "kv_heads",   "ffn",        "vocab",
                                       "is_gated",    "rows",  "seq",        "splits",     "split",
                                       "experts",     "top_k", "expert_ffn", "shared_ffn", "tp",
                                       "is_sequence", "ep",    "recomputed", NULL};
    int *const at[] = {&s->hidden,      &s->heads, &s->kv_heads,   &s->ffn,        &s->vocab,
                       &s->is_gated,    &s->rows,  &s->seq,        &s->splits,     &s->split,
                       &s->experts,     &s->top_k, &s->expert_ffn, &s->shared_ffn, &s->tp,
                       &s->is_sequence, &s->ep};
    static const int LOW[] = {1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1};

    if (!json_is_object(object))
        return pp_error_set(err, PP_EINVAL, "%s: \"shape\" is missing", r->json.name);
    PP_TRY(check_keys(r, object, KEYS, err));
    for (size_t k = 0; k < PP_COUNT(at); k++) {
        *at[k] = LOW[k];
        if (k < NEEDED || json_object_get(object, KEYS[k]))
            PP_TRY(read_int(r, object, KEYS[k], LOW[k], at[k], err));
    }
    PP_TRY(read_again(r, object, s, err));
    if (s->split >= s->splits)
        return pp_error_set(err, PP_EINVAL, "%s: \"split\" is %d of %d splits", r->json.name,
                            s->split, s->splits);
    return PP_OK;
}

static enum pp_status read_op(const struct reader *r, json_t *object, struct pp_measured_op *op,
                              struct pp_error *err)
{
    static const char *const KEYS[] = {"block_s", "embedding_s",   "head_s", "op_s",
                                       "samples", "residual_frac", NULL};

    PP_TRY(check_keys(r, object, KEYS, err));
    for (int k = 0; k < PP_MEASURED_PARTS; k++)
        PP_TRY(pp_json_number(&r->json, object, pp_measured_keys[k], 0, LONGEST_S, &op->part_s[k],
                              NULL, err));
    PP_TRY(
        pp_json_number(&r->json, object, "residual_frac", 0, 1e9, &op->residual_frac, NULL, err));
    return read_int(r, object, "samples", 1, &op->samples, err);
}

static enum pp_status read_set(struct reader *r, json_t *object, struct pp_measured_set *set,
                               struct pp_error *err)
{
    static const char *const KEYS[] = {"shape", "F", "B", "I", "W", "R", NULL};

    PP_TRY(check_keys(r, object, KEYS, err));
    PP_TRY(read_shape(r, json_object_get(object, "shape"), &set->shape, err));
    for (int k = 0; k < PP_MEASURED_KINDS; k++) {
        const int kind = pp_measured_kinds[k];
        json_t *op = json_object_get(object, pp_op_kinds[kind].text);
        if (op)
            PP_TRY(read_op(r, op, &set->op[kind], err));
    }
    return PP_OK;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum pp_status read_line(struct reader *r, json_t *object, struct pp_measured_line *line,
                                struct pp_error *err)
{
    static const char *const KEYS[] = {"name",    "alpha_s",       "s_per_byte", "ranks",
                                       "samples", "residual_frac", NULL};
    const char *name;

    PP_TRY(check_keys(r, object, KEYS, err));
    PP_TRY(pp_json_string(&r->json, object, "name", &name, NULL, err));
    line->name = copy(r, name);
    PP_TRY(pp_json_number(&r->json, object, "alpha_s", 0, LONGEST_S, &line->alpha_s, NULL, err));
    PP_TRY(
        pp_json_number(&r->json, object, "s_per_byte", 0, LONGEST_S, &line->s_per_byte, NULL, err));
    PP_TRY(
        pp_json_number(&r->json, object, "residual_frac", 0, 1e9, &line->residual_frac, NULL, err));
    PP_TRY(read_int(r, object, "ranks", 0, &line->ranks, err));
    return read_int(r, object, "samples", 0, &line->samples, err);
}

/* ---- the file -------------------------------------------------------------------------------- */

static enum pp_status read_update(struct reader *r, json_t *object, struct pp_error *err)
{
    static const char *const KEYS[] = {"param_s", "op_s", "samples", NULL};
    struct pp_cost_file *f = r->file;

    PP_TRY(check_keys(r, object, KEYS, err));
    PP_TRY(
        pp_json_number(&r->json, object, "param_s", 0, LONGEST_S, &f->update_param_s, NULL, err));
    PP_TRY(pp_json_number(&r->json, object, "op_s", 0, LONGEST_S, &f->update_op_s, NULL, err));
    return read_int(r, object, "samples", 0, &f->update_samples, err);
}

static enum pp_status read_model(struct reader *r, struct pp_error *err)
{
    json_t *list, *entry;
    size_t i;

    PP_TRY(read_list(r, r->json.root, "model", &list, err));
    const char **model = PP_ARRAY(r->arena, const char *, json_array_size(list) + 1);
    json_array_foreach(list, i, entry)
    {
        if (!json_is_string(entry))
            return pp_error_set(err, PP_EINVAL, "%s: \"model\"[%zu] is not a text", r->json.name,
                                i);
        model[r->file->model_count++] = copy(r, json_string_value(entry));
    }
    r->file->model = model;
    return PP_OK;
}

static enum pp_status read_sets(struct reader *r, struct pp_error *err)
{
    json_t *list, *entry;
    size_t i;

    PP_TRY(read_list(r, r->json.root, "layers", &list, err));
    json_array_foreach(list, i, entry)
    {
        struct pp_measured_set set = {0};
        if (read_set(r, entry, &set, err) != PP_OK)
            return pp_error_append(err, " (in \"layers\"[%zu])", i);
        *PP_PUSH(r->arena, r->file->sets, r->file->set_count, r->file->set_capacity) = set;
    }
    if (r->file->set_count > 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: \"layers\" is empty: nothing was measured",
                        r->json.name);
}

static enum pp_status read_lines(struct reader *r, struct pp_error *err)
{
    json_t *list, *entry;
    size_t i;

    PP_TRY(read_list(r, r->json.root, "channels", &list, err));
    json_array_foreach(list, i, entry)
    {
        struct pp_measured_line line = {0};
        if (read_line(r, entry, &line, err) != PP_OK)
            return pp_error_append(err, " (in \"channels\"[%zu])", i);
        *PP_PUSH(r->arena, r->file->lines, r->file->line_count, r->file->line_capacity) = line;
    }
    return PP_OK;
}

/* Other files that users give as costs: a report has no events, and a trace is not fitted yet. */
static enum pp_status refuse_other(const char *name, bool is_report, struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL,
                 "%s holds no costs: pipesim calibrate makes them from traces; try: ", name);
    return is_report ? pp_error_append(err, "pipeexec ... --trace t.json, then "
                                            "pipesim calibrate t.json -o cost.json")
                     : pp_error_append(err, "pipesim calibrate %s -o cost.json", name);
}

static enum pp_status check_schema(const struct reader *r, struct pp_error *err)
{
    static const char COSTS[] = "pipesim.cost/";
    const char *schema;
    bool has_schema;

    PP_TRY(pp_json_string(&r->json, NULL, "schema", &schema, &has_schema, err));
    if (has_schema && strcmp(schema, SCHEMA) == 0)
        return PP_OK;
    if (!has_schema || strncmp(schema, COSTS, sizeof(COSTS) - 1) != 0)
        return refuse_other(r->json.name, has_schema, err);
    return pp_error_set(err, PP_EINVAL,
                        "%s: \"schema\" is '%.40s', expected '%s' as 'pipesim calibrate' writes it",
                        r->json.name, pp_printable(r->arena, schema), SCHEMA);
}

static enum pp_status read_root(struct reader *r, struct pp_error *err)
{
    static const char *const KEYS[] = {
        "schema", "version", "machine",  "model",  "value_bytes", "gradient_bytes", "is_clipped",
        "layers", "update",  "channels", "traces", "left_out",    "logs",           NULL};
    const char *machine;
    json_t *traces;

    PP_TRY(check_schema(r, err));
    PP_TRY(check_keys(r, r->json.root, KEYS, err));
    PP_TRY(pp_json_string(&r->json, NULL, "machine", &machine, NULL, err));
    r->file->machine = copy(r, machine);
    PP_TRY(read_int(r, NULL, "value_bytes", 1, &r->file->value_bytes, err));
    if (!pp_cost_file_precision(r->file->value_bytes))
        return pp_error_set(err, PP_EINVAL,
                            "%s: \"value_bytes\" is %d, must be 4 (fp32) or 2 (bf16)", r->json.name,
                            r->file->value_bytes);
    PP_TRY(read_int(r, NULL, "gradient_bytes", 1, &r->file->gradient_bytes, err));
    PP_TRY(pp_json_bool(&r->json, NULL, "is_clipped", &r->file->is_clipped, NULL, err));
    PP_TRY(read_model(r, err));
    PP_TRY(read_sets(r, err));
    PP_TRY(read_update(r, json_object_get(r->json.root, "update"), err));
    PP_TRY(read_lines(r, err));
    PP_TRY(read_list(r, r->json.root, "traces", &traces, err));
    r->file->trace_count = (int)json_array_size(traces);
    return PP_OK;
}

enum pp_status pp_cost_file_parse(struct pp_arena *arena, const char *name, const char *text,
                                  size_t length, const struct pp_cost_file **file,
                                  struct pp_error *err)
{
    struct reader r = {.arena = arena, .file = PP_NEW(arena, struct pp_cost_file)};
    const size_t blank = length ? strspn(text, " \t\r\n") : 0;

    if (blank < length && text[blank] != '{') /* a trace in CSV, or a list of events */
        return refuse_other(name, false, err);
    PP_TRY(pp_json_parse(name, text, length, &r.json, err));
    r.file->path = pp_arena_strdup(arena, name);
    enum pp_status status = read_root(&r, err);
    if (status == PP_OK)
        status = pp_cost_file_check(r.file, name, err);
    pp_json_close(&r.json);
    *file = r.file;
    return status;
}

enum pp_status pp_cost_file_read(struct pp_arena *arena, const char *path,
                                 const struct pp_cost_file **file, struct pp_error *err)
{
    struct pp_bytes bytes;

    PP_TRY(pp_file_read_limited(arena, path, PP_JSON_PRINTED_BYTES, &bytes, err));
    return pp_cost_file_parse(arena, path, bytes.data, bytes.length, file, err);
}
