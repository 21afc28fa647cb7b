/* Chooses a framework's schedule: the run's own, by name or file, else the nearest that it has. */
#include "sim/emit/settings.h"

#include "schedules/registry.h"

#include <limits.h>
#include <stdlib.h>

enum { CHUNKS_USUAL = 2 };

/* Returns the shape of a schedule with the same degrees and micro-batches, and default options. */
static struct pp_shape shape_for(const struct pp_config *config, const struct pp_schedule *schedule)
{
    const int chunks = config->shape.chunks;

    return (struct pp_shape){.ranks = config->layout.pp,
                             .micro_batches = config->layout.micro_batches,
                             .chunks = schedule->chunks ? schedule->chunks
                                       : chunks > 1     ? chunks
                                                        : CHUNKS_USUAL};
}

static int distance(const struct pp_config *config, const struct pp_schedule *schedule,
                    const struct pp_shape *shape)
{
    const bool is_placed_alike =
        config->schedule && config->schedule->placement == schedule->placement;

    return 2 * abs(shape->chunks - config->shape.chunks) + !is_placed_alike;
}

/* Is true if the framework runs `schedule` in that shape as it stands. */
static bool is_run(const struct pp_emit_job *job, const struct pp_schedule *schedule,
                   struct pp_shape *shape)
{
    const struct pp_schedule_call *call = pp_schedule_called(schedule, job->tool->name);
    struct pp_error ignored = {0};

    return call && pp_schedule_check(schedule, shape, &ignored) == PP_OK &&
           (pp_shape_stages(shape) == pp_shape_stages(&job->config->shape) ||
            pp_shape_stages(shape) <= job->config->model.layers) &&
           (!call->is_same || call->is_same(shape));
}

static void choose_nearest(struct pp_emit_job *job)
{
    int least = INT_MAX;

    for (int i = 0; pp_schedules[i]; i++) {
        struct pp_shape shape = shape_for(job->config, pp_schedules[i]);
        if (!is_run(job, pp_schedules[i], &shape) ||
            distance(job->config, pp_schedules[i], &shape) >= least)
            continue;
        least = distance(job->config, pp_schedules[i], &shape);
        job->schedule = pp_schedules[i];
        job->shape = shape;
    }
    job->call = job->schedule ? pp_schedule_called(job->schedule, job->tool->name) : NULL;
}

/* Equally many stages keep their blocks; otherwise blocks are divided anew. */
static enum pp_status place_blocks(struct pp_emit_job *job, struct pp_error *err)
{
    const struct pp_config *c = job->config;
    int *blocks;

    job->blocks = c->blocks_per_stage;
    if (pp_emit_stages(job) == pp_shape_stages(&c->shape))
        return PP_OK;
    PP_TRY(
        pp_partition_blocks(job->arena, c->model.layers, pp_emit_stages(job), 0, 0, &blocks, err));
    job->blocks = blocks;
    return PP_OK;
}

enum pp_status pp_emit_choose(struct pp_emit_job *job, struct pp_error *err)
{
    const struct pp_config *c = job->config;
    const struct pp_schedule_call *call = c->schedule && c->order.rule == PP_ORDER_STRICT
                                              ? pp_schedule_called(c->schedule, job->tool->name)
                                              : NULL;

    job->shape = c->shape;
    job->layout = c->layout;
    if (call && (!call->is_same || call->is_same(&c->shape)))
        job->schedule = c->schedule, job->call = call;
    else if (job->tool->reads && job->tool->reads(c))
        job->schedule = c->schedule;
    else
        choose_nearest(job);
    if (!job->schedule && !(c->file_program && job->tool->reads && job->tool->reads(c)))
        return pp_error_set(
            err, PP_EINVAL, "--emit %s: %s has no schedule for --pp %d with %d micro-batches",
            job->tool->name, job->tool->title, c->layout.pp, c->layout.micro_batches);
    job->layout.vp = job->shape.chunks;
    return place_blocks(job, err);
}

bool pp_emit_is_other(const struct pp_emit_job *job)
{
    const struct pp_config *c = job->config;

    return job->call && (job->schedule != c->schedule || c->order.rule != PP_ORDER_STRICT ||
                         (job->call->is_same && !job->call->is_same(&c->shape)));
}

const char *pp_emit_say_schedule(const struct pp_emit_job *job)
{
    const struct pp_config *c = job->config;
    const bool is_there = job->schedule == c->schedule,
               has_order = c->order.rule != PP_ORDER_STRICT;

    if (!pp_emit_is_other(job))
        return NULL;
    return pp_arena_printf(
        job->arena,
        "%s%s%s does not run in %s; nearest, and set here: %s%s (%s), which is "
        "not what was simulated; --schedule %s%s predicts it",
        c->schedule_name,
        has_order  ? " with --order "
        : is_there ? " with these options"
                   : "",
        has_order ? pp_order_rule_names[c->order.rule] : "", job->tool->title, job->schedule->name,
        job->shape.chunks > 1
            ? pp_arena_printf(job->arena, " with %d chunks a rank", job->shape.chunks)
            : "",
        job->call->name, job->schedule->name,
        job->schedule->chunks == 0 ? pp_arena_printf(job->arena, " --vp %d", job->shape.chunks)
                                   : "");
}
