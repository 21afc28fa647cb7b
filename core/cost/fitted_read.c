/* Reads the file of a user's own constants strictly. */
#include "core/cost/fitted.h"

#include "core/cli/options.h"
#include "core/lines.h"
#include "core/printable.h"
#include "core/text/file.h"
#include "core/text/json.h"

#include <math.h>
#include <string.h>

enum { ROWS_MOST = 1 << 16, OWNERS_MOST = 64, KEYS_MOST = 32 };

struct reader {
    struct pp_arena *arena;
    struct pp_json json;
    struct pp_fitted *file;
};

/* Finds the owner and where its constants live. */
static enum pp_status read_owner(const struct reader *r, const char *of, size_t at, bool *is_device,
                                 const char **owner, struct pp_error *err)
{
    const char *names[OWNERS_MOST + 1] = {NULL};
    int count = 0;

    *owner = NULL;
    for (const struct pp_device *d = pp_device_presets; d->name; d++) {
        if (!*owner && !strcmp(d->generation, of))
            *owner = d->generation;
        if (count < OWNERS_MOST && !pp_is_one_of(d->generation, names))
            names[count++] = d->generation;
    }
    *is_device = *owner != NULL;
    for (const struct pp_framework *f = pp_frameworks; f->name; f++) {
        if (f->kernel_gap_s == 0) /* no constants */
            continue;
        if (!strcmp(f->name, of))
            *owner = f->name;
        if (count < OWNERS_MOST)
            names[count++] = f->name;
    }
    if (*owner)
        return PP_OK;
    const char *near = pp_suggest(of, names);
    pp_error_set(err, PP_EINVAL,
                 "%s: \"of\" of \"constants\"[%zu] is \"%.40s\", no generation of devices and no "
                 "framework",
                 r->json.name, at, pp_printable(r->arena, of));
    return near ? pp_error_append(err, "; did you mean \"%s\"?", near) : PP_EINVAL;
}

static const struct pp_constant *constant_of(const char *key, bool is_device)
{
    for (const struct pp_constant *c = pp_constants; c->name; c++)
        if (!strcmp(c->name, key) && (c->home != PP_HOME_FRAMEWORK) == is_device)
            return c;
    return NULL;
}

static enum pp_status unknown(const struct reader *r, const char *key, const char *const *known,
                              struct pp_error *err)
{
    const char *near = pp_suggest(key, known);

    pp_error_set(err, PP_EINVAL, "%s: unknown key \"%.40s\"", r->json.name,
                 pp_printable(r->arena, key));
    return near ? pp_error_append(err, "; did you mean \"%s\"?", near) : PP_EINVAL;
}

static enum pp_status unknown_constant(const struct reader *r, const char *key, bool is_device,
                                       struct pp_error *err)
{
    const char *known[KEYS_MOST] = {NULL};
    int count = 0;

    for (const struct pp_constant *c = pp_constants; c->name; c++)
        if ((c->home != PP_HOME_FRAMEWORK) == is_device && count + 1 < KEYS_MOST)
            known[count++] = c->name;
    return unknown(r, key, known, err);
}

static enum pp_status read_set(struct reader *r, json_t *set, size_t at, struct pp_error *err)
{
    const char *of, *owner, *key;
    bool is_device;
    json_t *value;

    if (!json_is_object(set))
        return pp_error_set(err, PP_EINVAL, "%s: \"constants\"[%zu] is no object", r->json.name,
                            at);
    PP_TRY(pp_json_string(&r->json, set, "of", &of, NULL, err));
    PP_TRY(read_owner(r, of, at, &is_device, &owner, err));
    const char **seen = is_device ? &r->file->generation : &r->file->framework;
    if (*seen)
        return pp_error_set(err, PP_EINVAL,
                            "%s: constants of \"%s\" and of \"%s\"; a file is of one generation "
                            "of devices and one framework",
                            r->json.name, *seen, owner);
    *seen = owner;
    json_object_foreach(set, key, value)
    {
        const struct pp_constant *c = constant_of(key, is_device);
        double number = 0;
        if (!strcmp(key, "of"))
            continue;
        if (!c)
            return unknown_constant(r, key, is_device, err);
        PP_TRY(pp_json_number(&r->json, set, key, c->least, c->most, &number, NULL, err));
        *PP_PUSH(r->arena, r->file->values, r->file->count, r->file->capacity) =
            (struct pp_fitted_value){c, owner, number};
    }
    return PP_OK;
}

static enum pp_status read_sets(struct reader *r, struct pp_error *err)
{
    json_t *list = json_object_get(r->json.root, "constants"), *set;
    size_t i;

    if (!json_is_array(list) || json_array_size(list) == 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s: \"constants\" must be a list of constants by owner", r->json.name);
    json_array_foreach(list, i, set) PP_TRY(read_set(r, set, i, err));
    if (r->file->count > 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s: \"constants\" has no value", r->json.name);
}

static enum pp_status read_models(struct reader *r, struct pp_error *err)
{
    static const char *const KEYS[] = {"name", "hidden", "ffn", NULL};
    json_t *list = json_object_get(r->json.root, "models"), *entry, *value;
    const char *name, *key;
    int64_t hidden, ffn;
    size_t i;

