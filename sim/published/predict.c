/* Resolves and simulates rows like any other run. */
#include "sim/published/figures.h"

#include "core/printable.h"
#include "sim/cli/cli.h"
#include "sim/resolve/resolve.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define TERA 1e12
/* Largest ratio of two figures of one run, as publishers round them. */
#define AGREE_FACTOR 1.1

struct doubts {
    struct pp_arena *arena;
    const struct pp_measurement *row;
    const struct pp_config *config;
    double *step_s;
    const char *text; /* NULL: none so far */
};

__attribute__((format(printf, 2, 3))) static void doubt(struct doubts *d, const char *format, ...)
{
    char words[256];
    va_list args;

    va_start(args, format);
    vsnprintf(words, sizeof(words), format, args);
    va_end(args);
    d->text = pp_arena_printf(d->arena, "%s%s%s", d->text ? d->text : "", d->text ? "; " : "",
                              pp_printable(d->arena, words));
}

static const char *cell_of(const struct doubts *d, enum pp_measure_column column)
{
    return d->row->cell[column];
}

static double peak_flops_per_s(const struct doubts *d)
{
    return d->config->cluster.device.peak_flops_per_s;
}

/* ---- rates ----------------------------------------------------------------------------------- */

static const struct rate {
    enum pp_measure_column column;
    double flops_per_s; /* of 1; 0: percents of the peak, which cannot be above 100 */
} RATES[] = {{PP_COL_MODEL_TFLOPS, TERA}, {PP_COL_HFU_TFLOPS, TERA}, {PP_COL_MFU, 0}};
enum { RATE_COUNT = PP_COUNT(RATES) };

static bool is_above_peak(const struct doubts *d, const struct rate *rate)
{
    return pp_measure_number(d->row, rate->column) * rate->flops_per_s > peak_flops_per_s(d);
}

static void doubt_rates(struct doubts *d)
{
    for (int i = 0; i < RATE_COUNT; i++)
        if (is_above_peak(d, &RATES[i]))
            doubt(d, "%s \"%.40s\" is above the device's peak, %.4g",
                  pp_measure_columns[RATES[i].column], cell_of(d, RATES[i].column),
                  peak_flops_per_s(d) / TERA);
}

/* Doubts rates of flops that their source does not define, if there is no other figure. */
static void doubt_unknown_rates(struct doubts *d)
{
    for (int i = 0; i < RATE_COUNT && !isfinite(*d->step_s); i++)
        if (isfinite(pp_measure_number(d->row, RATES[i].column)) && !is_above_peak(d, &RATES[i]))
            doubt(d, "%s \"%.40s\": which flops its source counts is not known",
                  pp_measure_columns[RATES[i].column], cell_of(d, RATES[i].column));
}

/* ---- step times ------------------------------------------------------------------------------ */

/* Doubts tokens per second of another step than the published one, which counts. */
static void doubt_tokens(struct doubts *d)
{
    const struct pp_layout *l = &d->config->layout;
    const double step_s = pp_measure_number(d->row, PP_COL_STEP_S),
                 rate = pp_measure_number(d->row, PP_COL_TOKENS_PER_S),
                 other_s = (double)l->gbs * l->seq / (rate * l->gpus);

    if (fmax(step_s / other_s, other_s / step_s) > AGREE_FACTOR) /* false if one is missing */
        doubt(d, "%s \"%.40s\" is a step of %.4g s, not of %.4g s",
              pp_measure_columns[PP_COL_TOKENS_PER_S], cell_of(d, PP_COL_TOKENS_PER_S), other_s,
              step_s);
}

/* Doubts a step that is too short for the model's flops at the peak of all devices. Forward and
 * backward count once, without the half of attention that a causal mask makes void. */
static void doubt_step(struct doubts *d)
{
    const struct pp_layout *l = &d->config->layout;
    const double flops =
        (double)l->gbs * pp_model_flops_per_sample(&d->config->model, l->seq, PP_FLOPS_CAUSAL);
    const double least_s = flops / (peak_flops_per_s(d) * l->gpus);

    if (!(*d->step_s < least_s))
        return;
    doubt(d, "a step of %.4g s: at the peak of all devices the model's flops take %.4g s",
          *d->step_s, least_s);
    *d->step_s = (double)NAN;
}

/* Returns row->refused and the figures that the run refutes; NULL if there are none. These are
 * rates above the device's peak, and step times too short for the model's flops, which become NAN.
 * Others are figures that contradict each other, and lone rates of unknown meaning. */
static const char *find_doubts(struct pp_arena *arena, const struct pp_measurement *row,
                               const struct pp_config *config, double *step_s)
{
    struct doubts d = {arena, row, config, step_s, row->refused};

    *step_s = pp_measure_step_s(row, config);
    if (row->is_computed)
        return d.text;
    doubt_rates(&d);
    doubt_tokens(&d);
    if (isfinite(*step_s))
        doubt_step(&d);
    else
        doubt_unknown_rates(&d);
    return d.text;
}

enum pp_status pp_measure_resolve(struct pp_arena *arena, const struct pp_measure_command *command,
                                  struct pp_config *config, struct pp_error *err)
{
    struct pp_parsed parsed;
    struct pp_wish wish;
    struct pp_subject subject;

    PP_TRY(pp_options_parse(arena, &pp_sim_cli, command->argc, command->argv, &parsed, err));
    PP_TRY(pp_wish_open(arena, &parsed, &wish, err));
    PP_TRY(
        pp_subject_open(arena, &wish.request, wish.schedule ? wish.schedule : "", &subject, err));
    return pp_resolve(arena, &wish, &subject, config, NULL, err);
}

/* Messages cut cells short, perhaps within a character. */
const char *pp_measure_reason(struct pp_arena *arena, const struct pp_error *err)
{
    return pp_printable(
        arena, pp_arena_printf(arena, "%.*s", (int)strcspn(err->message, "\n"), err->message));
}

void pp_measure_case_open(struct pp_arena *arena, const struct pp_measurement *row,
                          struct pp_measure_case *out)
{
    struct pp_error err = {0};

    *out = (struct pp_measure_case){.row = row, .refused = row->refused, .step_s = row->step_s};
    if (pp_figure_is(row)) {
        out->skipped = "it publishes a figure that is no step";
        return;
    }
    enum pp_status status = pp_measure_command(arena, row, &out->command, &err);
    if (status == PP_OK)
        status = pp_measure_resolve(arena, &out->command, &out->config, &err);
    else
        out->command.argc = 0;
    if (status != PP_OK)
        out->skipped = pp_measure_reason(arena, &err);
    else if (!row->is_generation)
        out->refused = find_doubts(arena, row, &out->config, &out->step_s);
}

struct pp_row_prediction pp_measure_prediction(const struct pp_measurement *row,
                                               const struct pp_result *result)
{
    const double step_s = result->metrics.iteration_s;
    const double rate = result->model_flops_per_step / (step_s * result->config.layout.gpus);

    return (struct pp_row_prediction){.step_s = step_s,
                                      .mem_bytes = pp_measure_memory_bytes(row, result),
                                      .model_flops = result->model_flops_per_step,
                                      .peak_flops_per_s = rate / result->mfu,
                                      .fits = result->fits};
}
