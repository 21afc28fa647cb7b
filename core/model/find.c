/* Presets by name: as typed, with a suggestion for unknown ones, and as papers print them. */
#include "core/cli/options.h"
#include "core/model/model.h"
#include "core/text/file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *alias, *name;
} aliases[] = {
    {"52b", "bert-52b"},
    {"6.6b", "bert-6.6b"},
    {"gpt-174.6b", "gpt3-175b"},
    {"gpt-175b", "gpt3-175b"},
    {"gpt3", "gpt3-175b"},
    {"gpt-1008b", "gpt-1t"},
    {"gpt-145.6b", "gpt-145b"},
    {"gpt-18.4b", "gpt-18b"},
    {"gpt-290.8b", "gpt-290b"},
    {"gpt-310.1b", "gpt-310b"},
    {"gpt-39.1b", "gpt-39b"},
    {"gpt-529.6b", "gpt-530b"},
    {"gpt-76.1b", "gpt-76b"},
    {"gpt2-124m", "gpt2"},
    {"gpt2-small", "gpt2"},
    {"gpt3-5b", "gpt-5b"},
    {"gpt3-20b", "gpt-20b"},
    {"mt-nlg-530b", "gpt-530b"},
    {"nemotron-340b", "nemotron4-340b"},
    {"llama-2-7b", "llama2-7b"},
    {"llama-3.1-8b", "llama3-8b"},
    {"llama-3.1-70b", "llama3-70b"},
    {"llama-3.1-405b", "llama3-405b"},
    {"llama3.1-8b", "llama3-8b"},
    {"llama3.1-70b", "llama3-70b"},
    {"llama3.1-405b", "llama3-405b"},
    {"llama-3.3-70b", "llama3-70b"},
    {"llama3.3-70b", "llama3-70b"},
    {"deepseek-r1", "deepseek-v3"},
};
enum { ALIASES = PP_COUNT(aliases) };

const char *pp_model_name(int i)
{
    return pp_model_presets[i].name;
}

/* Is true for "70B": a size alone. */
static bool is_size(const char *name)
{
    const size_t digits = strspn(name, "0123456789.");

    return digits > 0 && name[digits] != '\0' && strchr("mMbBtT", name[digits]) != NULL &&
           name[digits + 1] == '\0';
}

static enum pp_status unknown_model(struct pp_arena *arena, const char *name, struct pp_error *err)
{
    const char **names = NULL;
    int count = 0, capacity = 0;

    for (const struct pp_model *m = pp_model_presets; m->name != NULL; m++)
        *PP_PUSH(arena, names, count, capacity) = m->name;
    *PP_PUSH(arena, names, count, capacity) = NULL;
    if (is_size(name))
        return pp_error_set(err, PP_EINVAL,
                            "unknown model '%.80s': a model that is known only by its size is "
                            "--params %s",
                            name, name);
    if (access(name, F_OK) == 0)
        return pp_error_set(err, PP_EINVAL,
                            "unknown model '%.80s': the file or folder here is ./%.80s", name,
                            name);
    const char *near = pp_suggest(name, names);
    if (near != NULL)
        return pp_error_set(err, PP_EINVAL,
                            "unknown model '%.80s': did you mean '%s'? (`pipesim models` lists "
                            "them; a file is given by its path, as in ./config.json)",
                            name, near);
    return pp_error_set(err, PP_EINVAL,
                        "unknown model '%.80s': `pipesim models` lists the presets, such as "
                        "tiny, gpt2, gpt3-175b or llama3-8b; a file is given by its path, as in "
                        "./config.json",
                        name);
}

static const struct pp_model *preset_of(const char *name)
{
    const struct pp_model *m = pp_model_presets;

    while (m->name != NULL && !pp_same_name(name, m->name))
        m++;
    return m->name != NULL ? m : NULL;
}

static bool is_path(const char *text)
{
    return strchr(text, '/') != NULL || pp_has_suffix(text, ".json");
}

/* Is true for "OWNER/NAME", as the hub writes a model, unless it is a file here. */
static bool is_hub_name(const char *text)
{
    const char *slash = strchr(text, '/');

    return slash != NULL && isalnum((unsigned char)*text) && isalnum((unsigned char)slash[1]) &&
           strchr(slash + 1, '/') == NULL && !pp_has_suffix(text, ".json") &&
           access(text, F_OK) != 0;
}

