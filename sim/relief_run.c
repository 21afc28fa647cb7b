/* The same run with other flags: it is typed, resolved and simulated like any other. */
#include "sim/cli.h"
#include "sim/inputs.h"
#include "sim/relief_parts.h"
#include "sim/resolve.h"

#include <string.h>

static bool has_option(const char *name)
{
    for (int i = 0; i < pp_sim_cli.option_count; i++)
        if (!strcmp(pp_sim_cli.options[i].name, name))
            return true;
    return false;
}

static const char *input_text(const struct pp_config *c, const char *name)
{
    for (int i = 0; i < c->input_count; i++)
        if (!strcmp(c->inputs[i].option->name, name))
            return c->inputs[i].value->text;
    return NULL;
}

struct pp_relief_setting pp_relief_setting_of(struct pp_arena *arena, const struct pp_config *c)
{
    const struct pp_layout *l = &c->layout;
    char shard[PP_STATE_TEXT_BYTES];

    return (struct pp_relief_setting){
        .gpus = l->gpus,
        .tp = l->tp,
        .cp = l->cp,
        .pp = l->pp,
        .dp = l->dp,
        .mbs = l->mbs,
        .zero = pp_state_zero(&c->state),
        .shard = pp_arena_strdup(arena, pp_state_print(&c->state, shard)),
        .recompute = c->recompute == PP_RECOMPUTE_STAGE
                         ? pp_arena_printf(arena, "stage-aware=%.17g", c->first_stage_ratio)
                     : c->again
                         ? pp_arena_printf(arena, "selective=%s", pp_again_print(arena, c->again))
                         : pp_recompute_names[c->recompute],
        .schedule = c->schedule_name,
        .offload = input_text(c, "offload"),
        .is_tp_only = c->is_tp_only,
    };
}

/* Flags and their values, in turn. */
struct words {
    struct pp_arena *arena;
    const char **list;
    int count, capacity;
};

static void add(struct words *w, const char *flag, const char *value)
{
    *PP_PUSH(w->arena, w->list, w->count, w->capacity) = pp_arena_printf(w->arena, "--%s", flag);
    if (value)
        *PP_PUSH(w->arena, w->list, w->count, w->capacity) = value;
}

static void add_int(struct words *w, const char *flag, int64_t value)
{
    add(w, flag, pp_arena_printf(w->arena, "%lld", (long long)value));
}

/* The flags in which two settings differ; all of them where `from` is NULL. */
static void add_setting(struct words *w, const struct pp_relief_setting *from,
                        const struct pp_relief_setting *to)
{
    const struct {
        const char *flag;
        int from, to;
    } numbers[] = {
        {"gpus", from ? from->gpus : -1, to->gpus}, {"tp", from ? from->tp : -1, to->tp},
        {"cp", from ? from->cp : -1, to->cp},       {"pp", from ? from->pp : -1, to->pp},
        {"dp", from ? from->dp : -1, to->dp},       {"mbs", from ? from->mbs : -1, to->mbs},
    };

    if (!from || strcmp(from->schedule, to->schedule) != 0)
        add(w, "schedule", to->schedule);
    if (!from || strcmp(from->recompute, to->recompute) != 0)
        add(w, "recompute", to->recompute);
    if ((!from || from->zero != to->zero) && to->zero >= 0)
        add_int(w, "zero", to->zero);
    else if (!from)
        add(w, "shard", to->shard);
    if (!from ? to->is_tp_only : from->is_tp_only != to->is_tp_only)
        add(w, "sequence-parallel", to->is_tp_only ? "off" : "on");
    if (to->offload && (!from || !from->offload))
        add(w, "offload", to->offload);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].from != numbers[i].to)
            add_int(w, numbers[i].flag, numbers[i].to);
}

