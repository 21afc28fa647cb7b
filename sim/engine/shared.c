/* The engine simgrid, which shares links as SimGrid's model CM02 does, and the frame of such
 * engines. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "sim/engine/shared.h"

#include "core/text/progress.h"
#include "sim/engine/maxmin.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>

/* ---- the frame ------------------------------------------------------------------------------- */

/* Memory shared with children: the counters, followed by the columns of times. */
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

double pp_job_frac(const struct pp_job *job)
{
    return (double)*(volatile int64_t *)job->executed /
           ((double)pp_program_size(job->program) * job->times->replicas * job->times->steps);
}

enum pp_status pp_shared_run(struct pp_arena *arena, const struct pp_program *program,
                             const struct pp_costs *costs, const struct pp_engine_options *options,
                             const char *engine, pp_shared_function run_job,
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
        *trace = pp_trace_from_times(arena, program, costs, &times, engine);
    }
    munmap(shared.counts, shared.bytes);
    return status;
}

/* ---- the engine simgrid ---------------------------------------------------------------------- */

/* The solver, which shows progress now and then. */
struct visible {
    struct pp_solver solver;
    struct pp_job *job;
    struct pp_progress progress;
    unsigned calls;
};

static void begin(void *context, int wire, double bytes, int64_t now_ps)
{
    struct visible *v = context;

    v->solver.begin(v->solver.context, wire, bytes, now_ps);
}

static int advance(void *context, int64_t until_ps, int64_t *end_ps)
{
    enum { PERIOD = 1024 };
    struct visible *v = context;

    if (++v->calls % PERIOD == 0)
        pp_progress_show(&v->progress, "simulated", pp_job_frac(v->job));
    return v->solver.advance(v->solver.context, until_ps, end_ps);
}

/* Runs without the solver until two transfers meet on a link. */
static enum pp_status run_job(struct pp_arena *scratch, struct pp_job *job, struct pp_error *err)
{
    struct pp_run *run = pp_interpret_begin(scratch, job);
    bool needs_solver;

    PP_TRY(pp_interpret_go(run, NULL, &needs_solver, err));
    if (!needs_solver)
        return PP_OK;
    struct visible visible = {.solver = pp_maxmin_solver(pp_maxmin_make(scratch, job->wires)),
                              .job = job};
    const struct pp_solver solver = {.context = &visible, .begin = begin, .advance = advance};
    const enum pp_status status = pp_interpret_go(run, &solver, &needs_solver, err);
    pp_progress_clear(&visible.progress);
    return status;
}

static enum pp_status run(struct pp_arena *arena, const struct pp_program *program,
                          const struct pp_costs *costs, const struct pp_engine_options *options,
                          struct pp_trace **trace, struct pp_error *err)
{
    return pp_shared_run(arena, program, costs, options, pp_engine_shared.name, run_job, trace,
                         err);
}

const struct pp_engine pp_engine_shared = {
    .name = "simgrid",
    .shares_links = true,
    .run = run,
};
