/* Reads traces and resolves their runs. */
#include "sim/calibrate/calibrate.h"

#include "schedules/select/select.h"
#include "sim/cli/cli.h"
#include "sim/resolve/resolve.h"
#include "traces/formats/formats.h"

#include <math.h>
#include <string.h>

/* PP_EINVAL, with names, if traces differ in precision or, unless `may_be_mixed`, in machine. */
static enum pp_status check_machines(const struct pp_calibrate *c, bool may_be_mixed,
                                     struct pp_error *err)
{
    const struct pp_calibrate_run *known = NULL;

    for (int k = 0; k < c->run_count; k++) {
        const struct pp_calibrate_run *run = &c->runs[k];
        if (!run->about)
            continue;
        if (known && known->about->value_bytes != run->about->value_bytes)
            return pp_error_set(
                err, PP_EINVAL, "%s has values of %d bytes, %s of %d: costs are of one precision",
                known->path, known->about->value_bytes, run->path, run->about->value_bytes);
        if (known && !may_be_mixed && !pp_trace_about_is_same_machine(known->about, run->about))
            return pp_error_set(err, PP_EINVAL,
                                "%s and %s were measured on different machines:\n  %s, %s\n  "
                                "%s, %s\n  "
                                "--mixed-machines takes them together all the same",
                                known->path, run->path,
                                pp_trace_about_machine(c->arena, known->about),
                                pp_trace_about_wires(c->arena, known->about),
                                pp_trace_about_machine(c->arena, run->about),
                                pp_trace_about_wires(c->arena, run->about));
        known = run;
    }
    return PP_OK;
}

/* Returns the last schedule that differs from the first; NULL if there is none. */
static const char *choose_left_out(const struct pp_calibrate *c)
{
    for (int k = c->run_count - 1; k > 0; k--)
        if (c->runs[k].schedule && c->runs[0].schedule &&
            strcmp(c->runs[k].schedule, c->runs[0].schedule) != 0)
            return c->runs[k].schedule;
    return NULL;
}

/* Marks the runs of --hold-out, or of the last schedule that differs from the first. */
static enum pp_status leave_out(struct pp_calibrate *c, const struct pp_wish *wish,
                                struct pp_error *err)
{
    int left = 0;

    c->is_left_out_chosen = !wish->hold_out;
    if (wish->hold_out && !strcmp(wish->hold_out, "none"))
        return PP_OK;
    c->left_out = wish->hold_out ? wish->hold_out : choose_left_out(c);
    for (int k = 0; k < c->run_count && c->left_out; k++) {
        const char *name = c->runs[k].schedule;
        c->runs[k].is_left_out = name && pp_same_name(name, c->left_out);
        left += c->runs[k].is_left_out;
    }
    if (c->left_out && (left == 0 || left == c->run_count)) {
        pp_error_set(err, PP_EINVAL, "--hold-out %s: %s; the traces are of ", c->left_out,
                     left ? "nothing would be left to calibrate from" : "no trace is of it");
        for (int k = 0; k < c->run_count; k++)
            pp_error_append(err, "%s%s", k ? ", " : "",
                            c->runs[k].schedule ? c->runs[k].schedule : "an unknown one (CSV)");
        return PP_EINVAL;
    }
    return PP_OK;
}

/* ---- traces without options ------------------------------------------------------------------ */

/* Adds --mbs, from the bytes of a message: a value has 4 bytes, and a token has `hidden` values. */
static enum pp_status guess_rows(const struct pp_calibrate_run *run,
                                 const struct pp_calibrate_seen *seen, struct pp_calibrate_words *w,
                                 struct pp_error *err)
{
    const struct pp_config *c = &run->config;
    const double sample_bytes =
        4.0 * c->layout.seq * c->model.hidden / (seen->splits > 0 ? seen->splits : 1);
    const double rows = seen->bytes / sample_bytes;

