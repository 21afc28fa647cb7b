/* Resolves --slow and --link-bw to factors by rank and link, and the durations of --unit. */
#include "exec/resolve/what_if.h"

#include "core/cluster/slow.h"
#include "core/quantile.h"
#include "core/units.h"
#include "exec/resolve/parts.h"
#include "exec/resolve/planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double SLOWEST = 1e-3, FASTEST = 1e3;

/* Values of an option, and those of --inject that name it: "slow:1=0.5". */
struct values {
    const char **text;
    int count;
};

static struct values values_of(struct pp_arena *arena, const struct pp_exec_wish *wish,
                               const struct pp_given *own, const char *name)
{
    const struct pp_given *injected = &wish->given.inject;
    const size_t length = strlen(name);
    struct values values = {.text =
                                PP_ARRAY(arena, const char *, own->count + injected->count + 1)};

    for (int i = 0; i < own->count; i++)
        values.text[values.count++] = own->all[i];
    for (int i = 0; i < injected->count; i++)
        if (strncmp(injected->all[i], name, length) == 0 && injected->all[i][length] == ':')
            values.text[values.count++] = injected->all[i] + length + 1;
    return values;
}

bool pp_exec_is_what_if(const char *inject)
{
    return strncmp(inject, "slow:", 5) == 0 || strncmp(inject, "link-bw:", 8) == 0;
}

/* ---- devices --------------------------------------------------------------------------------- */

static enum pp_status check_factors(const struct values *values,
                                    const struct pp_exec_config *config, struct pp_error *err)
{
    const bool is_wall = config->clock == PP_CLOCK_WALL;

    if (values->count > 0 && is_wall && !config->backend->is_immediate)
        return pp_error_set(err, PP_EINVAL,
                            "--slow %s: on the wall clock backend %s cannot make a rank slower; "
                            "give --clock virtual",
                            values->text[0], config->backend->name);
    for (int i = 0; i < values->count; i++) {
        struct pp_slow one;
        PP_TRY(pp_slow_read(values->text[i], &one, err));
        if (one.factor < SLOWEST || one.factor > FASTEST)
            return pp_error_set(err, PP_EINVAL, "--slow %s: the factor is out of range: %g to %g",
                                values->text[i], SLOWEST, FASTEST);
        if (is_wall && one.factor > 1)
            return pp_error_set(err, PP_EINVAL,
                                "--slow %s: on the wall clock a rank can be made slower, not "
                                "faster; give a factor of at most 1, or --clock virtual",
                                values->text[i]);
    }
    return PP_OK;
}

static enum pp_status take_slow(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                struct pp_error *err)
{
    const struct values values = values_of(arena, wish, &wish->given.slow, "slow");
    const struct pp_slow_machine machine = {plan->program->ranks, config->replicas,
                                            config->replicas};

    PP_TRY(check_factors(&values, config, err));
    return pp_slow_table(arena, values.text, values.count, &machine, &plan->slow, err);
}

/* ---- wires ----------------------------------------------------------------------------------- */

static enum pp_status read_factor(const char *text, const char **equals, double *factor,
                                  struct pp_error *err)
{
    *equals = strrchr(text, '=');
    if (*equals && *equals != text &&
        pp_units_parse(*equals + 1, PP_UNIT_FRAC, factor, err) == PP_OK && *factor >= SLOWEST &&
        *factor <= FASTEST)
        return PP_OK;
    return pp_error_set(
        err, PP_EINVAL,
        "--link-bw %s: expected RANK-RANK=FACTOR with a factor of %g to %g, such as "
        "0-1=0.5 for what rank 0 sends to rank 1; * stands for any characters",
        text, SLOWEST, FASTEST);
}

static enum pp_status scale_wires(const char *text, int ranks, double *factors,
                                  struct pp_error *err)
{
    char pattern[64], name[32];
    const char *equals;
    double factor;
    int found = 0;

