/* pipesim compare: compares a predicted trace with a measured one. */
#include "sim/command/commands.h"

#include "core/printable.h"
#include "core/text/json.h"
#include "core/text/json_stream.h"
#include "core/text/json_write.h"
#include "core/units.h"
#include "sim/cli/stdout.h"
#include "sim/compare/compare.h"
#include "sim/import/step_log.h"
#include "sim/page/page.h"
#include "sim/report/text.h"
#include "traces/formats/files.h"
#include "traces/metrics.h"
#include "traces/step.h"

#include <math.h>
#include <string.h>

static const double LONGEST_S = 1e9, MOST = 1e18;

/* The predicted step compared with the steps in the log of a training run, which has no events. */
struct steps {
    const char *predicted;                                 /* name of the file */
    double predicted_s;                                    /* the median step of a trace */
    double predicted_flops_per_s_per_gpu, predicted_batch; /* NAN for a trace */
    const struct pp_step_log *log;
    double error_frac;     /* predicted / measured - 1 */
    double tolerance_frac; /* NAN: none */
};

/* ---- the prediction -------------------------------------------------------------------------- */

/* Is true for a report: its first key is "schema". */
static bool is_report(const char *path)
{
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    struct pp_json_stream *stream;
    struct pp_json_piece piece;

    return strcmp(path, "-") != 0 &&
           pp_json_stream_open(arena, path, "traceEvents", &stream, NULL) == PP_OK &&
           pp_json_stream_next(stream, &piece, NULL) == PP_OK && piece.key &&
           !strcmp(piece.key, "schema");
}

static double number_or_nan(const struct pp_json *json, json_t *object, const char *key)
{
    double value;
    bool found;

    return pp_json_number(json, object, key, 0, MOST, &value, &found, NULL) == PP_OK && found
               ? value
               : (double)NAN;
}

static enum pp_status read_report(struct pp_arena *arena, const char *path, struct steps *c,
                                  struct pp_error *err)
{
    struct pp_json json;
    const char *schema;

    PP_TRY(pp_json_open(arena, path, PP_JSON_PRINTED_BYTES, &json, err));
    enum pp_status status = pp_json_string(&json, json.root, "schema", &schema, NULL, err);
    if (status == PP_OK && strcmp(schema, "pipesim.report/1") != 0)
        status = pp_error_set(err, PP_EINVAL,
                              "%s: its schema is '%.40s'; a trace is expected, or what pipesim "
                              "--json prints of one schedule (pipesim.report/1)",
                              path, schema);
    if (status == PP_OK)
        status = pp_json_number(&json, json.root, "iteration_s", 0, LONGEST_S, &c->predicted_s,
                                NULL, err);
    c->predicted_flops_per_s_per_gpu = number_or_nan(&json, json.root, "model_flops_per_s_per_gpu");
    c->predicted_batch = number_or_nan(&json, json_object_get(json.root, "layout"), "gbs");
    pp_json_close(&json);
    return status;
}

static enum pp_status read_trace(struct pp_arena *arena, const char *path, struct steps *c,
                                 struct pp_error *err)
{
    struct pp_metrics metrics;
    struct pp_trace *trace;
    struct pp_step step;

    PP_TRY(pp_trace_files_read(arena, &path, 1, &trace, err));
    PP_TRY(pp_step_median(arena, trace, 0, &step, err));
    PP_TRY(pp_metrics_compute(arena, &step.trace, &metrics, err));
    c->predicted_s = metrics.iteration_s;
    return PP_OK;
}

