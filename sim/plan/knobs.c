/* --free: which knobs of a layout are open. */
#include "core/cli/request.h"
#include "sim/plan/search.h"
#include "sim/plan/state.h"

#include <string.h>

const struct pp_search_knob pp_search_knobs[PP_SEARCH_AXES] = {
    [PP_SEARCH_CP] = {"cp", "context-parallel degree: powers of two that leave 1,024 tokens",
                      PP_NAMES("cp")},
    [PP_SEARCH_EP] = {"ep", "expert-parallel degree: divisors of the number of experts",
                      PP_NAMES("ep")},
    [PP_SEARCH_MBS] = {"mbs", "samples of a micro-batch: 1, 2, 4, 8", PP_NAMES("mbs")},
    [PP_SEARCH_MODULES] = {"modules", "of selective recomputation: every set of modules",
                           PP_NAMES("recompute")},
    [PP_SEARCH_PP] = {"pp", "pipeline ranks: divisors of the devices, up to a layer each",
                      PP_NAMES("pp")},
    [PP_SEARCH_RECOMPUTE] = {"recompute", "what is computed again: none, selective, full",
                             PP_NAMES("recompute")},
    [PP_SEARCH_SCHEDULE] = {"schedule", "all that can be executed, or those of --schedule",
                            PP_NAMES("schedule")},
    [PP_SEARCH_TP] = {"tp", "tensor-parallel degree: divisors of the heads, within a node",
                      PP_NAMES("tp")},
    [PP_SEARCH_VP] = {"vp",
                      "chunks of a rank, for schedules that have a choice: powers of two "
                      "and what divides the layers",
                      PP_NAMES("vp")},
    [PP_SEARCH_ZERO] = {"zero", "ZeRO stage 0 or 1", PP_NAMES("zero", "shard")},
};

/* A list of schedules leaves a choice; one alone does not. */
static bool settles(const struct pp_request *request, const char *option)
{
    enum pp_origin origin;
    const struct pp_option_value *value = pp_request_get(request, option, &origin);

    return value && origin == PP_FROM_FLAG &&
           (strcmp(option, "schedule") != 0 ||
            (!strchr(value->text, ',') && strcmp(value->text, "all") != 0));
}

static const char *settled_by(const struct pp_request *request, const struct pp_search_knob *knob)
{
    for (const char *const *name = knob->settled_by; *name; name++)
        if (settles(request, *name))
            return *name;
    return NULL;
}

static enum pp_status unknown(const char *word, struct pp_error *err)
{
    const char *names[PP_SEARCH_AXES + 2];
    int count = 0;

    for (; count < PP_SEARCH_AXES; count++)
        names[count] = pp_search_knobs[count].name;
    names[count++] = "shard";
    names[count] = NULL;
    const char *near = pp_suggest(word, names);
    pp_error_set(err, PP_EINVAL, "--free: unknown '%s'; ", word);
    if (near)
        return pp_error_append(err, "did you mean %s?", near);
    pp_error_append(err, "what can be free:");
    for (int i = 0; i < count; i++)
        pp_error_append(err, "%s %s", i ? "," : "", names[i]);
    return err->status;
}

static int knob_of(const char *word)
{
    for (int i = 0; i < PP_SEARCH_AXES; i++)
        if (!strcmp(pp_search_knobs[i].name, word))
            return i;
    return -1;
}

static enum pp_status check_name(const struct pp_request *request, const char *word,
                                 struct pp_search_space *space, struct pp_error *err)
{
    (void)request, (void)space;
    return knob_of(word) >= 0 || !strcmp(word, "shard") ? PP_OK : unknown(word, err);
}

static enum pp_status free_one(const struct pp_request *request, const char *word,
                               struct pp_search_space *space, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];
    const int i = knob_of(word);

    if (i < 0)
        return pp_error_set(err, PP_EINVAL,
                            "--free shard: all ways to cut state are tried for one layout: give "
                            "it alone, or with recompute");
    const char *option = settled_by(request, &pp_search_knobs[i]);
    if (option)
        return pp_error_set(err, PP_EINVAL, "%s contradicts --free %s",
                            pp_request_typed(request, option, typed), word);
    space->is_free[i] = true;
    return PP_OK;
}

static enum pp_status
each_word(const struct pp_request *request, const char *text,
          enum pp_status (*take)(const struct pp_request *request, const char *word,
                                 struct pp_search_space *space, struct pp_error *err),
          struct pp_search_space *space, struct pp_error *err)
{
    char word[64];

    for (const char *at = text; at;) {
        const int length = (int)strcspn(at, ",");
        snprintf(word, sizeof(word), "%.*s", length, at);
        PP_TRY(take(request, word, space, err));
        at = at[length] ? at + length + 1 : NULL;
    }
    return PP_OK;
}

enum pp_status pp_search_free(const struct pp_request *request, struct pp_search_space *space,
                              struct pp_error *err)
{
    const char *text = pp_request_text(request, "free", NULL);

    for (int i = 0; !text && i < PP_SEARCH_AXES; i++)
        space->is_free[i] = i != PP_SEARCH_MODULES && !settled_by(request, &pp_search_knobs[i]);
    PP_TRY(each_word(request, text, check_name, space, err));
    return each_word(request, text, free_one, space, err);
}
