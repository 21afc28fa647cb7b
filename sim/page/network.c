/* Writes the network of a run: exposed communication, and the use of its links. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/units.h"
#include "sim/run/links.h"

static void write_class(struct pp_arena *arena, const struct pp_page *page,
                        const struct pp_link_class *class, int row)
{
    char count[PP_UNITS_TEXT_BYTES], bytes[PP_UNITS_TEXT_BYTES];

    pp_html(page->out, "<tr><td>%s</td><td class=\"number\">%s</td><td class=\"number\">%s</td>",
            class->name, pp_units_print_count(class->count, count),
            pp_units_print(class->bytes, PP_UNIT_BYTES, bytes));
    pp_page_percent(page, pp_arena_printf(arena, "network.links.%d.mean_frac", row),
                    class->mean_frac);
    pp_page_percent(page, pp_arena_printf(arena, "network.links.%d.utilisation_frac", row),
                    class->max_frac);
    pp_html(page->out, "<td>%s</td></tr>\n", class->hottest);
}

static void paragraph(const char *words, FILE *out)
{
    fputs("<p>", out);
    pp_html_words(out, words);
    fputs(".</p>\n", out);
}

void pp_page_network(struct pp_arena *arena, const struct pp_page *page, const struct pp_result *r)
{
    const struct pp_link_loads loads = pp_links_of(arena, r);
    const char *whole = pp_line_whole(&r->config);
    const char *demand = pp_line_demand(arena, r, &loads);

    pp_page_heading(page, "network", "Network");
    paragraph(pp_arena_printf(arena, "Communication: %s", pp_line_network(arena, r)), page->out);
    if (demand)
        paragraph(pp_arena_printf(arena, "The busiest link: %s", demand), page->out);
    if (loads.count == 0)
        return;
    pp_html(page->out,
            "<div class=\"wide\"><table><caption>Use of a link: bytes of messages%s "
            "in a %s / (bandwidth x %s), of all replicas</caption>\n<thead><tr><th>links</th><th "
            "class=\"number\">number</th><th class=\"number\">a %s</th><th class=\"number\">mean "
            "use</th><th class=\"number\">highest use</th><th>busiest</th></tr></thead>\n<tbody>\n",
            r->config.generation.passes > 0 ? "" : " and gradient sums", whole, whole, whole);
    for (int i = 0; i < loads.count && i < PP_LINK_CLASSES_SHOWN; i++)
        write_class(arena, page, &loads.classes[i], i);
    fputs("</tbody></table></div>\n", page->out);
}
