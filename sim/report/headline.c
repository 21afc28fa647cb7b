/* The first figures of a report. */
#include "sim/report/parts.h"

#include "core/units.h"
#include "sim/config/price.h"
#include "sim/config/tiers.h"
#include "sim/error/band.h"

#include <math.h>
#include <string.h>

/* Smaller shares of the step are 0.0 %. */
static const double SHOWN_FRAC = 0.0005;

/* Appends the 90th percentile of the error, where there is room. */
static void add_p90(const struct pp_config *c, double p90_frac, struct pp_headline *h)
{
    const size_t length = strlen(h->remark);

    if (isfinite(p90_frac) && c->origin.price.per_gpu_hour <= 0)
        snprintf(h->remark + length, sizeof(h->remark) - length, "; p90 %.0f %%", 100 * p90_frac);
}

/* Appends ", costs $7.42" to a remark, if the run has a price. */
static void add_price(const struct pp_config *c, double amount, struct pp_headline *h)
{
    const size_t length = strlen(h->remark);
    char text[PP_PRICE_TEXT_BYTES];

    if (c->origin.price.per_gpu_hour > 0)
        snprintf(h->remark + length, sizeof(h->remark) - length, ", costs %s",
                 pp_price_print(c, amount, text));
}

static void set_band(double error_frac, struct pp_headline *h)
{
    if (isnan(error_frac))
        return;
    if (strchr(h->figure, '%'))
        snprintf(h->band, sizeof(h->band), "%.1f", 100 * h->value * error_frac);
    else
        snprintf(h->band, sizeof(h->band), "%.0f %%", 100 * error_frac);
}

static void set_step(const struct pp_result *r, struct pp_headline *h)
{
    const struct pp_config *c = &r->config;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const char *steps = pp_text_steps(arena, c);
    char a[PP_UNITS_TEXT_BYTES], b[PP_UNITS_TEXT_BYTES];

    h->value = r->metrics.iteration_s;
    pp_text_time(c, h->value, h->figure);
    if (c->is_unit && c->shape.chunks > 1 && c->unit.c == 0)
        snprintf(h->remark, sizeof(h->remark), "with costs of a chunk; %.6g with those of a rank%s",
                 h->value / c->shape.chunks, *steps ? "; steady" : "");
    else if (c->is_unit)
        snprintf(h->remark, sizeof(h->remark), "%s", *steps ? steps : "first start to last end");
    else
        snprintf(h->remark, sizeof(h->remark), "%s tokens/s, %s tokens/s/GPU",
                 pp_units_print(r->tokens_per_s, PP_UNIT_COUNT, a),
                 pp_units_print(r->tokens_per_s_per_gpu, PP_UNIT_COUNT, b));
    add_price(c, pp_price_step(c, c->layout.gpus, h->value), h);
}

static void set_mfu(const struct pp_result *r, struct pp_headline *h)
{
    const struct pp_config *c = &r->config;
    char own[PP_UNITS_TEXT_BYTES], peak[PP_UNITS_TEXT_BYTES];

    h->value = r->mfu;
    snprintf(h->figure, sizeof(h->figure), "%.1f %%", 100 * r->mfu);
    snprintf(h->remark, sizeof(h->remark), "%s of %s dense TFLOP/s/GPU (%s FLOPs)",
             pp_units_print_four(r->model_flops_per_s_per_gpu * 1e-12, own),
             pp_units_print_four(c->cluster.device.peak_flops_per_s * 1e-12, peak),
             pp_flops_rule_names[c->flops]);
}

static void set_hfu(const struct pp_result *r, struct pp_headline *h)
{
    h->value = r->hfu;
    snprintf(h->figure, sizeof(h->figure), "%.1f %%", 100 * r->hfu);
    snprintf(h->remark, sizeof(h->remark), "recomputation counted");
}

static void set_bubble(const struct pp_result *r, struct pp_headline *h)
{
    const double wait_frac = r->metrics.time_frac[PP_TIME_BUBBLE],
                 flight_frac = r->metrics.time_frac[PP_TIME_P2P];

    h->value = r->metrics.bubble_frac;
    snprintf(h->figure, sizeof(h->figure), "%.1f %%", 100 * h->value);
    if (flight_frac < SHOWN_FRAC)
        snprintf(h->remark, sizeof(h->remark), "idle, waiting for other stages");
    else
        snprintf(h->remark, sizeof(h->remark), "idle: waiting %.1f %% + p2p in flight %.1f %%",
                 100 * wait_frac, 100 * flight_frac);
}

