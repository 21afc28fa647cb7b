#include "core/cluster.h"
#include "core/options.h"
#include "core/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NODES = 1 << 24, MAX_GPUS_PER_NODE = 4096, MAX_NICS = 1024, WORD_BYTES = 128 };

static const struct {
    const char *alias, *name;
} aliases[] = {
    {"daint", "p100-daint"},     {"dgx-1", "v100-dgx1"}, {"dgx1-v100", "v100-dgx1"},
    {"dgx-2", "v100-dgx2"},      {"dgx-a100", "a100"},   {"dgx-b200", "b200"},
    {"dgx-h100", "h100"},        {"dgx-h200", "h200"},   {"p100", "p100-daint"},
    {"piz-daint", "p100-daint"}, {"selene", "a100"},     {"v100", "v100-dgx1"},
    {"a100-80", "a100"},         {"a100-80gb", "a100"},  {"h100-80gb", "h100"},
    {"a100-40gb", "a100-40"},
};
enum { ALIASES = sizeof aliases / sizeof *aliases, NAMES_MAX = 64 };

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

/* The preset cluster that is built of a device. */
static const struct pp_cluster *find_device(const char *name)
{
    for (const struct pp_cluster *c = pp_cluster_presets; c->name != NULL; c++)
        if (pp_same_name(name, c->device.name))
            return c;
    return find_cluster(name);
}

/* ---- the keys of a text ------------------------------------------------------------------ */

struct text {
    struct pp_cluster cluster;
    double nic_bytes_per_s; /* of the whole node, 0 = not given */
};

static enum pp_status parse_count(const char *value, int high, int *count, struct pp_error *err)
{
    int64_t number;

    PP_TRY(pp_units_parse_int(value, 1, high, &number, err));
    *count = (int)number;
    return PP_OK;
}

static enum pp_status parse_quantity(const char *value, enum pp_unit unit, double *number,
                                     struct pp_error *err)
{
    PP_TRY(pp_units_parse(value, unit, number, err));
    if (!(*number > 0) || !isfinite(*number) || *number > 1e18)
        return pp_error_set(err, PP_EINVAL,
                            "%s is out of range: expected more than 0, at most 1e18", value);
    return PP_OK;
}

static enum pp_status set_nodes(struct text *text, const char *value, struct pp_error *err)
{
    return parse_count(value, MAX_NODES, &text->cluster.nodes, err);
}

static enum pp_status set_gpus(struct text *text, const char *value, struct pp_error *err)
{
    return parse_count(value, MAX_GPUS_PER_NODE, &text->cluster.gpus_per_node, err);
}

static enum pp_status set_intra(struct text *text, const char *value, struct pp_error *err)
{
    return parse_quantity(value, PP_UNIT_BYTES_PER_S, &text->cluster.intra.bytes_per_s, err);
}

/* "8x400Gbps": eight cards in a node; "400Gbps": one. */
static enum pp_status set_nic(struct text *text, const char *value, struct pp_error *err)
{
    char count_text[16];
    const size_t digits = strspn(value, "0123456789");
    int count = 1;

    if (digits > 0 && digits < sizeof count_text &&
        (value[digits] == 'x' || value[digits] == 'X')) {
        snprintf(count_text, sizeof count_text, "%.*s", (int)digits, value);
        PP_TRY(parse_count(count_text, MAX_NICS, &count, err));
        value += digits + 1;
    }
    PP_TRY(parse_quantity(value, PP_UNIT_BYTES_PER_S, &text->nic_bytes_per_s, err));
    text->nic_bytes_per_s *= count;
    return PP_OK;
}

static enum pp_status set_memory(struct text *text, const char *value, struct pp_error *err)
{
    return parse_quantity(value, PP_UNIT_BYTES, &text->cluster.device.memory_bytes, err);
}

static enum pp_status set_bandwidth(struct text *text, const char *value, struct pp_error *err)
{
    return parse_quantity(value, PP_UNIT_BYTES_PER_S, &text->cluster.device.memory_bytes_per_s,
                          err);
}

static enum pp_status set_peak(struct text *text, const char *value, struct pp_error *err)
{
    return parse_quantity(value, PP_UNIT_FLOPS_PER_S, &text->cluster.device.peak_flops_per_s, err);
}

static enum pp_status set_latency(struct text *text, const char *value, struct pp_error *err)
{
    return parse_quantity(value, PP_UNIT_SECONDS, &text->cluster.inter.alpha_s, err);
}

/* "unfused" prices software without FlashAttention. */
static enum pp_status set_attention(struct text *text, const char *value, struct pp_error *err)
{
    text->cluster.device.is_attention_unfused = strcmp(value, "unfused") == 0;
    if (text->cluster.device.is_attention_unfused || strcmp(value, "fused") == 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "expected fused or unfused");
}

/* Keys with the same `field` exclude each other: the first spelling is the one suggested. */
static const struct key {
    const char *name;
    int field;
    enum pp_status (*set)(struct text *, const char *, struct pp_error *);
    const char *example;
} keys[] = {
    {"node", 0, set_nodes, "2"},
    {"nodes", 0, set_nodes, "2"},
    {"gpu", 1, set_gpus, "8"},
    {"gpus", 1, set_gpus, "8"},
    {"device", 2, NULL, "a100"},
    {"nvlink", 3, set_intra, "300GBps"},
    {"pcie", 3, set_intra, "25GBps"},
    {"nic", 4, set_nic, "8x200Gbps"},
    {"memory", 5, set_memory, "40GB"},
    {"hbm", 6, set_bandwidth, "1555GBps"},
    {"peak", 7, set_peak, "312TF"},
    {"latency", 8, set_latency, "5us"},
    {"attention", 9, set_attention, "unfused"},
};
enum { KEYS = sizeof keys / sizeof *keys };

