/* The network of a step: exposed communication, the busiest links, transfers that share links. */
#include "sim/report/lines.h"

#include "core/cost/measured/file.h"
#include "core/units.h"
#include "sim/run/links.h"

#include <stdio.h>

enum { LABEL = 11, MAX_CLASSES = 3 };
#define SHOWN_FRAC  0.2    /* links that are less busy limit nothing */
#define FULL        1.0005 /* shown as 100.0 % */
#define NEARLY_FULL 0.8    /* mean use of a link over the step, whose peaks must be above 1 */

static bool has_network(const struct pp_result *r)
{
    return r->config.engine_options.network || r->config.cost;
}

/* Text on transfers, and on those that share links. */
static const char *meetings(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_network_stats *stats = &r->network_stats;
    char count[PP_UNITS_TEXT_BYTES], met[PP_UNITS_TEXT_BYTES];

    if (r->config.cost)
        return pp_arena_printf(arena, "times of %.200s", r->config.cost->path);
    if (!r->config.engine->shares_links)
        return "links are not shared";
    if (stats->transfers == 0)
        return "no transfers";
    pp_units_print_count(stats->transfers, count);
    return pp_arena_printf(arena, "%s~transfers, %s~shared a link", count,
                           pp_units_print_count(stats->shared, met));
}

static const char *class_text(struct pp_arena *arena, const struct pp_link_class *class)
{
    char count[PP_UNITS_TEXT_BYTES];

    if (class->count == 1)
        return pp_arena_printf(arena, "%s: %.1f~%%~busy", class->name, 100 * class->max_frac);
    return pp_arena_printf(arena, "%s: %s~links, %.1f~%%~mean, %.1f~%%~max (%s)", class->name,
                           pp_units_print_count(class->count, count), 100 * class->mean_frac,
                           100 * class->max_frac, class->hottest);
}

/* Is true for a link whose demand is near its capacity, or above it. */
static bool is_in_demand(const struct pp_result *r, const struct pp_link_class *class)
{
    return class->max_frac >= NEARLY_FULL &&
           (!r->config.engine->shares_links || class->max_frac > FULL);
}

const char *pp_line_demand(struct pp_arena *arena, const struct pp_result *r,
                           const struct pp_link_loads *loads)
{
    const struct pp_link_class *class = loads->classes;

    if (loads->count == 0 || !is_in_demand(r, class))
        return NULL;
    return pp_arena_printf(
        arena,
        r->config.engine->shares_links
            ? "the demand on %s is %.0f~%% of its capacity: sums take the time of their formula, "
              "without other messages and sums on the link; --collectives~flows simulates them"
            : "the demand on %s is %.0f~%% of its capacity; transfers do not wait for each other "
              "in this engine, but in --engine~simgrid",
        class->hottest, 100 * class->max_frac);
}

const char *pp_line_network(struct pp_arena *arena, const struct pp_result *r)
{
    return has_network(r)
               ? pp_arena_printf(arena, "exposed %.1f~%% of the %s; %s (%s)",
                                 100 * r->metrics.exposed_comm_frac, pp_line_whole(&r->config),
                                 meetings(arena, r), r->config.engine->name)
               : NULL;
}

const char *pp_line_whole(const struct pp_config *config)
{
    return config->generation.passes > 0 ? "run" : "step";
}

void pp_report_network(const struct pp_result *r, int width, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *line = pp_line_network(arena, r);

    if (!line)
        return;
    pp_text_paragraph(out, width, LABEL, "network", line);
    const struct pp_link_loads loads = pp_links_of(arena, r);
    const char *demand = pp_line_demand(arena, r, &loads);
    for (int i = 0; i < loads.count && i < MAX_CLASSES; i++)
        if (loads.classes[i].max_frac > SHOWN_FRAC)
            pp_text_paragraph(out, width, LABEL, i ? "" : "links",
                              class_text(arena, &loads.classes[i]));
    if (demand)
        pp_text_paragraph(out, width, LABEL, "", demand);
}

/* ---- --explain ------------------------------------------------------------------------------- */

/* Prints the parts of exposed communication, and transfers that met others. */
static void explain_exposed(const struct pp_result *r, FILE *out)
{
    static const enum pp_time_part PARTS[] = {PP_TIME_P2P,     PP_TIME_DP_SYNC, PP_TIME_TP_COMM,
                                              PP_TIME_CP_COMM, PP_TIME_EP_COMM, PP_TIME_MOVES};
    const struct pp_network_stats *stats = &r->network_stats;
    char name[PP_PART_NAME_BYTES];
    const char *between = ": ";

    fprintf(out, "  exposed communication %.4f %% of an average rank",
            100 * r->metrics.exposed_comm_frac);
    for (size_t i = 0; i < PP_COUNT(PARTS); i++) {
        const double frac = r->metrics.time_frac[PARTS[i]];
        if (frac == 0)
            continue;
        fprintf(out, "%s%s %.6g s", between, pp_time_part_name(PARTS[i], name),
                frac * r->metrics.iteration_s);
        between = " + ";
    }
    fputc('\n', out);
    if (r->config.engine->shares_links && stats->transfers > 0)
        fprintf(out, "  %lld transfers; %lld shared a link with others, on %lld link%s\n",
                (long long)stats->transfers, (long long)stats->shared,
                (long long)stats->shared_links, stats->shared_links == 1 ? "" : "s");
}

void pp_explain_network(const struct pp_result *r, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_link_loads loads = pp_links_of(arena, r);

    if (!has_network(r))
        return;
    fputs("\nnetwork\n", out);
    explain_exposed(r, out);
    if (r->config.cost)
        fprintf(out,
                "  channels of %s, listed below: each pair of ranks has one of its own; no link of "
                "--cluster carries anything\n",
                r->config.cost->path);
    fprintf(out, "  %s\n", pp_line_folding(arena, r));
    if (!r->config.engine_options.network)
        return;
    fprintf(out,
            r->config.generation.passes > 0
                ? "  %s; use of a link = bytes of messages / (bandwidth * time of all), of all "
                  "replicas\n"
                : "  %s; use of a link = bytes of messages and gradient sums in a step / "
                  "(bandwidth * step), of all replicas\n",
            pp_fabric_names[r->config.cluster.fabric.kind]);
    for (int i = 0; i < loads.count; i++) {
        const struct pp_link_class *class = &loads.classes[i];
        fprintf(out, "    %s: %d link%s, %.6g bytes, mean %.4f %%, max %.4f %% (%s)\n", class->name,
                class->count, class->count == 1 ? "" : "s", class->bytes, 100 * class->mean_frac,
                100 * class->max_frac, class->hottest);
    }
}
