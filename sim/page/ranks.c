/* Writes the pipeline ranks: busy times, memory at their peaks, and the fullest one over time. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/units.h"
#include "plots/page/page.h"
#include "sim/config/tiers.h"
#include "sim/figure/figure.h"

#include <math.h>

/* Is true for all of a few ranks; for every k-th, the last and the fullest of many. */
static bool is_shown(const struct pp_result *r, int rank)
{
    const int ranks = r->program->ranks, room = PP_PAGE_ROWS - 2;
    const int every = ranks <= PP_PAGE_ROWS ? 1 : (ranks + room - 1) / room;

    return rank % every == 0 || rank == ranks - 1 || rank == r->peak_rank;
}

/* ---- a row ----------------------------------------------------------------------------------- */

static void write_times(const struct pp_page *page, const struct pp_result *r, int rank)
{
    const struct pp_rank_times *t = &r->metrics.ranks[rank];
    char text[PP_TEXT_BYTES];

    pp_page_cell(page, "busy_s", t->busy_s, pp_text_time(&r->config, t->busy_s, text));
    pp_page_cell(page, "idle_s", t->idle_s, pp_text_time(&r->config, t->idle_s, text));
}

static void write_activations(const struct pp_page *page, const struct pp_result *r, int rank)
{
    const double held = r->memory[rank].peak_activations;
    char text[PP_TEXT_BYTES];

    snprintf(text, sizeof(text), "%g", held);
    pp_page_cell(page, "peak_activations", held, text);
}

static double scale_of(const struct pp_result *r)
{
    return 1.02 * fmax(r->memory[r->peak_rank].peak_bytes, pp_config_capacity_bytes(&r->config));
}

bool pp_page_has_part(const struct pp_result *r, int part)
{
    int64_t bytes[PP_MEMORY_PARTS];
    bool has_any = !pp_plot_memory_parts[part].is_rare && r->config.generation.passes == 0;

    for (int rank = 0; !has_any && rank < r->program->ranks; rank++) {
        pp_memory_whole_parts(&r->memory[rank], bytes);
        has_any = bytes[part] > 0;
    }
    return has_any;
}

void pp_page_memory(const struct pp_page *page, const struct pp_rank_memory *memory,
                    double capacity_bytes, double whole_bytes)
{
    struct pp_html_part parts[PP_MEMORY_PARTS];
    int64_t bytes[PP_MEMORY_PARTS];

    pp_memory_whole_parts(memory, bytes);
    for (int i = 0; i < PP_MEMORY_PARTS; i++)
        parts[i] = (struct pp_html_part){pp_plot_memory_parts[i].name, (double)bytes[i],
                                         pp_plot_memory_parts[i].rgb};
    fputs("<td class=\"bar\"><div class=\"mini\">", page->out);
    pp_html_band(parts, PP_MEMORY_PARTS, whole_bytes, capacity_bytes, page->out);
    fputs("</div></td>", page->out);
}

static void write_bytes(const struct pp_page *page, const struct pp_result *r, int rank)
{
    int64_t bytes[PP_MEMORY_PARTS];
    char text[PP_TEXT_BYTES], key[48];

    pp_memory_whole_parts(&r->memory[rank], bytes);
    pp_page_memory(page, &r->memory[rank], pp_config_capacity_bytes(&r->config), scale_of(r));
    snprintf(text, sizeof(text), "%.1f", r->memory[rank].peak_bytes / PP_GIB);
    pp_page_cell(page, "peak_mem_bytes", round(r->memory[rank].peak_bytes), text);
    for (int i = 0; i < PP_MEMORY_PARTS; i++) {
        if (!pp_page_has_part(r, i))
            continue;
        snprintf(key, sizeof(key), "memory.%s", pp_memory_part_keys[i]);
        snprintf(text, sizeof(text), "%.1f", (double)bytes[i] / PP_GIB);
        pp_page_cell(page, key, (double)bytes[i], text);
    }
}

