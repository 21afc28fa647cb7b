/* Ways to need less memory, but for recomputation. */
#include "schedules/registry.h"
#include "sim/fit/parts.h"

#include <string.h>

struct change;

/* A way to need less memory, and its values. */
struct kind {
    bool (*take)(const struct change *change);
    const char *word; /* a schedule, or a home of state */
    int zero;
    unsigned classes; /* of state, as bits */
    bool has_cpu_update, is_by_layer;
    enum pp_relief_after after;
};

/* A setting to change. */
struct change {
    struct pp_relief_setting *s;
    const struct pp_config *c;
    struct pp_arena *arena;
    const struct kind *row;
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

    if (copies < 2 || x->s->zero < 0 || x->s->zero >= x->row->zero ||
        !pp_tool_has_zero(x->c->tool, x->s->layout.pp > 1, x->row->zero))
        return false;
    x->s->zero = x->row->zero;
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
    if (x->c->file_program || x->s->layout.pp == 1 || !strcmp(x->s->schedule, x->row->word) ||
        !pp_schedule_runs_in(pp_schedule_find(x->row->word), NULL, x->c->tool))
        return false;
    x->s->schedule = x->row->word;
    return true;
}

/* Is true if a text of --offload has a home for a class, "g=". */
static bool has_home(const char *offload, const char *class)
{
    for (const char *item = offload; item; item = strchr(item, ',')) {
        item += *item == ',';
        if (!strncmp(item, class, strlen(class)) && item[strlen(class)] == '=')
            return true;
    }
    return false;
}

/* Gives classes of state another home; those that have one keep it. */
static bool offload(const struct change *x)
{
    const struct kind *row = x->row;
    const char *homes = x->s->offload;

    if (x->c->tool && row->classes & ~x->c->tool->offloads)
        return false;
    for (int class = 0; class < PP_STATE_CLASSES; class ++) {
        const char *name = pp_state_class_names[class];
        if (!(row->classes >> class & 1) || has_home(x->s->offload, name))
            continue;
        homes = pp_arena_printf(x->arena, "%s%s%s=%s", homes ? homes : "", homes ? "," : "", name,
                                row->word);
    }
    if (homes == x->s->offload)
        return false;
    x->s->offload = homes;
    x->s->has_cpu_update |= row->has_cpu_update;
    x->s->is_offloaded_by_layer |= row->is_by_layer;
    return true;
}

/* No software that has a configuration file quantises what it saves. */
static bool quantise(const struct change *x)
{
    if (x->s->act_bits || x->c->tool)
        return false;
    x->s->act_bits = 8;
    return true;
}

#define CLASS(name) (1u << PP_STATE_##name)

static const struct kind KINDS[PP_RELIEF_KINDS] = {
    {share_sequence},
    {shard, .zero = 1},
    {shard, .zero = 2},
    {shard, .zero = 3},
    {halve_mbs},
    {change_schedule, "1f1b"},
    {change_schedule, "v-half"},
    {double_tp},
    {double_pp},
    {double_cp},
    {offload, "host", .classes = CLASS(OPTIMIZER)},
    {offload, "host:auto", .classes = CLASS(OPTIMIZER), .after = PP_RELIEF_AFTER_SLOW_FIT},
    {offload, "host:auto", .classes = CLASS(OPTIMIZER), .has_cpu_update = true,
     .after = PP_RELIEF_AFTER_SLOW_FIT},
    {offload, "host", .classes = CLASS(GRADS) | CLASS(OPTIMIZER), .has_cpu_update = true},
    {offload, "host", .classes = CLASS(ACTIVATIONS), .is_by_layer = true},
    {offload, "host", .classes = CLASS(ACTIVATIONS), .after = PP_RELIEF_AFTER_NO_HELP},
    {quantise},
};

bool pp_relief_take(struct pp_arena *arena, int kind, struct pp_relief_setting *setting,
                    const struct pp_config *config)
{
    const struct change change = {setting, config, arena, &KINDS[kind]};

    return KINDS[kind].take(&change);
}

enum pp_relief_after pp_relief_after(int kind)
{
    return KINDS[kind].after;
}