    if (rows < 1 || rows > 1 << 20 || rows != floor(rows))
        return pp_error_set(err, PP_EINVAL,
                            "messages of %g bytes are no whole number of samples of %s, %d "
                            "tokens each: give --model and --seq as they ran, or a trace as .json, "
                            "which says so",
                            seen->bytes, c->model.name, c->layout.seq);
    pp_calibrate_add_int(w, "--mbs", (int)rows);
    return PP_OK;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Adds a degree of 1, which a trace does not name. */
static void add_missing(struct pp_calibrate_words *w, const char *option)
{
    for (int k = 0; k < w->count; k++)
        if (!strcmp(w->list[k], option))
            return;
    pp_calibrate_add_int(w, option, 1);
}

static void add_fixed(struct pp_calibrate_words *w, const char *precision)
{
    const char *const FIXED[] = {"--engine", "dag", "--precision", precision};

    add_missing(w, "--tp");
    add_missing(w, "--ep");
    for (size_t k = 0; k < PP_COUNT(FIXED); k++)
        pp_calibrate_add(w, FIXED[k]);
}

static enum pp_status resolve(struct pp_arena *arena, const struct pp_calibrate_words *w,
                              struct pp_calibrate_run *run, struct pp_error *err)
{
    struct pp_parsed *parsed = PP_NEW(arena, struct pp_parsed);
    struct pp_wish *wish = PP_NEW(arena, struct pp_wish);
    struct pp_subject *subject = PP_NEW(arena, struct pp_subject);
    struct pp_costs *costs;

    PP_TRY(pp_options_parse(arena, &pp_sim_cli, w->count, w->list, parsed, err));
    PP_TRY(pp_wish_open(arena, parsed, wish, err));
    const char *name = wish->schedule;
    if (!name)
        return pp_error_set(err, PP_EINVAL, "no schedule is named");
    PP_TRY(pp_subject_open(arena, &wish->request, name, subject, err));
    PP_TRY(pp_resolve(arena, wish, subject, &run->config, NULL, err));
    run->schedule = name;
    return pp_simulate_costs(arena, &run->config, pp_config_ranks(arena, &run->config),
                             &run->inputs, &costs, err);
}

static struct pp_calibrate_words begin(struct pp_arena *arena)
{
    struct pp_calibrate_words w = {.arena = arena};

    pp_calibrate_add(&w, "pipesim");
    pp_calibrate_add(&w, "run");
    return w;
}

/* PP_EINVAL if events and options differ in the number of stages. */
static enum pp_status check_stages(const struct pp_calibrate_run *run, struct pp_error *err)
{
    struct pp_calibrate_seen seen = {0};

    PP_TRY(pp_calibrate_look(run->trace, &seen, err));
    return seen.stages == run->inputs.stages
               ? PP_OK
               : pp_error_set(err, PP_EINVAL,
                              "its ops are of %d stages, but \"options\" of \"run\" of %d",
                              seen.stages, run->inputs.stages);
}

static enum pp_status resolve_about(struct pp_arena *arena, struct pp_calibrate_run *run,
                                    struct pp_error *err)
{
    struct pp_calibrate_words w = begin(arena);

    if (run->about->what_if[0])
        return pp_error_set(err, PP_EINVAL,
                            "ran with %s: its durations are not those of the machine",
                            run->about->what_if);
    const char *precision = pp_cost_file_precision(run->about->value_bytes);
    if (!precision)
        return pp_error_set(err, PP_EINVAL,
                            "its values have %d bytes; costs are of fp32 (4 bytes) or bf16 (2)",
                            run->about->value_bytes);
    for (int k = 0; k < run->about->option_count; k++)
        pp_calibrate_add(&w, run->about->options[k]);
    add_fixed(&w, precision);
    PP_TRY(resolve(arena, &w, run, err));
    PP_TRY(pp_calibrate_check_layers(run, err));
    return check_stages(run, err);
}

/* Resolves a run of CSV: its model comes from the command line, the rest from its events. */
static enum pp_status resolve_events(struct pp_arena *arena, const struct pp_wish *wish,
                                     struct pp_calibrate_run *run, struct pp_error *err)
{
    struct pp_calibrate_words w = begin(arena);
    struct pp_calibrate_seen seen = {0};

