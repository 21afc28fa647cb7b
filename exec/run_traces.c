/* Writes the two traces of a run, and their descriptions of it. */
#include "core/process/pool.h"
#include "core/text/output.h"
#include "exec/run.h"
#include "schedules/registry.h"
#include "traces/formats/formats.h"

#include <stdio.h>
#include <string.h>

/* ---- what a trace says of its run ------------------------------------------------------------ */

/* Options that pipesim shares, as typed. Those of single schedules go between the two lists. */
static const char *const SIZES[] = {"vp", "pipelines", "splits", NULL};
static const char *const SHARED[] = {
    "dialect", "recompute",  "order",      "grad-sync",    "post",      "zero",
    "shard",   "recv-slots", "layers",     "hidden",       "heads",     "kv-heads",
    "ffn",     "mlp",        "vocab",      "positions",    "embedding", "experts",
    "top-k",   "moe-ffn",    "shared-ffn", "dense-layers", "moe-every", "capacity-factor",
    NULL};
enum { OPTIONS_MAX = 96 };

struct list {
    struct pp_arena *arena;
    const char **text;
    int count;
};

static void put(struct list *list, const char *name, const char *value)
{
    list->text[list->count++] = pp_arena_printf(list->arena, "--%s", name);
    list->text[list->count++] = value;
}

static void put_int(struct list *list, const char *name, int64_t value)
{
    put(list, name, pp_arena_printf(list->arena, "%lld", (long long)value));
}

static void put_given(struct list *list, const struct pp_exec_wish *wish, const char *name)
{
    if (pp_request_has(&wish->request, name))
        put(list, name, pp_request_text(&wish->request, name, ""));
}

static void list_options(struct pp_arena *arena, const struct pp_exec_wish *wish,
                         const struct pp_exec_run *run, struct pp_trace_about *about)
{
    const struct pp_program *p = run->plan.program;
    struct list list = {.arena = arena, .text = PP_ARRAY(arena, const char *, 2 * OPTIONS_MAX)};

    put(&list, "schedule", run->plan.subject.name);
    put_int(&list, "pp", p->ranks);
    put_int(&list, "dp", run->plan.batch.replicas);
    if (run->config.tp > 1) {
        put_int(&list, "tp", run->config.tp);
        put(&list, "sequence-parallel", run->config.is_sequence_parallel ? "on" : "off");
    }
    if (run->config.ep > 1)
        put_int(&list, "ep", run->config.ep);
    if (wish->etp)
        put_int(&list, "etp", wish->etp);
    if (pp_state_is_gathered(&p->state.spec)) {
        put(&list, "gather", pp_gather_names[p->state.spec.gather]);
        put_int(&list, "gather-buffers", p->state.spec.buffers);
    }
    put(&list, "update-barrier", "on");
    put_int(&list, "micro-batches", p->micro_batches);
    put_int(&list, "mbs", run->plan.batch.mbs);
    put(&list, "model", wish->model ? wish->model : "tiny");
    put_int(&list, "seq", run->config.net.seq);
    for (int k = 0; SIZES[k]; k++)
        put_given(&list, wish, SIZES[k]);
    for (int k = 0; pp_schedule_option(k); k++)
        put_given(&list, wish, pp_schedule_option(k)->name);
    for (int k = 0; SHARED[k]; k++)
        put_given(&list, wish, SHARED[k]);
    about->options = list.text;
    about->option_count = list.count;
}