    PP_TRY(read_factor(text, &equals, &factor, err));
    snprintf(pattern, sizeof pattern, "%.*s", (int)(equals - text), text);
    for (int source = 0; source < ranks; source++)
        for (int to = 0; to < ranks; to++) {
            snprintf(name, sizeof name, "%d-%d", source, to);
            if (!pp_name_fits(pattern, name))
                continue;
            factors[source * ranks + to] *= factor;
            found++;
        }
    if (found > 0)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--link-bw %s: no wire has this name; they go from rank to rank, 0-0 to "
                        "%d-%d (2-2: between replicas of rank 2); * stands for any characters",
                        text, ranks - 1, ranks - 1);
}

/* Costs have a table of speeds, whose first entry is the wire of factor 1. */
static enum pp_status check_speeds(struct pp_arena *arena, const double *factors, int count,
                                   struct pp_error *err)
{
    enum { MOST = 255 };
    double *sorted = PP_ARRAY(arena, double, count);
    int speeds = 1;

    memcpy(sorted, factors, sizeof *sorted * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, pp_ascending);
    for (int k = 0; k < count; k++)
        speeds += sorted[k] != 1 && (k == 0 || sorted[k] != sorted[k - 1]);
    if (speeds <= MOST)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "--link-bw: wires of %d different speeds with that of --link, at most %d",
                        speeds, MOST);
}

static enum pp_status take_links(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 const struct pp_exec_config *config,
                                 const struct pp_exec_plan *plan, struct pp_exec_wires *wires,
                                 struct pp_error *err)
{
    const struct values values = values_of(arena, wish, &wish->given.link_bw, "link-bw");

    if (values.count == 0)
        return PP_OK;
    if (config->clock == PP_CLOCK_WALL)
        return pp_error_set(err, PP_EINVAL,
                            "--link-bw %s has no effect with --clock wall: messages take real time",
                            values.text[0]);
    if (plan->unit)
        return pp_error_set(err, PP_EINVAL,
                            "--link-bw %s has no effect with --unit, where a message takes C units",
                            values.text[0]);
    const int ranks = plan->program->ranks;
    double *factors = PP_ARRAY(arena, double, ranks *ranks);
    for (int k = 0; k < ranks * ranks; k++)
        factors[k] = 1;
    for (int i = 0; i < values.count; i++)
        PP_TRY(scale_wires(values.text[i], ranks, factors, err));
    wires->factors = factors;
    return check_speeds(arena, factors, ranks * ranks, err);
}

/* ---- durations ------------------------------------------------------------------------------- */

enum pp_status pp_exec_plan_unit(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                 const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                 struct pp_error *err)
{
    if (!wish->unit || plan->subject.is_listed)
        return PP_OK;
    if (config->clock == PP_CLOCK_WALL)
        return pp_error_set(err, PP_EINVAL,
                            "--unit %s: durations can be given only for --clock virtual",
                            wish->unit);
    if (wish->given.link.count)
        return pp_error_set(err, PP_EINVAL,
                            "%s has no effect with --unit, where a message takes C units",
                            wish->given.link.typed);
    plan->unit = PP_NEW(arena, struct pp_unit_costs);
    PP_TRY(pp_unit_costs_parse(wish->unit, plan->unit, err));
    if (plan->unit->has_r && config->recompute.how == PP_RECOMPUTE_NONE)
        return pp_error_set(err, PP_EINVAL,
                            "--unit %s: R has no effect without --recompute; give --recompute "
                            "full, or leave R out",
                            wish->unit);
    return PP_OK;
}

/* Returns the time of all ops of a step in sequence, on the slowest device. */
static double longest_step_s(const struct pp_exec_plan *plan)
{
    const struct pp_program *p = plan->program;
    double sum_s = 0, slowest = 1;

    for (int k = 0; plan->slow && k < p->ranks * plan->batch.replicas; k++)
        slowest = plan->slow[k] < slowest ? plan->slow[k] : slowest;
    for (int i = 0; i < pp_program_size(p); i++)
        sum_s += plan->unit->f + plan->unit->b + plan->unit->i + plan->unit->w + plan->unit->fb +
                 plan->unit->c + plan->unit->r;
    return sum_s / slowest;
}

