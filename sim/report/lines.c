/* Sentences and figures that the text report and the page share. */
#include "sim/report/lines.h"

#include "sim/report/tiers.h"

#include "core/units.h"
#include "sim/config/buckets.h"
#include "sim/seeds/seeds.h"

#include <stdio.h>
#include <string.h>

const char *const pp_time_part_words[PP_TIME_PARTS] = {
    [PP_TIME_FORWARD] = "forward",     [PP_TIME_BACKWARD] = "backward",
    [PP_TIME_RECOMPUTE] = "recompute", [PP_TIME_TP_COMM] = "TP~comm",
    [PP_TIME_CP_COMM] = "CP~comm",     [PP_TIME_EP_COMM] = "EP~comm",
    [PP_TIME_P2P] = "p2p~in~flight",   [PP_TIME_DP_SYNC] = "DP~sync",
    [PP_TIME_OPTIMIZER] = "optimizer", [PP_TIME_MOVES] = "moves",
    [PP_TIME_BUBBLE] = "waiting"};

const char *pp_time_part_name(int part, char name[static PP_PART_NAME_BYTES])
{
    snprintf(name, PP_PART_NAME_BYTES, "%s", pp_time_part_words[part]);
    for (char *c = name; *c; c++)
        *c = *c == '~' ? ' ' : *c;
    return name;
}

/* Text " in 2 splits*" after a number of micro-batches; "" without splits. */
static const char *text_splits(struct pp_arena *arena, const struct pp_config *c, const char *blank)
{
    if (c->shape.splits <= 1)
        return "";
    return pp_arena_printf(arena, "%sin%s%d%ssplits%s", blank, blank, c->shape.splits, blank,
                           c->is_unit ? "" : pp_text_star(c, PP_CHOSE_SPLITS));
}

const char *pp_line_title(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    char number[PP_UNITS_TEXT_BYTES];

    if (c->is_unit && c->generation.passes)
        return pp_arena_printf(arena, "%s, %d rank%s, %d group%s", pp_text_schedule(arena, c),
                               c->shape.ranks, c->shape.ranks == 1 ? "" : "s",
                               c->shape.micro_batches, c->shape.micro_batches == 1 ? "" : "s");
    if (c->is_unit)
        return pp_arena_printf(arena, "%s, %d rank%s, %d micro-batch%s%s",
                               pp_text_schedule(arena, c), c->shape.ranks,
                               c->shape.ranks == 1 ? "" : "s", c->shape.micro_batches,
                               c->shape.micro_batches == 1 ? "" : "es", text_splits(arena, c, " "));
    return pp_arena_printf(arena, "%s on %s GPU%s", pp_text_schedule(arena, c),
                           pp_units_print_count(c->layout.gpus, number),
                           c->layout.gpus == 1 ? "" : "s");
}

const char *pp_line_model(struct pp_arena *arena, const struct pp_config *c)
{
    const struct pp_model *m = &c->model;
    char params[PP_UNITS_TEXT_BYTES];

    const char *seq = c->generation.passes ? ""
                                           : pp_arena_printf(arena, "seq~%d%s, ", c->layout.seq,
                                                             pp_text_star(c, PP_CHOSE_SEQ));
    return pp_arena_printf(arena, "%s%s~ %s parameters, %d~layer%s, hidden~%d, %s%s", m->name,
                           pp_text_star(c, PP_CHOSE_MODEL),
                           pp_units_print(pp_model_params(m), PP_UNIT_COUNT, params), m->layers,
                           m->layers == 1 ? "" : "s", m->hidden, seq,
                           pp_precision_names[c->cluster.device.precision]);
}