/* Returns the name of the CPU from Linux's kernel; other machines have no name. */
static const char *find_cpu(struct pp_arena *arena)
{
    FILE *file = fopen("/proc/cpuinfo", "re");
    const char *name = "unknown CPU";
    char line[256];

    while (file && fgets(line, sizeof(line), file)) {
        const char *value = strchr(line, ':');
        if (!value || strncmp(line, "model name", strlen("model name")) != 0)
            continue;
        value += 1 + strspn(value + 1, " \t");
        name = pp_arena_printf(arena, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (file)
        fclose(file);
    return name;
}

static const struct pp_trace_about *
about_of(struct pp_arena *arena, const struct pp_exec_wish *wish, const struct pp_exec_run *run)
{
    const struct pp_exec_config *c = &run->config;
    struct pp_trace_about *about = PP_NEW(arena, struct pp_trace_about);
    const bool is_virtual = c->clock == PP_CLOCK_VIRTUAL;

    *about = (struct pp_trace_about){
        .version = PP_VERSION,
        .cpu = c->backend->about ? pp_arena_strdup(arena, c->backend->about()) : find_cpu(arena),
        .backend = c->backend->name,
        .kernels = c->kernels->about(),
        .transport = c->transport->name,
        .clock = is_virtual ? "virtual" : "wall",
        .cores = c->cores > 0 ? c->cores : pp_pool_cores(),
        .what_if = run->what_if,
        .alpha_s = is_virtual ? c->wires.alpha_s : 0,
        .bytes_per_s = is_virtual ? c->wires.bytes_per_s : 0,
        .value_bytes = (int)c->kernels->element_bytes,
        .gradient_bytes =
            (int)(c->recipe.is_exact ? sizeof(int64_t) : (size_t)c->kernels->gradient_bytes)};
    list_options(arena, wish, run, about);
    return about;
}

/* ---- the files ------------------------------------------------------------------------------- */

/* --log, --trace, --predicted-trace */
struct result_file {
    const char *option, *path;
    bool is_trace;
};

static enum pp_status check_one(struct pp_arena *arena, const struct result_file *file,
                                struct pp_error *err)
{
    struct pp_error ignored;

    if (file->is_trace && pp_trace_check_name(file->path, &ignored) != PP_OK)
        return pp_error_set(err, PP_EINVAL, "--%s %s: the name must end in " PP_TRACE_NAMES,
                            file->option, file->path);
    if (!file->is_trace && strcmp(file->path, "-") == 0)
        return pp_error_set(err, PP_EINVAL, "--%s -: the report is on stdout; give a file",
                            file->option);
    if (pp_output_check(arena, file->path, err) != PP_OK)
        return pp_error_prefix(err, "--%s: ", file->option);
    return PP_OK;
}

enum pp_status pp_exec_traces_check(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                    struct pp_error *err)
{
    const struct result_file files[] = {{"log", wish->log, false},
                                        {"trace", wish->trace, true},
                                        {"predicted-trace", wish->predicted_trace, true}};

    for (size_t i = 0; i < PP_COUNT(files); i++) {
        if (!files[i].path)
            continue;
        PP_TRY(check_one(arena, &files[i], err));
        for (size_t k = 0; k < i; k++)
            if (files[k].path && pp_output_is_same(arena, files[k].path, files[i].path))
                return pp_error_set(err, PP_EINVAL, "--%s %s and --%s %s are one file; give two",
                                    files[k].option, files[k].path, files[i].option, files[i].path);
    }
    return PP_OK;
}

enum pp_status pp_exec_traces_write(struct pp_arena *arena, const struct pp_exec_wish *wish,
                                    struct pp_exec_run *run, struct pp_error *err)
{
    const struct pp_trace *traces[2];
    const char *paths[2];
    int count = 0;

    run->trace = wish->trace;
    run->predicted_trace = wish->predicted_trace;
    if (run->trace) {
        run->result.trace->about = about_of(arena, wish, run);
        traces[count] = run->result.trace;
        paths[count++] = run->trace;
    }
    if (run->predicted_trace) {
        traces[count] = run->result.prediction.trace;
        paths[count++] = run->predicted_trace;
    }
    if (pp_trace_write_all(traces, paths, count, err) == PP_OK)
        return PP_OK;
    run->trace = run->predicted_trace = NULL;
    return PP_EFAIL;
}
