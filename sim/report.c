/* The report of one run: headline, where the time goes, memory, other schedules, what to type next.
 */
#include "sim/report.h"

#include "core/units.h"
#include "sim/buckets.h"
#include "sim/report_text.h"
#include "sim/tiers.h"

#include <stdio.h>
#include <string.h>

#define GIB (1024.0 * 1024.0 * 1024.0)
enum { LABEL = 11, NAME = 22, MAX_MEMORY_ROWS = 8, MAX_ACTIVATION_RANKS = 32 };

struct page {
    FILE *out;
    int width;
    const char *bold, *plain;
};

static void paragraph(const struct page *page, const char *label, const char *text)
{
    pp_text_paragraph(page->out, page->width, LABEL, label, text);
}

enum { SPLITS_BYTES = 32 };

/* " in 2 splits*" behind a number of micro-batches, or nothing. */
static const char *text_splits(const struct pp_config *c, const char *blank,
                               char text[static SPLITS_BYTES])
{
    text[0] = '\0';
    if (c->shape.splits > 1)
        snprintf(text, SPLITS_BYTES, "%sin%s%d%ssplits%s", blank, blank, c->shape.splits, blank,
                 c->is_unit ? "" : pp_text_star(c, PP_CHOSE_SPLITS));
    return text;
}

static void print_title(const struct page *page, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    char number[PP_UNITS_TEXT_BYTES], name[PP_TEXT_BYTES], splits[SPLITS_BYTES];
    int used;

    if (c->is_unit)
        used = fprintf(page->out, "%spipesim %s  %s%s, %d ranks, %d micro-batches%s", page->bold,
                       PP_VERSION, pp_text_schedule(c, name), page->plain, c->shape.ranks,
                       c->shape.micro_batches, text_splits(c, " ", splits));
    else
        used = fprintf(page->out, "%spipesim %s  %s on %s GPU%s%s", page->bold, PP_VERSION,
                       pp_text_schedule(c, name), pp_units_print_count(c->layout.gpus, number),
                       c->layout.gpus == 1 ? "" : "s", page->plain);
    used -= (int)(strlen(page->bold) + strlen(page->plain));
    static const char LEGEND[] = "(* = chosen for you, see --explain)";
    if (!c->is_unit && c->chosen)
        fprintf(page->out, "%*s",
                used + (int)sizeof(LEGEND) < page->width ? page->width - used
                                                         : (int)sizeof(LEGEND) + 1,
                LEGEND);
    fputs("\n\n", page->out);
}

static void print_model(const struct page *page, const struct pp_config *c)
{
    const struct pp_model *m = &c->model;
    char params[PP_UNITS_TEXT_BYTES], text[2 * PP_TEXT_BYTES];

    snprintf(text, sizeof(text), "%s%s~ %s parameters, %d~layer%s, hidden~%d, seq~%d%s, %s",
             m->name, pp_text_star(c, PP_CHOSE_MODEL),
             pp_units_print(pp_model_params(m), PP_UNIT_COUNT, params), m->layers,
             m->layers == 1 ? "" : "s", m->hidden, c->layout.seq, pp_text_star(c, PP_CHOSE_SEQ),
             c->cluster.device.dtype);
    paragraph(page, "model", text);
    if (m->notes && m->notes[0]) {
        snprintf(text, sizeof(text), "of the file: %s", m->notes);
        paragraph(page, "", text);
    }
}

static void print_cluster(const struct page *page, const struct pp_config *c)
{
    char text[2 * PP_TEXT_BYTES], nodes[PP_UNITS_TEXT_BYTES];
    const int per_node = c->cluster.gpus_per_node;
    const int needed = (c->layout.gpus + per_node - 1) / per_node;

    snprintf(text, sizeof(text), "%s%s~ %s~node%s x %d %s, %s", c->cluster.name,
             pp_text_star(c, PP_CHOSE_CLUSTER), pp_units_print_count(needed, nodes),
             needed == 1 ? "" : "s", per_node, c->cluster.device.title, c->cluster.title);
    paragraph(page, "cluster", text);
}