    PP_TRY(pp_calibrate_look(run->trace, &seen, err));
    if (seen.bytes <= 0)
        return pp_error_set(err, PP_EINVAL,
                            "no message has bytes, so the number of samples of an op is unknown (a "
                            "trace of --unit has none)");
    pp_calibrate_add_seen(&w, &seen);
    pp_calibrate_add_model(&w, wish);
    add_fixed(&w, "fp32");
    PP_TRY(resolve(arena, &w, run, err));
    PP_TRY(guess_rows(run, &seen, &w, err));
    PP_TRY(resolve(arena, &w, run, err));
    run->schedule = NULL;
    return PP_OK;
}

static enum pp_status check_measured(const struct pp_calibrate_run *run, struct pp_error *err)
{
    if (run->about || !strcmp(run->trace->engine, "file"))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "this trace is not a measured one (engine %s), or an old version wrote it; "
                        "'pipeexec --trace FILE.json' writes one",
                        run->trace->engine);
}

static enum pp_status open_run(struct pp_arena *arena, const struct pp_wish *wish, const char *path,
                               struct pp_calibrate_run *run, struct pp_error *err)
{
    struct pp_trace *trace;

    PP_TRY(pp_trace_read(arena, path, &trace, err));
    *run = (struct pp_calibrate_run){.path = path, .trace = trace, .about = trace->about};
    enum pp_status status = check_measured(run, err);
    if (status == PP_OK)
        status =
            run->about ? resolve_about(arena, run, err) : resolve_events(arena, wish, run, err);
    if (status != PP_OK) {
        err->status = PP_EINVAL; /* the input's content is at fault */
        return pp_error_prefix(err, "%s: ", path);
    }
    return PP_OK;
}

/* ---- all traces ------------------------------------------------------------------------------ */

/* Sets the options that name the model for runs with these costs. */
static void name_model(struct pp_calibrate *c, const struct pp_wish *wish)
{
    const struct pp_trace_about *about = c->runs[0].about;
    struct pp_calibrate_words w = {.arena = c->arena};

    for (int k = 0; about && k + 1 < about->option_count; k += 2)
        if (pp_calibrate_is_of_model(about->options[k])) {
            pp_calibrate_add(&w, about->options[k]);
            pp_calibrate_add(&w, about->options[k + 1]);
        }
    if (!about)
        pp_calibrate_add_model(&w, wish);
    c->file->model = (const char *const *)w.list;
    c->file->model_count = w.count;
}

static enum pp_status open_kineto(struct pp_arena *arena, const struct pp_wish *wish,
                                  const struct pp_trace_files *files, struct pp_calibrate_run *run,
                                  struct pp_error *err)
{
    PP_TRY(pp_calibrate_read_kineto(arena, wish, files, run, err));
    if (resolve_about(arena, run, err) != PP_OK)
        return pp_error_prefix(err, "%s: ", run->path);
    run->schedule = NULL; /* unknown: any would have done */
    pp_calibrate_fill_bytes(run);
    return PP_OK;
}

enum pp_status pp_calibrate_open(struct pp_calibrate *c, const struct pp_wish *wish,
                                 struct pp_error *err)
{
    struct pp_trace_files files;

    PP_TRY(pp_trace_files_find(c->arena, (const char *const *)wish->request.flags->operands,
                               wish->request.flags->operand_count, &files, err));
    PP_TRY(pp_calibrate_check_kineto(wish, files.kineto_count, err));
    c->run_count = files.own_count + (files.kineto_count > 0);
    c->runs = PP_ARRAY(c->arena, struct pp_calibrate_run, c->run_count);
    c->file = PP_NEW(c->arena, struct pp_cost_file);
    for (int k = 0; k < files.own_count; k++)
        PP_TRY(open_run(c->arena, wish, files.own[k], &c->runs[k], err));
    if (files.kineto_count > 0)
        PP_TRY(open_kineto(c->arena, wish, &files, &c->runs[files.own_count], err));
    PP_TRY(check_machines(c, wish->mixed_machines, err));
    name_model(c, wish);
    return leave_out(c, wish, err);
}
