/* The report of a run that generates, and its object of the JSON report. */
#include "core/units.h"
#include "sim/config/price.h"
#include "sim/config/tiers.h"
#include "sim/fit/change.h"
#include "sim/inference/inference.h"
#include "sim/report/parts.h"
#include "sim/report/text.h"

#include "core/text/json_write.h"

#include <math.h>
#include <string.h>

#define SHOWN_FRAC 0.005 /* smaller shares are 0 % */

static const char *const bound_words[] = {[PP_LIMIT_COMPUTE] = "compute bound",
                                          [PP_LIMIT_MEMORY] = "memory bound",
                                          [PP_LIMIT_COMMUNICATION] = "communication bound",
                                          [PP_LIMIT_HOST] = "bound by the host",
                                          [PP_LIMIT_WAITING] = "ranks wait for others",
                                          [PP_LIMIT_NONE] = ""};

static const char *count_text(struct pp_arena *arena, double value)
{
    char text[PP_UNITS_TEXT_BYTES];

    return pp_arena_strdup(arena, pp_units_print(value, PP_UNIT_COUNT, text));
}

static const char *whole_text(struct pp_arena *arena, int64_t value)
{
    char text[PP_UNITS_TEXT_BYTES];

    return pp_arena_strdup(arena, pp_units_print_count(value, text));
}

static const char *time_text(struct pp_arena *arena, const struct pp_config *c, double seconds)
{
    char text[PP_TEXT_BYTES];

    return pp_arena_strdup(arena, pp_text_time(c, seconds, text));
}

/* ---- what is served -------------------------------------------------------------------------- */