static void print_layout(const struct page *page, const struct pp_config *c)
{
    static const char *const head_notes[] = {
        [PP_HEAD_LAST] = "",
        [PP_HEAD_BALANCED] = ", balanced with embedding and head",
        [PP_HEAD_COUNTED] = ", embedding and head count as a block each",
        [PP_HEAD_IGNORED] = ", both without compute time",
        [PP_HEAD_PARALLEL] = ", embedding and head in equal parts in all"};
    const struct pp_layout *l = &c->layout;
    char text[2 * PP_TEXT_BYTES], gbs[PP_UNITS_TEXT_BYTES], split[PP_TEXT_BYTES],
        vp[32] = "", cp[32] = "", ep[64] = "";
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
        text, sizeof(text),
        "TP~%d%s%s x PP~%d%s x DP~%d%s%s%s, MBS~%d%s, GBS~%s%s -> %d%s~micro-batches%s; %s%s%s",
        l->tp, pp_text_star(c, PP_CHOSE_TP), cp, l->pp, pp_text_star(c, PP_CHOSE_PP), l->dp,
        pp_text_star(c, PP_CHOSE_DP), ep, vp, l->mbs, pp_text_star(c, PP_CHOSE_MBS),
        pp_units_print_count(l->gbs, gbs), pp_text_star(c, PP_CHOSE_GBS), l->micro_batches,
        pp_text_star(c, PP_CHOSE_MICRO_BATCHES), text_splits(c, "~", splits),
        pp_text_split(c, split), head_notes[c->head], map);
    paragraph(page, "layout", text);
}

static void print_trials(const struct page *page, const struct pp_config *c)
{
    char text[PP_TRIALS_BYTES];

    if (c->trials.count)
        paragraph(page, "schedule", pp_text_trials(c, text));
}

static void print_state(const struct page *page, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    char text[3 * PP_TEXT_BYTES], steps[PP_TEXT_BYTES], buckets[PP_BUCKETS_TEXT_BYTES],
        share[PP_UNITS_TEXT_BYTES] = "", shards[PP_STATE_TEXT_BYTES], again[PP_TEXT_BYTES];

    pp_text_steps(c, steps);
    if (c->engine_options.sync_share > 0)
        snprintf(share, sizeof(share), ", which takes %.3g~%% of compute",
                 100 * c->engine_options.sync_share);
    snprintf(text, sizeof(text), "%s%s, recompute %s%s, gradient sync %s%s%s%s%s",
             pp_state_name(&c->state, shards), pp_text_star(c, PP_CHOSE_ZERO),
             pp_text_recompute(c, again), pp_text_star(c, PP_CHOSE_RECOMPUTE),
             pp_grad_sync_names[c->lower.grad_sync], pp_buckets_text(r, buckets), share,
             steps[0] ? "; " : "", steps);
    paragraph(page, "state", text);
}

static void print_costs(const struct page *page, const struct pp_result *r)
{
    char text[PP_TEXT_BYTES];
    const bool has_granules = r->program->granules > 1;

    if (r->costs->is_calibrated)
        snprintf(text, sizeof(text), "%s, calibrated from %s", r->costs->origin, r->costs->source);
    else
        snprintf(text, sizeof(text),
                 "%s, fitted on published runs, not on this cluster; framework %s (constants and "
                 "sources: pipesim clusters %s)%s",
                 r->costs->origin, r->config.framework->name,
                 strchr(r->config.cluster.name, ' ') ? "'TEXT'" : r->config.cluster.name,
                 has_granules ? PP_TEXT_GRANULES : "");
    paragraph(page, "costs", text);
}

/* One headline row: label, figure, remark. */
static void headline(const struct page *page, const char *label, const char *figure,
                     const char *remark)
{
    fprintf(page->out, "  %-13s %s%12s%s   %s\n", label, page->bold, figure, page->plain, remark);
}

static void print_rates(const struct page *page, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    char figure[PP_TEXT_BYTES], remark[PP_TEXT_BYTES], a[PP_UNITS_TEXT_BYTES],
        b[PP_UNITS_TEXT_BYTES];

    pp_text_time(c, r->metrics.iteration_s, figure);
    snprintf(remark, sizeof(remark), "%s tokens/s, %s tokens/s/GPU",
             pp_units_print(r->tokens_per_s, PP_UNIT_COUNT, a),
             pp_units_print(r->tokens_per_s_per_gpu, PP_UNIT_COUNT, b));
    headline(page, "iteration", figure, remark);
    snprintf(figure, sizeof(figure), "%.1f %%", 100 * r->mfu);
    snprintf(remark, sizeof(remark), "%.4g of %.4g dense TFLOP/s/GPU (%s FLOPs)",
             r->model_flops_per_s_per_gpu * 1e-12, c->cluster.device.peak_flops_per_s * 1e-12,
             pp_flops_rule_names[c->flops]);
    headline(page, "MFU", figure, remark);
    if (r->hardware_flops_per_step > r->model_flops_per_step) {
        snprintf(figure, sizeof(figure), "%.1f %%", 100 * r->hfu);
        headline(page, "HFU", figure, "recomputation counted");
    }
}