const char *pp_line_cluster(struct pp_arena *arena, const struct pp_config *c)
{
    char nodes[PP_UNITS_TEXT_BYTES];
    const int per_node = c->cluster.gpus_per_node;
    const int needed = (c->layout.gpus + per_node - 1) / per_node;

    if (!pp_config_has_device(c))
        return "that of the measured run, of which no figures are known; --cluster gives them";
    return pp_arena_printf(arena, "%s%s~ %s~node%s x %d %s, %s", c->cluster.name,
                           pp_text_star(c, PP_CHOSE_CLUSTER), pp_units_print_count(needed, nodes),
                           needed == 1 ? "" : "s", per_node, c->cluster.device.title,
                           c->cluster.title);
}

const char *pp_line_layout(struct pp_arena *arena, const struct pp_config *c)
{
    static const char parts[] = ", embedding and head in equal parts in all";
    static const char *const head_notes[] = {
        [PP_HEAD_LAST] = "",
        [PP_HEAD_BALANCED] = ", balanced with embedding and head",
        [PP_HEAD_COUNTED] = ", embedding and head count as a block each",
        [PP_HEAD_IGNORED] = ", both without compute time",
        [PP_HEAD_PARALLEL] = parts,
        [PP_HEAD_PARALLEL_TWICE] = parts,
        [PP_HEAD_INTERLACED] = parts};
    const struct pp_layout *l = &c->layout;
    const char *vp = "", *cp = "", *ep = "", *etp = "", *map = "";
    char gbs[PP_UNITS_TEXT_BYTES], micro_batches[PP_UNITS_TEXT_BYTES], split[PP_TEXT_BYTES],
        order[PP_MAP_TEXT_BYTES];

    if (l->vp > 1)
        vp = pp_arena_printf(arena, ", VP~%d%s", l->vp, pp_text_star(c, PP_CHOSE_VP));
    if (l->cp > 1)
        cp = pp_arena_printf(arena, " x CP~%d", l->cp);
    if (c->model.experts.count > 0)
        ep = pp_arena_printf(arena, ", EP~%d%s", l->ep, pp_text_star(c, PP_CHOSE_EP));
    if (pp_layout_etp(l) != l->tp)
        etp = pp_arena_printf(arena, ", ETP~%d", l->etp);
    if (!pp_map_is_default(c->map))
        map = pp_arena_printf(arena, "; map~%s", pp_map_print(c->map, order));
    return pp_arena_printf(
        arena,
        "TP~%d%s%s x PP~%d%s x DP~%d%s%s%s%s, MBS~%d%s, GBS~%s%s -> %s%s~micro-batches%s; %s%s%s",
        l->tp, pp_text_star(c, PP_CHOSE_TP), cp, l->pp, pp_text_star(c, PP_CHOSE_PP), l->dp,
        pp_text_star(c, PP_CHOSE_DP), ep, etp, vp, l->mbs, pp_text_star(c, PP_CHOSE_MBS),
        pp_units_print_count(l->gbs, gbs), pp_text_star(c, PP_CHOSE_GBS),
        pp_units_print_count(l->micro_batches, micro_batches),
        pp_text_star(c, PP_CHOSE_MICRO_BATCHES), text_splits(arena, c, "~"),
        pp_text_split(c, split), head_notes[c->costs.head], map);
}

/* Text such as " (+1.2~% time; none needs 82.6 of 79.6~GiB; full +28.0~% time)". */
static const char *levels_text(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_levels *levels = r->levels;

    if (!levels || !r->fits)
        return "";
    const struct pp_level *none = &levels->list[0], *last = &levels->list[levels->count - 1],
                          *own = &levels->list[levels->chosen];
    const double room_gib = (none->outcome.is_tight ? pp_config_room_bytes(&r->config)
                                                    : pp_config_capacity_bytes(&r->config)) /
                            PP_GIB;
    const char *text = pp_arena_printf(
        arena,
        none->outcome.is_tight ? "~(%+.1f~%% time; none needs %.1f, the margin leaves %.1f~GiB"
                               : "~(%+.1f~%% time; none needs %.1f of %.1f~GiB",
        100 * (own->outcome.step_s / none->outcome.step_s - 1), none->outcome.peak_bytes / PP_GIB,
        room_gib);
    if (own != last)
        text = pp_arena_printf(arena, "%s; %s %+.1f~%%", text, last->text,
                               100 * (last->outcome.step_s / none->outcome.step_s - 1));
    return pp_arena_printf(arena, "%s)", text);
}

