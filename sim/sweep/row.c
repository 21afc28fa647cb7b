/* Writes the row of a point: its inputs and the figures of its run. */
#include "core/lines.h"
#include "core/text/csv.h"
#include "sim/inference/inference.h"
#include "sim/resolve/resolve.h"
#include "sim/seeds/seeds.h"
#include "sim/sweep/check.h"
#include "sim/sweep/groups.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

/* Inputs that every run settles; the column has the value of the run. */
static const char *const INPUTS[] = {
    "schedule", "engine", "model", "cluster",       "gpus", "tp",  "pp",  "dp",
    "cp",       "ep",     "vp",    "micro-batches", "mbs",  "gbs", "seq", NULL};
/* In the order of the report's JSON; the parts of the time are between BEFORE and MEMORY. */
static const char *const BEFORE[] = {"iteration_s",
                                     "bubble_frac",
                                     "span_bubble_frac",
                                     "mfu",
                                     "hfu",
                                     "model_flops_per_s_per_gpu",
                                     "tokens_per_s",
                                     "tokens_per_s_per_gpu",
                                     "peak_mem_bytes",
                                     "device_mem_bytes",
                                     "fits",
                                     "exposed_comm_frac",
                                     NULL};
static const char *const MEMORY[] = {"params_bytes",
                                     "grads_bytes",
                                     "optimizer_bytes",
                                     "activations_bytes",
                                     "kv_bytes",
                                     "buffers_bytes",
                                     "other_bytes",
                                     "peak_activations",
                                     "closed_form_bubble_frac",
                                     "tight",
                                     NULL};
static const char *const END[] = {"status", "reason", "points", "key", NULL};

static bool is_figure(const char *name)
{
    for (int i = 0; i < PP_TIME_PARTS; i++)
        if (!strcmp(name, pp_time_part_names[i]))
            return true;
    return pp_is_one_of(name, BEFORE) || pp_is_one_of(name, MEMORY) || pp_is_one_of(name, END);
}

static void put_name(const char *name, FILE *out)
{
    fputc(',', out);
    for (; *name; name++)
        fputc(*name == '-' ? '_' : *name, out);
}

static void put_names(const char *const *names, FILE *out)
{
    for (; *names; names++)
        put_name(*names, out);
}