static void print_bubble(const struct page *page, const struct pp_result *r)
{
    char figure[PP_TEXT_BYTES], remark[PP_TEXT_BYTES];

    snprintf(figure, sizeof(figure), "%.1f %%", 100 * r->metrics.bubble_frac);
    snprintf(remark, sizeof(remark), "idle, waiting for other stages; span form %.1f %%",
             100 * r->metrics.span_bubble_frac);
    headline(page, "bubble", figure, remark);
}

static void print_memory_line(const struct page *page, const struct pp_result *r)
{
    const double capacity = r->config.cluster.device.memory_bytes,
                 peak = r->memory[r->peak_rank].peak_bytes;
    char figure[PP_TEXT_BYTES], remark[PP_TEXT_BYTES];

    snprintf(figure, sizeof(figure), "%.1f GiB", peak / GIB);
    if (peak <= capacity && pp_tiers_full(r) != PP_TIER_DEVICE)
        snprintf(remark, sizeof(remark), "of %.1f on pipeline rank %d; %s: DOES NOT FIT",
                 capacity / GIB, r->peak_rank, pp_tier_names[pp_tiers_full(r)]);
    else if (peak <= capacity)
        snprintf(remark, sizeof(remark), "of %.1f on pipeline rank %d: fits, %.1f GiB free",
                 capacity / GIB, r->peak_rank, (capacity - peak) / GIB);
    else
        snprintf(remark, sizeof(remark), "of %.1f on pipeline rank %d: DOES NOT FIT",
                 capacity / GIB, r->peak_rank);
    headline(page, "peak memory", figure, remark);
}

static void print_tokens(const struct page *page, const struct pp_result *r)
{
    const double seconds = 1e12 / r->tokens_per_s;
    char figure[PP_TEXT_BYTES], remark[PP_TEXT_BYTES], number[PP_UNITS_TEXT_BYTES];

    snprintf(figure, sizeof(figure), seconds < 100 * 86400 ? "%.3g days" : "%.0f days",
             seconds / 86400);
    snprintf(remark, sizeof(remark), "%s GPU-hours",
             pp_units_print(seconds / 3600 * r->config.layout.gpus, PP_UNIT_COUNT, number));
    headline(page, "1 T tokens", figure, remark);
}

static void print_time_parts(const struct page *page, const struct pp_result *r)
{
    static const char *const WORDS[PP_TIME_PARTS] = {
        [PP_TIME_FORWARD] = "forward",     [PP_TIME_BACKWARD] = "backward",
        [PP_TIME_RECOMPUTE] = "recompute", [PP_TIME_TP_COMM] = "TP~comm",
        [PP_TIME_CP_COMM] = "CP~comm",     [PP_TIME_EP_COMM] = "EP~comm",
        [PP_TIME_P2P] = "p2p~in~flight",   [PP_TIME_DP_SYNC] = "DP~sync",
        [PP_TIME_OPTIMIZER] = "optimizer", [PP_TIME_MOVES] = "moves",
        [PP_TIME_BUBBLE] = "bubble"};
    char text[2 * PP_TEXT_BYTES];
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < PP_TIME_PARTS; i++)
        if (r->metrics.time_frac[i] >= 0.00005)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s~%.1f~%%",
                                     used ? "~| " : "", WORDS[i], 100 * r->metrics.time_frac[i]);
    paragraph(page, "time", text);
}

/* Which ranks to show: all when few, else the ends, the middle and the peak. */
static bool is_shown(const struct pp_result *r, int rank)
{
    const int ranks = r->program->ranks;

    return ranks <= MAX_MEMORY_ROWS || rank <= 1 || rank >= ranks - 2 || rank == ranks / 2 ||
           rank == r->peak_rank;
}

static void print_memory_table(const struct page *page, const struct pp_result *r)
{
    char stages[PP_TEXT_BYTES], name[PP_TEXT_BYTES + 32];

    fprintf(page->out, "\n  %-22s%8s%7s%7s%8s%9s%7s%8s\n", "memory by rank, GiB", "params", "grads",
            "optim", "activ.", "buffers", "other", "total");
    for (int rank = 0; rank < r->program->ranks; rank++) {
        const struct pp_rank_memory *m = &r->memory[rank];
        if (!is_shown(r, rank))
            continue;
        pp_text_stages(r->program, rank, stages);
        const bool is_one = !strpbrk(stages, ",.");
        if (snprintf(name, sizeof(name), "rank %d (stage%s %s)", rank, is_one ? "" : "s", stages) >
            NAME)
            snprintf(name, sizeof(name), "rank %d (%s)", rank, stages);
        fprintf(page->out, "    %-*s%6.1f%7.1f%7.1f%8.1f%9.1f%7.1f%8.1f%s\n", NAME, name,
                m->params_bytes / GIB, m->grads_bytes / GIB, m->optimizer_bytes / GIB,
                m->activations_bytes / GIB, m->buffers_bytes / GIB, m->other_bytes / GIB,
                m->peak_bytes / GIB, rank == r->peak_rank ? " <" : "");
    }
}

