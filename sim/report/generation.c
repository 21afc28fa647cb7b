/* The report of a run that generates. */
#include "core/units.h"
#include "sim/inference/inference.h"
#include "sim/report/parts.h"
#include "sim/report/text.h"

#define SHOWN_FRAC 0.005 /* smaller shares are 0 % */

/* ---- what is served -------------------------------------------------------------------------- */

/* Returns ", KV in 8 bits, paged by 16 tokens". */
static const char *cache_text(struct pp_arena *arena, const struct pp_generation *g)
{
    const char *text = "";

    if (g->kv_bits)
        text = pp_arena_printf(arena, ", KV in %d~bits", g->kv_bits);
    if (g->kv_page_tokens)
        text = pp_arena_printf(arena, "%s, pages of %d~token%s", text, g->kv_page_tokens,
                               g->kv_page_tokens == 1 ? "" : "s");
    if (g->weight_bits)
        text = pp_arena_printf(arena, "%s, weights in %d~bits", text, g->weight_bits);
    if (g->packed_frac > 0 && g->packed_frac < 1)
        text = pp_arena_printf(arena, "%s, %.3g~%% of the prompt tokens are real", text,
                               100 * g->packed_frac);
    return text;
}

static const char *pieces_text(struct pp_arena *arena, const struct pp_generation *g)
{
    return g->prompt_groups > g->groups
               ? pp_arena_printf(arena, ", prompts in %d pieces", g->prompt_groups)
               : "";
}

const char *pp_line_serve(struct pp_arena *arena, const struct pp_config *c)
{
    const struct pp_generation *g = &c->generation;
    const struct pp_layout *l = &c->layout;

    return pp_arena_printf(
        arena,
        "TP~%d%s x PP~%d%s x DP~%d%s%s, %s%s~sequence%s%s in %d%s~group%s%s: %s%s~token%s in, "
        "%s%s~out%s%s",
        l->tp, pp_text_star(c, PP_CHOSE_TP), l->pp, pp_text_star(c, PP_CHOSE_PP), l->dp,
        pp_text_star(c, PP_CHOSE_DP),
        c->model.experts.count > 0 ? pp_arena_printf(arena, ", EP~%d", l->ep) : "",
        pp_text_of_whole(arena, g->batch), pp_text_star(c, PP_CHOSE_GBS), g->batch == 1 ? "" : "s",
        l->dp > 1 ? " a replica" : "", g->groups, pp_text_star(c, PP_CHOSE_MICRO_BATCHES),
        g->groups == 1 ? "" : "s", pieces_text(arena, g), pp_text_of_whole(arena, g->prompt_tokens),
        pp_text_star(c, PP_CHOSE_SEQ), g->prompt_tokens == 1 ? "" : "s",
        pp_text_of_whole(arena, g->passes), pp_text_star(c, PP_CHOSE_TOKENS), cache_text(arena, g),
        g->sampling == PP_SAMPLE_TOP_P ? ", sampled by top-p" : "");
}

/* ---- room ------------------------------------------------------------------------------------ */

/* A longer sequence for comparison: the next of 1,000, 10,000, ... that the positions allow. */
static int longer(const struct pp_config *c, int tokens)
{
    const int positions = c->model.positions;
    int64_t next = 1000;

    while (next < 2 * (int64_t)tokens)
        next *= 10;
    if (positions > 0 && next > positions)
        next = positions;
    return next > tokens && next < 1 << 24 ? (int)next : 0;
}

/* Returns ", in 2 groups of 492 or 115"; "" with one group. */
static const char *groups_text(struct pp_arena *arena, int groups, int sequences, int more)
{
    if (groups == 1)
        return "";
    return pp_arena_printf(
        arena, ", in %d~groups of %s%s", groups, pp_text_of_whole(arena, sequences / groups),
        more ? pp_arena_printf(arena, " or %s", pp_text_of_whole(arena, more / groups)) : "");
}

static void put_room(const struct pp_report_page *page, const struct pp_result *r)
{
    const struct pp_generation *g = &r->config.generation;
    const int own = g->prompt_tokens + g->passes, next = longer(&r->config, own);
    const struct pp_room room = pp_inference_room(r, own);
    const int more = next ? pp_inference_room(r, next).sequences : 0;
    struct pp_arena *arena = page->arena;
    const char *text = "not even one sequence";

    if (room.sequences > 0)
        text = pp_arena_printf(
            arena, "%s~sequence%s of %s~tokens%s%s%s; = %s",
            pp_text_of_whole(arena, room.sequences), room.sequences == 1 ? "" : "s",
            pp_text_of_whole(arena, own), r->config.layout.dp > 1 ? " a~replica" : "",
            more ? pp_arena_printf(arena, ", or %s of %s", pp_text_of_whole(arena, more),
                                   pp_text_of_whole(arena, next))
                 : "",
            groups_text(arena, g->groups, room.sequences, more),
            pp_inference_room_text(arena, &room, own));
    pp_report_paragraph(page, "room", text);
}

/* ---- time ------------------------------------------------------------------------------------ */

