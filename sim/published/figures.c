/* Predicts rows that publish one figure: makes the commands of their runs, and searches what the
 * source leaves open, a batch or the largest model. */
#include "sim/published/figures.h"

#include "sim/published/parts.h"
#include "sim/resolve/resolve.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MIB (1024.0 * 1024.0)

static const struct pp_figure_metric METRICS[] = {
    {"^tflops_per_gpu", PP_FIGURE_RATE, 1e12, "TFLOP/s"},
    {"=samples_per_s", PP_FIGURE_SAMPLES, 1, "1/s"},
    {"=step", PP_FIGURE_STEP, 1, "s"},
    {"=forward", PP_FIGURE_FORWARD, 1, "s"},
    {"^backward", PP_FIGURE_BACKWARD, 1, "s"},
    {"=optimizer", PP_FIGURE_UPDATE, 1, "s"},
    {"=nvidia_smi", PP_FIGURE_DEVICE_BYTES, MIB, "MiB"},
    {"=peak", PP_FIGURE_TENSOR_BYTES, MIB, "MiB"},
    {"=memory_ratio", PP_FIGURE_MEMORY_RATIO, 1, "of the peak"},
    {"=pipeline_over_data_parallel|=speedup_over_full_offload", PP_FIGURE_STEP_RATIO, 1, "x"},
    {"=largest_model", PP_FIGURE_LARGEST_PARAMS, 1e9, "B"},
};

enum { MOST_MBS = 128, MOST_LAYERS = 4096, WORD_BYTES = 256 };

struct job {
    struct pp_arena *arena;
    const struct pp_measurement *row;
    struct pp_published_figure *figure;
    struct pp_error *err;
    int mbs, layers, hidden; /* of the search; 0 = as the row says */
};

/* ---- commands -------------------------------------------------------------------------------- */

/* Returns a word of a rule with its ~ and # replaced. */
static char *word_of(const struct job *job, const char *text, size_t length, int number)
{
    char *word = pp_arena_strdup(job->arena, "");

    for (size_t i = 0; i < length; i++)
        word = text[i] == '#'
                   ? pp_arena_printf(job->arena, "%s%d", word, number)
                   : pp_arena_printf(job->arena, "%s%c", word, text[i] == '~' ? ' ' : text[i]);
    return word;
}

static bool has_word(const struct pp_measure_command *command, const char *option)
{
    for (int i = 0; i < command->argc; i++)
        if (!strncmp(command->argv[i], "--", 2) && !strcmp(command->argv[i] + 2, option))
            return true;
    return false;
}

/* Is true for a size that the model of a run gives already. */
static bool is_of_model(const struct pp_measure_writer *w, const char *option)
{
    static const char *const SIZES[] = {"hidden", "heads", "vocab"};

    for (size_t i = 0; i < PP_COUNT(SIZES); i++)
        if (!strcmp(option, SIZES[i]))
            return has_word(w->command, "model");
    return false;
}

/* Adds the options of a rule, each with a value or alone. */
static void put_options(struct pp_measure_writer *w, const struct job *job,
                        const struct pp_figure_rule *rule)
{
    const char *cell = job->row->cell[rule->column];
    const char *place = strchr(rule->pattern, '#');
    const int number = place ? pp_measure_number_in(cell, place) : 0;

    for (const char *at = rule->options; *at;) {
        const size_t name = strcspn(at, " ");
        const char *option = word_of(job, at + 2, name - 2, number), *value = NULL;
        at += name + (at[name] == ' ');
        if (*at && strncmp(at, "--", 2) != 0) {
            const size_t length = strcspn(at, " ");
            value = word_of(job, at, length, number);
            at += length + (at[length] == ' ');
        }
        if (!pp_measure_is_void(w, option) && !has_word(w->command, option) &&
            !is_of_model(w, option))
            pp_measure_put(w, option, value);
    }
}