    if (!json_is_array(list) || json_array_size(list) > ROWS_MOST)
        return pp_error_set(err, PP_EINVAL, "%s: \"models\" must be a list of models",
                            r->json.name);
    json_array_foreach(list, i, entry)
    {
        if (!json_is_object(entry))
            return pp_error_set(err, PP_EINVAL, "%s: \"models\"[%zu] is no object", r->json.name,
                                i);
        json_object_foreach(entry, key,
                            value) if (!pp_is_one_of(key, KEYS)) return unknown(r, key, KEYS, err);
        PP_TRY(pp_json_string(&r->json, entry, "name", &name, NULL, err));
        PP_TRY(pp_json_int(&r->json, entry, "hidden", 1, INT32_MAX, &hidden, NULL, err));
        PP_TRY(pp_json_int(&r->json, entry, "ffn", 1, INT32_MAX, &ffn, NULL, err));
        *PP_PUSH(r->arena, r->file->models, r->file->model_count, r->file->model_capacity) =
            (struct pp_fitted_model){pp_arena_strdup(r->arena, pp_printable(r->arena, name)),
                                     (int)hidden, (int)ffn};
    }
    return PP_OK;
}

static enum pp_status read_rows(struct reader *r, struct pp_error *err)
{
    json_t *list = json_object_get(r->json.root, "rows"), *entry;
    size_t i;

    if (!json_is_array(list) || json_array_size(list) > ROWS_MOST)
        return pp_error_set(err, PP_EINVAL, "%s: \"rows\" must be a list of at most %d ids",
                            r->json.name, ROWS_MOST);
    r->file->ids = PP_ARRAY(r->arena, const char *, json_array_size(list) + 1);
    json_array_foreach(list, i, entry)
    {
        if (!json_is_string(entry))
            return pp_error_set(err, PP_EINVAL, "%s: \"rows\"[%zu] is not a text", r->json.name, i);
        r->file->ids[r->file->rows++] =
            pp_arena_strdup(r->arena, pp_printable(r->arena, json_string_value(entry)));
    }
    return PP_OK;
}

/* Figures about the fit; a missing one, or null, is NAN. */
static enum pp_status read_figures(struct reader *r, struct pp_error *err)
{
    struct pp_fitted *f = r->file;
    const struct {
        const char *key;
        double *at;
    } figures[] = {{"prior_width", &f->strength},
                   {"median_abs_error_frac_before", &f->before},
                   {"median_abs_error_frac_after", &f->after},
                   {"median_abs_error_frac_left_out", &f->left_out}};
    bool is_there;

    for (size_t i = 0; i < PP_COUNT(figures); i++) {
        *figures[i].at = (double)NAN;
        PP_TRY(pp_json_number(&r->json, r->json.root, figures[i].key, 0, 1e9, figures[i].at,
                              &is_there, err));
    }
    return PP_OK;
}

static enum pp_status read_root(struct reader *r, struct pp_error *err)
{
    static const char *const KEYS[] = {"schema",
                                       "version",
                                       "constants",
                                       "models",
                                       "rows",
                                       "prior_width",
                                       "median_abs_error_frac_before",
                                       "median_abs_error_frac_after",
                                       "median_abs_error_frac_left_out",
                                       NULL};
    const char *schema = NULL, *key;
    bool is_there;
    json_t *value;

    PP_TRY(pp_json_string(&r->json, NULL, "schema", &schema, &is_there, err));
    if (!is_there || strcmp(schema, PP_FITTED_SCHEMA) != 0)
        return pp_error_set(err, PP_EINVAL,
                            "%s: \"schema\" is %s%.40s, expected %s as 'pipesim validate TABLE "
                            "--refit -o FILE.json' writes it",
                            r->json.name, is_there ? "" : "missing",
                            is_there ? pp_printable(r->arena, schema) : "", PP_FITTED_SCHEMA);
    json_object_foreach(r->json.root, key,
                        value) if (!pp_is_one_of(key, KEYS)) return unknown(r, key, KEYS, err);
    PP_TRY(read_models(r, err));
    PP_TRY(read_sets(r, err));
    PP_TRY(read_rows(r, err));
    return read_figures(r, err);
}

enum pp_status pp_fitted_parse(struct pp_arena *arena, const char *name, const char *text,
                               size_t length, struct pp_fitted **fitted, struct pp_error *err)
{
    struct reader r = {.arena = arena, .file = PP_NEW(arena, struct pp_fitted)};
    size_t at = 0;

    while (at < length && memchr(" \t\r\n", text[at], 4))
        at++;
    if (at == length || text[at] != '{')
        return pp_error_set(err, PP_EINVAL,
                            "%s: no file of constants, which is JSON; 'pipesim validate TABLE "
                            "--refit -o FILE.json' writes one from a table of measured steps",
                            name);
    PP_TRY(pp_json_parse(name, text, length, &r.json, err));
    r.file->path = pp_arena_strdup(arena, name);
    const enum pp_status status = read_root(&r, err);
    pp_json_close(&r.json);
    *fitted = r.file;
    return status;
}

enum pp_status pp_fitted_read(struct pp_arena *arena, const char *path, struct pp_fitted **fitted,
                              struct pp_error *err)
{
    struct pp_bytes bytes;

    PP_TRY(pp_file_read_limited(arena, path, PP_JSON_PRINTED_BYTES, &bytes, err));
    return pp_fitted_parse(arena, path, bytes.data, bytes.length, fitted, err);
}
