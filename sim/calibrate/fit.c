/* Fits layers to medians of stages, their sums, by nonnegative least squares. With equally many
 * blocks in all stages, a weak prior separates embedding and block; any measurement outweighs
 * it. */
#include "sim/calibrate/calibrate.h"

#include "core/nonnegative.h"
#include "core/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A median's standard error is 1.25 sigma / sqrt(n), and sigma is 1.48 median deviations. The floor
 * is half a percent. */
static const double SURE_FRAC = 0.005, MEDIAN_SIGMAS = 1.2533, SIGMA_DEVIATIONS = 1.4826;
/* Sigmas of the prior, which gives parts as shares of a block by flops. */
static const double EMBEDDING_SIGMA = 0.1, OP_SIGMA = 0.03, HEAD_SIGMA_FRAC = 0.5;

/* ---- medians --------------------------------------------------------------------------------- */

static double sigma_of(struct pp_arena *arena, const struct pp_calibrate_group *g)
{
    double *deviation = PP_ARRAY(arena, double, g->count);

    for (int i = 0; i < g->count; i++)
        deviation[i] = fabs(g->s[i] - g->median_s);
    const double sigma = SIGMA_DEVIATIONS * pp_median(deviation, g->count);
    const double least = SURE_FRAC * g->median_s;
    return fmax(fmax(MEDIAN_SIGMAS * sigma / sqrt(g->count), least), 1e-12);
}

/* ---- layers ---------------------------------------------------------------------------------- */

static struct pp_fit_row row_of(struct pp_arena *arena, const struct pp_calibrate_group *g)
{
    return (struct pp_fit_row){
        .factor = {g->layers.blocks, g->layers.has_embedding, g->layers.has_head, 1},
        .value = g->median_s,
        .sigma = sigma_of(arena, g)};
}

/* Flops of the head over those of a block. */
static double head_frac(const struct pp_cost_inputs *in)
{
    const double seq = in->layout.seq;
    const enum pp_layer_kind block = in->model->experts.count > 0 ? PP_LAYER_MOE : PP_LAYER_BLOCK;

    return pp_model_layer_flops(in->model, PP_LAYER_HEAD, 1, seq, PP_FLOPS_CAUSAL) /
           pp_model_layer_flops(in->model, block, 1, seq, PP_FLOPS_CAUSAL);
}

/* Returns the time of a block if stages were made of blocks and a head alone. */
static double guess_block_s(struct pp_arena *arena, const struct pp_fit_row *rows, int count,
                            double head)
{
    double *guess = PP_ARRAY(arena, double, count);

    for (int r = 0; r < count; r++)
        guess[r] =
            rows[r].value /
            fmax(rows[r].factor[PP_MEASURED_BLOCK] + head * rows[r].factor[PP_MEASURED_HEAD], 0.1);
    return pp_median(guess, count);
}

static int add_opinion(double block_s, double head, struct pp_fit_row *rows, int count)
{
    rows[count++] = (struct pp_fit_row){.factor = {[PP_MEASURED_EMBEDDING] = 1},
                                        .sigma = EMBEDDING_SIGMA * block_s};
    if (head > 0)
        rows[count++] = (struct pp_fit_row){.factor = {[PP_MEASURED_HEAD] = 1},
                                            .value = head * block_s,
                                            .sigma = HEAD_SIGMA_FRAC * head * block_s};
    rows[count++] =
        (struct pp_fit_row){.factor = {[PP_MEASURED_OP] = 1}, .sigma = OP_SIGMA * block_s};
    return count;
}

static double fitted_s(const struct pp_fit_row *row, const double *x)
{
    double sum = 0;

    for (int k = 0; k < PP_FIT_UNKNOWNS; k++)
        sum += row->factor[k] * x[k];
    return sum;
}

static double worst_frac(const struct pp_fit_row *rows, int count, const double *x)
{
    double worst = 0;

    for (int r = 0; r < count; r++)
        if (rows[r].value > 0)
            worst = fmax(worst, fabs(fitted_s(&rows[r], x) / rows[r].value - 1));
    return worst;
}

