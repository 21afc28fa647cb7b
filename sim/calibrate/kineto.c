/* Reads a run of PyTorch; the command line gives what its traces do not say. */
#include "sim/calibrate/calibrate.h"

#include "traces/kineto/kineto.h"

#include <string.h>

enum { FP32_BYTES = 4, BF16_BYTES = 2 };

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

static const struct pp_trace_about *describe(struct pp_arena *arena, const struct pp_wish *wish,
                                             const struct pp_kineto *run,
                                             const struct pp_calibrate_seen *seen)
{
    struct pp_trace_about *about = PP_NEW(arena, struct pp_trace_about);
    struct pp_calibrate_words w = {.arena = arena};
    const int bytes = strcmp(wish->given.precision.text, "fp32") ? BF16_BYTES : FP32_BYTES;

    pp_calibrate_add_seen(&w, seen);
    pp_calibrate_add(&w, "--mbs");
    pp_calibrate_add(&w, wish->given.mbs.text);
    pp_calibrate_add_model(&w, wish);
    *about = (struct pp_trace_about){
        .version = "PyTorch",
        .cpu = run->device ? run->device : "an unnamed device",
        .backend = run->is_of_host ? "host" : "device",
        .kernels = "PyTorch",
        .transport = "its own messages",
        .clock = "wall",
        .what_if = "",
        .options = (const char *const *)w.list,
        .option_count = w.count,
        .value_bytes = bytes,
        .gradient_bytes = bytes,
    };
    return about;
}

enum pp_status pp_calibrate_read_kineto(struct pp_arena *arena, const struct pp_wish *wish,
                                        const struct pp_trace_files *files,
                                        struct pp_calibrate_run *run, struct pp_error *err)
{
    struct pp_calibrate_seen seen = {0};
    struct pp_kineto kineto;

    PP_TRY(pp_kineto_read(arena, files->kineto, NULL, files->kineto_count, &kineto, err));
    PP_TRY(pp_calibrate_look(kineto.trace, &seen, err));
    *run = (struct pp_calibrate_run){.path = kineto.trace->program,
                                     .trace = kineto.trace,
                                     .about = describe(arena, wish, &kineto, &seen)};
    return PP_OK;
}

/* Messages hold whole activations of a micro-batch, as without tensor parallelism. */
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