/* Returns ", KV in 8 bits, paged by 16 tokens". */
static const char *cache_text(struct pp_arena *arena, const struct pp_generation *g)
{
    const char *text = "";

    if (g->kv_bits)
        text = pp_arena_printf(arena, ", KV in %d~bits", g->kv_bits);
    if (g->kv_page_tokens)
        text = pp_arena_printf(arena, "%s, pages of %d~tokens", text, g->kv_page_tokens);
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

static const char *serve_text(struct pp_arena *arena, const struct pp_config *c)
{
    const struct pp_generation *g = &c->generation;
    const struct pp_layout *l = &c->layout;

    return pp_arena_printf(
        arena,
        "TP~%d%s x PP~%d%s x DP~%d%s%s, %s%s~sequence%s%s in %d%s~group%s%s: %s%s~tokens in, "
        "%s%s~out%s%s",
        l->tp, pp_text_star(c, PP_CHOSE_TP), l->pp, pp_text_star(c, PP_CHOSE_PP), l->dp,
        pp_text_star(c, PP_CHOSE_DP),
        c->model.experts.count > 0 ? pp_arena_printf(arena, ", EP~%d", l->ep) : "",
        whole_text(arena, g->batch), pp_text_star(c, PP_CHOSE_GBS), g->batch == 1 ? "" : "s",
        l->dp > 1 ? " a replica" : "", g->groups, pp_text_star(c, PP_CHOSE_MICRO_BATCHES),
        g->groups == 1 ? "" : "s", pieces_text(arena, g), whole_text(arena, g->prompt_tokens),
        pp_text_star(c, PP_CHOSE_SEQ), whole_text(arena, g->passes),
        pp_text_star(c, PP_CHOSE_TOKENS), cache_text(arena, g),
        g->sampling == PP_SAMPLE_TOP_P ? ", sampled by top-p" : "");
}

/* ---- figures --------------------------------------------------------------------------------- */

static void put_headline(const struct pp_report_page *page, const char *label, const char *figure,
                         const char *remark)
{
    struct pp_headline row = {.label = label};

    snprintf(row.figure, sizeof(row.figure), "%s", figure);
    snprintf(row.remark, sizeof(row.remark), "%s", remark);
    pp_report_headline(page, &row, false);
}

/* Returns "; 90 % within 1.2 s" where the groups differ. */
static const char *p90_text(struct pp_arena *arena, const struct pp_config *c, double median_s,
                            double p90_s)
{
    return p90_s > median_s * (1 + SHOWN_FRAC)
               ? pp_arena_printf(arena, "; 90~%% within %s", time_text(arena, c, p90_s))
               : "";
}

static void put_first_token(const struct pp_report_page *page, const struct pp_result *r)
{
    const struct pp_inference *f = r->inference;
    struct pp_arena *arena = page->arena;
    const char *p90 = p90_text(arena, &r->config, f->first_token_s, f->first_token_p90_s);

    put_headline(page, "first token", time_text(arena, &r->config, f->first_token_s),
                 r->config.is_unit ? pp_arena_printf(arena, "median of the groups%s", p90)
                                   : pp_arena_printf(arena, "prompts %s~tokens/s; %s%s",
                                                     count_text(arena, f->prompt_tokens_per_s),
                                                     bound_words[f->prompt_bound], p90));
}

/* Returns "52 % of 2.04 TB/s; weights are 99 % of what is read, KV 1 %". */
static const char *reads_text(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_inference *f = r->inference;
    char speed[PP_UNITS_TEXT_BYTES];

    return pp_arena_printf(
        arena, "%.0f~%% of %s; weights are %.0f~%% of what is read, KV %.0f~%%",
        100 * f->memory_bandwidth_frac,
        pp_units_print(r->config.cluster.device.memory_bytes_per_s, PP_UNIT_BYTES_PER_S, speed),
        100 * f->weights_frac, 100 * (1 - f->weights_frac));
}

static void put_each_token(const struct pp_report_page *page, const struct pp_result *r)
{
    const struct pp_inference *f = r->inference;
    struct pp_arena *arena = page->arena;
    const char *p90 = p90_text(arena, &r->config, f->token_s, f->token_p90_s);

    if (r->config.generation.passes == 1)
        return;
    put_headline(page, "each token", time_text(arena, &r->config, f->token_s),
                 r->config.is_unit
                     ? pp_arena_printf(arena, "later tokens, of a group%s", p90)
                     : pp_arena_printf(arena, "%s~tokens/s a sequence; %s, %s%s",
                                       count_text(arena, 1 / f->token_s),
                                       bound_words[f->token_bound], reads_text(arena, r), p90));
}

static const char *price_text(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    char text[PP_PRICE_TEXT_BYTES];

    if (c->origin.price.per_gpu_hour <= 0)
        return "";
    return pp_arena_printf(
        arena, "; 1M~tokens cost %s",
        pp_price_print(c, pp_price_tokens(c, r->tokens_per_s_per_gpu) / 1e6, text));
}

static void put_all(const struct pp_report_page *page, const struct pp_result *r)
{
    const struct pp_inference *f = r->inference;
    const struct pp_config *c = &r->config;
    struct pp_arena *arena = page->arena;
    const char *time = time_text(arena, c, f->latency_s);

    if (c->is_unit)
        put_headline(page, "all", time, "first start to last end");
    else
        put_headline(page, pp_arena_printf(arena, "all %s", whole_text(arena, c->layout.gbs)), time,
                     pp_arena_printf(arena, "%s~tokens/s, %s~tokens/s/GPU%s",
                                     count_text(arena, f->tokens_per_s),
                                     count_text(arena, f->tokens_per_s_per_gpu),
                                     price_text(arena, r)));
}

static void put_bubble(const struct pp_report_page *page, const struct pp_result *r)
{
    struct pp_arena *arena = page->arena;

    put_headline(page, "bubble", pp_arena_printf(arena, "%.1f %%", 100 * r->metrics.bubble_frac),
                 "idle, waiting for other stages");
}

static const char *small_bytes(struct pp_arena *arena, double bytes)
{
    static const double KIB = 1024;

    return bytes < KIB * KIB ? pp_arena_printf(arena, "%.4g~KiB", bytes / KIB)
                             : pp_arena_printf(arena, "%.3g~MiB", bytes / KIB / KIB);
}

static void put_memory(const struct pp_report_page *page, const struct pp_result *r)
{
    const struct pp_rank_memory *m = &r->memory[r->peak_rank];
    const double capacity = pp_config_capacity_bytes(&r->config);
    const enum pp_tier full = pp_tiers_full(r);
    struct pp_arena *arena = page->arena;

    put_headline(
        page, "peak memory", pp_arena_printf(arena, "%.1f GiB", m->peak_bytes / PP_GIB),
        pp_arena_printf(
            arena, "of %.1f%s: %s; KV %s a token, %.2f~GiB here", capacity / PP_GIB,
            r->program->ranks > 1 ? pp_arena_printf(arena, " on rank %d", r->peak_rank) : "",
            !r->fits      ? full == PP_TIER_DEVICE
                                ? "DOES NOT FIT"
                                : pp_arena_printf(arena, "DOES NOT FIT %s", pp_tier_rows[full].name)
                 : r->is_tight ? "fits tightly"
                          : "fits",
            small_bytes(arena, r->inference->kv_bytes_per_token), m->kv_bytes / PP_GIB));
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

static void put_room(const struct pp_report_page *page, const struct pp_result *r)
{
    const struct pp_generation *g = &r->config.generation;
    const int own = g->prompt_tokens + g->passes, next = longer(&r->config, own);
    const int room = pp_inference_room(r, own), more = next ? pp_inference_room(r, next) : 0;
    struct pp_arena *arena = page->arena;
    const char *text = "not even one sequence; more devices (--tp, --pp), or --weight-bits 8";

    if (room > 0)
        text = pp_arena_printf(arena, "%s~sequence%s of %s~tokens%s; = %s", whole_text(arena, room),
                               room == 1 ? "" : "s", whole_text(arena, own),
                               more ? pp_arena_printf(arena, "; %s of %s", whole_text(arena, more),
                                                      whole_text(arena, next))
                                    : "",
                               pp_inference_room_text(arena, r, own));
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
    fputc('\n', out);
}

/* ---- faster ---------------------------------------------------------------------------------- */

/* Simulates the command of the run with other values of two options; 0 leaves an option out. */
static bool try_change(struct pp_arena *arena, const struct pp_result *r, const char *first,
                       int64_t first_value, const char *second, int64_t second_value,
                       struct pp_changed_run *change)
{
    struct pp_parsed *command = pp_change_begin(arena, &r->config);
    struct pp_error ignored;

    if (pp_command_set_int(arena, command, first, first_value, &ignored) != PP_OK ||
        (second && pp_command_set_int(arena, command, second, second_value, &ignored) != PP_OK))
        return false;
    if (second)
        pp_command_drop(command, "nodes");
    return pp_change_try(arena, &r->config, command, change, &ignored) == PP_OK &&
           change->outcome.fits;
}

/* Returns "batch 64: 1.40k tokens/s at 34.9 ms a token, but first token 1.42 s". */
static const char *batch_text(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    const struct pp_inference *f = r->inference;
    struct pp_changed_run change;

    for (int factor = 4; factor >= 2; factor /= 2) {
        const int64_t batch = (int64_t)factor * c->generation.batch;
        if (!try_change(arena, r, "batch", batch, NULL, 0, &change))
            continue;
        if (change.tokens_per_s <= f->tokens_per_s * (1 + PP_TIE_FRAC))
            return "";
        return pp_arena_printf(arena, "batch %lld: %s~tokens/s%s%s%s%s", (long long)batch,
                               count_text(arena, change.tokens_per_s),
                               c->generation.passes > 1 ? " at " : "",
                               c->generation.passes > 1 ? time_text(arena, c, change.token_s) : "",
                               c->generation.passes > 1 ? " a token" : "",
                               change.first_token_s > f->first_token_s * (1 + PP_TIE_FRAC)
                                   ? pp_arena_printf(arena, ", but first token %s",
                                                     time_text(arena, c, change.first_token_s))
                                   : "");
    }
    return "";
}

/* Returns "TP 8: 24.8 ms a token, 605 tokens/s" with twice the devices of a node. */
static const char *tp_text(struct pp_arena *arena, const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    const struct pp_layout *l = &c->layout;
    struct pp_changed_run change;

    if (2 * l->tp > c->cluster.gpus_per_node || c->generation.passes == 1 ||
        !try_change(arena, r, "tp", 2 * l->tp, "gpus", (int64_t)2 * l->gpus, &change) ||
        change.token_s >= r->inference->token_s * (1 - PP_TIE_FRAC))
        return "";
    return pp_arena_printf(arena, "TP~%d: %s a token, %s~tokens/s", 2 * l->tp,
                           time_text(arena, c, change.token_s),
                           count_text(arena, change.tokens_per_s));
}

static void put_faster(const struct pp_report_page *page, const struct pp_result *r)
{
    struct pp_arena *arena = page->arena;

    if (r->config.file_program)
        return;
    const char *batch = batch_text(arena, r), *tp = tp_text(arena, r);
    if (*batch || *tp)
        pp_report_paragraph(page, "faster",
                            pp_arena_printf(arena, "%s%s%s", batch, *batch && *tp ? "; " : "", tp));
}

/* ---- the report ------------------------------------------------------------------------------ */

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
    fputc('\n', page->out);
    put_first_token(page, r);
    put_each_token(page, r);
    put_all(page, r);
    put_bubble(page, r);
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
    pp_report_paragraph(page, "serve", serve_text(arena, &r->config));
    pp_report_paragraph(page, "costs", pp_line_costs(arena, r));
    pp_report_what_if(&r->config, page->width, PP_TEXT_LABEL, page->out);
    fputc('\n', page->out);
    put_first_token(page, r);
    put_each_token(page, r);
    put_all(page, r);
    if (r->program->ranks > 1)
        put_bubble(page, r);
    put_memory(page, r);
    put_room(page, r);
    fputc('\n', page->out);
    pp_report_seeds(page, r);
    put_time(page, r);
    put_ranks(page, r);
    pp_report_tiers(page, r);
    put_faster(page, r);
    put_next(page, r);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

json_t *pp_generation_json(const struct pp_result *r)
{
    const struct pp_inference *f = r->inference;
    const struct pp_generation *g = &r->config.generation;
    const bool is_unit = r->config.is_unit;
    json_t *o = json_object(), *bound = json_object();

    json_object_set_new(o, "batch", is_unit ? json_null() : json_integer(g->batch));
    pp_json_put_int(o, "groups", g->groups);
    pp_json_put_int(o, "prompt_groups", g->prompt_groups);
    json_object_set_new(o, "prompt_tokens", is_unit ? json_null() : json_integer(g->prompt_tokens));
    pp_json_put_int(o, "new_tokens", g->passes);
    pp_json_put(o, "first_token_s", f->first_token_s);
    pp_json_put(o, "first_token_p90_s", f->first_token_p90_s);
    pp_json_put(o, "token_s", f->token_s);
    pp_json_put(o, "token_p90_s", f->token_p90_s);
    pp_json_put(o, "latency_s", f->latency_s);
    pp_json_put(o, "tokens_per_s", f->tokens_per_s);
    pp_json_put(o, "tokens_per_s_per_gpu", f->tokens_per_s_per_gpu);
    pp_json_put(o, "prompt_tokens_per_s", f->prompt_tokens_per_s);
    pp_json_put_bytes(o, "kv_bytes_per_token", f->kv_bytes_per_token);
    pp_json_put_bytes(o, "kv_bytes", f->kv_bytes);
    json_object_set_new(o, "max_batch",
                        is_unit ? json_null()
                                : json_integer(pp_inference_room(r, g->prompt_tokens + g->passes)));
    pp_json_put(o, "memory_bandwidth_frac", f->memory_bandwidth_frac);
    pp_json_put_text(bound, "prompt", pp_limit_names[f->prompt_bound]);
    pp_json_put_text(bound, "token", pp_limit_names[f->token_bound]);
    json_object_set_new(o, "bound", bound);
    return o;
}
