/* Flags that would make a run fit: single ones, then several together, each simulated. */
#include "sim/config/tiers.h"
#include "sim/fit/change.h"
#include "sim/fit/parts.h"
#include "sim/resolve/resolve.h"
#include "sim/run/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOGETHER = 4 };

struct trials {
    struct pp_arena *arena;
    const struct pp_config *config;
    struct pp_recompute_level levels[PP_RECOMPUTE_LEVELS];
    int level_count;
    struct pp_known_programs *programs; /* of all trials */
    double peak_bytes, iteration_s;     /* of the run itself, without contention */
    bool has_own_links;
    bool is_tier_full; /* the run needs more of another tier, too */
    bool moves_once;   /* of several changes together, one moves state off the device */
};

/* A tried command: its flags, its setting, its result. */
struct trial {
    struct pp_relief_flags flags, replaced;
    struct pp_relief_setting setting;
    struct pp_relief relief;
};

/* A trial that is shown has a time, by the engine of the run. Others are compared by memory; those
 * that fit also by time. */
static enum pp_status simulate(const struct trials *t, struct pp_arena *arena, bool is_shown,
                               const struct pp_config *config, struct pp_prepared *prepared,
                               struct pp_result *result, struct pp_error *err)
{
    if (is_shown)
        return pp_relief_simulate(arena, config, t->has_own_links, prepared, result, err);
    PP_TRY(pp_simulate(arena, config, PP_MEMORY, prepared, result, err));
    return result->fits ? pp_relief_simulate(arena, config, true, prepared, result, err) : PP_OK;
}

/* Tries flags. PP_EINVAL if the run cannot have them, or if another tier has no room for what
 * leaves the device. */
static enum pp_status try_flags(const struct trials *t, struct pp_relief_flags flags, bool is_shown,
                                struct trial *trial)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_prepared prepared = {.programs = t->programs};
    struct pp_config config;
    struct pp_result result;
    struct pp_parsed *command;
    struct pp_error err;

    pp_known_programs_trim(t->programs);
    PP_TRY(pp_relief_resolve(scratch, t->config, &flags, &config, &prepared, &err));
    PP_TRY(simulate(t, scratch, is_shown, &config, &prepared, &result, &err));
    if (!t->is_tier_full && pp_tiers_full(&result) != PP_TIER_DEVICE)
        return PP_EINVAL;
    PP_TRY(pp_relief_command(t->arena, t->config, &flags, &command, &err));
    trial->replaced.count = 0;
    pp_relief_typed(t->config, &flags, &trial->replaced);
    trial->setting = pp_relief_setting_of(t->arena, &config);
    trial->relief = (struct pp_relief){.flags = pp_relief_print(t->arena, &flags),
                                       .instead_of = pp_relief_print(t->arena, &trial->replaced),
                                       .command = command,
                                       .also = pp_change_state(t->arena, t->config, &config),
                                       .peak_bytes = result.memory[result.peak_rank].peak_bytes,
                                       .iteration_s = result.metrics.iteration_s,
                                       .gpus = config.layout.gpus,
                                       .is_moved = pp_relief_has(&flags, "offload"),
                                       .fits = result.fits};
    return PP_OK;
}

/* Is true if `bytes` are fewer by more than rounding and constants of a layout explain. */
static bool is_less(double bytes, double than_bytes)
{
    return bytes < 0.995 * than_bytes;
}

/* Adapts ZeRO and micro-batches to changed degrees; the batch stays. */
static void settle(struct pp_relief_setting *s, const struct pp_config *c)
{
    struct pp_layout *l = &s->layout;
    const int64_t copies = (int64_t)l->dp * l->cp * c->shape.pipelines,
                  samples = (int64_t)l->dp * l->mbs;

    if (copies == 1 && s->zero > 0)
        s->zero = 0; /* no copies are left to share it */
    if (l->gbs % samples == 0)
        l->micro_batches = (int)(l->gbs / samples);
}