static enum pp_status unknown_key(const char *word, struct pp_error *err)
{
    const char *names[KEYS + 1];

    for (int i = 0; i < KEYS; i++)
        names[i] = keys[i].name;
    names[KEYS] = NULL;
    const char *near = pp_suggest(word, names);
    pp_error_set(err, PP_EINVAL, "--cluster: unknown key '%.60s': ", word);
    if (near != NULL)
        pp_error_append(err, "did you mean '%s'? ", near);
    return pp_error_append(err,
                           "(known are node gpu device nvlink pcie nic memory hbm peak latency "
                           "attention, as in \"node:2 gpu:8 device:a100 nic:8x200Gbps\")");
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

struct words {
    char text[WORD_BYTES];
    const char *rest;
};

static bool is_separator(char c)
{
    return c == ',' || isspace((unsigned char)c);
}

/* The next word of the text, split at white space and commas. A word that is too long is an error
 * of its own, so that nothing is cut silently. */
static enum pp_status next_word(struct words *words, bool *found, struct pp_error *err)
{
    const char *start = words->rest;

    while (is_separator(*start))
        start++;
    size_t length = 0;
    while (start[length] != '\0' && !is_separator(start[length]))
        length++;
    if (length >= WORD_BYTES)
        return pp_error_set(err, PP_EINVAL, "--cluster: '%.40s...' is too long", start);
    memcpy(words->text, start, length);
    words->text[length] = '\0';
    words->rest = start + length;
    *found = length > 0;
    return PP_OK;
}

/* Cut "key:value" or "key=value"; NULL when the word is a bare name. */
static char *split_value(char *word)
{
    char *separator = word + strcspn(word, ":=");

    if (*separator == '\0')
        return NULL;
    *separator = '\0';
    return separator + 1;
}

/* The preset that the text starts from: its device's, or the one it names first. */
static enum pp_status find_base(const char *text, const struct pp_cluster **base,
                                struct pp_error *err)
{
    struct words words = {.rest = text};
    const struct pp_cluster *named = NULL;
    bool found;

    *base = find_cluster("h100");
    for (int i = 0;; i++) {
        PP_TRY(next_word(&words, &found, err));
        if (!found)
            return PP_OK;
        char *value = split_value(words.text);
        if (value == NULL) {
            named = find_cluster(words.text);
            if (named == NULL)
                return unknown_name("cluster", words.text, err);
            if (i > 0)
                return pp_error_set(err, PP_EINVAL,
                                    "--cluster: '%s' must stand first, before the keys",
                                    words.text);
            *base = named;
        } else if (strcmp(words.text, "device") == 0) {
            if (named != NULL)
                return pp_error_set(err, PP_EINVAL,
                                    "--cluster: device:%s after the preset %s: give one of them",
                                    value, named->name);
            *base = find_device(value);
            if (*base == NULL)
                return unknown_name("device", value, err);
        }
    }
}

static enum pp_status set_key(struct text *text, const char *word, const char *value,
                              unsigned *given, struct pp_error *err)
{
    const struct key *key = keys;

    while (key < keys + KEYS && strcmp(word, key->name) != 0)
        key++;
    if (key == keys + KEYS)
        return unknown_key(word, err);
    if (*given & (1u << key->field))
        return pp_error_set(err, PP_EINVAL, "--cluster: '%s' is given twice", word);
    *given |= 1u << key->field;
    if (key->set == NULL || key->set(text, value, err) == PP_OK)
        return PP_OK;
    pp_error_prefix(err, "--cluster: %s:%s: ", word, value);
    return pp_error_append(err, " (as in %s:%s)", key->name, key->example);
}

static enum pp_status parse_text(struct pp_arena *arena, const char *source, struct text *text,
                                 struct pp_error *err)
{
    struct words words = {.rest = source};
    unsigned given = 0;
    bool found;

    for (;;) {
        PP_TRY(next_word(&words, &found, err));
        if (!found)
            break;
        const char *value = split_value(words.text);
        if (value != NULL)
            PP_TRY(set_key(text, words.text, value, &given, err));
    }
    if (given == 0)
        return PP_OK;
    struct pp_cluster *c = &text->cluster;
    if (text->nic_bytes_per_s > 0)
        c->inter.bytes_per_s = text->nic_bytes_per_s / c->gpus_per_node;
    c->title = pp_arena_printf(arena, "as given, other values from %s", c->name);
    c->source = pp_arena_printf(arena, "given by --cluster; other values: %s", c->source);
    c->name = pp_arena_strdup(arena, source);
    return PP_OK;
}

enum pp_status pp_cluster_load(struct pp_arena *arena, const char *text, struct pp_cluster *cluster,
                               struct pp_error *err)
{
    const struct pp_cluster *base;
    struct words words = {.rest = text};
    bool found;

    PP_TRY(next_word(&words, &found, err));
    if (!found)
        return pp_error_set(err, PP_EINVAL,
                            "--cluster is empty: expected a preset or a text as \"node:2 gpu:8\"");
    PP_TRY(find_base(text, &base, err));
    struct text parsed = {.cluster = *base};
    PP_TRY(parse_text(arena, text, &parsed, err));
    *cluster = parsed.cluster;
    return PP_OK;
}
