/* Homes of classes as text, such as p,os=host,a=nvme:40%, and who updates and adds up there. */
#include "schedules/select/offload.h"

#include "core/units.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Classes that can be offloaded, and in which runs there are such. */
static const struct row {
    enum pp_state_class class;
    const char *words;
    bool trains, generates;
} movable[] = {
    {PP_STATE_PARAMS, "parameters", true, true},
    {PP_STATE_GRADS, "gradients", true, false},
    {PP_STATE_OPTIMIZER, "optimizer state", true, false},
    {PP_STATE_ACTIVATIONS, "saved activations", true, false},
    {PP_STATE_CACHE, "keys and values", false, true},
};

/* A whole text, and what its run has. */
struct typed {
    const char *text;
    const struct pp_offload_scope *scope;
};

/* A part of the text. */
struct part {
    const char *at;
    size_t length;
};

static bool has_row(const struct pp_offload_scope *scope, const struct row *row)
{
    return scope->generates ? row->generates : row->trains;
}

static bool has_tier(const struct pp_offload_scope *scope, int tier)
{
    return tier != PP_TIER_PEER || scope->has_peers;
}

/* Returns the class that stands in examples. */
static const char *example_of(const struct pp_offload_scope *scope)
{
    return pp_state_class_names[scope->generates ? PP_STATE_PARAMS : PP_STATE_OPTIMIZER];
}

static enum pp_status refuse(const struct typed *typed, const char *what, struct pp_error *err)
{
    const struct pp_offload_scope *scope = typed->scope;

    pp_error_set(err, PP_EINVAL, "--offload %.60s: %s; expected ", typed->text, what);
    for (size_t i = 0; i < PP_COUNT(movable); i++) {
        if (!has_row(scope, &movable[i]))
            continue;
        for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++)
            if (has_tier(scope, tier))
                pp_error_append(err, "%s%s=%s", tier > PP_TIER_HOST ? " or " : "",
                                pp_state_class_names[movable[i].class], pp_tier_rows[tier].name);
        pp_error_append(err, " (%s), ", movable[i].words);
    }
    return pp_error_append(err, "or several with commas; %s=host:40%% moves a share",
                           example_of(scope));
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

static enum pp_status parse_share(const struct typed *typed, struct part part, double *frac,
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
        return refuse(typed, "a share lies above 0 and up to 1, or is auto", err);
    return PP_OK;
}

static enum pp_status parse_class(const struct typed *typed, struct part name,
                                  const struct row **row, struct pp_error *err)
{
    for (size_t i = 0; i < PP_COUNT(movable); i++)
        if (is_word(pp_state_class_names[movable[i].class], name)) {
            *row = &movable[i];
            return PP_OK;
        }
    return refuse(typed, "unknown class", err);
}

/* Parses "host" or "host:40%", the home of a class. */
static enum pp_status parse_home(const struct typed *typed, const struct row *row, struct part home,
                                 struct pp_state_spec *state, struct pp_error *err)
{
    const struct part share = cut(&home, ':');
    int tier = PP_TIER_HOST;

    while (tier < PP_TIERS && !is_word(pp_tier_rows[tier].name, home))
        tier++;
    if (tier == PP_TIERS)
        return refuse(typed, "unknown tier", err);
    if (state->home[row->class] != PP_TIER_DEVICE)
        return refuse(typed, "a class is given twice", err);
    state->home[row->class] = (enum pp_tier)tier;
    return share.at ? parse_share(typed, share, &state->moved_frac[row->class], err) : PP_OK;
}

/* Parses the class at `at`, which takes the home of the next one that has any. */
static enum pp_status parse_part(const struct typed *typed, const char *at,
                                 struct pp_state_spec *state, struct pp_error *err)
{
    struct part name = {at, strcspn(at, ",=")}, home = {0};
    const char *equals = strchr(at, '=');
    const struct row *row = NULL;

    PP_TRY(parse_class(typed, name, &row, err));
    if (!equals)
        return refuse(typed, "the last class names no tier", err);
    home = (struct part){equals + 1, strcspn(equals + 1, ",")};
    return parse_home(typed, row, home, state, err);
}