/* Tries a setting on top of `on`, at its degrees; false if it needs no less than `peak_bytes`. */
static bool try_setting(const struct trials *t, const struct trial *on,
                        struct pp_relief_setting setting, double peak_bytes, struct trial *trial)
{
    *trial = (struct trial){.flags = on->flags};
    settle(&setting, t->config);
    pp_relief_change(t->config, &on->setting, &setting, &trial->flags);
    return try_flags(t, pp_relief_pin(t->config, &setting, trial->flags), false, trial) == PP_OK &&
           is_less(trial->relief.peak_bytes, peak_bytes);
}

/* Tries levels of recomputation, the mildest first, until one has room. Of two, one only fits. If
 * none fits, the last one is all. */
enum { LEVELS_KEPT = 2 };
static int try_levels(const struct trials *t, const struct trial *on, double peak_bytes,
                      struct trial found[LEVELS_KEPT])
{
    const double room_bytes = pp_config_room_bytes(t->config);
    bool has_room = false;
    int count = 0;

    for (int i = 1; i < t->level_count && !has_room; i++) {
        struct pp_relief_setting setting = on->setting;
        struct trial trial;
        setting.recompute = t->levels[i].recompute;
        setting.again = t->levels[i].again;
        if (!try_setting(t, on, setting, peak_bytes, &trial))
            continue;
        has_room = trial.relief.fits && trial.relief.peak_bytes <= room_bytes;
        if (count == 0 || !found[0].relief.fits)
            found[0] = trial, count = 1;
        else if (has_room)
            found[count++] = trial;
    }
    return count;
}

/* Is true if a kind is worth a trial. `before`: the trial of the kind before; NULL if that did not
 * help. */
static bool is_due(const struct trials *t, int kind, const struct trial *before)
{
    switch (pp_relief_after(kind)) {
    case PP_RELIEF_AFTER_NO_HELP:
        return !before;
    case PP_RELIEF_AFTER_SLOW_FIT:
        return before && before->relief.fits && before->relief.iteration_s > t->iteration_s;
    default:
        return true;
    }
}

/* Is true if a setting moves more off the device, or quantises it, where `on` has moved some. */
static bool moves_again(const struct trial *on, const struct pp_relief_setting *setting)
{
    const struct pp_relief_setting *s = &on->setting;

    return pp_relief_has(&on->flags, "offload") &&
           (setting->offload != s->offload || setting->act_bits != s->act_bits ||
            setting->is_offloaded_by_layer != s->is_offloaded_by_layer);
}

/* Tries each kind on top of `on`, and recomputation; returns how many need less memory. */
enum { FOUND = PP_RELIEF_KINDS + LEVELS_KEPT };
static int try_all(const struct trials *t, const struct trial *on, double peak_bytes,
                   struct trial found[FOUND])
{
    int count = try_levels(t, on, peak_bytes, found);
    const struct trial *before = NULL;

    for (int i = 0; i < PP_RELIEF_KINDS; i++) {
        struct pp_relief_setting setting = on->setting;
        const bool helps = is_due(t, i, before) &&
                           pp_relief_take(t->arena, i, &setting, t->config) &&
                           !(t->moves_once && moves_again(on, &setting)) &&
                           try_setting(t, on, setting, peak_bytes, &found[count]);
        before = helps ? &found[count++] : NULL;
    }
    return count;
}

static int by_use(const void *a, const void *b)
{
    return pp_relief_compare(&((const struct trial *)a)->relief,
                             &((const struct trial *)b)->relief);
}

/* Takes the mildest level of recomputation with which changes still make the run fit. */
static void soften(const struct trials *t, struct trial *all)
{
    struct trial found[LEVELS_KEPT];

    if (pp_relief_has(&all->flags, "recompute") && try_levels(t, all, INFINITY, found) &&
        found[0].relief.fits)
        *all = found[0];
}

/* Takes the change of those found that helps most, and adds others until the run fits; false if
 * none does. */
static bool add_up(const struct trials *t, const struct trial single[FOUND], int count,
                   struct trial *all)
{
    struct trial found[FOUND];

    memcpy(found, single, sizeof *found * (size_t)count);
    for (int together = 1; count > 0; together++) {
        qsort(found, (size_t)count, sizeof *found, by_use);
        *all = found[0];
        if (all->relief.fits || together == MOST_TOGETHER)
            break;
        count = try_all(t, all, all->relief.peak_bytes, found);
    }
    if (count == 0)
        return false;
    soften(t, all);
    return all->relief.fits;
}

