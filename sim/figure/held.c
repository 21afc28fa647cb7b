/* Memory of each rank of a run over time, and of each tier of its fullest rank. */
#include "sim/figure/figure.h"

#include "core/units.h"
#include "sim/config/tiers.h"
#include "traces/rows.h"

#include <math.h>

/* A run whose curves are drawn. */
struct run {
    const struct pp_result *result;
    struct pp_memory_changes changes;
    struct pp_figure_events events;
    struct pp_plot_step step;
};

static struct run run_of(struct pp_arena *arena, const struct pp_result *r)
{
    return (struct run){r, pp_memory_changes(arena, r->program, r->costs),
                        pp_figure_events(arena, r->program, r->trace), pp_figure_step(arena, r)};
}

static bool is_part(const struct run *run)
{
    return !isnan(run->step.to_s);
}

static struct pp_plot_tier device_of(const struct run *run, int rank)
{
    const struct pp_memory_changes *changes = &run->changes;

    return (struct pp_plot_tier){changes->base_bytes[rank], changes->taken_bytes,
                                 changes->given_bytes};
}

static struct pp_plot_tier away_of(const struct run *run, int rank, enum pp_tier tier)
{
    const struct pp_memory_changes *changes = &run->changes;
    struct pp_plot_tier away = {.base_bytes = changes->away_base_bytes[rank][tier]};

    if (tier == run->result->costs->saved_home) {
        away.taken_bytes = changes->away_taken_bytes;
        away.given_bytes = changes->away_given_bytes;
    }
    return away;
}

static struct pp_held_curve shown_curve(struct pp_arena *arena, const struct run *run, int rank,
                                        const struct pp_plot_tier *tier)
{
    const struct pp_result *r = run->result;
    struct pp_held_curve c =
        pp_plot_tier_curve(arena, r->program, r->trace, &run->events, rank, tier);

    if (is_part(run))
        pp_held_cut(&c, run->step.from_s, run->step.to_s);
    return c;
}

static struct pp_plot_held in_bytes(const struct run *run, const struct pp_held_curve *curves,
                                    int count)
{
    const struct run *r = run;

    return (struct pp_plot_held){.quantity = "memory",
                                 .is_bytes = true,
                                 .count = count,
                                 .curves = curves,
                                 .end_s = is_part(r) ? r->step.to_s - r->step.from_s
                                                     : pp_figure_end_s(r->result->trace),
                                 .capacity = pp_config_capacity_bytes(&r->result->config)};
}

static void show_bytes(struct pp_arena *arena, const struct pp_result *r, struct pp_plot_held *held)
{
    const struct run run = run_of(arena, r);
    const int ranks = r->trace->ranks;
    struct pp_held_curve *curves = PP_ARRAY(arena, struct pp_held_curve, ranks);

    for (int rank = 0; rank < ranks; rank++) {
        const struct pp_plot_tier device = device_of(&run, rank);
        curves[rank] = shown_curve(arena, &run, rank, &device);
    }
    *held = in_bytes(&run, curves, ranks);
}

enum pp_status pp_figure_held(struct pp_arena *arena, const struct pp_result *r,
                              struct pp_plot_held *held, struct pp_error *err)
{
    if (r->config.is_unit) {
        PP_TRY(pp_plot_held_trace(arena, r->trace, r->program->granules, held, err));
        held->time_unit = "units";
    } else {
        show_bytes(arena, r, held);
    }
    held->title = pp_arena_printf(arena, "%s: %s over time by pipeline rank",
                                  r->config.schedule_name, held->quantity);
    return PP_OK;
}

/* Text such as "host, 226.0 of 251.8 GiB". */
static const char *name_of(struct pp_arena *arena, const struct pp_result *r, enum pp_tier tier)
{
    const struct pp_rank_memory *memory = &r->memory[r->peak_rank];
    const bool is_device = tier == PP_TIER_DEVICE;

    return pp_arena_printf(
        arena, "%s, %.1f of %.1f GiB", pp_tier_rows[tier].name,
        (is_device ? memory->peak_bytes : memory->away_bytes[tier]) / PP_GIB,
        (is_device ? pp_config_capacity_bytes(&r->config) : pp_tiers_room_bytes(r, tier)) / PP_GIB);
}

enum pp_status pp_figure_tiers(struct pp_arena *arena, const struct pp_result *r,
                               struct pp_plot_held *held, struct pp_error *err)
{
    struct pp_held_curve *curves = PP_ARRAY(arena, struct pp_held_curve, PP_TIERS);
    const char **names = PP_ARRAY(arena, const char *, PP_TIERS);
    int count = 0;

    if (!pp_tiers_are_used(r))
        return pp_error_set(err, PP_EINVAL,
                            "--plot-kind memory-tiers: all data are on the device; --offload "
                            "os=host, for example, moves some");
    const struct run run = run_of(arena, r);
    for (int tier = PP_TIER_DEVICE; tier < PP_TIERS; tier++) {
        const struct pp_plot_tier t = tier == PP_TIER_DEVICE
                                          ? device_of(&run, r->peak_rank)
                                          : away_of(&run, r->peak_rank, (enum pp_tier)tier);
        if (tier != PP_TIER_DEVICE && r->memory[r->peak_rank].away_bytes[tier] == 0)
            continue;
        names[count] = name_of(arena, r, (enum pp_tier)tier);
        curves[count++] = shown_curve(arena, &run, r->peak_rank, &t);
    }
    *held = in_bytes(&run, curves, count);
    held->names = names;
    held->capacity = 0; /* names tell */
    held->title = pp_arena_printf(arena, "%s: memory over time by tier, rank %d",
                                  r->config.schedule_name, r->peak_rank);
    return PP_OK;
}
