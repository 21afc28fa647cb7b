/* A cluster by its name or from a text of keys. */
#include "core/cli/options.h"
#include "core/cluster/fabric.h"
#include "core/cluster/text.h"

#include <string.h>

enum { WORD_BYTES = 128 };

const char *pp_cluster_name(int i)
{
    return pp_cluster_presets[i].name;
}

static const struct {
    const char *alias, *name;
} aliases[] = {
    {"daint", "p100-daint"},     {"dgx-1", "v100-dgx1"}, {"dgx1-v100", "v100-dgx1"},
    {"dgx-2", "v100-dgx2"},      {"dgx-a100", "a100"},   {"dgx-b200", "b200"},
    {"dgx-h100", "h100"},        {"dgx-h200", "h200"},   {"p100", "p100-daint"},
    {"piz-daint", "p100-daint"}, {"selene", "a100"},     {"v100", "v100-dgx1"},
    {"a100-80", "a100"},         {"a100-80gb", "a100"},  {"h100-80gb", "h100"},
    {"a100-40gb", "a100-40"},    {"4090", "rtx4090"},    {"5090", "rtx5090"},
    {"alps", "gh200"},           {"mi300", "mi300x"},    {"mi325", "mi325x"},
};
enum { ALIASES = PP_COUNT(aliases), NAMES_MAX = 64 };

static const struct pp_cluster *find_cluster(const char *name)
{
    for (size_t i = 0; i < ALIASES; i++)
        if (pp_same_name(name, aliases[i].alias))
            name = aliases[i].name;
    for (const struct pp_cluster *c = pp_cluster_presets; c->name != NULL; c++)
        if (pp_same_name(name, c->name))
            return c;
    return NULL;
}

/* Returns the preset cluster that is built of a device. */
static const struct pp_cluster *find_device(const char *name)
{
    for (const struct pp_cluster *c = pp_cluster_presets; c->name != NULL; c++)
        if (pp_same_name(name, c->device.name))
            return c;
    return find_cluster(name);
}

static enum pp_status unknown_name(const char *what, const char *word, struct pp_error *err)
{
    const char *names[NAMES_MAX];
    size_t count = 0;

    for (const struct pp_cluster *c = pp_cluster_presets;
         c->name != NULL && count + ALIASES + 1 < NAMES_MAX; c++)
        names[count++] = c->name;
    for (size_t i = 0; i < ALIASES; i++)
        names[count++] = aliases[i].alias;
    names[count] = NULL;
    const char *near = pp_suggest(word, names);
    pp_error_set(err, PP_EINVAL, "--cluster: unknown %s '%.60s': ", what, word);
    if (near != NULL)
        return pp_error_append(err, "did you mean '%s'? (`pipesim clusters` lists them)", near);
    pp_error_append(err, "built in are");
    for (const struct pp_cluster *c = pp_cluster_presets; c->name != NULL; c++)
        pp_error_append(err, " %s", c->name);
    return pp_error_append(err, "; or a text as \"node:2 gpu:8 device:a100 nic:8x200Gbps\"");
}

/* "key:value" or "key=value"; a bare name has no value. */
struct word {
    char *key, *value;
};
struct words {
    struct word *list;
    int count;
};

/* Splits the text at white space and commas; words are not yet cut into key and value. */
static struct words words_of(struct pp_arena *arena, const char *text)
{
    struct words words = {0};
    int capacity = 0;

    for (char *rest = pp_arena_strdup(arena, text), *word; (word = strsep(&rest, ", \t\n\v\f\r"));)
        if (*word != '\0')
            *PP_PUSH(arena, words.list, words.count, capacity) = (struct word){.key = word};
    return words;
}

static enum pp_status cut(struct word *word, struct pp_error *err)
{
    char *separator = word->key + strcspn(word->key, ":=");

    if (strlen(word->key) >= WORD_BYTES)
        return pp_error_set(err, PP_EINVAL, "--cluster: '%.40s...' is too long", word->key);
    if (*separator != '\0') {
        *separator = '\0';
        word->value = separator + 1;
    }
    return PP_OK;
}