const char *pp_line_state(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    char shards[PP_STATE_TEXT_BYTES], again[PP_TEXT_BYTES];
    const char *steps = pp_text_steps(arena, c), *share = "";

    if (c->engine_options.sync_share > 0)
        share = pp_arena_printf(arena, ", which takes %.3g~%% of compute",
                                100 * c->engine_options.sync_share);
    return pp_arena_printf(arena, "%s%s, recompute %s%s%s, gradient sync %s%s%s%s%s%s",
                           pp_state_name(&c->state, shards), pp_text_star(c, PP_CHOSE_ZERO),
                           pp_text_recompute(c, ", ", again), pp_text_star(c, PP_CHOSE_RECOMPUTE),
                           levels_text(arena, r), pp_grad_sync_names[c->lower.grad_sync],
                           pp_buckets_text(arena, r), share, pp_line_moved(arena, c),
                           steps[0] ? "; " : "", steps);
}

const char *pp_line_costs(struct pp_arena *arena, const struct pp_result *r)
{
    if (r->costs->is_calibrated)
        return pp_arena_printf(arena, "%s, calibrated from %s", r->costs->origin, r->costs->source);
    return pp_arena_printf(arena, "%s, %s; framework %s%s", r->costs->origin,
                           pp_text_constants(arena, &r->config), r->config.costs.framework->name,
                           r->program->granules > 1 && !r->inference ? PP_TEXT_GRANULES : "");
}

const char *pp_line_units(struct pp_arena *arena, const struct pp_config *c)
{
    const struct pp_unit_costs *u = &c->unit;
    const char *r = "", *recompute = "";
    char again[PP_TEXT_BYTES];

    if (c->costs.recompute != PP_RECOMPUTE_NONE) {
        r = pp_arena_printf(arena, "R %g, ", u->r);
        recompute = pp_arena_printf(arena, "; recompute %s", pp_text_recompute(c, ", ", again));
    }
    return pp_arena_printf(
        arena, "F %g, B %g (I %g + W %g), %sC %g, F+B overlapped %g; messages buffered%s", u->f,
        u->b, u->i, u->w, r, u->c, u->fb, recompute);
}

const char *pp_line_folding(struct pp_arena *arena, const struct pp_result *r)
{
    const int simulated = r->replicas_simulated * r->config.shape.ranks;
    char gpus[PP_UNITS_TEXT_BYTES];

    return pp_arena_printf(arena, "simulated %d pipeline rank%s for %s GPU%s (%s)", simulated,
                           simulated == 1 ? "" : "s",
                           pp_units_print_count(r->config.layout.gpus, gpus),
                           r->config.layout.gpus == 1 ? "" : "s",
                           r->fold_note[0] ? r->fold_note : "one data-parallel replica");
}

const char *pp_line_seeds(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_seeds *s = r->seeds;
    char mean[PP_TEXT_BYTES], least[PP_TEXT_BYTES], greatest[PP_TEXT_BYTES];

    if (!s)
        return NULL;
    const char *text = pp_arena_printf(arena, "%d from %lld on: %s %s on average, %s to %s",
                                       s->count, (long long)s->first,
                                       r->config.generation.passes ? "all takes" : "the step takes",
                                       pp_text_time(&r->config, s->step.mean, mean),
                                       pp_text_time(&r->config, s->step.least, least),
                                       pp_text_time(&r->config, s->step.greatest, greatest));
    if (!s->strict_s)
        return text;
    return pp_arena_printf(arena,
                           "%s; the strict order takes %.3f times as long (%.3f to %.3f), and is "
                           "faster with %d of them",
                           text, s->gain.mean, s->gain.least, s->gain.greatest, s->slower);
}