static void set_span(const struct pp_result *r, struct pp_headline *h)
{
    h->value = r->metrics.span_bubble_frac;
    snprintf(h->figure, sizeof(h->figure), "%.1f %%", 100 * h->value);
    snprintf(h->remark, sizeof(h->remark), "of the time from a rank's first op to its last");
}

static void set_memory(const struct pp_result *r, struct pp_headline *h)
{
    const double capacity = pp_config_capacity_bytes(&r->config),
                 peak = r->memory[r->peak_rank].peak_bytes,
                 free_gib = pp_text_gib(capacity) - pp_text_gib(peak);
    const char *const full = peak <= capacity ? pp_tier_rows[pp_tiers_full(r)].name : "";
    const size_t room = sizeof(h->remark);

    h->value = peak;
    snprintf(h->figure, sizeof(h->figure), "%.1f GiB", peak / PP_GIB);
    if (!pp_config_has_device(&r->config)) {
        snprintf(h->remark, room, "on rank %d; --cluster says what a device has", r->peak_rank);
        return;
    }
    const size_t length = (size_t)snprintf(h->remark, room, "of %.1f GiB on rank %d",
                                           capacity / PP_GIB, r->peak_rank);
    if (!r->fits)
        snprintf(h->remark + length, room - length, "%s%s: DOES NOT FIT", *full ? "; " : "", full);
    else if (r->is_tight)
        snprintf(h->remark + length, room - length,
                 ": fits, tight: %.1f GiB free, less than the margin of %.3g %%", free_gib,
                 100 * r->config.memory_margin_frac);
    else
        snprintf(h->remark + length, room - length, ": fits, %.1f GiB free", free_gib);
}

static void set_tokens(const struct pp_result *r, struct pp_headline *h)
{
    char number[PP_UNITS_TEXT_BYTES];

    h->value = 1e12 / r->tokens_per_s;
    if (h->value < 99.95 * 86400)
        snprintf(h->figure, sizeof(h->figure), "%.3g days", h->value / 86400);
    else
        snprintf(h->figure, sizeof(h->figure), "%s days",
                 pp_units_print_count(llround(h->value / 86400), number));
    snprintf(h->remark, sizeof(h->remark), "%s GPU-hours",
             pp_units_print(h->value / 3600 * r->config.layout.gpus, PP_UNIT_COUNT, number));
    add_price(&r->config, pp_price_tokens(&r->config, r->tokens_per_s_per_gpu), h);
}

static bool has_device(const struct pp_result *r)
{
    return pp_config_has_device(&r->config);
}

static bool is_recomputed(const struct pp_result *r)
{
    return has_device(r) && r->hardware_flops_per_step > r->model_flops_per_step;
}

static const struct row {
    const char *label, *unit_label, *key; /* of a model, in unit mode; NULL: not there */
    enum { NO_BAND, STEP_BAND, MEMORY_BAND } band;
    void (*set)(const struct pp_result *, struct pp_headline *);
    bool (*is_said)(const struct pp_result *); /* NULL: always */
} ROWS[PP_HEADLINES] = {
    {"iteration", "step", "iteration_s", STEP_BAND, set_step, NULL},
    {"MFU", NULL, "mfu", STEP_BAND, set_mfu, has_device},
    {"HFU", NULL, "hfu", STEP_BAND, set_hfu, is_recomputed},
    {"bubble", "bubble", "bubble_frac", NO_BAND, set_bubble, NULL},
    {NULL, "span idle", "span_bubble_frac", NO_BAND, set_span, NULL},
    {"peak memory", NULL, "peak_mem_bytes", MEMORY_BAND, set_memory, NULL},
    {"1 T tokens", NULL, NULL, STEP_BAND, set_tokens, has_device},
};

int pp_headlines(const struct pp_result *r, struct pp_headline rows[PP_HEADLINES])
{
    if (r->inference)
        return pp_generation_headlines(r, rows);
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct pp_error_bands bands = pp_error_bands_of(arena, &r->config);
    const double errors[] = {[NO_BAND] = (double)NAN,
                             [STEP_BAND] = bands.step.median_frac,
                             [MEMORY_BAND] = bands.memory.median_frac};
    int count = 0;

    for (int i = 0; i < PP_HEADLINES; i++) {
        const struct row *row = &ROWS[i];
        const char *label = r->config.is_unit ? row->unit_label : row->label;
        if (!label || (row->is_said && !row->is_said(r)))
            continue;
        rows[count] = (struct pp_headline){.label = label, .key = row->key};
        row->set(r, &rows[count]);
        set_band(errors[row->band], &rows[count++]);
    }
    add_p90(&r->config, bands.step.p90_frac, &rows[0]);
    return count;
}
