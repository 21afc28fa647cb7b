/* Writes the file, the frame and small pieces of a page. */
#include "sim/page/parts.h"

#include "core/text/html.h"
#include "core/text/output.h"
#include "plots/page/page.h"
#include "sim/report/lines.h"

#include <stdlib.h>
#include <string.h>

/* ---- the option ------------------------------------------------------------------------------ */

enum pp_status pp_page_check(struct pp_arena *arena, const struct pp_wish *wish,
                             struct pp_error *err)
{
    if (!wish->html)
        return PP_OK;
    if (pp_output_check(arena, wish->html, err) != PP_OK)
        return pp_error_prefix(err, "--html: ");
    return PP_OK;
}

/* ---- the frame ------------------------------------------------------------------------------- */

void pp_page_begin(const struct pp_page *page, const char *title, const struct pp_page_link *links,
                   int count)
{
    FILE *out = page->out;

    pp_html(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
            "<meta name=\"generator\" content=\"pipesim %s\"/>\n<title>%s</title>\n<style>",
            PP_VERSION, title);
    pp_html_code(out, (const char *)pp_html_style_bytes, pp_html_style_count);
    pp_html(out,
            "</style>\n</head>\n<body>\n<header>\n<p class=\"soft\">pipesim %s</p>\n<h1>%s</h1>\n"
            "<nav aria-label=\"Parts of this page\"><ul>",
            PP_VERSION, title);
    for (int i = 0; i < count; i++)
        if (links[i].is_there)
            pp_html(out, "<li><a href=\"#%s\">%s</a></li>", links[i].id, links[i].text);
    fputs("</ul></nav>\n</header>\n<main>\n", out);
}

static void end(FILE *out)
{
    fputs("</main>\n<script>", out);
    pp_html_code(out, (const char *)pp_html_script_bytes, pp_html_script_count);
    fputs("</script>\n</body>\n</html>\n", out);
}

enum pp_status pp_page_write(struct pp_arena *arena, const struct pp_wish *wish,
                             pp_page_content *content, const void *subject, struct pp_error *err)
{
    struct pp_output output;

    if (!wish->html)
        return PP_OK;
    PP_TRY(pp_output_open(arena, wish->html, &output, err));
    const struct pp_page page = {
        .out = output.file, .command = pp_command_text(arena, wish->request.flags), .prefix = ""};
    const enum pp_status status = content(arena, &page, subject, err);
    if (status != PP_OK) {
        pp_output_discard(&output);
        return status;
    }
    end(output.file);
    PP_TRY(pp_output_commit(&output, err));
    pp_output_tell((const char *const[]){wish->html}, 1);
    return PP_OK;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

void pp_page_heading(const struct pp_page *page, const char *id, const char *text)
{
    pp_html(page->out, "<h2 id=\"%s\">%s</h2>\n", id, text);
}

void pp_page_figure(const struct pp_page *page, const char *key, double value, const char *text)
{
    char path[96];

    snprintf(path, sizeof(path), "%s%s", page->prefix, key);
    pp_html_figure(page->out, path, value, text);
}

void pp_page_card(const struct pp_page *page, const struct pp_page_card *card)
{
    pp_html(page->out, "<div><dt>%s</dt><dd class=\"figure\">", card->label);
    if (card->key)
        pp_page_figure(page, card->key, card->value, card->figure);
    else
        pp_html(page->out, "%s", card->figure);
    fputs(card->is_bad ? "</dd><dd class=\"bad\">" : "</dd><dd>", page->out);
    pp_html(page->out, "%s</dd><dd class=\"what\">%s</dd></div>\n", card->remark, card->meaning);
}

void pp_page_cell(const struct pp_page *page, const char *key, double value, const char *text)
{
    fputs("<td class=\"number\">", page->out);
    pp_page_figure(page, key, value, text);
    fputs("</td>", page->out);
}

void pp_page_percent(const struct pp_page *page, const char *key, double frac)
{
    char text[32];

    snprintf(text, sizeof(text), "%.1f %%", 100 * frac);
    pp_page_cell(page, key, frac, text);
}

int pp_page_begin_choices(const struct pp_page *page, const struct pp_page_choices *choices)
{
    const int shown = choices->count < PP_PAGE_ROWS ? choices->count : PP_PAGE_ROWS;

    fputs("<div class=\"wide\"><table><caption>", page->out);
    if (shown < choices->count)
        pp_html(page->out, "The first %d of %d. ", shown, choices->count);
    pp_html(page->out, "%s</caption>\n<thead><tr><th class=\"number\">#</th>", choices->legend);
    for (int i = 0; i < choices->word_count; i++)
        pp_html(page->out, "<th>%s</th>", choices->words[i]);
    for (int i = 0; i < choices->figure_count; i++)
        pp_html(page->out, "<th class=\"number\">%s</th>", choices->figures[i]);
    fputs("</tr></thead>\n<tbody>\n", page->out);
    return shown;
}

void pp_page_printed(const struct pp_page *page, void (*print)(const void *, FILE *),
                     const void *subject)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);

    print(subject, file);
    fclose(file);
    fputs("<pre>", page->out);
    pp_html_lines(page->out, text + strspn(text, "\n"));
    fputs("</pre>\n", page->out);
    free(text);
}

