/* A run with other flags, resolved and simulated like any other. */
#include "schedules/registry.h"
#include "sim/config/inputs.h"
#include "sim/fit/change.h"
#include "sim/fit/parts.h"
#include "sim/run/simulate.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct pp_relief_setting pp_relief_setting_of(struct pp_arena *arena, const struct pp_config *c)
{
    const struct pp_input *offload = pp_inputs_find(c, "offload");

    return (struct pp_relief_setting){
        .layout = c->layout,
        .zero = c->wanted_zero < 0 ? -1 : pp_state_zero(&c->state),
        .recompute = c->costs.recompute,
        .again = c->costs.recompute == PP_RECOMPUTE_SELECTIVE ? c->costs.again : 0,
        /* that of a file cannot be changed */
        .schedule = c->schedule ? pp_arena_strdup(arena, c->schedule->name) : "",
        .offload = offload ? pp_arena_strdup(arena, offload->value->text) : NULL,
        .act_bits = c->state.activation_bits,
        .has_cpu_update = pp_inputs_find(c, "cpu-optimizer"),
        .is_offloaded_by_layer = c->state.is_offloaded_by_layer,
        .is_tp_only = c->costs.is_tp_only,
    };
}

/* ---- flags ----------------------------------------------------------------------------------- */

bool pp_relief_has(const struct pp_relief_flags *flags, const char *name)
{
    for (int i = 0; i < flags->count; i++)
        if (!strcmp(flags->list[i].name, name))
            return true;
    return false;
}

static struct pp_relief_flag *flag_of(struct pp_relief_flags *flags, const char *name)
{
    for (int i = 0; i < flags->count; i++)
        if (!strcmp(flags->list[i].name, name))
            return &flags->list[i];
    return NULL;
}

static void put(struct pp_relief_flags *flags, const char *name, const char *value)
{
    struct pp_relief_flag *flag = flag_of(flags, name);

    if (!flag && flags->count < PP_RELIEF_FLAGS_MAX)
        flag = &flags->list[flags->count++];
    if (!flag)
        return;
    flag->name = name;
    flag->value = value;
}

static void put_int(struct pp_relief_flags *flags, const char *name, int64_t value)
{
    put(flags, name, pp_arena_printf(flags->arena, "%lld", (long long)value));
}

/* Changes the schedule. A given --vp belonged to the old one, so it becomes the new one's. */
static void change_schedule(const struct pp_config *config, const char *name,
                            struct pp_relief_flags *flags)
{
    const struct pp_schedule *schedule = pp_schedule_find(name);

    put(flags, "schedule", name);
    if (schedule && schedule->chunks && pp_inputs_find(config, "vp"))
        put_int(flags, "vp", schedule->chunks);
}

/* Homes are only added, never taken back. */
static void change_homes(const struct pp_relief_setting *from, const struct pp_relief_setting *to,
                         struct pp_relief_flags *flags)
{
    if (to->offload && (!from->offload || strcmp(from->offload, to->offload) != 0))
        put(flags, "offload", to->offload);
    if (to->has_cpu_update && !from->has_cpu_update)
        put(flags, "cpu-optimizer", NULL);
    if (to->is_offloaded_by_layer && !from->is_offloaded_by_layer)
        put(flags, "offload-unit", "layer");
    if (to->act_bits != from->act_bits)
        put_int(flags, "act-bits", to->act_bits);
}

void pp_relief_change(const struct pp_config *config, const struct pp_relief_setting *from,
                      const struct pp_relief_setting *to, struct pp_relief_flags *flags)
{
    const struct pp_layout *old = &from->layout, *new = &to->layout;
    const int per_node = config->is_unit ? 1 : config->cluster.gpus_per_node;
    char again[PP_RECOMPUTE_TEXT_BYTES];
    const struct {
        const char *flag;
        int from, to;
        bool follows; /* from the rest, unless it was given */
    } numbers[] = {
        {"zero", from->zero, to->zero, (int64_t) new->dp *new->cp * config->shape.pipelines == 1},
        {"gpus", old->gpus, new->gpus, true},
        {"nodes", old->gpus / per_node, new->gpus / per_node, true},
        {"tp", old->tp, new->tp, false},
        {"cp", old->cp, new->cp, false},
        {"pp", old->pp, new->pp, false},
        {"dp", old->dp, new->dp, true},
        {"mbs", old->mbs, new->mbs, false},
        {"micro-batches", old->micro_batches, new->micro_batches, true},
    };

    if (strcmp(from->schedule, to->schedule) != 0)
        change_schedule(config, to->schedule, flags);
    if (from->recompute != to->recompute || from->again != to->again)
        put(flags, "recompute",
            pp_arena_strdup(flags->arena, pp_recompute_print(to->recompute, to->again, again)));
    if (from->is_tp_only != to->is_tp_only)
        put(flags, "sequence-parallel", to->is_tp_only ? "off" : "on");
    change_homes(from, to, flags);
    for (size_t i = 0; i < PP_COUNT(numbers); i++)
        if (numbers[i].from != numbers[i].to &&
            (!numbers[i].follows || pp_inputs_find(config, numbers[i].flag) ||
             flag_of(flags, numbers[i].flag)))
            put_int(flags, numbers[i].flag, numbers[i].to);
}