/* Adds what cells and the search say. */
static enum pp_status put_cells(struct pp_measure_writer *w, const struct job *job)
{
    static const struct {
        enum pp_measure_column column;
        const char *option;
    } CELLS[] = {{PP_COL_LAYERS, "layers"}, {PP_COL_HIDDEN, "hidden"}, {PP_COL_HEADS, "heads"},
                 {PP_COL_VOCAB, "vocab"},   {PP_COL_SEQ, "seq"},       {PP_COL_GPUS, "gpus"}};
    int64_t mbs = job->mbs;

    if (job->layers > 0)
        pp_measure_put_int(w, "layers", job->layers);
    if (job->hidden > 0)
        pp_measure_put_int(w, "hidden", job->hidden);
    for (size_t i = 0; i < PP_COUNT(CELLS); i++) {
        int64_t number;
        PP_TRY(pp_measure_int(job->row, CELLS[i].column, PP_OPTION_BIG, 0, &number, job->err));
        if (number > 0)
            pp_measure_put_int(w, CELLS[i].option, number);
    }
    const int all = pp_measure_number_in(job->row->cell[PP_COL_MBS], "^# in all");
    if (all > 0)
        pp_measure_put_int(w, "gbs", all);
    else if (mbs == 0 && strspn(job->row->cell[PP_COL_MBS], "0123456789") > 0)
        PP_TRY(pp_measure_int(job->row, PP_COL_MBS, PP_OPTION_BIG, 0, &mbs, job->err));
    if (mbs > 0)
        pp_measure_put_int(w, "mbs", mbs);
    return PP_OK;
}

static enum pp_status make_command(const struct job *job, enum pp_figure_run run,
                                   struct pp_measure_command *command)
{
    struct pp_measure_writer w = {.arena = job->arena, .row = job->row, .command = command};

    *command = (struct pp_measure_command){.argc = 0};
    PP_TRY(pp_measure_int(job->row, PP_COL_GPUS, PP_MEASURE_DEVICES, 1, &w.gpus, job->err));
    w.tp = w.cp = w.ep = 1;
    w.dp = *job->row->cell[PP_COL_GPUS] ? w.gpus : 2; /* a number of the note: several */
    pp_measure_put_word(&w, "pipesim");
    pp_measure_put_word(&w, "run");
    PP_TRY(put_cells(&w, job));
    for (const struct pp_figure_rule *rule = pp_figure_rules; rule->pattern; rule++) {
        const char *cell =
            rule->column == PP_COL_FAMILY ? job->row->family : job->row->cell[rule->column];
        if ((rule->run != PP_FIGURE_BOTH && rule->run != run) ||
            !pp_measure_matches(cell, rule->pattern))
            continue;
        if (!rule->options)
            return pp_error_set(job->err, PP_EINVAL, "%s", rule->reason);
        put_options(&w, job, rule);
    }
    if (!pp_measure_given(&w, "gpus"))
        pp_measure_put_int(&w, "gpus", w.gpus);
    if (!pp_measure_given(&w, "gbs"))
        pp_measure_put(&w, "micro-batches", "1");
    pp_measure_put(&w, "engine", "dag");
    return PP_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static enum pp_status simulate(const struct job *job, enum pp_figure_run run,
                               struct pp_result *result)
{
    struct pp_measure_command *command = &job->figure->command[run == PP_FIGURE_SECOND];
    struct pp_config config;