/* Finds the preset that the text starts from: its device's, or the one named first. */
static enum pp_status find_base(struct words words, const struct pp_cluster **base,
                                struct pp_error *err)
{
    const struct pp_cluster *named = NULL;

    *base = find_cluster("h100");
    for (int i = 0; i < words.count; i++) {
        struct word *word = &words.list[i];
        PP_TRY(cut(word, err));
        if (word->value == NULL) {
            named = find_cluster(word->key);
            if (named == NULL)
                return unknown_name("cluster", word->key, err);
            if (i > 0)
                return pp_error_set(err, PP_EINVAL,
                                    "--cluster: '%s' must stand first, before the keys", word->key);
            *base = named;
        } else if (strcmp(word->key, "device") == 0) {
            if (named != NULL)
                return pp_error_set(err, PP_EINVAL,
                                    "--cluster: device:%s after the preset %s: give one of them",
                                    word->value, named->name);
            *base = find_device(word->value);
            if (*base == NULL)
                return unknown_name("device", word->value, err);
        }
    }
    return PP_OK;
}

/* Checks that a machine of given size holds its nodes. */
static enum pp_status check_size(struct pp_arena *arena, const struct pp_cluster *c,
                                 struct pp_error *err)
{
    const bool is_whole =
        c->fabric.kind == PP_FABRIC_TORUS || c->fabric.kind == PP_FABRIC_DRAGONFLY;
    const int64_t devices = (int64_t)c->nodes * c->gpus_per_node;
    struct pp_fabric *fabric;

    if (!is_whole || devices == 0)
        return PP_OK;
    if (devices > INT32_MAX)
        return pp_error_set(err, PP_EINVAL, "--cluster: a %s of %lld devices is too large",
                            pp_fabric_names[c->fabric.kind], (long long)devices);
    return pp_fabric_make(arena, c, (int)devices, &fabric, err);
}

/* Returns the NICs of a node with another number of devices: as many per device as the preset. */
static int nics_of(const struct pp_cluster *preset, int gpus_per_node)
{
    const int64_t nics = (int64_t)preset->fabric.nics * gpus_per_node / preset->gpus_per_node;

    return nics > 1 ? (int)nics : 1;
}

static enum pp_status parse_text(struct pp_arena *arena, const char *source, struct words words,
                                 struct pp_cluster_text *text, struct pp_error *err)
{
    const struct pp_cluster preset = text->cluster;

    for (int i = 0; i < words.count; i++)
        if (words.list[i].value != NULL)
            PP_TRY(pp_cluster_set_key(text, words.list[i].key, words.list[i].value, err));
    if (text->given == 0)
        return PP_OK;
    PP_TRY(pp_cluster_check_keys(text, err));
    struct pp_cluster *c = &text->cluster;
    if (pp_cluster_has_own_device(text))
        c->device.title = pp_arena_printf(arena, "custom (based on %s)", c->device.name);
    if (text->nic_bytes_per_s > 0)
        c->inter.bytes_per_s = text->nic_bytes_per_s / c->gpus_per_node;
    else
        c->fabric.nics = nics_of(&preset, c->gpus_per_node);
    c->title = pp_arena_printf(arena, "as given, other values from %s", c->name);
    c->source = pp_arena_printf(arena, "given by --cluster; other values: %s", c->source);
    c->name = pp_arena_strdup(arena, source);
    return check_size(arena, c, err);
}

enum pp_status pp_cluster_load(struct pp_arena *arena, const char *text, struct pp_cluster *cluster,
                               struct pp_error *err)
{
    const struct words words = words_of(arena, text);
    const struct pp_cluster *base;

    if (words.count == 0)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster is empty: expected a preset or a text as \"node:2 gpu:8\"");
    PP_TRY(find_base(words, &base, err));
    struct pp_cluster_text parsed = {.cluster = *base};
    PP_TRY(parse_text(arena, text, words, &parsed, err));
    *cluster = parsed.cluster;
    return PP_OK;
}