static void write_row(const struct pp_page *page, const struct pp_result *r, int rank)
{
    char stages[PP_TEXT_BYTES];

    fputs(rank == r->peak_rank && !r->config.is_unit ? "<tr class=\"own\">" : "<tr>", page->out);
    pp_html(page->out, "<td class=\"number\">%d</td><td>%s</td>", rank,
            pp_text_stages(r->program, rank, stages));
    write_times(page, r, rank);
    if (!r->config.is_unit)
        write_bytes(page, r, rank);
    if (r->config.generation.passes == 0)
        write_activations(page, r, rank);
    fputs("</tr>\n", page->out);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void write_head(const struct pp_result *r, FILE *out)
{
    fputs("<thead><tr><th class=\"number\">rank</th><th>stages</th><th class=\"number\">busy</th>"
          "<th class=\"number\">idle</th>",
          out);
    if (!r->config.is_unit) {
        fputs("<th>memory</th><th class=\"number\">GiB</th>", out);
        for (int i = 0; i < PP_MEMORY_PARTS; i++) {
            if (!pp_page_has_part(r, i))
                continue;
            fputs("<th class=\"number\">", out);
            pp_html_swatch(pp_plot_memory_parts[i].rgb, out);
            pp_html(out, "%s</th>", pp_plot_memory_parts[i].name);
        }
    }
    if (r->config.generation.passes == 0)
        fputs("<th class=\"number\">chunks held</th>", out);
    fputs("</tr></thead>\n", out);
}

static void write_caption(const struct pp_result *r, FILE *out)
{
    const int ranks = r->program->ranks;
    int shown = 0;

    for (int rank = 0; rank < ranks; rank++)
        shown += is_shown(r, rank);
    fputs("<caption>", out);
    if (shown < ranks)
        pp_html(out, "%d of %d pipeline ranks. ", shown, ranks);
    if (r->config.is_unit)
        fputs(
            "Chunks held: most chunk activations of a rank at once, from the start of a forward to "
            "the end of its backward",
            out);
    else
        pp_html(out,
                "Memory for each device at the rank's own peak, in GiB; the dashed line is the "
                "device's %.1f GiB, the fullest rank is bold%s",
                pp_config_capacity_bytes(&r->config) / PP_GIB,
                r->config.generation.passes > 0 ? ""
                                                : ". Chunks held: most chunk activations at once");
    fputs("</caption>\n", out);
}

/* Returns the fullest rank; in unit mode by activations. */
static int fullest(const struct pp_result *r)
{
    int most = r->config.is_unit ? 0 : r->peak_rank;

    for (int i = 1; i < r->program->ranks && r->config.is_unit; i++)
        if (r->memory[i].peak_activations > r->memory[most].peak_activations)
            most = i;
    return most;
}

/* Writes a curve for each tier but the device. */
static enum pp_status write_tiers(struct pp_arena *arena, const struct pp_result *r, FILE *out,
                                  struct pp_error *err)
{
    struct pp_plot_held held;

    PP_TRY(pp_figure_tiers(arena, r, &held, err));
    for (int i = 1; i < held.count; i++) {
        struct pp_plot_held one = held;
        one.curves = &held.curves[i];
        one.count = 1;
        const char *label = pp_arena_printf(arena, "Memory of pipeline rank %d over time: %s",
                                            r->peak_rank, held.names[i]);
        pp_html(out, "<figure>\n<figcaption>%s</figcaption>\n", label);
        PP_TRY(pp_html_held(arena, &one, 0, label, out, err));
        fputs("</figure>\n", out);
    }
    return PP_OK;
}

static enum pp_status write_over_time(struct pp_arena *arena, const struct pp_result *r, FILE *out,
                                      struct pp_error *err)
{
    const int rank = fullest(r);
    struct pp_plot_held held;

    PP_TRY(pp_figure_held(arena, r, &held, err));
    pp_html(out,
            "<figure>\n<figcaption>%s on pipeline rank %d, the fullest, over time%s</figcaption>\n",
            held.is_bytes ? "Memory (GiB)" : "Chunk activations", rank,
            held.capacity > 0 ? "; dashed: the device" : "");
    PP_TRY(pp_html_held(arena, &held, rank,
                        pp_arena_printf(arena, "%s that pipeline rank %d holds over the step",
                                        held.is_bytes ? "Memory" : "Chunk activations", rank),
                        out, err));
    fputs("</figure>\n", out);
    return pp_tiers_are_used(r) ? write_tiers(arena, r, out, err) : PP_OK;
}

enum pp_status pp_page_ranks(struct pp_arena *arena, const struct pp_page *page,
                             const struct pp_result *r, struct pp_error *err)
{
    FILE *out = page->out;

    pp_page_heading(page, "ranks", "Ranks and memory");
    fputs("<div class=\"wide\"><table>", out);
    write_caption(r, out);
    write_head(r, out);
    fputs("<tbody>\n", out);
    for (int rank = 0; rank < r->program->ranks; rank++)
        if (is_shown(r, rank)) {
            struct pp_page row = *page;
            row.prefix = pp_arena_printf(arena, "ranks.%d.", rank);
            write_row(&row, r, rank);
        }
    fputs("</tbody></table></div>\n", out);
    return write_over_time(arena, r, out, err);
}
