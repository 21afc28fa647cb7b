/* Sentences and figures that the report in text and the page share. */
#include "sim/report/lines.h"

#include "core/units.h"
#include "sim/config/buckets.h"

#include <stdio.h>
#include <string.h>

const char *const pp_time_part_words[PP_TIME_PARTS] = {
    [PP_TIME_FORWARD] = "forward",     [PP_TIME_BACKWARD] = "backward",
    [PP_TIME_RECOMPUTE] = "recompute", [PP_TIME_TP_COMM] = "TP~comm",
    [PP_TIME_CP_COMM] = "CP~comm",     [PP_TIME_EP_COMM] = "EP~comm",
    [PP_TIME_P2P] = "p2p~in~flight",   [PP_TIME_DP_SYNC] = "DP~sync",
    [PP_TIME_OPTIMIZER] = "optimizer", [PP_TIME_MOVES] = "moves",
    [PP_TIME_BUBBLE] = "bubble"};

const char *pp_time_part_name(int part, char name[static PP_PART_NAME_BYTES])
{
    snprintf(name, PP_PART_NAME_BYTES, "%s", pp_time_part_words[part]);
    for (char *c = name; *c; c++)
        *c = *c == '~' ? ' ' : *c;
    return name;
}

enum { SPLITS_BYTES = 32 };

/* " in 2 splits*" after a number of micro-batches, or nothing. */
static const char *text_splits(const struct pp_config *c, const char *blank,
                               char text[static SPLITS_BYTES])
{
    text[0] = '\0';
    if (c->shape.splits > 1)
        snprintf(text, SPLITS_BYTES, "%sin%s%d%ssplits%s", blank, blank, c->shape.splits, blank,
                 c->is_unit ? "" : pp_text_star(c, PP_CHOSE_SPLITS));
    return text;
}

const char *pp_line_title(const struct pp_result *r, char text[PP_LINE_BYTES])
{
    const struct pp_config *c = &r->config;
    char number[PP_UNITS_TEXT_BYTES], name[PP_TEXT_BYTES], splits[SPLITS_BYTES];

    if (c->is_unit)
        snprintf(text, PP_LINE_BYTES, "%s, %d rank%s, %d micro-batch%s%s",
                 pp_text_schedule(c, name), c->shape.ranks, c->shape.ranks == 1 ? "" : "s",
                 c->shape.micro_batches, c->shape.micro_batches == 1 ? "" : "es",
                 text_splits(c, " ", splits));
    else
        snprintf(text, PP_LINE_BYTES, "%s on %s GPU%s", pp_text_schedule(c, name),
                 pp_units_print_count(c->layout.gpus, number), c->layout.gpus == 1 ? "" : "s");
    return text;
}

const char *pp_line_model(const struct pp_config *c, char text[PP_LINE_BYTES])
{
    const struct pp_model *m = &c->model;
    char params[PP_UNITS_TEXT_BYTES];

    snprintf(text, PP_LINE_BYTES, "%s%s~ %s parameters, %d~layer%s, hidden~%d, seq~%d%s, %s",
             m->name, pp_text_star(c, PP_CHOSE_MODEL),
             pp_units_print(pp_model_params(m), PP_UNIT_COUNT, params), m->layers,
             m->layers == 1 ? "" : "s", m->hidden, c->layout.seq, pp_text_star(c, PP_CHOSE_SEQ),
             c->cluster.device.dtype);
    return text;
}

const char *pp_line_cluster(const struct pp_config *c, char text[PP_LINE_BYTES])
{
    char nodes[PP_UNITS_TEXT_BYTES];
    const int per_node = c->cluster.gpus_per_node;
    const int needed = (c->layout.gpus + per_node - 1) / per_node;

    snprintf(text, PP_LINE_BYTES, "%s%s~ %s~node%s x %d %s, %s", c->cluster.name,
             pp_text_star(c, PP_CHOSE_CLUSTER), pp_units_print_count(needed, nodes),
             needed == 1 ? "" : "s", per_node, c->cluster.device.title, c->cluster.title);
    return text;
}

