/* The first figures of the report of a run that generates, and its object of the JSON report. */
#include "core/text/json_write.h"
#include "core/units.h"
#include "sim/config/price.h"
#include "sim/config/tiers.h"
#include "sim/inference/inference.h"
#include "sim/report/parts.h"

#include <math.h>

#define SHOWN_FRAC 0.005 /* smaller differences are none */

static const char *const bound_words[] = {[PP_LIMIT_COMPUTE] = "compute bound",
                                          [PP_LIMIT_MEMORY] = "memory bound",
                                          [PP_LIMIT_COMMUNICATION] = "communication bound",
                                          [PP_LIMIT_HOST] = "bound by the host",
                                          [PP_LIMIT_COPIES] = "bound by copies",
                                          [PP_LIMIT_WAITING] = "ranks wait for others",
                                          [PP_LIMIT_NONE] = ""};

const char *pp_text_of_count(struct pp_arena *arena, double value)
{
    char text[PP_UNITS_TEXT_BYTES];

    return pp_arena_strdup(arena, pp_units_print(value, PP_UNIT_COUNT, text));
}

const char *pp_text_of_whole(struct pp_arena *arena, int64_t value)
{
    char text[PP_UNITS_TEXT_BYTES];

    return pp_arena_strdup(arena, pp_units_print_count(value, text));
}

const char *pp_text_of_time(struct pp_arena *arena, const struct pp_config *c, double seconds)
{
    char text[PP_TEXT_BYTES];

    return pp_arena_strdup(arena, pp_text_time(c, seconds, text));
}

static void set_row(struct pp_headline *row, const char *figure, const char *remark)
{
    snprintf(row->figure, sizeof(row->figure), "%s", figure);
    snprintf(row->remark, sizeof(row->remark), "%s", remark);
}

/* Returns "; 90 % within 1.2 s" where the groups differ. */
static const char *p90_text(struct pp_arena *arena, const struct pp_config *c, double median_s,
                            double p90_s)
{
    return p90_s > median_s * (1 + SHOWN_FRAC)
               ? pp_arena_printf(arena, "; 90~%% within %s", pp_text_of_time(arena, c, p90_s))
               : "";
}

/* Returns "memory bound", or "bound by copies (host, 25 GB/s)". */
static const char *bound_text(struct pp_arena *arena, enum pp_limit bound,
                              const struct pp_pass_copies *copies)
{
    char speed[PP_UNITS_TEXT_BYTES];

    return bound != PP_LIMIT_COPIES
               ? bound_words[bound]
               : pp_arena_printf(arena, "%s (%s, %s)", bound_words[bound],
                                 pp_tier_rows[copies->tier].name,
                                 pp_units_print(copies->bytes_per_s, PP_UNIT_BYTES_PER_S, speed));
}

static void set_first_token(struct pp_arena *arena, const struct pp_result *r,
                            struct pp_headline *row)
{
    const struct pp_inference *f = r->inference;
    const char *p90 = p90_text(arena, &r->config, f->first_token_s, f->first_token_p90_s);

    set_row(row, pp_text_of_time(arena, &r->config, f->first_token_s),
            r->config.is_unit
                ? pp_arena_printf(arena, "median of the groups%s", p90)
                : pp_arena_printf(arena, "prompts %s~tokens/s; %s%s",
                                  pp_text_of_count(arena, f->prompt_tokens_per_s),
                                  bound_text(arena, f->prompt_bound, &f->prompt_copies), p90));
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

static void set_each_token(struct pp_arena *arena, const struct pp_result *r,
                           struct pp_headline *row)
{
    const struct pp_inference *f = r->inference;
    const char *p90 = p90_text(arena, &r->config, f->token_s, f->token_p90_s);

