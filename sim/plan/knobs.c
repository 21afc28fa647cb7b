/* Knobs that pipesim plan can leave free, and --free. */
#include "core/cost/analytic/shards.h"
#include "sim/cli/wish.h"
#include "sim/plan/search.h"
#include "sim/plan/state.h"
#include "sim/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

/* ---- knobs of layouts ------------------------------------------------------------------------ */

const struct pp_search_knob pp_search_knobs[PP_SEARCH_AXES] = {
    [PP_SEARCH_CP] = {"cp", PP_NAMES("cp")},
    [PP_SEARCH_EP] = {"ep", PP_NAMES("ep")},
    [PP_SEARCH_MBS] = {"mbs", PP_NAMES("mbs")},
    [PP_SEARCH_MODULES] = {"modules", PP_NAMES("recompute")},
    [PP_SEARCH_PP] = {"pp", PP_NAMES("pp")},
    [PP_SEARCH_RECOMPUTE] = {"recompute", PP_NAMES("recompute")},
    [PP_SEARCH_SCHEDULE] = {"schedule", PP_NAMES("schedule")},
    [PP_SEARCH_TP] = {"tp", PP_NAMES("tp")},
    [PP_SEARCH_VP] = {"vp", PP_NAMES("vp")},
    [PP_SEARCH_ZERO] = {"zero", PP_NAMES("zero", "shard")},
};

/* ---- knobs of the state of one layout -------------------------------------------------------- */

static enum pp_status shard_values(struct pp_arena *arena, const struct pp_config *base,
                                   struct pp_config **list, int *count, struct pp_error *err)
{
    const struct pp_shard_space space = pp_shard_space(arena, base->state.replicas);

    (void)err;
    *count = space.count;
    *list = PP_ARRAY(arena, struct pp_config, space.count);
    for (int i = 0; i < space.count; i++) {
        (*list)[i] = *base;
        memcpy((*list)[i].state.shard, space.list[i].shard, sizeof(space.list[i].shard));
    }
    return PP_OK;
}

static enum pp_status recompute_values(struct pp_arena *arena, const struct pp_config *base,
                                       struct pp_config **list, int *count, struct pp_error *err)
{
    struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS];

    *count = pp_resolve_levels(base, levels);
    *list = PP_ARRAY(arena, struct pp_config, *count);
    for (int i = 0; i < *count; i++) {
        (*list)[i] = *base;
        (*list)[i].costs.recompute = levels[i].recompute;
        (*list)[i].costs.again = levels[i].again;
        PP_TRY(pp_resolve_blocks(arena, &(*list)[i], err));
    }
    return PP_OK;
}

static const struct pp_state_plan_knob state_knobs[] = {
    {"act-bits", PP_NAMES("act-bits"), 0, NULL},
    {"cache", PP_NAMES("cache"), 0, NULL},
    {"gather", PP_NAMES("gather"), 0, NULL},
    {"offload", PP_NAMES("offload", "cpu-optimizer"), 0, NULL},
    {"recompute", PP_NAMES("recompute"), PP_CHOSE_RECOMPUTE, recompute_values},
    {"shard", PP_NAMES("zero", "shard"), PP_CHOSE_ZERO, shard_values},
    {NULL, NULL, 0, NULL},
};

/* ---- --free ---------------------------------------------------------------------------------- */

/* Is true if the command line gives `option`; a list of schedules still leaves a choice. */
static bool settles(const struct pp_wish *wish, const char *option)
{
    enum pp_origin origin;
    const struct pp_option_value *value = pp_request_get(&wish->request, option, &origin);

    return value && origin == PP_FROM_FLAG &&
           (strcmp(option, "schedule") != 0 ||
            (!strchr(value->text, ',') && strcmp(value->text, "all") != 0));
}

/* Returns the first of the options that settles the knob, or NULL. */
static const char *settled_by(const struct pp_wish *wish, const char *const *options)
{
    while (*options && !settles(wish, *options))
        options++;
    return *options;
}

static enum pp_status contradicts(const struct pp_wish *wish, const char *option, const char *knob,
                                  struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    return pp_error_set(err, PP_EINVAL, "%s contradicts --free %s",
                        pp_request_typed(&wish->request, option, typed), knob);
}

/* Takes the first word off a list with commas; false after the last. */
enum { WORD_BYTES = 64 };
static bool next_word(const char **list, char word[static WORD_BYTES])
{
    const char *at = *list;
    const int length = at ? (int)strcspn(at, ",") : 0;

    if (!at)
        return false;
    snprintf(word, WORD_BYTES, "%.*s", length, at);
    *list = at[length] ? at + length + 1 : NULL;
    return true;
}