    PP_TRY(make_command(job, run, command));
    PP_TRY(pp_measure_resolve(job->arena, command, &config, job->err));
    return pp_simulate(job->arena, &config, PP_METRICS, NULL, result, job->err);
}

static double tensor_bytes(const struct pp_result *r)
{
    return pp_memory_tensor_bytes(&r->memory[r->peak_rank]);
}

static double parts_s(const struct pp_result *r, enum pp_time_part a, enum pp_time_part b)
{
    return r->metrics.iteration_s * (r->metrics.time_frac[a] + r->metrics.time_frac[b]);
}

/* Returns a figure of one run. */
static double figure_of(enum pp_figure_kind kind, const struct pp_result *r)
{
    const struct pp_layout *l = &r->config.layout;
    const double samples_per_s = (double)l->gbs / r->metrics.iteration_s;

    switch (kind) {
    case PP_FIGURE_STEP:
        return r->metrics.iteration_s;
    case PP_FIGURE_FORWARD:
        return r->metrics.iteration_s * r->metrics.time_frac[PP_TIME_FORWARD];
    case PP_FIGURE_BACKWARD:
        return parts_s(r, PP_TIME_BACKWARD, PP_TIME_RECOMPUTE);
    case PP_FIGURE_UPDATE:
        return parts_s(r, PP_TIME_OPTIMIZER, PP_TIME_MOVES);
    case PP_FIGURE_SAMPLES:
        return samples_per_s;
    case PP_FIGURE_RATE:
        return 8 * pp_model_params(&r->config.model) * l->seq * samples_per_s / l->gpus;
    case PP_FIGURE_DEVICE_BYTES:
        return r->memory[r->peak_rank].peak_bytes;
    case PP_FIGURE_LARGEST_PARAMS:
        return pp_model_params(&r->config.model);
    default:
        return tensor_bytes(r);
    }
}

/* Predicts one run with the batch that the row states, or else with the best that fits. */
static enum pp_status predict_run(struct job *job, enum pp_figure_kind kind)
{
    struct pp_published_figure *f = job->figure;
    const bool is_open = pp_measure_matches(job->row->cell[PP_COL_MBS], "not stated");
    struct pp_result result;
    int best_mbs = 0;

    if (!is_open) {
        PP_TRY(simulate(job, PP_FIGURE_BOTH, &result));
        f->predicted = figure_of(kind, &result);
        return PP_OK;
    }
    for (job->mbs = 1; job->mbs <= MOST_MBS; job->mbs *= 2) {
        PP_TRY(simulate(job, PP_FIGURE_BOTH, &result));
        if (!result.fits)
            break;
        const double predicted = figure_of(kind, &result);
        if (best_mbs == 0 || predicted > f->predicted) {
            f->predicted = predicted;
            best_mbs = job->mbs;
        }
    }
    if (best_mbs == 0)
        return pp_error_set(job->err, PP_EINVAL, "no micro-batch fits");
    job->mbs = best_mbs;
    f->found = pp_arena_printf(job->arena, "mbs %d, the best of those that fit", best_mbs);
    return make_command(job, PP_FIGURE_BOTH, &f->command[0]);
}

static enum pp_status predict_ratio(struct job *job, enum pp_figure_kind kind)
{
    const enum pp_figure_kind of =
        kind == PP_FIGURE_MEMORY_RATIO ? PP_FIGURE_TENSOR_BYTES : PP_FIGURE_STEP;
    struct pp_result first, second;

    PP_TRY(simulate(job, PP_FIGURE_FIRST, &first));
    PP_TRY(simulate(job, PP_FIGURE_SECOND, &second));
    job->figure->predicted = figure_of(of, &first) / figure_of(of, &second);
    return PP_OK;
}

/* ---- the largest model ----------------------------------------------------------------------- */

/* Tries a model; `fits` is false for one that does not fit or that nothing can lay out. */
static enum pp_status try_layers(struct job *job, int layers, bool *fits)
{
    struct pp_result result;

    job->layers = layers;
    PP_TRY(simulate(job, PP_FIGURE_BOTH, &result));
    *fits = result.fits;
    if (*fits)
        job->figure->predicted = pp_model_params(&result.config.model);
    return PP_OK;
}

/* Searches among models of one width. */
static enum pp_status search_layers(struct job *job)
{
    int low = 0, high = 1;
    bool fits = true;