static void take_durations(const struct pp_costs *unit, struct pp_costs *costs)
{
    static const int KINDS[] = {PP_F, PP_B, PP_I, PP_W}, COLLECTIVES[] = {PP_AR, PP_RS, PP_AG};

    for (size_t k = 0; k < PP_COUNT(KINDS); k++)
        costs->op[KINDS[k]] = unit->op[KINDS[k]];
    costs->op[PP_R] = unit->op[PP_R] ? unit->op[PP_R] : unit->op[PP_F];
    costs->overlap_all = unit->overlap_all;
    costs->is_unit = unit->is_unit;
    costs->alpha_ps = unit->alpha_ps;
    costs->s_per_byte = unit->s_per_byte;
    for (size_t k = 0; k < PP_COUNT(COLLECTIVES); k++)
        for (int s = 0; s < costs->stages; s++)
            costs->op[COLLECTIVES[k]][s].ps = costs->op[COLLECTIVES[k]][s].latency_ps = 0;
    for (int s = 0; s < costs->stages; s++)
        costs->ring_alpha_ps[s] = 0;
    if (costs->tied)
        costs->tied->ps = costs->tied->latency_ps = 0;
    costs->origin = unit->origin;
    costs->source = unit->source;
}

static enum pp_status give_durations(struct pp_arena *arena, const struct pp_exec_config *config,
                                     struct pp_exec_plan *plan, struct pp_error *err)
{
    const double limit_s = 4e6; /* int64 picoseconds end at 9.2e6 s */
    const struct pp_program *p = plan->program;

    if (!plan->unit)
        return PP_OK;
    if (!(longest_step_s(plan) * (config->steps + config->warmup + 1.0) < limit_s))
        return pp_error_set(err, PP_EINVAL,
                            "--unit: a unit is a second, and %d steps would take more than %g of "
                            "them; give smaller numbers, as F=1e-3",
                            config->steps, limit_s);
    struct pp_costs *unit =
        pp_costs_unit(arena, plan->unit, p->ranks, p->stages, p->splits, p->granules);
    if (!plan->layers)
        pp_costs_unit_share(
            pp_exec_recompute_fracs(arena, config, plan->chunks, plan->blocks_per_chunk), unit);
    take_durations(unit, plan->costs);
    if (plan->plain_costs)
        take_durations(unit, plan->plain_costs);
    return PP_OK;
}

enum pp_status pp_exec_plan_costs(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                  const struct pp_exec_config *config, struct pp_exec_plan *plan,
                                  struct pp_error *err)
{
    const struct pp_stage *const *stages = plan->stages;
    struct pp_exec_wires wires = config->wires;

    if (!plan->subject.is_listed) { /* --calibrate-on is measured without them */
        PP_TRY(take_slow(arena, wish, config, plan, err));
        PP_TRY(take_links(arena, wish, config, plan, &wires, err));
    }
    plan->costs = pp_exec_costs(arena, plan->program, stages, &plan->batch, config->kernels, &wires,
                                config->recipe.is_exact);
    if (plan->slow || wires.factors)
        plan->plain_costs = pp_exec_costs(arena, plan->program, stages, &plan->batch,
                                          config->kernels, &config->wires, config->recipe.is_exact);
    return give_durations(arena, config, plan, err);
}

/* ---- as typed -------------------------------------------------------------------------------- */

const char *pp_exec_what_if_text(struct pp_arena *arena, const struct pp_exec_wish *wish)
{
    const struct {
        const struct pp_given *given;
        const char *name;
    } options[] = {{&wish->given.slow, "slow"},
                   {&wish->given.link_bw, "link-bw"},
                   {&wish->given.unit, "unit"}};
    const char *text = NULL;

    for (size_t i = 0; i < PP_COUNT(options); i++) {
        const struct values values = values_of(arena, wish, options[i].given, options[i].name);
        for (int k = 0; k < values.count; k++)
            text = pp_arena_printf(arena, "%s%s--%s %s", text ? text : "", text ? " " : "",
                                   options[i].name, values.text[k]);
    }
    return text;
}