static const struct pp_cost_inputs *inputs_of(const struct pp_calibrate *c, int set)
{
    for (int k = 0; k < c->run_count; k++) {
        struct pp_measured_shape shape = pp_measured_shape_of(&c->runs[k].inputs);
        shape.split = c->file->sets[set].shape.split;
        if (pp_measured_shape_is_same(&shape, &c->file->sets[set].shape))
            return &c->runs[k].inputs;
    }
    return &c->runs[0].inputs;
}

static void fit_op(struct pp_calibrate *c, int set, int kind)
{
    struct pp_measured_op *op = &c->file->sets[set].op[kind];
    struct pp_fit_row *rows = PP_ARRAY(c->arena, struct pp_fit_row, c->group_count + 3);
    const bool is_of_parts = kind == PP_R && c->file->sets[set].shape.again; /* of blocks alone */
    const double head = is_of_parts ? 0 : head_frac(inputs_of(c, set));
    int count = 0;

    for (int k = 0; k < c->group_count; k++)
        if (c->groups[k].kind == kind && c->groups[k].set == set) {
            rows[count] = row_of(c->arena, &c->groups[k]);
            rows[count++].value -= c->groups[k].params * c->file->update_param_s; /* zeroed */
            op->samples += c->groups[k].count;
        }
    if (count == 0)
        return;
    const double block_s = guess_block_s(c->arena, rows, count, head);
    const int all = block_s > 0 ? add_opinion(block_s, head, rows, count) : count;
    pp_fit_nonnegative(rows, all, PP_FIT_UNKNOWNS, op->part_s);
    op->residual_frac = worst_frac(rows, count, op->part_s);
}

/* ---- updates --------------------------------------------------------------------------------- */

/* Fits the time of an update per parameter, and its constant part. */
static void fit_update(struct pp_calibrate *c)
{
    struct pp_fit_row *rows = PP_ARRAY(c->arena, struct pp_fit_row, c->group_count + 1);
    double x[2], most = 0, params = 0;
    int count = 0;

    for (int k = 0; k < c->group_count; k++) {
        const struct pp_calibrate_group *g = &c->groups[k];
        if (g->kind != PP_U)
            continue;
        rows[count++] = (struct pp_fit_row){
            .factor = {g->params, 1}, .value = g->median_s, .sigma = sigma_of(c->arena, g)};
        c->file->update_samples += g->count;
        most = fmax(most, g->median_s);
        params = fmax(params, g->params);
    }
    if (count == 0 || params == 0)
        return;
    for (int r = 0; r < count; r++) /* scaled to the size of the other unknown */
        rows[r].factor[0] /= params;
    rows[count] = (struct pp_fit_row){.factor = {0, 1}, .sigma = OP_SIGMA * fmax(most, 1e-12)};
    pp_fit_nonnegative(rows, count + 1, 2, x);
    c->file->update_param_s = x[0] / params;
    c->file->update_op_s = x[1];
}

/* ---- messages -------------------------------------------------------------------------------- */

static int by_bytes(const void *left, const void *right)
{
    const struct pp_calibrate_message *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return (a->s > b->s) - (a->s < b->s);
}

/* Writes the median of each size into `rows`; returns their number. */
static int medians_by_size(struct pp_arena *arena, const struct pp_calibrate_message *messages,
                           int count, struct pp_fit_row *rows)
{
    struct pp_calibrate_message *sorted = PP_ARRAY(arena, struct pp_calibrate_message, count);
    double *s = PP_ARRAY(arena, double, count);
    int sizes = 0;

    memcpy(sorted, messages, sizeof(*sorted) * (size_t)count);
    qsort(sorted, (size_t)count, sizeof(*sorted), by_bytes);
    for (int from = 0, to; from < count; from = to) {
        for (to = from; to < count && sorted[to].bytes == sorted[from].bytes; to++)
            s[to - from] = sorted[to].s;
        const double median = pp_median(s, to - from);
        rows[sizes++] = (struct pp_fit_row){.factor = {1, sorted[from].bytes},
                                            .value = median,
                                            .sigma = fmax(median, 1e-12)}; /* relative errors */
    }
    return sizes;
}