void pp_sweep_header(const struct pp_grid *grid, FILE *out)
{
    fputs("point", out);
    put_names(INPUTS, out);
    for (int i = 0; i < grid->axis_count; i++) {
        const char *name = pp_sim_cli.options[grid->axes[i].option].name;
        if (pp_is_one_of(name, INPUTS))
            continue;
        put_name(name, out);
        if (is_figure(name))
            fputs("_option", out);
    }
    put_names(BEFORE, out);
    for (int i = 0; i < PP_TIME_PARTS; i++)
        put_name(pp_time_part_names[i], out);
    put_names(MEMORY, out);
    for (const struct pp_sweep_group *g = pp_sweep_groups; g->names; g++)
        if (pp_sweep_has_group(grid, g))
            put_names(g->names, out);
    put_names(END, out);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void put_text(const char *text, FILE *out)
{
    fputc(',', out);
    if (strpbrk(text, ",\"\n\r") || *text == ' ')
        pp_csv_write_field(out, text);
    else
        fputs(text, out);
}

/* Numbers that are null in the JSON are empty. */
static void put_number(double value, FILE *out)
{
    if (isfinite(value))
        fprintf(out, ",%.17g", value);
    else
        fputc(',', out);
}

static void put_integer(int64_t value, FILE *out)
{
    fprintf(out, ",%" PRId64, value);
}

static void put_empty(int count, FILE *out)
{
    while (count-- > 0)
        fputc(',', out);
}

static int count_of(const char *const *names)
{
    int count = 0;

    while (names[count])
        count++;
    return count;
}

static void put_option(const struct pp_grid_axis *axis, int value, FILE *out)
{
    const struct pp_option *option = &pp_sim_cli.options[axis->option];

    if (value < 0) /* the schedule lacks it */
        put_empty(1, out);
    else if (option->type == PP_OPTION_FLAG)
        put_text("true", out);
    else if (option->type == PP_OPTION_COUNT || option->type == PP_OPTION_FRAC)
        put_number(axis->read[value].number, out);
    else
        put_text(axis->values[value], out);
}

/* ---- parts of a row -------------------------------------------------------------------------- */

static void put_settled(const struct pp_result *r, FILE *out)
{
    const struct pp_config *c = &r->config;
    const struct pp_layout *l = &c->layout;
    const int sizes[] = {l->gpus,          l->tp, l->pp, l->dp, l->cp, l->ep, l->vp,
                         l->micro_batches, l->mbs};

    put_text(c->schedule_name, out);
    put_text(c->engine->name, out);
    put_text(c->is_unit ? "" : c->model.name, out);
    put_text(c->is_unit ? "" : c->cluster.name, out);
    for (size_t i = 0; i < PP_COUNT(sizes); i++)
        put_integer(sizes[i], out);
    put_integer(l->gbs, out);
    if (c->is_unit)
        put_empty(1, out);
    else
        put_integer(l->seq, out);
}

/* Writes the inputs of a refused point, if given. */
static void put_given(const struct pp_grid *grid, int64_t point, FILE *out)
{
    for (const char *const *name = INPUTS; *name; name++) {
        const struct pp_grid_axis *axis = pp_grid_axis(grid, *name);
        if (axis)
            put_option(axis, pp_grid_index(grid, point, (int)(axis - grid->axes)), out);
        else
            put_empty(1, out);
    }
}

/* The closed form holds for one step between barriers, if nothing stretches, delays or repeats an
 * op. */
static double closed_form(const struct pp_result *r)
{
    const struct pp_config *c = &r->config;
    const struct pp_schedule *s = c->schedule;

    if (!c->is_unit || !s || !s->bubble_frac.value || !s->bubble_frac.is_exact ||
        c->order.rule != PP_ORDER_STRICT || c->unit.c > 0 ||
        c->costs.recompute != PP_RECOMPUTE_NONE || c->slow_count > 0 ||
        c->engine_options.perturbation.jitter_frac > 0 || c->engine_options.eval.is_barrier_free)
        return (double)NAN;
    return s->bubble_frac.value(&c->shape, &c->unit, 0);
}

static void put_rates(const struct pp_result *r, FILE *out)
{
    put_number(r->metrics.iteration_s, out);
    put_number(r->metrics.bubble_frac, out);
    put_number(r->metrics.span_bubble_frac, out);
    if (r->config.is_unit) {
        put_empty(8, out);
    } else {
        put_number(r->mfu, out);
        put_number(r->hfu, out);
        put_number(r->model_flops_per_s_per_gpu, out);
        put_number(r->tokens_per_s, out);
        put_number(r->tokens_per_s_per_gpu, out);
        put_integer(llround(r->memory[r->peak_rank].peak_bytes), out);
        put_integer(llround(pp_config_capacity_bytes(&r->config)), out);
        put_text(r->fits ? "true" : "false", out);
    }
    put_number(r->metrics.exposed_comm_frac, out);
}

static void put_memory(const struct pp_result *r, FILE *out)
{
    int64_t bytes[PP_MEMORY_PARTS];

    pp_memory_whole_parts(&r->memory[r->peak_rank], bytes);
    for (int i = 0; i < PP_MEMORY_PARTS; i++) {
        if (r->config.is_unit)
            put_empty(1, out);
        else
            put_integer(bytes[i], out);
    }
    put_number(pp_memory_most_activations(r->memory, r->program->ranks), out);
}

/* `r` is NULL for a refused point. */
static void put_groups(const struct pp_grid *grid, const struct pp_result *r, FILE *out)
{
    for (const struct pp_sweep_group *g = pp_sweep_groups; g->names; g++)
        for (int column = 0; pp_sweep_has_group(grid, g) && g->names[column]; column++)
            put_number(r ? g->value(r, column) : (double)NAN, out);
}

static void put_figures(const struct pp_result *r, FILE *out)
{
    put_rates(r, out);
    for (int i = 0; i < PP_TIME_PARTS; i++)
        put_number(r->metrics.time_frac[i], out);
    put_memory(r, out);
    put_number(closed_form(r), out);
    put_text(r->config.is_unit ? "" : r->is_tight ? "true" : "false", out);
}

static const char *status_name(enum pp_status status)
{
    return status == PP_OK         ? "ok"
           : status == PP_EINVAL   ? "refused"
           : status == PP_EPROGRAM ? "illegal"
                                   : "failed";
}

/* Writes a message as one line. */
static void put_reason(const struct pp_error *err, FILE *out)
{
    char text[2 * sizeof(err->message)];
    size_t length = 0;

    for (const char *place = err->message; *place; place++) {
        if (*place != '\n') {
            text[length++] = *place;
            continue;
        }
        place += strspn(place + 1, " ");
        text[length++] = ';';
        text[length++] = ' ';
    }
    text[length] = '\0';
    put_text(text, out);
}

void pp_sweep_row(const struct pp_grid *grid, int64_t point, const struct pp_result *result,
                  const struct pp_error *err, FILE *out)
{
    char key[PP_SWEEP_KEY_BYTES];

    fprintf(out, "%" PRId64, point);
    if (result)
        put_settled(result, out);
    else
        put_given(grid, point, out);
    for (int i = 0; i < grid->axis_count; i++)
        if (!pp_is_one_of(pp_sim_cli.options[grid->axes[i].option].name, INPUTS))
            put_option(&grid->axes[i], pp_grid_index(grid, point, i), out);
    if (result)
        put_figures(result, out);
    else
        put_empty(count_of(BEFORE) + PP_TIME_PARTS + count_of(MEMORY), out);
    put_groups(grid, result, out);
    put_text(status_name(result ? PP_OK : err->status), out);
    if (result)
        put_empty(1, out);
    else
        put_reason(err, out);
    put_integer(grid->points, out);
    put_text(pp_grid_key(grid, point, key), out);
    fputc('\n', out);
}

/* ---- a point --------------------------------------------------------------------------------- */

static enum pp_status run_point(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                                struct pp_result *result, struct pp_error *err)
{
    struct pp_wish wish;
    struct pp_subject subject;
    struct pp_prepared prepared = {.programs = grid->programs};
    struct pp_config config;

    pp_known_programs_trim(grid->programs);
    PP_TRY(pp_grid_request(arena, grid, point, &wish, &subject, err));
    PP_TRY(pp_resolve(arena, &wish, &subject, &config, &prepared, err));
    PP_TRY(pp_simulate(arena, &config, PP_METRICS, &prepared, result, err));
    if (config.generation.passes) {
        struct pp_inference *inference;
        PP_TRY(pp_inference_find(arena, result, &inference, err));
        result->inference = inference;
    }
    return wish.seeds ? pp_seeds_run(arena, &config, wish.seeds, &result->seeds, err) : PP_OK;
}

void pp_sweep_run_point(struct pp_arena *arena, const struct pp_grid *grid, int64_t point,
                        FILE *out)
{
    struct pp_result result;
    struct pp_error err = {0};
    enum pp_status status = run_point(arena, grid, point, &result, &err);

    if (grid->file_count > 0) { /* a file that has changed since its key makes the row fail */
        struct pp_error changed = {0};
        if (pp_sweep_inputs_check_point(grid, point, &changed) != PP_OK) {
            status = changed.status;
            err = changed;
        }
    }
    pp_sweep_row(grid, point, status == PP_OK ? &result : NULL, &err, out);
}