static int knob_of(const char *word)
{
    for (int i = 0; i < PP_SEARCH_AXES; i++)
        if (!strcmp(pp_search_knobs[i].name, word))
            return i;
    return -1;
}

static const struct pp_state_plan_knob *state_knob_of(const char *word)
{
    const struct pp_state_plan_knob *knob = state_knobs;

    while (knob->name && strcmp(knob->name, word) != 0)
        knob++;
    return knob->name ? knob : NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static enum pp_status unknown(const char *word, struct pp_error *err)
{
    const char *names[PP_SEARCH_AXES + PP_COUNT(state_knobs)];
    int count = 0;

    for (; count < PP_SEARCH_AXES; count++)
        names[count] = pp_search_knobs[count].name;
    for (const struct pp_state_plan_knob *knob = state_knobs; knob->name; knob++)
        if (knob_of(knob->name) < 0)
            names[count++] = knob->name;
    names[count] = NULL;
    qsort(names, (size_t)count, sizeof(*names), by_name);
    const char *near = pp_suggest(word, names);
    pp_error_set(err, PP_EINVAL, "--free: unknown '%s'; ", word);
    if (near)
        return pp_error_append(err, "did you mean %s?", near);
    pp_error_append(err, "what can be free:");
    for (int i = 0; i < count; i++)
        pp_error_append(err, "%s %s", i ? "," : "", names[i]);
    return err->status;
}

static int tier_of(const char *word)
{
    for (int k = 0; k < PP_TIER_KNOBS; k++)
        if (!strcmp(pp_tier_knob_names[k], word))
            return k;
    return -1;
}

static enum pp_status free_one(const struct pp_wish *wish, const char *word,
                               struct pp_search_space *space, struct pp_error *err)
{
    const int i = knob_of(word), tier = tier_of(word);

    if (tier >= 0) {
        const char *given = settled_by(wish, state_knob_of(word)->settled_by);
        space->is_tier_free[tier] = true;
        return given ? contradicts(wish, given, word, err) : PP_OK;
    }
    if (i < 0)
        return pp_error_set(err, PP_EINVAL,
                            "--free %s: all ways to %s the state of one layout are tried: "
                            "give it alone, or with recompute",
                            word, strcmp(word, "shard") ? "keep" : "shard");
    const char *option = settled_by(wish, pp_search_knobs[i].settled_by);
    if (option)
        return contradicts(wish, option, word, err);
    space->is_free[i] = true;
    return PP_OK;
}

enum pp_status pp_search_free(const struct pp_wish *wish, struct pp_search_space *space,
                              struct pp_error *err)
{
    const char *text = wish->free;
    char word[WORD_BYTES];

    for (int i = 0; !text && i < PP_SEARCH_AXES; i++)
        space->is_free[i] =
            i != PP_SEARCH_MODULES && !settled_by(wish, pp_search_knobs[i].settled_by);
    for (const char *at = text; next_word(&at, word);)
        if (knob_of(word) < 0 && !state_knob_of(word))
            return unknown(word, err);
    for (const char *at = text; next_word(&at, word);)
        PP_TRY(free_one(wish, word, space, err));
    return PP_OK;
}

bool pp_state_plan_has(const char *list)
{
    char word[WORD_BYTES];

    while (next_word(&list, word))
        if (!state_knob_of(word))
            return false;
    return true;
}

/* Frees a knob; a preset's value for it gives way. */
static enum pp_status free_state(const struct pp_wish *wish, const struct pp_state_plan_knob *knob,
                                 struct pp_state_plan *planner, struct pp_error *err)
{
    const char *option = settled_by(wish, knob->settled_by);

    for (int i = 0; i < planner->knob_count; i++)
        if (planner->knobs[i] == knob)
            return PP_OK;
    if (option)
        return contradicts(wish, option, knob->name, err);
    planner->knobs[planner->knob_count++] = knob;
    for (int k = 0; k < PP_TIER_KNOBS; k++)
        planner->is_tier_free[k] |= !strcmp(knob->name, pp_tier_knob_names[k]);
    return PP_OK;
}

enum pp_status pp_state_plan_free(const struct pp_wish *wish, struct pp_state_plan *planner,
                                  struct pp_error *err)
{
    const char *list = wish->free ? wish->free : wish->largest ? NULL : "shard";
    char word[WORD_BYTES];

    while (next_word(&list, word))
        PP_TRY(free_state(wish, state_knob_of(word), planner, err));
    return PP_OK;
}