/* Parses all classes. */
static enum pp_status parse_text(const struct typed *typed, struct pp_state_spec *state,
                                 struct pp_error *err)
{
    for (const char *at = typed->text;; at++) {
        PP_TRY(parse_part(typed, at, state, err));
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
    {"p", "p"},          {"params", "p"},      {"param", "p"},     {"parameters", "p"},
    {"weights", "p"},    {"g", "g"},           {"grads", "g"},     {"grad", "g"},
    {"gradients", "g"},  {"os", "os"},         {"o", "os"},        {"opt", "os"},
    {"optim", "os"},     {"optimizer", "os"},  {"a", "a"},         {"act", "a"},
    {"acts", "a"},       {"activations", "a"}, {"cache", "kv"},    {"all", "p,g,os"},
    {"state", "p,g,os"}, {"host", "host"},     {"cpu", "host"},    {"ram", "host"},
    {"dram", "host"},    {"nvme", "nvme"},     {"disk", "nvme"},   {"disks", "nvme"},
    {"ssd", "nvme"},     {"drive", "nvme"},    {"drives", "nvme"}, {"peer", "peer"},
    {"peers", "peer"},
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
static void write_meant(const struct typed *typed, char meant[MEANT_BYTES])
{
    const bool has_home = strchr(typed->text, '=');
    size_t at = 0;

    for (const char *from = typed->text; *from; from++) {
        const struct part word = {from, strcspn(from, ",=:")}, name = meant_part(word);
        const char *mark = from + word.length;
        at += (size_t)snprintf(meant + at, MEANT_BYTES - at, "%.*s%.1s", (int)name.length, name.at,
                               !has_home && *mark == ':' ? "=" : mark);
        if (at >= MEANT_BYTES)
            return;
        from = *mark ? mark : mark - 1;
    }
    if (strchr(meant, '='))
        return;
    for (int tier = PP_TIER_HOST; tier < PP_TIERS; tier++)
        if (strcmp(meant, pp_tier_rows[tier].name) == 0) {
            snprintf(meant, MEANT_BYTES, "%s=%s", example_of(typed->scope),
                     pp_tier_rows[tier].name);
            return;
        }
    snprintf(meant + at, MEANT_BYTES - at, "=host");
}

/* Is true if the run has what `state` moves, and the tiers. */
static bool has_all(const struct pp_offload_scope *scope, const struct pp_state_spec *state)
{
    for (size_t i = 0; i < PP_COUNT(movable); i++) {
        const enum pp_tier home = state->home[movable[i].class];
        if (home != PP_TIER_DEVICE && !(has_row(scope, &movable[i]) && has_tier(scope, home)))
            return false;
    }
    return true;
}

enum pp_status pp_offload_parse(const char *text, const struct pp_offload_scope *scope,
                                struct pp_state_spec *state, struct pp_error *err)
{
    const struct typed typed = {text, scope};
    struct pp_state_spec near = {0};
    struct pp_error unread;
    char meant[MEANT_BYTES] = "";

    if (parse_text(&typed, state, err) == PP_OK)
        return PP_OK;
    write_meant(&typed, meant);
    if (strcmp(meant, text) != 0 &&
        parse_text(&(struct typed){meant, scope}, &near, &unread) == PP_OK && has_all(scope, &near))
        pp_error_append(err, "; nearest: --offload %s", meant);
    return PP_EINVAL;
}

/* ---- who updates ----------------------------------------------------------------------------- */

/* Parses "16e6x3". */
static enum pp_status parse_bucket(const char *text, struct pp_state_spec *state,
                                   struct pp_error *err)
{
    enum { MOST_BUCKETS = 64 };
    const char *cross = strrchr(text, 'x');
    char params[32] = "";
    int64_t count = 0;
    double size = 0;

    if (cross)
        snprintf(params, sizeof params, "%.*s", (int)(cross - text), text);
    if (!cross || cross - text >= (int)sizeof params ||
        pp_units_parse(params, PP_UNIT_COUNT, &size, NULL) != PP_OK || !(size >= 1) ||
        pp_units_parse_int(cross + 1, 1, MOST_BUCKETS, &count, NULL) != PP_OK)
        return pp_error_set(err, PP_EINVAL,
                            "--update-bucket %.40s: expected PARAMSxK, at least 1 parameter and 1 "
                            "to %d buckets; nearest: 16e6x1, 16e6x3",
                            text, MOST_BUCKETS);
    state->update_bucket_params = size;
    state->update_buckets = (int)count;
    return PP_OK;
}

static enum pp_status take_bucket(const char *text, struct pp_state_spec *state,
                                  struct pp_error *err)
{
    if (!text)
        return PP_OK;
    if (!pp_state_moves(state, PP_FOR_FETCH) && !pp_state_moves(state, PP_FOR_HOME))
        return pp_error_set(err, PP_EINVAL,
                            "--update-bucket %.40s has no effect: nothing streams through an "
                            "update of the device; nearest: --offload os=host, without "
                            "--cpu-optimizer",
                            text);
    return parse_bucket(text, state, err);
}

/* Checks the home of gradients, and takes where they add up. */
static enum pp_status take_grads(const struct pp_offload_options *o, struct pp_state_spec *state,
                                 struct pp_error *err)
{
    const bool is_away = pp_state_is_away(state, PP_STATE_GRADS);
    const char *tier = pp_tier_rows[state->home[PP_STATE_GRADS]].name;

    if (is_away && !pp_state_is_away(state, PP_STATE_OPTIMIZER))
        return pp_error_set(err, PP_EINVAL,
                            "--offload %s: optimizer state on the device is updated there, which "
                            "needs gradients there; nearest: --offload g=%s,os=%s",
                            o->homes, tier, tier);
    state->is_summed_on_device = o->is_summed_on_device;
    if (state->is_summed_on_device && !is_away)
        return pp_error_set(err, PP_EINVAL,
                            "--sum device has no effect: gradients add up on the device anyway; "
                            "nearest: --offload g=host,os=host --sum device");
    return PP_OK;
}

/* Refuses work of the host on what it does not reach: the memory of other devices. */
static enum pp_status check_reach(const struct pp_offload_options *o,
                                  const struct pp_state_spec *state, struct pp_error *err)
{
    for (int class = 0; class < PP_STATE_SHARDED; class ++) {
        const enum pp_tier home = state->home[class];
        const bool is_added = class == PP_STATE_GRADS && !o->is_summed_on_device;
        if (home == PP_TIER_DEVICE || pp_tier_rows[home].is_of_host ||
            !(is_added || o->is_cpu_update))
            continue;
        return pp_error_set(err, PP_EINVAL,
                            "--offload %s: the processors of the host %s, and do not reach %s=%s; "
                            "nearest: %s, or %s=host",
                            o->homes, is_added ? "add up gradients" : "update",
                            pp_state_class_names[class], pp_tier_rows[home].name,
                            is_added ? "--sum device" : "without --cpu-optimizer",
                            pp_state_class_names[class]);
    }
    return PP_OK;
}

enum pp_status pp_offload_take(const struct pp_offload_options *o, struct pp_state_spec *state,
                               struct pp_error *err)
{
    if (o->homes)
        PP_TRY(pp_offload_parse(o->homes, &o->scope, state, err));
    if (o->homes && !o->scope.has_peers && pp_state_has_home(state, PP_TIER_PEER))
        return pp_error_set(err, PP_EINVAL,
                            "--offload %s: memory of idle devices is only simulated; nearest: the "
                            "tier host in place of peer",
                            o->homes);
    PP_TRY(check_reach(o, state, err));
    state->is_cpu_update = o->is_cpu_update;
    if (state->is_cpu_update && !pp_state_is_away(state, PP_STATE_OPTIMIZER))
        return pp_error_set(
            err, PP_EINVAL,
            "--cpu-optimizer needs optimizer state off the device: --offload os=host or "
            "--offload os=nvme");
    PP_TRY(take_grads(o, state, err));
    state->has_early_update = o->is_early;
    if (state->has_early_update && !state->is_cpu_update)
        return pp_error_set(err, PP_EINVAL,
                            "--update jit has no effect: the device updates when its step ends; "
                            "nearest: --offload os=host --cpu-optimizer --update jit");
    return take_bucket(o->bucket, state, err);
}