static enum pp_status load_hub_name(struct pp_arena *arena, const char *name,
                                    struct pp_model *model, struct pp_error *err)
{
    static const char meta[] = "Meta-"; /* Meta-Llama-3-70B */
    const char *own = strchr(name, '/') + 1;
    bool is_exact = false;

    own += strncmp(own, meta, sizeof meta - 1) == 0 ? sizeof meta - 1 : 0;
    if (!pp_model_published(arena, own, model, &is_exact) || !is_exact)
        return pp_error_set(err, PP_EFAIL,
                            "cannot open %.80s: no such file, and no preset has this name "
                            "(`pipesim models` lists them). Models of the hub are not downloaded: "
                            "fetch its config.json and give the path, as in ./config.json",
                            name);
    model->notes = pp_arena_printf(arena, "%s is built in as %s", name, model->name);
    return PP_OK;
}

/* Returns the config.json of a folder, or the path itself. */
static const char *file_of(struct pp_arena *arena, const char *path)
{
    struct stat about;
    size_t length = strlen(path);

    if (stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
        return path;
    while (length > 1 && path[length - 1] == '/')
        length--;
    return pp_arena_printf(arena, "%.*s/config.json", (int)length, path);
}

/* Weights alone do not say what model they are of. */
static enum pp_status refuse_weights(const char *path, struct pp_error *err)
{
    const char *slash = strrchr(path, '/');

    return pp_error_set(err, PP_EINVAL,
                        "%s has weights only; give its folder, which has config.json, too: "
                        "--model %.*s",
                        path, slash ? (int)(slash + 1 - path) : 2, slash ? path : "./");
}

/* Notes that a folder with a model has the name of the preset, too. */
static void note_namesake(struct pp_arena *arena, const char *name, struct pp_model *model)
{
    if (access(pp_arena_printf(arena, "%s/config.json", name), F_OK) == 0)
        model->notes =
            pp_arena_printf(arena, "a preset; --model ./%s is the model of the folder", name);
}

enum pp_status pp_model_load(struct pp_arena *arena, const char *name_or_path,
                             struct pp_model *model, struct pp_error *err)
{
    const char *name = name_or_path;

    if (is_hub_name(name))
        return load_hub_name(arena, name, model, err);
    if (pp_has_suffix(name, ".safetensors"))
        return refuse_weights(name, err);
    if (is_path(name))
        return pp_model_from_file(arena, file_of(arena, name), model, err);
    for (size_t i = 0; i < ALIASES; i++)
        if (pp_same_name(name, aliases[i].alias))
            name = aliases[i].name;
    const struct pp_model *preset = preset_of(name);
    if (preset == NULL)
        return unknown_model(arena, name_or_path, err);
    *model = *preset;
    note_namesake(arena, name_or_path, model);
    return PP_OK;
}

/* ---- names as they are printed --------------------------------------------------------------- */

/* Kinds with many sizes: the preset that gives all but dimensions. The first match counts. */
static const struct {
    const char *start, *like;
} kinds[] = {
    {"bert", "bert-large"},         {"bloom", "bloom-176b"}, {"gpt", "gpt3-175b"},
    {"internlm", "internlm-7b"},    {"llama3", "llama3-8b"}, {"llama2", "llama2-7b"},
    {"llama1", "llama-7b"},         {"llama", "llama-7b"},   {"mpt", "mpt-7b"},
    {"nemotron4", "nemotron4-15b"},
};
enum { KINDS = PP_COUNT(kinds), PLAIN_BYTES = 96 };

/* A name's letters in lower case, digits and points; the ends of its words are marked. */
struct plain {
    char text[PLAIN_BYTES];
    bool is_end[PLAIN_BYTES];
    int length;
};

static struct plain plain_of(const char *name)
{
    struct plain plain = {.length = 0};

    for (; *name && *name != '(' && *name != '[' && plain.length < PLAIN_BYTES - 1; name++) {
        const bool is_point = *name == '.' && isdigit((unsigned char)name[1]);
        if (strncmp(name, ".0", 2) == 0 && isalpha((unsigned char)name[2])) { /* "1008.0B" */
            name++;
            continue;
        }
        if (isalnum((unsigned char)*name) || is_point)
            plain.text[plain.length++] = (char)tolower((unsigned char)*name);
        else if (plain.length > 0)
            plain.is_end[plain.length - 1] = true;
    }
    if (plain.length > 0)
        plain.is_end[plain.length - 1] = true;
    return plain;
}

/* Returns 1.7e9 for "1.7b"; 0 if there is no size. */
static double size_at(const char *text)
{
    static const struct {
        char unit;
        double factor;
    } units[] = {{'m', 1e6}, {'b', 1e9}, {'t', 1e12}};
    char *end;

    if (!isdigit((unsigned char)*text))
        return 0;
    const double number = strtod(text, &end);
    for (size_t i = 0; i < PP_COUNT(units); i++)
        if (*end == units[i].unit)
            return number * units[i].factor;
    return 0;
}

/* Is true if `given` begins with `own`, with numbers separated alike ("GPT-2 2B"). */
static bool is_start(const struct plain *own, const struct plain *given)
{
    if (own->length > given->length || memcmp(own->text, given->text, (size_t)own->length) != 0)
        return false;
    for (int i = 0; i + 1 < own->length; i++)
        if (own->is_end[i] != given->is_end[i] && isdigit((unsigned char)own->text[i]) &&
            isdigit((unsigned char)own->text[i + 1]))
            return false;
    return given->is_end[own->length - 1];
}

/* Is true if the name is the preset's, or adds only a remark or its size ("grok1 314b"). */
static bool is_named(const struct plain *given, const char *name, const struct pp_model *model)
{
    const struct plain own = plain_of(name);

    if (!is_start(&own, given))
        return false;
    if (own.length == given->length)
        return true;
    const double size = size_at(given->text + own.length), params = pp_model_params(model);
    return size > 0 ? fabs(size / params - 1) < 0.05
                    : !isdigit((unsigned char)given->text[own.length]) &&
                          given->text[own.length] != '.' && strpbrk(own.text, "0123456789") != NULL;
}

/* Returns the preset with the longest name that fits. */
static const struct pp_model *named(const struct plain *given)
{
    const struct pp_model *best = NULL;
    size_t longest = 0;

    for (const struct pp_model *m = pp_model_presets; m->name != NULL; m++)
        if (strlen(m->name) > longest && is_named(given, m->name, m)) {
            longest = strlen(m->name);
            best = m;
        }
    for (size_t i = 0; i < ALIASES; i++) {
        const struct pp_model *m = preset_of(aliases[i].name);
        if (strlen(aliases[i].alias) > longest && is_named(given, aliases[i].alias, m)) {
            longest = strlen(aliases[i].alias);
            best = m;
        }
    }
    return best;
}

static const struct pp_model *like(const struct plain *given)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strncmp(given->text, kinds[i].start, strlen(kinds[i].start)) == 0)
            return preset_of(kinds[i].like);
    return NULL;
}

/* Returns the number in "(8-layer proxy)", 0 = none. */
static int proxy_layers(const char *name)
{
    const char *words = strstr(name, "-layer proxy");
    int layers = 0;

    while (words && words > name && isdigit((unsigned char)words[-1]))
        words--;
    for (; words && isdigit((unsigned char)*words) && layers < 100000; words++)
        layers = 10 * layers + (*words - '0');
    return layers;
}

bool pp_model_published(struct pp_arena *arena, const char *name, struct pp_model *model,
                        bool *is_exact)
{
    struct plain given = plain_of(name);
    if (given.length > 0 && size_at(given.text) > 0) /* a lone size is one of Megatron's */
        given = plain_of(pp_arena_printf(arena, "gpt-%s", name));
    const struct pp_model *found = given.length > 0 ? named(&given) : NULL;
    const int layers = proxy_layers(name);

    *is_exact = found != NULL;
    if (found == NULL && given.length > 0)
        found = like(&given);
    if (found == NULL)
        return false;
    *model = *found;
    if (layers > 0) {
        model->layers = layers;
        model->name = pp_arena_printf(arena, "%s, %d layers", found->name, layers);
    }
    if (strstr(name, "w/ MTP") != NULL)
        model->mtp = 1;
    return true;
}