struct pp_relief_flags pp_relief_pin(const struct pp_config *config,
                                     const struct pp_relief_setting *setting,
                                     struct pp_relief_flags flags)
{
    const struct {
        const char *flag;
        int value;
    } degrees[] = {
        {"tp", setting->layout.tp}, {"pp", setting->layout.pp}, {"dp", setting->layout.dp}};

    for (size_t i = 0; i < PP_COUNT(degrees); i++)
        if (!pp_inputs_find(config, degrees[i].flag))
            put_int(&flags, degrees[i].flag, degrees[i].value);
    return flags;
}

const char *pp_relief_print(struct pp_arena *arena, const struct pp_relief_flags *flags)
{
    const char *text = "";

    for (int i = 0; i < flags->count; i++)
        text = pp_arena_printf(arena, "%s%s--%s%s%s", text, i ? " " : "", flags->list[i].name,
                               flags->list[i].value ? " " : "",
                               flags->list[i].value ? flags->list[i].value : "");
    return text;
}

void pp_relief_typed(const struct pp_config *config, const struct pp_relief_flags *flags,
                     struct pp_relief_flags *typed)
{
    for (int k = 0; k < flags->count; k++) {
        const struct pp_input *input = pp_inputs_find(config, flags->list[k].name);
        if (input && input->is_typed)
            put(typed, input->option->name, input->value->text);
    }
}

/* ---- the user's command with flags ----------------------------------------------------------- */

enum pp_status pp_relief_command(struct pp_arena *arena, const struct pp_config *config,
                                 const struct pp_relief_flags *flags, struct pp_parsed **command,
                                 struct pp_error *err)
{
    *command = pp_inputs_command(arena, config, 0);
    for (int i = 0; i < flags->count; i++)
        PP_TRY(pp_command_set(arena, *command, flags->list[i].name, flags->list[i].value, err));
    return PP_OK;
}

static enum pp_status resolve_with(struct pp_arena *arena, const struct pp_config *config,
                                   const struct pp_relief_flags *flags, struct pp_config *other,
                                   struct pp_prepared *prepared, struct pp_error *err)
{
    struct pp_parsed *command;

    PP_TRY(pp_relief_command(arena, config, flags, &command, err));
    return pp_change_resolve(arena, command, other, prepared, err);
}

enum pp_status pp_relief_resolve(struct pp_arena *arena, const struct pp_config *config,
                                 struct pp_relief_flags *flags, struct pp_config *other,
                                 struct pp_prepared *prepared, struct pp_error *err)
{
    PP_TRY(resolve_with(arena, config, flags, other, prepared, err));
    if (other->layout.gbs == config->layout.gbs)
        return PP_OK;
    if (pp_inputs_find(config, "micro-batches"))
        put_int(flags, "micro-batches",
                config->layout.gbs / ((int64_t)other->layout.dp * other->layout.mbs));
    else
        put_int(flags, "gbs", config->layout.gbs);
    PP_TRY(resolve_with(arena, config, flags, other, prepared, err));
    if (other->layout.gbs == config->layout.gbs)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "the batch would be another one");
}

/* Is true if the quick depth has the time of the run: it ignores what varies. */
static bool is_quick(const struct pp_config *config)
{
    return config->slow_count == 0 && config->engine_options.perturbation.jitter_frac == 0;
}

enum pp_status pp_relief_simulate(struct pp_arena *arena, const struct pp_config *config,
                                  bool has_own_links, struct pp_prepared *prepared,
                                  struct pp_result *result, struct pp_error *err)
{
    struct pp_config own = *config;

    if (!has_own_links || is_quick(config))
        return pp_simulate(arena, config, has_own_links ? PP_QUICK : PP_METRICS, prepared, result,
                           err);
    own.engine = &pp_engine_dag;
    own.engine_options.sync_share = 0;
    return pp_simulate(arena, &own, PP_METRICS, prepared, result, err);
}