const char *pp_line_layout(const struct pp_config *c, char text[PP_LINE_BYTES])
{
    static const char *const head_notes[] = {
        [PP_HEAD_LAST] = "",
        [PP_HEAD_BALANCED] = ", balanced with embedding and head",
        [PP_HEAD_COUNTED] = ", embedding and head count as a block each",
        [PP_HEAD_IGNORED] = ", both without compute time",
        [PP_HEAD_PARALLEL] = ", embedding and head in equal parts in all"};
    const struct pp_layout *l = &c->layout;
    char gbs[PP_UNITS_TEXT_BYTES], split[PP_TEXT_BYTES], vp[32] = "", cp[32] = "", ep[64] = "";
    char splits[SPLITS_BYTES], order[PP_MAP_TEXT_BYTES], map[32] = "";

    if (l->vp > 1)
        snprintf(vp, sizeof(vp), ", VP~%d%s", l->vp, pp_text_star(c, PP_CHOSE_VP));
    if (l->cp > 1)
        snprintf(cp, sizeof(cp), " x CP~%d", l->cp);
    if (c->model.experts.count > 0)
        snprintf(ep, sizeof(ep), ", EP~%d%s", l->ep, pp_text_star(c, PP_CHOSE_EP));
    if (pp_layout_etp(l) != l->tp)
        snprintf(ep + strlen(ep), sizeof(ep) - strlen(ep), ", ETP~%d", l->etp);
    if (!pp_map_is_default(c->map))
        snprintf(map, sizeof(map), "; map~%s", pp_map_print(c->map, order));
    snprintf(
        text, PP_LINE_BYTES,
        "TP~%d%s%s x PP~%d%s x DP~%d%s%s%s, MBS~%d%s, GBS~%s%s -> %d%s~micro-batches%s; %s%s%s",
        l->tp, pp_text_star(c, PP_CHOSE_TP), cp, l->pp, pp_text_star(c, PP_CHOSE_PP), l->dp,
        pp_text_star(c, PP_CHOSE_DP), ep, vp, l->mbs, pp_text_star(c, PP_CHOSE_MBS),
        pp_units_print_count(l->gbs, gbs), pp_text_star(c, PP_CHOSE_GBS), l->micro_batches,
        pp_text_star(c, PP_CHOSE_MICRO_BATCHES), text_splits(c, "~", splits),
        pp_text_split(c, split), head_notes[c->costs.head], map);
    return text;
}

const char *pp_line_state(const struct pp_result *r, char text[PP_LINE_BYTES])
{
    const struct pp_config *c = &r->config;
    char steps[PP_TEXT_BYTES], buckets[PP_BUCKETS_TEXT_BYTES],
        share[PP_UNITS_TEXT_BYTES] = "", shards[PP_STATE_TEXT_BYTES], again[PP_TEXT_BYTES];

    pp_text_steps(c, steps);
    if (c->engine_options.sync_share > 0)
        snprintf(share, sizeof(share), ", which takes %.3g~%% of compute",
                 100 * c->engine_options.sync_share);
    snprintf(text, PP_LINE_BYTES, "%s%s, recompute %s%s, gradient sync %s%s%s%s%s",
             pp_state_name(&c->state, shards), pp_text_star(c, PP_CHOSE_ZERO),
             pp_text_recompute(c, again), pp_text_star(c, PP_CHOSE_RECOMPUTE),
             pp_grad_sync_names[c->lower.grad_sync], pp_buckets_text(r, buckets), share,
             steps[0] ? "; " : "", steps);
    return text;
}

const char *pp_line_costs(const struct pp_result *r, char text[PP_LINE_BYTES])
{
    const bool has_granules = r->program->granules > 1;

    if (r->costs->is_calibrated)
        snprintf(text, PP_LINE_BYTES, "%s, calibrated from %s", r->costs->origin, r->costs->source);
    else
        snprintf(text, PP_LINE_BYTES,
                 "%s, fitted on published runs, not on this cluster; framework %s (constants and "
                 "sources: pipesim clusters %s)%s",
                 r->costs->origin, r->config.costs.framework->name,
                 strchr(r->config.cluster.name, ' ') ? "'TEXT'" : r->config.cluster.name,
                 has_granules ? PP_TEXT_GRANULES : "");
    return text;
}

const char *pp_line_units(const struct pp_config *c, char text[PP_LINE_BYTES])
{
    const struct pp_unit_costs *u = &c->unit;

    snprintf(text, PP_LINE_BYTES,
             "F %g, B %g (I %g + W %g), C %g, F+B overlapped %g; messages buffered", u->f, u->b,
             u->i, u->w, u->c, u->fb);
    return text;
}

const char *pp_line_folding(const struct pp_result *r, char text[PP_LINE_BYTES])
{
    const int simulated = r->replicas_simulated * r->config.shape.ranks;
    char gpus[PP_UNITS_TEXT_BYTES];

    snprintf(text, PP_LINE_BYTES, "simulated %d pipeline rank%s for %s GPU%s (%s)", simulated,
             simulated == 1 ? "" : "s", pp_units_print_count(r->config.layout.gpus, gpus),
             r->config.layout.gpus == 1 ? "" : "s",
             r->fold_note[0] ? r->fold_note : "one data-parallel replica");
    return text;
}