    while (fits && high <= MOST_LAYERS) {
        PP_TRY(try_layers(job, high, &fits));
        low = fits ? high : low;
        high = fits ? high * 2 : high;
    }
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        PP_TRY(try_layers(job, middle, &fits));
        low = fits ? middle : low;
        high = fits ? high : middle;
    }
    if (low == 0)
        return pp_error_set(job->err, PP_EINVAL, "no model of this width fits");
    job->layers = low;
    job->figure->found = pp_arena_printf(job->arena, "%d layers", low);
    return make_command(job, PP_FIGURE_BOTH, &job->figure->command[0]);
}

/* Searches among the sizes that the source tried: it ends with the first that does not fit. */
static enum pp_status search_sizes(struct job *job)
{
    const struct pp_figure_size *found = NULL;
    bool fits = true;

    for (const struct pp_figure_size *size = pp_figure_sizes; fits && size->layers; size++) {
        if (size->is_between)
            continue;
        job->hidden = size->hidden;
        PP_TRY(try_layers(job, size->layers, &fits));
        found = fits ? size : found;
    }
    if (!found)
        return pp_error_set(job->err, PP_EINVAL, "none of the source's models fits");
    job->layers = found->layers;
    job->hidden = found->hidden;
    job->figure->predicted = 1e9 * found->params_b; /* as the source counts */
    job->figure->found = pp_arena_printf(job->arena, "%d layers of %d", job->layers, job->hidden);
    return make_command(job, PP_FIGURE_BOTH, &job->figure->command[0]);
}

static enum pp_status predict_largest(struct job *job)
{
    struct pp_measure_command command;
    const struct pp_measure_writer w = {.command = &command};

    PP_TRY(make_command(job, PP_FIGURE_BOTH, &command));
    return pp_measure_given(&w, "hidden") ? search_layers(job) : search_sizes(job);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Takes sizes from a number of parameters, where the row states nothing else. */
static enum pp_status take_size(struct job *job)
{
    const double params_b = pp_measure_number(job->row, PP_COL_PARAMS_B);
    const struct pp_figure_size *size = pp_figure_sizes;

    if (*job->row->cell[PP_COL_LAYERS] || !isfinite(params_b))
        return PP_OK;
    while (size->layers && size->params_b != params_b)
        size++;
    if (!size->layers)
        return pp_error_set(job->err, PP_EINVAL, "a model of %g B parameters: no sizes are known",
                            params_b);
    job->layers = size->layers;
    job->hidden = size->hidden;
    return PP_OK;
}

static const struct pp_figure_metric *metric_of(const struct pp_measurement *row)
{
    for (size_t i = 0; i < PP_COUNT(METRICS); i++)
        if (pp_measure_matches(row->cell[PP_COL_METRIC], METRICS[i].pattern))
            return &METRICS[i];
    return NULL;
}

enum pp_status pp_figure_predict(struct pp_arena *arena, const struct pp_measurement *row,
                                 struct pp_published_figure *figure, struct pp_error *err)
{
    struct job job = {.arena = arena, .row = row, .figure = figure, .err = err};
    const double value = pp_measure_number(row, PP_COL_VALUE);

    *figure = (struct pp_published_figure){
        .metric = metric_of(row),
        .predicted = (double)NAN,
        .published = (double)NAN,
        .is_report = pp_measure_matches(row->cell[PP_COL_USE], "^report")};
    if (row->defect)
        return pp_error_set(err, PP_EINVAL, "%s", row->defect);
    if (!figure->metric)
        return pp_error_set(err, PP_EINVAL, "metric \"%.60s\" is not known",
                            row->cell[PP_COL_METRIC]);
    if (!isfinite(value))
        return pp_error_set(err, PP_EINVAL, "value \"%.40s\" is no positive number",
                            row->cell[PP_COL_VALUE]);
    figure->published = value * figure->metric->unit;
    PP_TRY(take_size(&job));
    switch (figure->metric->kind) {
    case PP_FIGURE_MEMORY_RATIO:
    case PP_FIGURE_STEP_RATIO:
        return predict_ratio(&job, figure->metric->kind);
    case PP_FIGURE_LARGEST_PARAMS:
        return predict_largest(&job);
    default:
        return predict_run(&job, figure->metric->kind);
    }
}