static void print_tiers(const struct page *page, const struct pp_result *r)
{
    char text[PP_TIERS_TEXT_BYTES];

    if (!pp_tiers_are_used(r))
        return;
    fputc('\n', page->out);
    pp_tiers_text(r, text);
    if (pp_tiers_full(r) != PP_TIER_DEVICE)
        strncat(text, ": DOES NOT FIT", sizeof(text) - strlen(text) - 1);
    paragraph(page, "tiers", text);
}

static void print_activations(const struct page *page, const struct pp_result *r)
{
    const int ranks = r->program->ranks;
    char text[2 * PP_TEXT_BYTES];
    size_t used = (size_t)snprintf(text, sizeof(text), "peak chunk activations by rank:");

    for (int i = 0; i < ranks && i < MAX_ACTIVATION_RANKS; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, " %g",
                                 r->memory[i].peak_activations);
    if (ranks > MAX_ACTIVATION_RANKS)
        snprintf(text + used, sizeof(text) - used, " ... (%d ranks)", ranks);
    paragraph(page, "memory", text);
}

static void print_footer(const struct page *page, const struct pp_result *r)
{
    char text[PP_TEXT_BYTES], gpus[PP_UNITS_TEXT_BYTES];
    const int simulated = r->replicas_simulated * r->config.shape.ranks;

    paragraph(page, "next", "--gantt~(see~it)~ --trace~t.json.gz~(Perfetto)~ --json~ --explain");
    if (r->config.is_unit)
        return;
    snprintf(text, sizeof(text), "simulated %d pipeline rank%s for %s GPU%s (%s)", simulated,
             simulated == 1 ? "" : "s", pp_units_print_count(r->config.layout.gpus, gpus),
             r->config.layout.gpus == 1 ? "" : "s",
             r->fold_note[0] ? r->fold_note : "one data-parallel replica");
    paragraph(page, "folding", text);
}

static void print_unit_headline(const struct page *page, const struct pp_result *r)
{
    const struct pp_unit_costs *u = &r->config.unit;
    char figure[PP_TEXT_BYTES], text[PP_TEXT_BYTES];

    snprintf(text, sizeof(text),
             "F %g, B %g (I %g + W %g), C %g, F+B overlapped %g; messages buffered", u->f, u->b,
             u->i, u->w, u->c, u->fb);
    paragraph(page, "units", text);
    print_trials(page, &r->config);
    pp_report_what_if(&r->config, page->width, LABEL, page->out);
    fputc('\n', page->out);
    pp_text_steps(&r->config, text);
    headline(page, "step", pp_text_time(&r->config, r->metrics.iteration_s, figure),
             text[0] ? text : "first start to last end");
}

void pp_report_print(const struct pp_result *r, const struct pp_others *others,
                     struct pp_terminal terminal, FILE *out)
{
    const struct page page = {.out = out,
                              .width = terminal.width < 60    ? 60
                                       : terminal.width > 100 ? 100
                                                              : terminal.width,
                              .bold = terminal.has_color ? "\033[1m" : "",
                              .plain = terminal.has_color ? "\033[0m" : ""};
    char text[PP_TEXT_BYTES];

    print_title(&page, r);
    if (r->config.is_unit) {
        print_unit_headline(&page, r);
        print_bubble(&page, r);
        fputc('\n', out);
        print_time_parts(&page, r);
        print_activations(&page, r);
        fputc('\n', out);
        print_footer(&page, r);
        return;
    }
    print_model(&page, &r->config);
    print_cluster(&page, &r->config);
    print_layout(&page, &r->config);
    print_trials(&page, &r->config);
    print_state(&page, r);
    print_costs(&page, r);
    pp_report_what_if(&r->config, page.width, LABEL, out);
    fputc('\n', out);
    print_rates(&page, r);
    print_bubble(&page, r);
    print_memory_line(&page, r);
    print_tokens(&page, r);
    fputc('\n', out);
    print_time_parts(&page, r);
    pp_report_network(r, page.width, out);
    print_memory_table(&page, r);
    print_tiers(&page, r);
    if (r->oom)
        pp_oom_print(r, page.width, out);
    pp_report_others(others, out);
    fputc('\n', out);
    paragraph(&page, "note", pp_report_advice(r, others, text));
    print_footer(&page, r);
}
