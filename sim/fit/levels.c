/* Levels of recomputation around a chosen one: what each would cost and need. */
#include "sim/fit/fit.h"
#include "sim/resolve/resolve.h"

/* Simulates a run at a level by dag; false if the run cannot have it. */
static bool try_level(struct pp_arena *arena, const struct pp_result *r,
                      const struct pp_recompute_level *level, struct pp_level *tried)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_config config = r->config;
    struct pp_result result;
    struct pp_error err;
    char text[PP_RECOMPUTE_TEXT_BYTES];

    config.costs.recompute = level->recompute;
    config.costs.again = level->again;
    if (pp_resolve_blocks(scratch, &config, &err) != PP_OK ||
        pp_simulate(scratch, &config, PP_QUICK, NULL, &result, &err) != PP_OK)
        return false;
    *tried = (struct pp_level){
        .text = pp_arena_strdup(arena, pp_recompute_print(level->recompute, level->again, text)),
        .outcome = pp_outcome_of(&result),
    };
    return true;
}

const struct pp_levels *pp_levels_find(struct pp_arena *arena, const struct pp_result *r,
                                       bool has_all)
{
    struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS];
    struct pp_levels *found;

    if (r->config.is_unit || !(r->config.origin.chosen & PP_CHOSE_RECOMPUTE) ||
        r->config.costs.recompute == PP_RECOMPUTE_NONE)
        return NULL;
    const int count = pp_resolve_levels(&r->config, levels);
    found = PP_NEW(arena, struct pp_levels);
    found->list = PP_ARRAY(arena, struct pp_level, count);
    found->chosen = -1;
    for (int i = 0; i < count; i++) {
        struct pp_level level;
        const bool is_chosen = levels[i].recompute == r->config.costs.recompute &&
                               levels[i].again == r->config.costs.again;
        if ((!has_all && i > 0 && i < count - 1 && !is_chosen) ||
            !try_level(arena, r, &levels[i], &level))
            continue;
        if (is_chosen)
            found->chosen = found->count;
        found->list[found->count++] = level;
    }
    return found->chosen >= 0 ? found : NULL;
}
