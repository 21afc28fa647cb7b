/* The report of one run: headline, parts of the time, memory, other schedules, next commands. */
#include "sim/report/report.h"

#include "core/cli/request.h"
#include "core/units.h"
#include "sim/config/tiers.h"
#include "sim/error/best.h"
#include "sim/report/lines.h"
#include "sim/report/parts.h"
#include "sim/report/tiers.h"

#include <stdio.h>
#include <string.h>

enum { LABEL = 11, NAME = 22, MAX_ACTIVATION_RANKS = 32 };
#define SHOWN_FRAC 0.0005 /* smaller shares of the step are 0.0 % */

static void print_trials(const struct pp_report_page *page, const struct pp_config *c)
{
    if (c->origin.trials)
        pp_report_paragraph(page, "schedule", pp_text_trials(page->arena, c));
}

static void print_headlines(const struct pp_report_page *page, const struct pp_result *r)
{
    struct pp_headline rows[PP_HEADLINES];
    const int count = pp_headlines(r, rows);

    bool has_bands = false;

    for (int i = 0; i < count; i++)
        has_bands = has_bands || *rows[i].band;
    for (int i = 0; i < count; i++)
        pp_report_headline(page, &rows[i], has_bands);
}

static void print_published(const struct pp_report_page *page, const struct pp_config *c)
{
    if (c->origin.preset && c->origin.preset->published)
        pp_report_paragraph(page, "measured",
                            pp_arena_printf(page->arena, "preset~%s: %s", c->origin.preset->name,
                                            c->origin.preset->published));
}

static void print_time_parts(const struct pp_report_page *page, const struct pp_result *r)
{
    const char *text = "";

    for (int i = 0; i < PP_TIME_PARTS; i++)
        if (r->metrics.time_frac[i] >= SHOWN_FRAC)
            text = pp_arena_printf(page->arena, "%s%s%s~%.1f~%%", text, *text ? ", " : "",
                                   pp_time_part_words[i], 100 * r->metrics.time_frac[i]);
    pp_report_paragraph(page, "time",
                        pp_arena_printf(page->arena, "%s%s", text, pp_line_bits(page->arena, r)));
}

static void print_memory_table(const struct pp_report_page *page, const struct pp_result *r)
{
    char stages[PP_TEXT_BYTES], name[PP_TEXT_BYTES + 32];

    fprintf(page->out, "\n  %-22s%8s%7s%7s%8s%8s%6s%7s\n", "memory by rank, GiB", "params", "grads",
            "optim", "activ.", "buffers", "other", "total");
    for (int rank = 0; rank < r->program->ranks; rank++) {
        const struct pp_rank_memory *m = &r->memory[rank];
        if (!pp_report_shows(r, rank))
            continue;
        pp_text_stages(r->program, rank, stages);
        const bool is_one = !strpbrk(stages, ",.");
        if (snprintf(name, sizeof(name), "rank %d (stage%s %s)", rank, is_one ? "" : "s", stages) >
            NAME)
            snprintf(name, sizeof(name), "rank %d (%s)", rank, stages);
        fprintf(page->out, "    %-*s%6.1f%7.1f%7.1f%8.1f%8.1f%6.1f%7.1f%s\n", NAME, name,
                m->params_bytes / PP_GIB, m->grads_bytes / PP_GIB, m->optimizer_bytes / PP_GIB,
                m->activations_bytes / PP_GIB, m->buffers_bytes / PP_GIB, m->other_bytes / PP_GIB,
                m->peak_bytes / PP_GIB, rank == r->peak_rank ? " peak" : "");
    }
}

static void print_activations(const struct pp_report_page *page, const struct pp_result *r)
{
    const int ranks = r->program->ranks;
    const int chunks = r->config.shape.chunks;
    const char *text = "peak chunk activations by rank:";

    if (chunks > 1)
        text = pp_arena_printf(page->arena,
                               "peak chunk activations by rank, %d a micro-batch:", chunks);

    for (int i = 0; i < ranks && i < MAX_ACTIVATION_RANKS; i++)
        text = pp_arena_printf(page->arena, "%s %g", text, r->memory[i].peak_activations);
    if (ranks > MAX_ACTIVATION_RANKS)
        text = pp_arena_printf(page->arena, "%s ... (%d ranks)", text, ranks);
    pp_report_paragraph(page, "memory", text);
}

static void print_advice(const struct pp_report_page *page, const struct pp_result *r,
                         const struct pp_others *others)
{
    const struct pp_advice advice = pp_report_advice(page->arena, r, others);

    pp_report_paragraph(page, "note", advice.text);
    if (advice.command)
        pp_text_command(page->out, page->width, LABEL, "", advice.command);
}

static void print_footer(const struct pp_report_page *page)
{
    pp_report_paragraph(page, "next",
                        "--gantt~(see~it)~ --trace~t.json.gz~(Perfetto)~ --json~ --explain");
}

static void print_unit_headline(const struct pp_report_page *page, const struct pp_result *r)
{
    pp_report_paragraph(page, "units", pp_line_units(page->arena, &r->config));
    print_trials(page, &r->config);
    pp_report_what_if(&r->config, page->width, LABEL, page->out);
    fputc('\n', page->out);
    print_headlines(page, r);
}

void pp_report_print(const struct pp_result *r, const struct pp_others *others,
                     struct pp_terminal terminal, FILE *out)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_report_page page = {.arena = arena,
                                        .out = out,
                                        .width = terminal.width < 60    ? 60
                                                 : terminal.width > 100 ? 100
                                                                        : terminal.width,
                                        .has_utf8 = terminal.has_utf8,
                                        .bold = terminal.has_color ? "\033[1m" : "",
                                        .plain = terminal.has_color ? "\033[0m" : ""};

    pp_report_title(&page, r);
    if (r->config.generation.passes) {
        pp_report_generation(&page, r);
        return;
    }
    if (r->config.is_unit) {
        print_unit_headline(&page, r);
        fputc('\n', out);
        pp_report_seeds(&page, r);
        print_time_parts(&page, r);
        print_activations(&page, r);
        fputc('\n', out);
        print_footer(&page);
        return;
    }
    pp_report_model(&page, &r->config);
    pp_report_paragraph(&page, "cluster", pp_line_cluster(arena, &r->config));
    pp_report_paragraph(&page, "layout", pp_line_layout(arena, &r->config));
    print_trials(&page, &r->config);
    pp_report_paragraph(&page, "state", pp_line_state(arena, r));
    pp_report_paragraph(&page, "costs", pp_line_costs(arena, r));
    pp_report_what_if(&r->config, page.width, LABEL, out);
    fputc('\n', out);
    print_headlines(&page, r);
    fputc('\n', out);
    pp_report_error(&page, &r->config);
    print_published(&page, &r->config);
    pp_report_seeds(&page, r);
    print_time_parts(&page, r);
    pp_report_network(r, page.width, out);
    print_memory_table(&page, r);
    pp_report_tiers(&page, r);
    if (r->oom)
        pp_oom_print(r, page.width, out);
    pp_report_others(others, out);
    fputc('\n', out);
    const char *above = pp_best_mfu_text(arena, &r->config, r->mfu);
    if (above && r->fits)
        pp_report_paragraph(&page, "note",
                            pp_arena_printf(arena, "an MFU of %.1f~%% is %s", 100 * r->mfu, above));
    const char *cache = pp_cache_note(arena, r);
    if (cache)
        pp_report_paragraph(&page, "note", cache);
    print_advice(&page, r, others);
    print_footer(&page);
}
