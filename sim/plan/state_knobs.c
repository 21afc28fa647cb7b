/* What pipesim plan can leave free. */
#include "core/cli/request.h"
#include "core/cost/analytic/shards.h"
#include "sim/plan/state.h"
#include "sim/resolve/resolve.h"

#include <stdlib.h>
#include <string.h>

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
    static const enum pp_recompute values[] = {PP_RECOMPUTE_NONE, PP_RECOMPUTE_SELECTIVE,
                                               PP_RECOMPUTE_FULL};

    *count = sizeof(values) / sizeof(*values);
    *list = PP_ARRAY(arena, struct pp_config, *count);
    for (int i = 0; i < *count; i++) {
        (*list)[i] = *base;
        (*list)[i].costs.recompute = values[i];
        PP_TRY(pp_resolve_blocks(arena, &(*list)[i], err));
    }
    return PP_OK;
}

const struct pp_state_plan_knob pp_state_plan_knobs[] = {
    {"recompute", "what is computed again in the backward", PP_NAMES("recompute"),
     recompute_values},
    {"shard", "over how many devices parameters, gradients and optimizer state are cut",
     PP_NAMES("zero", "shard"), shard_values},
    {NULL, NULL, NULL, NULL},
};

/* ---- --free ---------------------------------------------------------------------------------- */

/* What a preset says about a knob that the user frees is dropped with its other defaults. */
static enum pp_status add(const struct pp_request *request, const struct pp_state_plan_knob *knob,
                          struct pp_state_plan *planner, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];
    enum pp_origin origin;

    for (int i = 0; i < planner->knob_count; i++)
        if (planner->knobs[i] == knob)
            return PP_OK;
    for (const char *const *name = knob->settled_by; *name; name++)
        if (pp_request_get(request, *name, &origin) && origin == PP_FROM_FLAG)
            return pp_error_set(err, PP_EINVAL, "%s contradicts --free %s",
                                pp_request_typed(request, *name, typed), knob->name);
    planner->knobs[planner->knob_count++] = knob;
    return PP_OK;
}

static const struct pp_state_plan_knob *knob_of(const char *name, int length)
{
    const struct pp_state_plan_knob *knob = pp_state_plan_knobs;

    while (knob->name && (strncmp(knob->name, name, (size_t)length) != 0 || knob->name[length]))
        knob++;
    return knob->name ? knob : NULL;
}

bool pp_state_plan_has(const char *list)
{
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (!knob_of(at, (int)strcspn(at, ",")))
            return false;
    return true;
}

enum pp_status pp_state_plan_free(const struct pp_request *request, struct pp_state_plan *planner,
                                  struct pp_error *err)
{
    const char *list = pp_request_text(request, "free", "shard");

    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        PP_TRY(add(request, knob_of(at, (int)strcspn(at, ",")), planner, err));
    return PP_OK;
}
