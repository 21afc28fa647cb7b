/* A run of PyTorch: what its traces do not say is on the command line. */
#include "sim/calibrate/calibrate.h"

#include "sim/cli/cli.h"
#include "traces/kineto/kineto.h"

#include <string.h>

enum { FP32_BYTES = 4, BF16_BYTES = 2, MOST_OPTIONS = 64 };

enum pp_status pp_calibrate_check_kineto(const struct pp_wish *wish, int files,
                                         struct pp_error *err)
{
    if (files == 0 && (wish->given.mbs.count || wish->given.precision.count))
        return pp_error_set(err, PP_EINVAL,
                            "--%s describes a run of PyTorch; these traces describe themselves",
                            wish->given.mbs.count ? "mbs" : "precision");
    if (files > 0 && !wish->given.mbs.count)
        return pp_error_set(err, PP_EINVAL,
                            "traces of PyTorch do not name the model: give --mbs, and --model, "
                            "--seq and --precision if they are not the defaults");
    return PP_OK;
}

/* ---- what ran --------------------------------------------------------------------------------*/

struct options {
    struct pp_arena *arena;
    const char **list;
    int count;
};

static void add(struct options *o, const char *name, const char *value)
{
    o->list[o->count++] = pp_arena_printf(o->arena, "--%s", name);
    o->list[o->count++] = value;
}

static void add_int(struct options *o, const char *name, int value)
{
    add(o, name, pp_arena_printf(o->arena, "%d", value));
}

/* Order does not matter to what layers take, so any schedule of as many stages does. */
static void add_options(struct options *o, const struct pp_wish *wish,
                        const struct pp_calibrate_seen *seen)
{
    add(o, "schedule", seen->splits > 1 ? "seq1f1b" : "1f1b");
    add_int(o, "pp", seen->stages);
    add_int(o, "dp", 1);
    add_int(o, "micro-batches", seen->micro_batches);
    if (seen->splits > 1)
        add_int(o, "splits", seen->splits);
    add(o, "mbs", wish->given.mbs.text);
    for (const char *const *name = pp_calibrate_model_options; *name; name++) {
        const struct pp_option_value *value = pp_options_get(wish->request.flags, *name);
        if (value->count || name == pp_calibrate_model_options)
            add(o, *name, value->count ? value->text : "tiny");
    }
}

static const struct pp_trace_about *describe(struct pp_arena *arena, const struct pp_wish *wish,
                                             const struct pp_kineto *run,
                                             const struct pp_calibrate_seen *seen)
{
    struct pp_trace_about *about = PP_NEW(arena, struct pp_trace_about);
    struct options o = {.arena = arena, .list = PP_ARRAY(arena, const char *, MOST_OPTIONS)};
    const int bytes = strcmp(wish->given.precision.text, "fp32") ? BF16_BYTES : FP32_BYTES;

    add_options(&o, wish, seen);
    *about = (struct pp_trace_about){
        .version = "PyTorch",
        .cpu = run->device ? run->device : "an unnamed device",
        .backend = run->is_of_host ? "host" : "device",
        .kernels = "PyTorch",
        .transport = "its own messages",
        .clock = "wall",
        .what_if = "",
        .options = o.list,
        .option_count = o.count,
        .value_bytes = bytes,
        .gradient_bytes = bytes,
    };
    return about;
}

enum pp_status pp_calibrate_read_kineto(struct pp_arena *arena, const struct pp_wish *wish,
                                        const struct pp_trace_files *files,
                                        struct pp_calibrate_run *run, struct pp_error *err)
{
    struct pp_kineto_source *sources =
        PP_ARRAY(arena, struct pp_kineto_source, files->kineto_count);
    struct pp_calibrate_seen seen = {0};
    struct pp_kineto kineto;

    for (int k = 0; k < files->kineto_count; k++)
        sources[k].name = files->kineto[k];
    PP_TRY(pp_kineto_read(arena, sources, files->kineto_count, &kineto, err));
    PP_TRY(pp_calibrate_look(kineto.trace, &seen, err));
    *run = (struct pp_calibrate_run){.path = kineto.trace->program,
                                     .trace = kineto.trace,
                                     .about = describe(arena, wish, &kineto, &seen)};
    return PP_OK;
}

/* Activations of a micro-batch, whole: what a message carries without tensor parallelism. */
void pp_calibrate_fill_bytes(const struct pp_calibrate_run *run)
{
    const struct pp_config *c = &run->config;
    const double bytes = (double)c->layout.mbs * c->layout.seq * c->model.hidden *
                         run->about->value_bytes / run->inputs.splits;

    for (int i = 0; i < run->trace->count; i++) {
        struct pp_trace_event *event = &run->trace->events[i];
        if (event->stream == PP_STREAM_CHANNEL)
            event->bytes = bytes;
    }
}
