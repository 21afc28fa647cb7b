/* One row in depth: its command, its prediction and its errors. */
#include "sim/inference/inference.h"
#include "sim/published/figures.h"
#include "sim/report/report.h"
#include "sim/validate/parts.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 80, LABEL = 10 };

static void print_value(const char *label, double published, double predicted, const char *unit,
                        double scale, FILE *out)
{
    fprintf(out, "%-*s", strlen(label) < LABEL ? LABEL : LABEL + 2, label);
    if (isfinite(published))
        fprintf(out, "published %.4g %s, ", published * scale, unit);
    fprintf(out, "predicted %.4g %s", predicted * scale, unit);
    if (isfinite(published))
        fprintf(out, ", error %+.1f %%", 100 * (predicted / published - 1));
    fputc('\n', out);
}

static void print_wrapped(const char *label, const char *text, FILE *out)
{
    pp_text_wrap(out, WIDTH, fprintf(out, "%-*s", LABEL, label), LABEL, text);
}

static void print_parts(struct pp_arena *arena, const struct pp_result *result, FILE *out)
{
    const char *text = "";

    for (int i = 0; i < PP_TIME_PARTS; i++)
        if (result->metrics.time_frac[i] > 0)
            text = pp_arena_printf(arena, "%s%s%s~%.1f~%%", text, *text ? " | " : "",
                                   pp_time_part_names[i], 100 * result->metrics.time_frac[i]);
    print_wrapped("time", text, out);
}

/* Prints published and predicted memory, and that of a run's report, which is often more. */
static void print_memory(struct pp_arena *arena, const struct pp_measurement *m,
                         const struct pp_validation_row *row, const struct pp_result *result,
                         FILE *out)
{
    const double gib = 1 << 30;

    print_value("memory", m->mem_bytes, row->prediction.mem_bytes, "GiB", 1 / gib, out);
    print_wrapped("",
                  pp_arena_printf(arena,
                                  "counted is %s; the command prints %.4g GiB, context and "
                                  "libraries included",
                                  pp_measure_memory_words[pp_measure_memory_of(m)],
                                  result->memory[result->peak_rank].peak_bytes / gib),
                  out);
}

static void print_generation(const struct pp_validation_row *row, FILE *out)
{
    static const struct {
        const char *unit;
        double scale;
    } SHOWN[PP_GENERATION_FIGURES] = {[PP_GENERATION_LATENCY] = {"s", 1},
                                      [PP_GENERATION_RATE] = {"tokens/s", 1},
                                      [PP_GENERATION_FIRST] = {"ms", 1e3},
                                      [PP_GENERATION_TOKEN] = {"ms", 1e3},
                                      [PP_GENERATION_MEMORY] = {"GiB", 1.0 / (1 << 30)}};

    for (int i = 0; i < PP_GENERATION_FIGURES; i++)
        print_value(pp_generation_names[i], row->published[i], row->predicted[i], SHOWN[i].unit,
                    SHOWN[i].scale, out);
}

static void print_training(struct pp_arena *arena, const struct pp_measurement *m,
                           const struct pp_validation_row *row, const struct pp_result *result,
                           FILE *out)
{
    print_value("step", row->step_s, row->prediction.step_s, "s", 1, out);
    print_memory(arena, m, row, result, out);
    print_parts(arena, result, out);
}

enum pp_status pp_validation_print_row(struct pp_arena *arena, const struct pp_measurement *m,
                                       bool has_details, FILE *out, struct pp_error *err)
{
    struct pp_measure_case open;
    struct pp_validation_row row;
    struct pp_result result;
    struct pp_inference *inference = NULL;

    if (pp_figure_is(m))
        return pp_validation_print_figure(arena, m, out, err);
    pp_measure_case_open(arena, m, &open);
    pp_validation_predict(arena, &open, &row, &result);
    fprintf(out, "%s (%s:%d)\n", m->id, m->file, m->line);
    if (*m->cell[PP_COL_MODEL])
        print_wrapped("model", m->cell[PP_COL_MODEL], out);
    for (int i = 0; i < open.command.note_count && open.command.argc; i++)
        print_wrapped("concluded", open.command.notes[i], out);
    if (open.command.argc)
        fprintf(out, "%-*s%s\n", LABEL, "command",
                pp_measure_command_lines(arena, &open.command, WIDTH, LABEL));
    if (row.refused)
        print_wrapped("refused", row.refused, out);
    if (row.skipped) {
        print_wrapped("skipped", row.skipped, out);
        return pp_error_set(err, PP_EINVAL, "--row %s: the row is skipped, nothing is predicted",
                            m->id);
    }
    if (row.is_generation)
        print_generation(&row, out);
    else
        print_training(arena, m, &row, &result, out);
    if (has_details && row.is_generation)
        PP_TRY(pp_inference_find(arena, &result, &inference, err));
    result.inference = inference;
    if (has_details) {
        fputc('\n', out);
        pp_explain_print(&result, pp_terminal_detect("never", out).width, out);
    }
    return PP_OK;
}
