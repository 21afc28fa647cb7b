/* The engine simgrid: the interpreter with rates of SimGrid. */
#define _GNU_SOURCE /* memfd_create */
#include "sim/simgrid/engines.h"

#include "core/text/progress.h"
#include "sim/engine/interpret.h"
#include "sim/simgrid/child.h"
#include "sim/simgrid/module/module.h"
#include "sim/simgrid/module/solver.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the wires of a run as a SimGrid platform ------------------------------------------------ */

/* Wires that can meet others have ordered pairs of endpoints: n wires need about sqrt(n) hosts. A
 * route has the shared links, and at most one of its own. Latencies are 0: the interpreter has
 * waited for them. */
struct endpoints {
    int hosts;
    int32_t *source, *dest; /* [wire]; -1 = none */
};

/* `is_plain`: all wires get endpoints. */
static struct endpoints make_endpoints(struct pp_arena *arena, const struct pp_wires *wires,
                                       bool is_plain)
{
    struct endpoints e = {.hosts = 2,
                          .source = PP_ARRAY(arena, int32_t, wires->count),
                          .dest = PP_ARRAY(arena, int32_t, wires->count)};
    int used = 0;

    for (int w = 0; w < wires->count; w++)
        used += is_plain || wires->wire[w].count > 0;
    while ((int64_t)e.hosts * (e.hosts - 1) < used)
        e.hosts++;
    for (int w = 0, number = 0; w < wires->count; w++) {
        e.source[w] = e.dest[w] = -1;
        if (!is_plain && wires->wire[w].count == 0)
            continue;
        e.source[w] = number / (e.hosts - 1);
        e.dest[w] = number % (e.hosts - 1);
        e.dest[w] += e.dest[w] >= e.source[w];
        number++;
    }
    return e;
}

static void print_link(const char *prefix, int number, double bytes_per_s, FILE *out)
{
    fprintf(out, "<link id=\"%s%d\" bandwidth=\"%.17gBps\" latency=\"0\"/>\n", prefix, number,
            bytes_per_s);
}

/* Bandwidth of a wire's own links, if no shared link has less; else 0. */
static double cap_of(const struct pp_wire *wire)
{
    return wire->count > 0 ? wire->cap_bytes_per_s : wire->bytes_per_s;
}

/* Prints XML, DTD 4.1; bandwidths are multiplied by `scale`. */
static void print_endpoints(const struct pp_wires *wires, const struct endpoints *endpoints,
                            double scale, FILE *out)
{
    fputs("<?xml version=\"1.0\"?>\n"
          "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
          "<platform version=\"4.1\">\n<zone id=\"wires\" routing=\"Full\">\n",
          out);
    for (int k = 0; k < endpoints->hosts; k++)
        fprintf(out, "<host id=\"h%d\" speed=\"1Gf\"/>\n", k);
    for (int l = 0; l < wires->shared_count; l++)
        print_link("l", l, scale * wires->shared_bytes_per_s[l], out);
    for (int w = 0; w < wires->count; w++)
        if (endpoints->source[w] >= 0 && cap_of(&wires->wire[w]) > 0)
            print_link("w", w, scale * cap_of(&wires->wire[w]), out);
    for (int w = 0; w < wires->count; w++) {
        const struct pp_wire *wire = &wires->wire[w];
        if (endpoints->source[w] < 0)
            continue;
        fprintf(out, "<route src=\"h%d\" dst=\"h%d\" symmetrical=\"NO\">", endpoints->source[w],
                endpoints->dest[w]);
        for (int k = wire->first; k < wire->first + wire->count; k++)
            fprintf(out, "<link_ctn id=\"l%d\"/>", wires->used[k]);
        if (cap_of(wire) > 0)
            fprintf(out, "<link_ctn id=\"w%d\"/>", w);
        fputs("</route>\n", out);
    }
    fputs("</zone>\n</platform>\n", out);
}

/* ---- in the child ---------------------------------------------------------------------------- */

enum { SMALL_BYTES = 1 << 22 };

struct child {
    const struct pp_simgrid_module *module; /* NULL = not loaded yet */
    struct pp_job *job;
    struct pp_progress progress;
    struct pp_run *run; /* a run that needs the solver */
    enum pp_status status;
    struct pp_error *err;
};

static void act(void *context, const struct pp_solver *solver)
{
    struct child *child = context;
    bool needs_solver;

    child->status = pp_interpret_go(child->run, solver, &needs_solver, child->err);
}

/* Writes a file in memory: SimGrid reads platforms by path only. */
static enum pp_status write_platform(const struct pp_job *job, const struct endpoints *endpoints,
                                     char path[], size_t size, struct pp_error *err)
{
    const int fd = memfd_create("pipesim-platform", 0);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (!out)
        return pp_error_set(err, PP_EFAIL, "no memory for the platform: %s", strerror(errno));
    print_endpoints(job->wires, endpoints, PP_SIMGRID_SCALE, out);
    if (fflush(out) != 0) /* left open: the path refers to it */
        return pp_error_set(err, PP_EFAIL, "no memory for the platform: %s", strerror(errno));
    snprintf(path, size, "/proc/self/fd/%d", fd);
    return PP_OK;
}