    set_row(row, pp_text_of_time(arena, &r->config, f->token_s),
            r->config.is_unit ? pp_arena_printf(arena, "later tokens, of a group%s", p90)
                              : pp_arena_printf(arena, "%s~tokens/s a sequence; %s, %s%s",
                                                pp_text_of_count(arena, 1 / f->token_s),
                                                bound_text(arena, f->token_bound, &f->token_copies),
                                                reads_text(arena, r), p90));
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

static void set_all(struct pp_arena *arena, const struct pp_result *r, struct pp_headline *row)
{
    const struct pp_inference *f = r->inference;
    const struct pp_config *c = &r->config;
    const char *time = pp_text_of_time(arena, c, f->latency_s);

    set_row(row, time,
            c->is_unit ? "first start to last end"
                       : pp_arena_printf(arena, "%s~tokens/s, %s~tokens/s/GPU%s",
                                         pp_text_of_count(arena, f->tokens_per_s),
                                         pp_text_of_count(arena, f->tokens_per_s_per_gpu),
                                         price_text(arena, r)));
}

static void set_bubble(struct pp_arena *arena, const struct pp_result *r, struct pp_headline *row)
{
    set_row(row, pp_arena_printf(arena, "%.1f %%", 100 * r->metrics.bubble_frac),
            "idle, waiting for other stages");
}

static const char *fit_text(struct pp_arena *arena, const struct pp_result *r)
{
    const enum pp_tier full = pp_tiers_full(r);

    if (r->fits)
        return r->is_tight ? "fits tightly" : "fits";
    return full == PP_TIER_DEVICE
               ? "DOES NOT FIT"
               : pp_arena_printf(arena, "DOES NOT FIT %s", pp_tier_rows[full].name);
}

static void set_memory(struct pp_arena *arena, const struct pp_result *r, struct pp_headline *row)
{
    const struct pp_rank_memory *m = &r->memory[r->peak_rank];
    const double capacity = pp_config_capacity_bytes(&r->config);

    set_row(row, pp_arena_printf(arena, "%.1f GiB", m->peak_bytes / PP_GIB),
            pp_arena_printf(
                arena, "of %.1f%s: %s%s", capacity / PP_GIB,
                r->program->ranks > 1 ? pp_arena_printf(arena, " on rank %d", r->peak_rank) : "",
                fit_text(arena, r), pp_inference_cache_text(arena, r)));
}

static bool has_later(const struct pp_result *r)
{
    return r->config.generation.passes > 1;
}

static bool has_ranks(const struct pp_result *r)
{
    return r->program->ranks > 1;
}

static bool has_memory(const struct pp_result *r)
{
    return !r->config.is_unit;
}

static double first_token_s(const struct pp_result *r)
{
    return r->inference->first_token_s;
}

static double token_s(const struct pp_result *r)
{
    return r->inference->token_s;
}

static double iteration_s(const struct pp_result *r)
{
    return r->metrics.iteration_s;
}

static double bubble_frac(const struct pp_result *r)
{
    return r->metrics.bubble_frac;
}

static double peak_bytes(const struct pp_result *r)
{
    return r->memory[r->peak_rank].peak_bytes;
}

static const struct row {
    const char *label, *key; /* as in struct pp_headline */
    double (*value)(const struct pp_result *);
    void (*set)(struct pp_arena *, const struct pp_result *, struct pp_headline *);
    bool (*is_said)(const struct pp_result *); /* NULL: always */
} ROWS[] = {
    {"first token", "inference.first_token_s", first_token_s, set_first_token, NULL},
    {"each token", "inference.token_s", token_s, set_each_token, has_later},
    {"all", "iteration_s", iteration_s, set_all, NULL},
    {"bubble", "bubble_frac", bubble_frac, set_bubble, has_ranks},
    {"peak memory", "peak_mem_bytes", peak_bytes, set_memory, has_memory},
};

int pp_generation_headlines(const struct pp_result *r, struct pp_headline rows[PP_HEADLINES])
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    int count = 0;

    for (size_t i = 0; i < PP_COUNT(ROWS); i++) {
        if (ROWS[i].is_said && !ROWS[i].is_said(r))
            continue;
        rows[count] = (struct pp_headline){
            .label = ROWS[i].label, .key = ROWS[i].key, .value = ROWS[i].value(r)};
        ROWS[i].set(arena, r, &rows[count++]);
    }
    return count;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Puts the tier of copies that bound a pass, and its rate; later tokens come first. */
static void put_copies(json_t *bound, const struct pp_inference *f)
{
    const bool is_token = f->token_bound == PP_LIMIT_COPIES,
               is_any = is_token || f->prompt_bound == PP_LIMIT_COPIES;
    const struct pp_pass_copies *copies = is_token ? &f->token_copies : &f->prompt_copies;

    pp_json_put_text(bound, "tier", is_any ? pp_tier_rows[copies->tier].name : NULL);
    pp_json_put(bound, "tier_bytes_per_s", is_any ? copies->bytes_per_s : (double)NAN);
}

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
    json_object_set_new(
        o, "max_batch",
        is_unit ? json_null()
                : json_integer(pp_inference_room(r, g->prompt_tokens + g->passes).sequences));
    pp_json_put(o, "memory_bandwidth_frac", f->memory_bandwidth_frac);
    pp_json_put_text(bound, "prompt", pp_limit_names[f->prompt_bound]);
    pp_json_put_text(bound, "token", pp_limit_names[f->token_bound]);
    put_copies(bound, f);
    json_object_set_new(o, "bound", bound);
    return o;
}
