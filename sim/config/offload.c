/* Homes of classes as text, such as p,os=host,a=nvme:40%. */
#include "sim/config/offload.h"

#include "core/units.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Classes that can be offloaded. */
static const struct row {
    enum pp_state_class class;
    const char *words;
} movable[] = {
    {PP_STATE_PARAMS, "parameters"},
    {PP_STATE_GRADS, "gradients"},
    {PP_STATE_OPTIMIZER, "optimizer state"},
    {PP_STATE_ACTIVATIONS, "saved activations"},
};

/* A part of the text. */
struct part {
    const char *at;
    size_t length;
};

static enum pp_status refuse(const char *text, const char *what, struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "--offload %.60s: %s; expected ", text, what);
    for (size_t i = 0; i < PP_COUNT(movable); i++) {
        for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++)
            pp_error_append(err, "%s%s=%s", tier > PP_TIER_HOST ? " or " : "",
                            pp_state_class_names[movable[i].class], pp_tier_rows[tier].name);
        pp_error_append(err, " (%s), ", movable[i].words);
    }
    return pp_error_append(err, "or several with commas; os=host:40%% moves a share");
}

static bool is_word(const char *word, struct part part)
{
    return strlen(word) == part.length && memcmp(word, part.at, part.length) == 0;
}

/* Cuts `part` before the first `mark`; returns what follows it, without text if there is none. */
static struct part cut(struct part *part, char mark)
{
    const char *found = memchr(part->at, mark, part->length);
    struct part rest = {0};

    if (!found)
        return rest;
    rest = (struct part){found + 1, part->length - (size_t)(found + 1 - part->at)};
    part->length = (size_t)(found - part->at);
    return rest;
}

static enum pp_status parse_share(const char *text, struct part part, double *frac,
                                  struct pp_error *err)
{
    char share[32];

    if (is_word("auto", part)) {
        *frac = -1;
        return PP_OK;
    }
    snprintf(share, sizeof share, "%.*s", (int)part.length, part.at);
    if (part.length >= sizeof share || pp_units_parse(share, PP_UNIT_FRAC, frac, err) != PP_OK ||
        !(*frac > 0) || *frac > 1)
        return refuse(text, "a share lies above 0 and up to 1, or is auto", err);
    return PP_OK;
}

static enum pp_status parse_class(const char *text, struct part name, const struct row **row,
                                  struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(movable); i++)
        if (is_word(pp_state_class_names[movable[i].class], name)) {
            *row = &movable[i];
            return PP_OK;
        }
    return refuse(text, "unknown class", err);
}

/* Parses "host" or "host:40%", the home of a class. */
static enum pp_status parse_home(const char *text, const struct row *row, struct part home,
                                 struct pp_state_spec *state, struct pp_error *err)
{
    const struct part share = cut(&home, ':');
    int tier = PP_TIER_HOST;

    while (tier < PP_TIERS && !is_word(pp_tier_rows[tier].name, home))
        tier++;
    if (tier == PP_TIERS)
        return refuse(text, "unknown tier", err);
    if (state->home[row->class] != PP_TIER_DEVICE)
        return refuse(text, "a class is given twice", err);
    state->home[row->class] = (enum pp_tier)tier;
    return share.at ? parse_share(text, share, &state->moved_frac[row->class], err) : PP_OK;
}

/* Parses the class at `at`, which takes the home of the next one that has any. */
static enum pp_status parse_part(const char *text, const char *at, struct pp_state_spec *state,
                                 struct pp_error *err)
{
    struct part name = {at, strcspn(at, ",=")}, home = {0};
    const char *equals = strchr(at, '=');
    const struct row *row = NULL;

    PP_TRY(parse_class(text, name, &row, err));
    if (!equals)
        return refuse(text, "the last class names no tier", err);
    home = (struct part){equals + 1, strcspn(equals + 1, ",")};
    return parse_home(text, row, home, state, err);
}

/* Parses all classes of `text`. */
static enum pp_status parse_text(const char *text, struct pp_state_spec *state,
                                 struct pp_error *err)
{
    for (const char *at = text;; at++) {
        PP_TRY(parse_part(text, at, state, err));
        at += strcspn(at, ",");
        if (!*at)
            return PP_OK;
    }
}

/* ---- the nearest text ------------------------------------------------------------------------ */

/* Words that people and frameworks use, and ours. */
static const struct meant {
    const char *word, *name;
} meant_rows[] = {
    {"p", "p"},         {"params", "p"},      {"param", "p"},    {"parameters", "p"},
    {"weights", "p"},   {"g", "g"},           {"grads", "g"},    {"grad", "g"},
    {"gradients", "g"}, {"os", "os"},         {"o", "os"},       {"opt", "os"},
    {"optim", "os"},    {"optimizer", "os"},  {"a", "a"},        {"act", "a"},
    {"acts", "a"},      {"activations", "a"}, {"all", "p,g,os"}, {"state", "p,g,os"},
    {"host", "host"},   {"cpu", "host"},      {"ram", "host"},   {"dram", "host"},
    {"nvme", "nvme"},   {"disk", "nvme"},     {"disks", "nvme"}, {"ssd", "nvme"},
    {"drive", "nvme"},  {"drives", "nvme"},
};

enum { MEANT_BYTES = 96 };

/* Returns our name of a word, or the word itself. */
static struct part meant_part(struct part word)
{
    for (size_t i = 0; i < PP_COUNT(meant_rows); i++)
        if (strlen(meant_rows[i].word) == word.length &&
            strncasecmp(meant_rows[i].word, word.at, word.length) == 0)
            return (struct part){meant_rows[i].name, strlen(meant_rows[i].name)};
    return word;
}

/* Writes `text` with our names, and with host where no tier or no class is named. */
static void write_meant(const char *text, char meant[MEANT_BYTES])
{
    const bool has_tier = strchr(text, '=');
    size_t at = 0;

    for (const char *from = text; *from; from++) {
        const struct part word = {from, strcspn(from, ",=:")}, name = meant_part(word);
        const char *mark = from + word.length;
        at += (size_t)snprintf(meant + at, MEANT_BYTES - at, "%.*s%.1s", (int)name.length, name.at,
                               !has_tier && *mark == ':' ? "=" : mark);
        if (at >= MEANT_BYTES)
            return;
        from = *mark ? mark : mark - 1;
    }
    if (strchr(meant, '='))
        return;
    if (strcmp(meant, "host") == 0 || strcmp(meant, "nvme") == 0) {
        memmove(meant + 3, meant, strlen(meant) + 1);
        memcpy(meant, "os=", 3);
    } else {
        snprintf(meant + at, MEANT_BYTES - at, "=host");
    }
}

enum pp_status pp_offload_parse(const char *text, struct pp_state_spec *state, struct pp_error *err)
{
    struct pp_state_spec unused = {0};
    struct pp_error unread;
    char meant[MEANT_BYTES] = "";

    if (parse_text(text, state, err) == PP_OK)
        return PP_OK;
    write_meant(text, meant);
    if (strcmp(meant, text) != 0 && parse_text(meant, &unused, &unread) == PP_OK)
        pp_error_append(err, "; nearest: --offload %s", meant);
    return PP_EINVAL;
}
