/* Ways to need less memory, but for recomputation. */
#include "schedules/registry.h"
#include "sim/fit/parts.h"

#include <string.h>

/* A setting to change, and the values of the row. */
struct change {
    struct pp_relief_setting *s;
    const struct pp_config *c;
    const char *word;
    int zero;
    unsigned class; /* bit of a class of state */
};

/* Halves the replicas or doubles the devices, so that twice as many devices share the memory. */
static bool give_devices(struct pp_layout *l)
{
    if (l->dp % 2 == 0)
        l->dp /= 2;
    else if (l->gpus <= INT32_MAX / 2)
        l->gpus *= 2;
    else
        return false;
    return true;
}

static bool share_sequence(const struct change *x)
{
    if (!x->s->is_tp_only || x->s->layout.tp == 1)
        return false;
    x->s->is_tp_only = false;
    return true;
}

static bool shard(const struct change *x)
{
    const int64_t copies = (int64_t)x->s->layout.dp * x->s->layout.cp * x->c->shape.pipelines;

    if (copies < 2 || x->s->zero < 0 || x->s->zero >= x->zero ||
        !pp_tool_has_zero(x->c->tool, x->s->layout.pp > 1, x->zero))
        return false;
    x->s->zero = x->zero;
    return true;
}

static bool halve_mbs(const struct change *x)
{
    if (x->s->layout.mbs < 2 || x->s->layout.mbs % 2)
        return false;
    x->s->layout.mbs /= 2;
    return true;
}

static bool double_tp(const struct change *x)
{
    if (2 * x->s->layout.tp > x->c->cluster.gpus_per_node)
        return false;
    x->s->layout.tp *= 2;
    return give_devices(&x->s->layout);
}

static bool double_pp(const struct change *x)
{
    if (x->c->file_program || 2 * x->s->layout.pp > x->c->model.layers)
        return false;
    x->s->layout.pp *= 2;
    return give_devices(&x->s->layout);
}

static bool double_cp(const struct change *x)
{
    if (x->c->tool && !x->c->tool->has_ring)
        return false;
    x->s->layout.cp *= 2;
    return give_devices(&x->s->layout);
}

static bool change_schedule(const struct change *x)
{
    if (x->c->file_program || x->s->layout.pp == 1 || !strcmp(x->s->schedule, x->word) ||
        !pp_schedule_runs_in(pp_schedule_find(x->word), NULL, x->c->tool))
        return false;
    x->s->schedule = x->word;
    return true;
}

static bool offload(const struct change *x)
{
    if (x->s->offload || (x->c->tool && !(x->c->tool->offloads & x->class)))
        return false;
    x->s->offload = x->word;
    return true;
}

static const struct {
    bool (*take)(const struct change *change);
    const char *word;
    int zero;
    unsigned class;
} KINDS[PP_RELIEF_KINDS] = {
    {share_sequence, NULL, 0},
    {shard, NULL, 1},
    {shard, NULL, 2},
    {shard, NULL, 3},
    {halve_mbs, NULL, 0},
    {change_schedule, "1f1b", 0},
    {change_schedule, "v-half", 0},
    {double_tp, NULL, 0},
    {double_pp, NULL, 0},
    {double_cp, NULL, 0},
    {offload, "os=host", 0, 1u << PP_STATE_OPTIMIZER},
    {offload, "a=host", 0, 1u << PP_STATE_ACTIVATIONS},
};

bool pp_relief_take(int kind, struct pp_relief_setting *setting, const struct pp_config *config)
{
    const struct change change = {setting, config, KINDS[kind].word, KINDS[kind].zero,
                                  KINDS[kind].class};

    return KINDS[kind].take(&change);
}