static const char *add_share(struct pp_arena *arena, const char *text, const char *name,
                             double frac)
{
    return frac < SHOWN_FRAC ? text
                             : pp_arena_printf(arena, "%s%s%s~%.0f~%%", text, *text ? " | " : "",
                                               name, 100 * frac);
}

static void put_time(const struct pp_report_page *page, const struct pp_result *r)
{
    const struct pp_inference *f = r->inference;
    const double forward = r->metrics.time_frac[PP_TIME_FORWARD];
    struct pp_arena *arena = page->arena;
    const char *text = "";

    if (r->config.is_unit) {
        text = add_share(arena, text, "forward", forward);
    } else {
        text = add_share(arena, text, "matrices", forward * f->matrix_frac);
        text = add_share(arena, text, "attention", forward * f->attention_frac);
        text = add_share(arena, text, "other~kernels", forward * f->kernels_frac);
        text = add_share(arena, text, "host", forward * f->host_frac);
    }
    for (int i = PP_TIME_FORWARD + 1; i < PP_TIME_PARTS; i++)
        text = add_share(arena, text, pp_time_part_words[i], r->metrics.time_frac[i]);
    pp_report_paragraph(page, "time", text);
}

static void put_ranks(const struct pp_report_page *page, const struct pp_result *r)
{
    FILE *out = page->out;

    if (r->program->ranks == 1)
        return;
    fprintf(out, "\n  %-22s%8s%8s%8s%8s%7s%8s\n", "memory by rank, GiB", "params", "KV", "activ.",
            "buffers", "other", "total");
    for (int rank = 0; rank < r->program->ranks; rank++) {
        const struct pp_rank_memory *m = &r->memory[rank];
        if (pp_report_shows(r, rank))
            fprintf(out, "    rank %-15d%8.2f%8.2f%8.2f%8.2f%7.2f%8.2f%s\n", rank,
                    m->params_bytes / PP_GIB, m->kv_bytes / PP_GIB, m->activations_bytes / PP_GIB,
                    m->buffers_bytes / PP_GIB, m->other_bytes / PP_GIB, m->peak_bytes / PP_GIB,
                    rank == r->peak_rank ? " peak" : "");
    }
}

/* ---- the report ------------------------------------------------------------------------------ */

static void put_headlines(const struct pp_report_page *page, const struct pp_result *r)
{
    struct pp_headline rows[PP_HEADLINES];
    const int count = pp_generation_headlines(r, rows);

    fputc('\n', page->out);
    for (int i = 0; i < count; i++)
        pp_report_headline(page, &rows[i], false);
}

static void put_next(const struct pp_report_page *page, const struct pp_result *r)
{
    pp_report_paragraph(page, "next",
                        r->config.is_unit
                            ? "--gantt~(see~it)~ --trace~t.json.gz~(Perfetto)~ --json~ --explain"
                            : "--gantt~ --json~ --explain; pipesim~plan~--mode~infer; "
                              "pipesim~help~infer");
}

static void report_units(const struct pp_report_page *page, const struct pp_result *r)
{
    const struct pp_unit_costs *u = &r->config.unit;
    const struct pp_generation *g = &r->config.generation;
    struct pp_arena *arena = page->arena;

    pp_report_paragraph(page, "units",
                        pp_arena_printf(arena, "F %g, prompt P %g, C %g; messages buffered", u->f,
                                        u->has_p ? u->p : u->f, u->c));
    pp_report_paragraph(page, "serve",
                        pp_arena_printf(arena, "%d group%s%s: %d%s~token%s out", g->groups,
                                        g->groups == 1 ? "" : "s", pieces_text(arena, g), g->passes,
                                        pp_text_star(&r->config, PP_CHOSE_TOKENS),
                                        g->passes == 1 ? "" : "s"));
    pp_report_what_if(&r->config, page->width, PP_TEXT_LABEL, page->out);
    put_headlines(page, r);
    fputc('\n', page->out);
    pp_report_seeds(page, r);
    put_time(page, r);
    put_next(page, r);
}

void pp_report_generation(const struct pp_report_page *page, const struct pp_result *r)
{
    struct pp_arena *arena = page->arena;

    if (r->config.is_unit) {
        report_units(page, r);
        return;
    }
    pp_report_model(page, &r->config);
    pp_report_paragraph(page, "cluster", pp_line_cluster(arena, &r->config));
    pp_report_paragraph(page, "serve", pp_line_serve(arena, &r->config));
    pp_report_paragraph(page, "costs", pp_line_costs(arena, r));
    pp_report_what_if(&r->config, page->width, PP_TEXT_LABEL, page->out);
    put_headlines(page, r);
    put_room(page, r);
    fputc('\n', page->out);
    pp_report_error(page, &r->config);
    pp_report_seeds(page, r);
    put_time(page, r);
    put_ranks(page, r);
    pp_report_tiers(page, r);
    if (r->program->ranks > 1)
        fputc('\n', page->out);
    const char *help = r->fits ? pp_generation_faster(arena, r) : pp_generation_to_fit(arena, r);
    if (help)
        pp_report_paragraph(page, r->fits ? "faster" : "to fit", help);
    put_next(page, r);
}