/* What a setting says, what follows from it, and what changes no memory. */
static bool is_replaced(const char *option, bool has_other_schedule)
{
    static const char *const NAMES[] = {"gpus",
                                        "tp",
                                        "cp",
                                        "pp",
                                        "dp",
                                        "mbs",
                                        "gbs",
                                        "zero",
                                        "shard",
                                        "recompute",
                                        "engine",
                                        "preset",
                                        "micro-batches",
                                        "schedule",
                                        "plot",
                                        "offload",
                                        "sequence-parallel",
                                        "require-fit",
                                        NULL};
    static const char *const OF_SCHEDULES[] = {
        "vp",           "group",       "concat",       "pipelines", "splits",
        "extra-warmup", "depth-first", "bfs-backward", "order",     NULL};

    for (int i = 0; NAMES[i]; i++)
        if (!strcmp(NAMES[i], option))
            return true;
    for (int i = 0; has_other_schedule && OF_SCHEDULES[i]; i++)
        if (!strcmp(OF_SCHEDULES[i], option))
            return true;
    return false;
}

static void add_inputs(struct words *w, const struct pp_config *c, bool has_other_schedule)
{
    for (int i = 0; i < c->input_count; i++) {
        const struct pp_option *option = c->inputs[i].option;
        const struct pp_option_value *value = c->inputs[i].value;

        if (is_replaced(option->name, has_other_schedule))
            continue;
        if (option->type == PP_OPTION_FLAG)
            add(w, option->name, NULL);
        else if (!option->is_repeatable)
            add(w, option->name, value->text);
        for (int k = 0; option->is_repeatable && k < value->count; k++)
            add(w, option->name, value->all[k]);
    }
}

static enum pp_status run_words(struct pp_arena *arena, const struct words *words,
                                struct pp_result *result, struct pp_error *err)
{
    char **argv = PP_ARRAY(arena, char *, words->count);
    struct pp_parsed parsed;
    struct pp_request request;
    struct pp_subject subject;
    struct pp_config config;

    for (int i = 0; i < words->count; i++)
        argv[i] = (char *)(uintptr_t)words->list[i];
    PP_TRY(pp_options_parse(arena, &pp_sim_cli, words->count, argv, &parsed, err));
    PP_TRY(pp_request_open(arena, &pp_sim_cli, pp_presets, &parsed, &request, err));
    PP_TRY(
        pp_subject_open(arena, &request, pp_request_text(&request, "schedule", ""), &subject, err));
    PP_TRY(pp_resolve(arena, &request, &subject, &config, err));
    return pp_simulate(arena, &config, PP_QUICK, result, err);
}

const char *pp_relief_flags(struct pp_arena *arena, const struct pp_relief_setting *from,
                            const struct pp_relief_setting *to)
{
    struct words w = {.arena = arena};
    const char *text = "";

    add_setting(&w, from, to);
    for (int i = 0; i < w.count; i++)
        text = pp_arena_printf(arena, "%s%s%s", text, i ? " " : "", w.list[i]);
    return text;
}

enum pp_status pp_relief_run(struct pp_arena *arena, const struct pp_config *config,
                             const struct pp_relief_setting *setting, struct pp_result *result,
                             struct pp_error *err)
{
    struct words w = {.arena = arena};
    struct pp_relief_setting own = *setting;

    if ((int64_t)own.dp * own.cp * config->shape.pipelines == 1 && own.zero > 0)
        own.zero = 0; /* nothing is left to share it with */
    if (setting->offload && !has_option("offload"))
        return pp_error_set(err, PP_EINVAL, "nothing is offloaded in this build");
    *PP_PUSH(arena, w.list, w.count, w.capacity) = "pipesim";
    *PP_PUSH(arena, w.list, w.count, w.capacity) = "run";
    add_inputs(&w, config, strcmp(setting->schedule, config->schedule_name) != 0);
    add_setting(&w, NULL, &own);
    add_int(&w, "gbs", config->layout.gbs);
    add(&w, "engine", "dag");
    return run_words(arena, &w, result, err);
}
