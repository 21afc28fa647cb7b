/* What the network did in a step: exposed communication, the busiest links, what the engine met. */
#include "sim/report/text.h"

#include "core/cost/measured/file.h"
#include "core/units.h"
#include "sim/run/links.h"

#include <stdio.h>
#include <string.h>

enum { LABEL = 11, MAX_CLASSES = 3 };
#define SHOWN_FRAC  0.0005
#define FULL        1.0005 /* shown as 100.0 % */
#define NEARLY_FULL 0.8    /* of a link, over the whole step: there must be peaks above 1 */

static const char *fabric_name(const struct pp_result *r)
{
    return pp_fabric_names[r->config.cluster.fabric.kind];
}

/* Where transfers go: through a cluster, or as they were measured. */
static void print_ways(const struct pp_result *r, char text[PP_TEXT_BYTES])
{
    const struct pp_config *c = &r->config;
    const int per_node = c->cluster.gpus_per_node;
    const int nodes = (c->layout.gpus + per_node - 1) / per_node;
    char count[PP_UNITS_TEXT_BYTES];

    if (c->cost)
        snprintf(text, PP_TEXT_BYTES, "channels of %.200s", c->cost->path);
    else
        snprintf(text, PP_TEXT_BYTES, "%s of %s~node%s", fabric_name(r),
                 pp_units_print_count(nodes, count), nodes == 1 ? "" : "s");
}

static void print_fabric(const struct pp_result *r, int width, FILE *out)
{
    const struct pp_config *c = &r->config;
    const struct pp_network_stats *stats = &r->network_stats;
    char text[PP_TEXT_BYTES], count[PP_UNITS_TEXT_BYTES], met[PP_UNITS_TEXT_BYTES],
        links[PP_UNITS_TEXT_BYTES];

    print_ways(r, text);
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, sizeof(text) - used, "; engine~%s: ", c->engine->name);

    if (!c->engine->shares_links)
        snprintf(text + used, sizeof(text) - used, "transfers do not slow each other down");
    else if (stats->transfers == 0)
        snprintf(text + used, sizeof(text) - used, "transfers share links");
    else if (stats->shared == 0)
        snprintf(text + used, sizeof(text) - used, "%s~transfers, each alone on its links",
                 pp_units_print_count(stats->transfers, count));
    else
        snprintf(
            text + used, sizeof(text) - used, "%s~transfers, %s~met~others on %s~link%s",
            pp_units_print_count(stats->transfers, count), pp_units_print_count(stats->shared, met),
            pp_units_print_count(stats->shared_links, links), stats->shared_links == 1 ? "" : "s");
    pp_text_paragraph(out, width, LABEL, "network", text);
}

static void print_exposed(const struct pp_result *r, int width, FILE *out)
{
    static const struct {
        enum pp_time_part part;
        const char *words;
    } PARTS[] = {{PP_TIME_P2P, "p2p~in~flight"}, {PP_TIME_DP_SYNC, "DP~sync"},
                 {PP_TIME_TP_COMM, "TP~comm"},   {PP_TIME_CP_COMM, "CP~comm"},
                 {PP_TIME_EP_COMM, "EP~comm"},   {PP_TIME_MOVES, "moves"}};
    char text[PP_TEXT_BYTES] = "none", time[PP_UNITS_TEXT_BYTES];
    size_t used = 0;

    for (size_t i = 0; i < PP_COUNT(PARTS); i++) {
        const double frac = r->metrics.time_frac[PARTS[i].part];
        if (frac < 0.00005)
            continue;
        pp_units_print(frac * r->metrics.iteration_s, PP_UNIT_SECONDS, time);
        for (char *blank = time; *blank; blank++)
            *blank = *blank == ' ' ? '~' : *blank;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s~%.1f~%%~(%s)",
                                 used ? "~| " : "", PARTS[i].words, 100 * frac, time);
    }
    pp_text_paragraph(out, width, LABEL, "exposed", text);
}

static void print_class(const struct pp_link_class *class, const char *label, int width, FILE *out)
{
    char text[PP_TEXT_BYTES], count[PP_UNITS_TEXT_BYTES];

    if (class->count == 1)
        snprintf(text, sizeof(text), "%s: %.1f~%%~busy", class->name, 100 * class->max_frac);
    else
        snprintf(text, sizeof(text), "%s: %s~links, %.1f~%%~mean, %.1f~%%~max (%s)", class->name,
                 pp_units_print_count(class->count, count), 100 * class->mean_frac,
                 100 * class->max_frac, class->hottest);
    pp_text_paragraph(out, width, LABEL, label, text);
}

/* A link that is asked for about all it carries, or more. */
static void print_demand(const struct pp_result *r, const struct pp_link_class *class, int width,
                         FILE *out)
{
    char text[PP_TEXT_BYTES];

    if (class->max_frac < NEARLY_FULL ||
        (r->config.engine->shares_links && class->max_frac <= FULL))
        return;
    snprintf(
        text, sizeof(text),
        r->config.engine->shares_links
            ? "the demand on %s is %.0f~%% of its capacity: sums take the time of their formula, "
              "without other messages and sums on the link; --collectives~flows simulates them"
            : "the demand on %s is %.0f~%% of its capacity; transfers do not wait for each other "
              "in this engine, but in --engine~simgrid",
        class->hottest, 100 * class->max_frac);
    pp_text_paragraph(out, width, LABEL, "", text);
}

void pp_report_network(const struct pp_result *r, int width, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_link_loads loads = pp_links_of(arena, r);

    if (!r->config.engine_options.network && !r->config.cost)
        return;
    fputc('\n', out);
    print_fabric(r, width, out);
    print_exposed(r, width, out);
    for (int i = 0; i < loads.count && i < MAX_CLASSES; i++)
        if (i == 0 || loads.classes[i].max_frac >= SHOWN_FRAC)
            print_class(&loads.classes[i], i ? "" : "links", width, out);
    if (loads.count > 0)
        print_demand(r, &loads.classes[0], width, out);
}

void pp_explain_network(const struct pp_result *r, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_link_loads loads = pp_links_of(arena, r);

    if (r->config.cost)
        fprintf(out,
                "\nnetwork\n  channels of %s, listed below: each pair of ranks has one of its "
                "own; no link of --cluster carries anything\n",
                r->config.cost->path);
    if (!r->config.engine_options.network)
        return;
    fprintf(out,
            "\nnetwork\n  %s; use of a link = bytes of messages and gradient sums in a step / "
            "(bandwidth * step), of all replicas\n",
            fabric_name(r));
    for (int i = 0; i < loads.count; i++) {
        const struct pp_link_class *class = &loads.classes[i];
        fprintf(out, "    %s: %d link%s, %.6g bytes, mean %.4f %%, max %.4f %% (%s)\n", class->name,
                class->count, class->count == 1 ? "" : "s", class->bytes, 100 * class->mean_frac,
                100 * class->max_frac, class->hottest);
    }
}