static enum pp_status run_child(void *context, int channel, struct pp_error *err)
{
    struct child *child = context;
    const struct pp_job *job = child->job;
    PP_ARENA_AUTO struct pp_arena *arena = pp_arena_create();
    const struct endpoints endpoints = make_endpoints(arena, job->wires, job->options->is_plain);
    char path[64];
    struct pp_simgrid_job simgrid = {.platform = path,
                                     .hosts = endpoints.hosts,
                                     .source = endpoints.source,
                                     .dest = endpoints.dest,
                                     .act = act,
                                     .context = child};

    (void)channel;
    child->err = err;
    PP_TRY(write_platform(job, &endpoints, path, sizeof(path), err));
    if (!child->module)
        PP_TRY(pp_simgrid_load(&child->module, err));
    PP_TRY(child->module->run(&simgrid, err));
    return child->status;
}

/* ---- in the parent --------------------------------------------------------------------------- */

/* Memory shared with the child: the counters, followed by the columns of times. */
struct shared {
    struct counts {
        struct pp_network_stats stats;
        int64_t executed;
    } * counts;
    size_t bytes;
};

static enum pp_status map_shared(const struct pp_program *program, int replicas, int steps,
                                 struct pp_job *job, struct shared *shared, struct pp_error *err)
{
    shared->bytes = sizeof(*shared->counts) + pp_job_bytes(program, replicas, steps);
    void *block = mmap(NULL, shared->bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return pp_error_set(err, PP_EFAIL, "no memory for the times of %d replicas: %s", replicas,
                            strerror(errno));
    shared->counts = block;
    pp_job_place(program, replicas, steps, shared->counts + 1, job->times);
    job->stats = &shared->counts->stats;
    job->executed = &shared->counts->executed;
    return PP_OK;
}

static enum pp_status check_size(const struct pp_program *program, int64_t replicas, int64_t steps,
                                 struct pp_error *err)
{
    const int64_t events = replicas * pp_program_size(program);

    if (events <= INT_MAX / 2 && steps <= INT_MAX / 2 / (events + 1))
        return PP_OK;
    return pp_error_set(err, PP_EINVAL,
                        "%lld events (%d instructions in each of %lld replicas and %lld steps) are "
                        "too many for a trace",
                        (long long)events, pp_program_size(program), (long long)replicas,
                        (long long)steps);
}

static void show_progress(void *context)
{
    struct child *child = context;
    const struct pp_job *job = child->job;
    const double all =
        (double)pp_program_size(job->program) * job->times->replicas * job->times->steps;

    pp_progress_show(&child->progress, "simulated",
                     (double)*(volatile int64_t *)job->executed / all);
}

/* Runs without SimGrid until two transfers meet on a link; then a child with SimGrid continues. */
static enum pp_status run_job(struct pp_arena *arena, struct pp_job *job, struct pp_error *err)
{
    struct child child = {.job = job, .run = pp_interpret_begin(arena, job)};
    bool needs_solver;

    PP_TRY(pp_interpret_go(child.run, NULL, &needs_solver, err));
    if (!needs_solver)
        return PP_OK;
    /* Small runs come in series, so SimGrid is loaded here once. Big runs need the memory. */
    if (pp_job_bytes(job->program, job->times->replicas, job->times->steps) < SMALL_BYTES)
        PP_TRY(pp_simgrid_load(&child.module, err));
    const enum pp_status status = pp_child_run(run_child, &child, show_progress, err);
    pp_progress_clear(&child.progress);
    return status;
}

static enum pp_status run(struct pp_arena *arena, const struct pp_program *program,
                          const struct pp_costs *costs, const struct pp_engine_options *options,
                          struct pp_trace **trace, struct pp_error *err)
{
    const int replicas = options->replicas > 0 ? options->replicas : 1;
    const int steps = options->eval.steps > 0 ? options->eval.steps : 1;
    struct pp_times times = {0};
    struct pp_job job = {.program = program, .costs = costs, .options = options, .times = &times};
    struct shared shared = {0};
    struct pp_wires *wires = NULL;
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();

    PP_TRY(check_size(program, replicas, steps, err));
    if (options->network)
        PP_TRY(pp_wires_make(scratch, program, costs, options->network, replicas,
                             options->eval.ring_flows && costs->rings &&
                                 replicas == options->network->layout.dp,
                             &wires, err));
    job.wires = wires;
    PP_TRY(map_shared(program, replicas, steps, &job, &shared, err));
    const enum pp_status status = run_job(scratch, &job, err);
    if (status == PP_OK) {
        times.makespan_ps = times.step_end_ps[steps - 1];
        if (options->stats)
            *options->stats = shared.counts->stats;
        *trace = pp_trace_from_times(arena, program, costs, &times, "simgrid");
    }
    munmap(shared.counts, shared.bytes);
    return status;
}

static const struct pp_engine simgrid = {
    .name = "simgrid",
    .shares_links = true,
    .run = run,
};

const struct pp_engine *const pp_engines[] = {&simgrid, &pp_engine_dag, NULL};
