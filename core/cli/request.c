/* A request: a preset looked up by name, and options of the flags over those of the preset. */
#include "core/cli/request.h"

#include <stdio.h>
#include <strings.h>

static const struct pp_preset *find_preset(const struct pp_preset *presets, const char *name)
{
    for (const struct pp_preset *p = presets; p->name; p++)
        if (!strcasecmp(p->name, name))
            return p;
    return NULL;
}

static enum pp_status unknown_preset(struct pp_arena *arena, const struct pp_cli *cli,
                                     const char *name, struct pp_error *err)
{
    const struct pp_preset *presets = cli->presets;
    int count = 0;

    while (presets[count].name)
        count++;
    const char **names = PP_ARRAY(arena, const char *, count + 1);
    for (int i = 0; i < count; i++)
        names[i] = presets[i].name;
    pp_error_set(err, PP_EINVAL, "--preset %s: unknown preset", name);
    pp_suggest_or_list(err, name, names);
    return pp_error_append(err, "\n  %s presets describes them", cli->program);
}

enum pp_status pp_request_defaults(struct pp_arena *arena, struct pp_request *request,
                                   const struct pp_preset *row, struct pp_error *err)
{
    int count = 0;

    while (row->arguments[count])
        count++;
    char **argv = PP_ARRAY(arena, char *, count + 2);
    argv[0] = "preset";
    for (int i = 0; i < count; i++)
        argv[i + 1] = (char *)(uintptr_t)row->arguments[i];
    request->preset_row = row;
    return pp_options_parse(arena, request->flags->cli, count + 1, argv, &request->preset, err);
}

enum pp_status pp_request_open(struct pp_arena *arena, const struct pp_parsed *flags,
                               struct pp_request *request, struct pp_error *err)
{
    *request = (struct pp_request){.flags = flags};
    const struct pp_preset *row;
    const char *name = pp_request_text(request, "preset", NULL);
    if (!name)
        return PP_OK;
    row = find_preset(flags->cli->presets, name);
    return row ? pp_request_defaults(arena, request, row, err)
               : unknown_preset(arena, flags->cli, name, err);
}

const struct pp_option_value *pp_request_get(const struct pp_request *request, const char *name,
                                             enum pp_origin *origin)
{
    const struct pp_option_value *value = pp_options_get(request->flags, name);
    enum pp_origin from = PP_FROM_FLAG;

    if (!value->count) {
        from = PP_FROM_PRESET;
        value = request->preset.values ? pp_options_get(&request->preset, name) : NULL;
        if (!value || !value->count) {
            from = PP_FROM_NOTHING;
            value = NULL;
        }
    }
    if (origin)
        *origin = from;
    return value;
}

int pp_request_int(const struct pp_request *request, const char *name, int fallback)
{
    const struct pp_option_value *value = pp_request_get(request, name, NULL);

    return value ? (int)value->integer : fallback;
}

const char *pp_request_text(const struct pp_request *request, const char *name,
                            const char *fallback)
{
    const struct pp_option_value *value = pp_request_get(request, name, NULL);

    return value ? value->text : fallback;
}

bool pp_request_has(const struct pp_request *request, const char *name)
{
    return pp_request_get(request, name, NULL) != NULL;
}

const char *pp_request_typed(const struct pp_request *request, const char *name,
                             char text[PP_REQUEST_TYPED_BYTES])
{
    const struct pp_option_value *value = pp_request_get(request, name, NULL);

    if (value && value->text)
        snprintf(text, PP_REQUEST_TYPED_BYTES, "%s %s", value->typed, value->text);
    else
        snprintf(text, PP_REQUEST_TYPED_BYTES, "--%s", name);
    return text;
}
