/* The engine simgrid-lmm: the interpreter with rates of SimGrid. */
#define _GNU_SOURCE /* memfd_create */
#include "sim/simgrid/engines.h"

#include "core/text/progress.h"
#include "sim/engine/shared.h"
#include "sim/simgrid/child.h"
#include "sim/simgrid/module/module.h"
#include "sim/simgrid/module/solver.h"

#include <errno.h>
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

static void show_progress(void *context)
{
    struct child *child = context;

    pp_progress_show(&child->progress, "simulated", pp_job_frac(child->job));
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
                          enum pp_times_wanted wanted, struct pp_times **times,
                          struct pp_error *err)
{
    (void)wanted;
    return pp_shared_run(arena, program, costs, options, run_job, times, err);
}

static const struct pp_engine simgrid = {
    .name = "simgrid-lmm",
    .shares_links = true,
    .run = run,
};

const struct pp_engine *const pp_engines[] = {&pp_engine_shared, &pp_engine_dag, &simgrid, NULL};