struct pp_measured_line pp_calibrate_line(struct pp_arena *arena, const char *name,
                                          const struct pp_calibrate_message *messages, int count,
                                          const struct pp_measured_line *given)
{
    struct pp_measured_line line = given ? *given : (struct pp_measured_line){0};
    struct pp_fit_row *rows = PP_ARRAY(arena, struct pp_fit_row, count + 1);
    double *error = PP_ARRAY(arena, double, count + 1), x[2];
    const int sizes = medians_by_size(arena, messages, count, rows);
    const double most = sizes > 0 ? fmax(rows[sizes - 1].factor[1], 1) : 1;

    line.name = name;
    line.samples = count;
    for (int r = 0; r < sizes; r++) /* scaled to the size of the other unknown */
        rows[r].factor[1] /= most;
    if (!given && sizes == 1) /* one size cannot tell alpha from beta */
        rows[0].factor[0] = 0;
    if (!given && sizes > 0) {
        pp_fit_nonnegative(rows, sizes, 2, x);
        line.alpha_s = x[0];
        line.s_per_byte = x[1] / most;
    }
    for (int r = 0; r < sizes; r++)
        error[r] =
            rows[r].value > 0
                ? fabs((line.alpha_s + rows[r].factor[1] * most * line.s_per_byte) / rows[r].value -
                       1)
                : 0;
    line.residual_frac = sizes > 0 ? pp_median(error, sizes) : 0;
    return line;
}

/* Fits the wires; those of the virtual clock are taken as given. */
static void fit_wires(struct pp_calibrate *c)
{
    const struct pp_trace_about *about = NULL;
    struct pp_measured_line given;

    for (int k = 0; k < c->run_count && !about; k++)
        about = c->runs[k].is_left_out ? NULL : c->runs[k].about;
    if (about && about->bytes_per_s > 0)
        given = (struct pp_measured_line){.alpha_s = about->alpha_s,
                                          .s_per_byte = 1 / about->bytes_per_s};
    else if (c->message_count == 0)
        return;
    *PP_PUSH(c->arena, c->file->lines, c->file->line_count, c->file->line_capacity) =
        pp_calibrate_line(c->arena, "wire", c->messages, c->message_count,
                          about && about->bytes_per_s > 0 ? &given : NULL);
}

static void describe(struct pp_calibrate *c)
{
    const struct pp_trace_about *about = NULL;
    int others = 0; /* traces of other machines than the first */

    for (int k = 0; k < c->run_count; k++) {
        const struct pp_calibrate_run *run = &c->runs[k];
        if (run->is_left_out)
            continue;
        c->file->trace_count++;
        about = about ? about : run->about;
        others += run->about && !pp_trace_about_is_same_machine(about, run->about);
    }
    c->file->machine =
        about ? pp_trace_about_machine(c->arena, about) : "a machine that CSV does not name";
    if (others > 0)
        c->file->machine =
            pp_arena_printf(c->arena, "%s; %d of %d traces are of others (--mixed-machines)",
                            c->file->machine, others, c->file->trace_count);
    c->file->value_bytes = about ? about->value_bytes : 4;
    c->file->gradient_bytes = about ? about->gradient_bytes : 4;
}

enum pp_status pp_calibrate_fit(struct pp_calibrate *c, struct pp_error *err)
{
    for (int k = 0; k < c->group_count; k++)
        c->groups[k].median_s = pp_median(c->groups[k].s, c->groups[k].count);
    fit_update(c);
    for (int set = 0; set < c->file->set_count; set++)
        for (int k = 0; k < PP_MEASURED_KINDS; k++)
            fit_op(c, set, pp_measured_kinds[k]);
    if (c->file->set_count == 0)
        return pp_error_set(err, PP_EINVAL, "the traces hold updates alone, no layers");
    PP_TRY(pp_cost_file_check(c->file, "the traces", err));
    fit_wires(c);
    describe(c);
    return PP_OK;
}