/* Several moves together may leave no place for more devices: then one has to do. */
static bool combine(const struct trials *t, const struct trial single[FOUND], int count,
                    struct trial *all)
{
    struct trials once = *t;

    once.moves_once = true;
    return add_up(t, single, count, all) || add_up(&once, single, count, all);
}

/* Keeps the reliefs that are not outdone, in their order. */
static int keep_best(struct trial *list, int count)
{
    bool is_out[FOUND] = {false};
    int kept = 0;

    for (int i = count - 1; i >= 0; i--) /* of equals the first stays */
        for (int k = 0; k < count && !is_out[i]; k++)
            is_out[i] =
                k != i && !is_out[k] && pp_relief_is_outdone(&list[i].relief, &list[k].relief);
    for (int i = 0; i < count; i++)
        if (!is_out[i])
            list[kept++] = list[i];
    return kept;
}

/* Keeps the reliefs that help when the command chooses the open options, by its own engine. */
static int take(const struct trials *t, struct trial *list, int count)
{
    int taken = 0;

    for (int i = 0; i < count; i++) {
        if (try_flags(t, list[i].flags, true, &list[i]) == PP_OK &&
            is_less(list[i].relief.peak_bytes, t->peak_bytes))
            list[taken++] = list[i];
    }
    taken = keep_best(list, taken);
    qsort(list, (size_t)taken, sizeof *list, by_use);
    return taken;
}

static void find_reliefs(const struct trials *t, struct pp_oom *oom)
{
    const struct trial base = {.setting = pp_relief_setting_of(t->arena, t->config),
                               .flags.arena = t->arena};
    struct trial single[FOUND], found[FOUND + 1];
    struct pp_relief_flags replaced = {.count = 0};
    const int tried = try_all(t, &base, t->peak_bytes, single);

    memcpy(found, single, sizeof(single));
    int count = take(t, found, tried);
    if (count > 0 && !found[0].relief.fits && combine(t, single, tried, &found[count]))
        count += take(t, &found[count], 1);
    qsort(found, (size_t)count, sizeof *found, by_use);
    oom->reliefs = PP_ARRAY(t->arena, struct pp_relief, count + 1);
    oom->relief_count = count;
    for (int i = 0; i < count; i++) {
        oom->reliefs[i] = found[i].relief;
        if (i < PP_RELIEFS_SHOWN)
            pp_relief_typed(t->config, &found[i].replaced, &replaced);
    }
    oom->replaced = pp_relief_print(t->arena, &replaced);
}

/* Time of the run, simulated as the reliefs are. */
static double time_of_run(const struct trials *t, const struct pp_result *r)
{
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    struct pp_result alone;
    struct pp_error err;

    if (!t->has_own_links ||
        pp_relief_simulate(scratch, t->config, true, NULL, &alone, &err) != PP_OK)
        return r->metrics.iteration_s;
    return alone.metrics.iteration_s;
}

const struct pp_oom *pp_oom_find(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_rank_memory *m = &r->memory[r->peak_rank];

    if (r->config.is_unit || r->fits || m->peak_at < 0 ||
        m->peak_bytes <= pp_config_capacity_bytes(&r->config)) /* another tier is full */
        return NULL;
    struct pp_oom *oom = PP_NEW(arena, struct pp_oom);
    struct pp_known_programs programs = {.is_bounded = true};
    struct trials trials = {
        .arena = arena,
        .config = &r->config,
        .programs = &programs,
        .peak_bytes = m->peak_bytes,
        .has_own_links = r->replicas_simulated > 1 && r->config.engine->shares_links,
        .is_tier_full = pp_tiers_full(r) != PP_TIER_DEVICE,
    };

    trials.level_count = pp_resolve_levels(&r->config, trials.levels);
    oom->is_contention_free = trials.has_own_links;
    oom->iteration_s = trials.iteration_s = time_of_run(&trials, r);
    pp_oom_hold(arena, r, oom);
    find_reliefs(&trials, oom);
    pp_known_programs_drop(&programs);
    return oom;
}
