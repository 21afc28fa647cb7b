/* The engine simgrid, which shares links as SimGrid's model CM02 does, and the frame of such
 * engines. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "sim/engine/shared.h"

#include "core/free_memory.h"
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

static void unmap(void *context)
{
    const struct shared *shared = context;

    munmap(shared->counts, shared->bytes);
}

/* Maps memory that is freed with the arena. */
static enum pp_status map_shared(struct pp_arena *arena, struct pp_job *job, struct pp_error *err)
{
    struct shared *shared = PP_NEW(arena, struct shared);
    const int replicas = job->times->replicas, steps = job->times->steps;

    shared->bytes = sizeof(*shared->counts) + pp_job_bytes(job->program, replicas, steps);
    const size_t free = pp_free_memory_bytes();
    void *block = shared->bytes > free ? MAP_FAILED
                                       : mmap(NULL, shared->bytes, PROT_READ | PROT_WRITE,
                                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return pp_error_set(err, PP_EFAIL,
                            "out of memory: the times of %d replicas take %zu MiB, %zu MiB are "
                            "free",
                            replicas, shared->bytes >> 20, free >> 20);
    shared->counts = block;
    pp_arena_defer(arena, unmap, shared);
    pp_job_place(job->program, replicas, steps, shared->counts + 1, job->times);
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
                             pp_shared_function run_job, struct pp_times **times,
                             struct pp_error *err)
{
    struct pp_times *t = PP_NEW(arena, struct pp_times);
    struct pp_job job = {.program = program, .costs = costs, .options = options, .times = t};
    struct pp_wires *wires = NULL;
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();

    *t = (struct pp_times){.replicas = options->replicas > 0 ? options->replicas : 1,
                           .steps = options->eval.steps > 0 ? options->eval.steps : 1};
    PP_TRY(check_size(program, t->replicas, t->steps, err));
    if (options->network)
        PP_TRY(pp_wires_make(scratch, program, costs, options->network, t->replicas,
                             options->eval.ring_flows && costs->rings &&
                                 t->replicas == options->network->layout.dp,
                             &wires, err));
    job.wires = wires;
    PP_TRY(map_shared(arena, &job, err));
    PP_TRY(run_job(scratch, &job, err));
    t->makespan_ps = t->step_end_ps[t->steps - 1];
    if (options->stats)
        *options->stats = *job.stats;
    *times = t;
    return PP_OK;
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

static void note(const void *context, int64_t now_ps, struct pp_network_state *state)
{
    const struct visible *v = context;

    v->solver.note(v->solver.context, now_ps, state);
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
    const struct pp_solver solver = {
        .context = &visible, .begin = begin, .advance = advance, .note = note};
    const enum pp_status status = pp_interpret_go(run, &solver, &needs_solver, err);
    pp_progress_clear(&visible.progress);
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

const struct pp_engine pp_engine_shared = {
    .name = "simgrid",
    .shares_links = true,
    .run = run,
};