/* Copies the first bytes of a line without the blanks around them. */
static const char *trimmed(const char *line, int bytes, char name[static 64])
{
    const int blanks = (int)strspn(line, " ");
    int end = bytes < 63 ? bytes : 63;

    while (end > blanks && line[end - 1] == ' ')
        end--;
    snprintf(name, 64, "%.*s", end > blanks ? end - blanks : 0, line + blanks);
    return name;
}

void pp_page_facts(const struct pp_page *page, int indent, void (*print)(const void *, FILE *),
                   const void *subject)
{
    char *text = NULL, *rest;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    bool is_open = false;

    print(subject, file);
    fclose(file);
    fputs("<dl class=\"facts\">\n", page->out);
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const int length = (int)strlen(line), label = length < indent ? length : indent;
        const bool is_next = (int)strspn(line, " ") >= indent;
        char name[64];
        if (!is_next) {
            fputs(is_open ? "</dd>\n<dt>" : "<dt>", page->out);
            pp_html(page->out, "%s</dt><dd>", trimmed(line, label, name));
        }
        fputs(is_next ? " " : "", page->out);
        pp_html_flags(page->out, line + label);
        is_open = true;
    }
    fputs(is_open ? "</dd>\n</dl>\n" : "</dl>\n", page->out);
    free(text);
}

void pp_page_command(const struct pp_page *page)
{
    fputs("<h3>The command</h3>\n<pre>", page->out);
    pp_html_flags(page->out, page->command);
    fputs("</pre>\n", page->out);
}

/* ---- parts of the time ----------------------------------------------------------------------- */

void pp_page_time_band(const struct pp_page *page, const double *part_s, double whole_s)
{
    char names[PP_TIME_PARTS][PP_PART_NAME_BYTES];
    struct pp_html_part parts[PP_TIME_PARTS];

    for (int i = 0; i < PP_TIME_PARTS; i++)
        parts[i] =
            (struct pp_html_part){pp_time_part_name(i, names[i]), part_s[i], pp_style_part_rgb(i)};
    pp_html_band(parts, PP_TIME_PARTS, whole_s, 0, page->out);
}

void pp_page_time_legend(const struct pp_page *page, const bool *occurs)
{
    fputs("<ul class=\"legend\">\n", page->out);
    for (int part = 0; part < PP_TIME_PARTS; part++) {
        if (!occurs[part])
            continue;
        fputs("<li>", page->out);
        pp_html_swatch(pp_style_part_rgb(part), page->out);
        pp_html_words(page->out, pp_time_part_words[part]);
        fputs("</li>\n", page->out);
    }
    fputs("</ul>\n", page->out);
}