/* Fills `c` from `path`, a trace or the report of one schedule. PP_EINVAL names any other file. */
static enum pp_status find_steps(struct pp_arena *arena, const char *path,
                                 const struct pp_step_log *log, struct steps *c,
                                 struct pp_error *err)
{
    *c = (struct steps){.predicted = path,
                        .predicted_flops_per_s_per_gpu = (double)NAN,
                        .predicted_batch = (double)NAN,
                        .log = log,
                        .tolerance_frac = (double)NAN};
    PP_TRY(is_report(path) ? read_report(arena, path, c, err) : read_trace(arena, path, c, err));
    if (!isnan(c->predicted_batch) && !isnan(log->global_batch) &&
        c->predicted_batch != log->global_batch)
        return pp_error_set(err, PP_EINVAL,
                            "%s is of global batches of %g samples, %s of %g: predict with --gbs "
                            "%.0f",
                            path, c->predicted_batch, log->name, log->global_batch,
                            log->global_batch);
    c->error_frac = c->predicted_s / log->median_s - 1;
    return PP_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_rate(FILE *out, double flops_per_s)
{
    char text[PP_UNITS_TEXT_BYTES];

    if (isnan(flops_per_s))
        fprintf(out, "%16s", "-");
    else
        fprintf(out, "%16s", pp_units_print(flops_per_s, PP_UNIT_FLOPS_PER_S, text));
}

static void print_steps(const struct steps *c, FILE *out)
{
    const struct pp_step_log *log = c->log;
    char p[PP_UNITS_TEXT_BYTES], q[PP_UNITS_TEXT_BYTES], tolerance[PP_TOLERANCE_BYTES],
        line[PP_TEXT_BYTES];

    snprintf(line, sizeof(line), "step: predicted %s, measured %s, error %+.1f %%%s",
             pp_units_print(c->predicted_s, PP_UNIT_SECONDS, p),
             pp_units_print(log->median_s, PP_UNIT_SECONDS, q), 100 * c->error_frac + 0.0,
             pp_compare_tolerance(c->error_frac, c->tolerance_frac, tolerance));
    pp_text_wrap(out, 80, fprintf(out, "pipesim %s  ", PP_VERSION), 2, line);
    fputc('\n', out);
    pp_text_paragraph(out, 80, 13, "predicted", c->predicted);
    snprintf(line, sizeof(line), "%.300s: median of %d lines '%s'; 5 to 95 %% of them %s .. %s",
             log->name, log->count - log->skipped, log->form,
             pp_units_print(log->low_s, PP_UNIT_SECONDS, p),
             pp_units_print(log->high_s, PP_UNIT_SECONDS, q));
    pp_text_paragraph(out, 80, 13, "measured", line);
    if (log->skipped > 0) {
        snprintf(line, sizeof(line), "the first %d line%s (up to %s) left out", log->skipped,
                 log->skipped == 1 ? "" : "s",
                 pp_units_print(log->longest_skipped_s, PP_UNIT_SECONDS, p));
        pp_text_paragraph(out, 80, 13, "warm-up", line);
    }
    if (isnan(log->flops_per_s_per_gpu))
        return;
    fprintf(out, "\n  %-14s%16s%16s\n  %-14s", "", "predicted", "measured", "rate of a GPU");
    print_rate(out, c->predicted_flops_per_s_per_gpu);
    print_rate(out, log->flops_per_s_per_gpu);
    fputs("   by the log's own count of flops\n", out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_steps(const struct steps *c, FILE *out)
{
    const struct pp_step_log *log = c->log;
    json_t *o = json_pack("{ss so so ss si si}", "schema", "pipesim.steps/1", "predicted",
                          pp_json_text(c->predicted), "measured", pp_json_text(log->name), "form",
                          log->form, "lines", log->count, "skipped_lines", log->skipped);

    pp_json_put(o, "predicted_step_s", c->predicted_s);
    pp_json_put(o, "measured_step_s", log->median_s);
    pp_json_put(o, "measured_p5_s", log->low_s);
    pp_json_put(o, "measured_p95_s", log->high_s);
    pp_json_put(o, "step_error_s", c->predicted_s - log->median_s);
    pp_json_put(o, "step_error_frac", c->error_frac);
    pp_json_put(o, "predicted_flops_per_s_per_gpu", c->predicted_flops_per_s_per_gpu);
    pp_json_put(o, "measured_flops_per_s_per_gpu", log->flops_per_s_per_gpu);
    pp_json_put(o, "tolerance_frac", c->tolerance_frac);
    json_object_set_new(o, "within_tolerance",
                        isnan(c->tolerance_frac)
                            ? json_null()
                            : json_boolean(fabs(c->error_frac) <= c->tolerance_frac));
    pp_json_print(o, out);
}

static enum pp_status check_tolerance(double error_frac, double tolerance_frac,
                                      struct pp_error *err)
{
    if (isnan(tolerance_frac) || fabs(error_frac) <= tolerance_frac)
        return PP_OK;
    return pp_error_set(err, PP_ETOLERANCE,
                        "the predicted step is off by %+.4g %%, more than the tolerance of %g %%",
                        100 * error_frac, 100 * tolerance_frac);
}

/* Compares steps alone, with the log of a training run. */
static enum pp_status compare_steps(struct pp_arena *arena, const struct pp_wish *wish,
                                    double tolerance_frac, FILE *out, struct pp_error *err)
{
    const char *const *files = wish->request.flags->operands;
    struct steps c;
    struct pp_step_log log;

    if (wish->given.worst.count || wish->allow_different)
        return pp_error_set(err, PP_EINVAL, "--%s: %s is a log of steps, without events",
                            wish->given.worst.count ? "worst" : "allow-different", files[1]);
    PP_TRY(pp_step_log_read(arena, files[1], wish->given.skip_steps.count ? wish->skip_steps : -1,
                            &log, err));
    PP_TRY(find_steps(arena, files[0], &log, &c, err));
    c.tolerance_frac = tolerance_frac;
    if (wish->json)
        write_steps(&c, out);
    else
        print_steps(&c, out);
    return check_tolerance(c.error_frac, tolerance_frac, err);
}

enum pp_status pp_command_compare(struct pp_arena *arena, const struct pp_wish *wish, FILE *out,
                                  struct pp_error *err)
{
    const struct pp_compare_options options = {.skip_steps = wish->skip_steps,
                                               .worst = wish->worst,
                                               .allows_different = wish->allow_different};
    const double tolerance_frac = wish->given.tolerance.count ? wish->tolerance : (double)NAN;
    const char *const *files = wish->request.flags->operands;
    struct pp_trace *predicted, *measured;
    struct pp_comparison comparison;
    const char *note = NULL;
    enum pp_stdout owner;

    if (!strcmp(files[0], "-") && !strcmp(files[1], "-"))
        return pp_error_set(err, PP_EINVAL, "compare: only one of the two traces can be stdin");
    PP_TRY(pp_stdout_owner(wish, &owner, err));
    PP_TRY(pp_page_check(arena, wish, err));
    if (wish->request.flags->operand_count == 2 && pp_step_log_is_one(files[1]))
        return compare_steps(arena, wish, tolerance_frac, out, err);
    PP_TRY(pp_trace_files_read(arena, files, 1, &predicted, err));
    PP_TRY(pp_trace_files_read(arena, files + 1, wish->request.flags->operand_count - 1, &measured,
                               err));
    if (wish->request.flags->operand_count == 2)
        note = pp_compare_order(arena, files, &predicted, &measured);
    if (note)
        pp_tell("pipesim: note: %s", note);
    PP_TRY(pp_compare(arena, predicted, measured, &options, &comparison, err));
    const struct pp_compare_report report = {.comparison = &comparison,
                                             .tolerance_frac = tolerance_frac};
    if (owner == PP_STDOUT_JSON)
        pp_report_compare_json(&report, out);
    else if (owner == PP_STDOUT_REPORT)
        pp_report_compare(&report, pp_terminal_detect("never", out), out);
    PP_TRY(pp_page_write(arena, wish, pp_page_compare, &report, err));
    return check_tolerance(comparison.step_error_frac, tolerance_frac, err);
}
