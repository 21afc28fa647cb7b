/* Runs of other schedules at the layout of a run, and the best of them. */
#include "sim/command/run_others.h"

#include "schedules/program/whole.h"
#include "schedules/registry.h"
#include "sim/inference/inference.h"

#include <stdlib.h>

/* Other schedules are compared up to this size of a program. Each takes the time and the memory of
 * the run. */
enum { MAX_ALTERNATIVES = 6, MOST_COMPARED = 1 << 20 };

/* Resolves `subject` at the layout of `base`. */
static enum pp_status resolve_like(struct pp_arena *arena, const struct pp_wish *wish,
                                   const struct pp_subject *subject, const struct pp_config *base,
                                   struct pp_config *config, struct pp_error *err)
{
    *config = *base;
    if (base->origin.chosen & PP_CHOSE_RECOMPUTE)
        config->costs.recompute = PP_RECOMPUTE_NONE, config->costs.again = 0;
    config->origin.chosen &= ~(unsigned)(PP_CHOSE_VP | PP_CHOSE_SPLITS | PP_CHOSE_OPTIONS);
    PP_TRY(pp_resolve_shape(wish, subject, config, err));
    config->layout.vp = config->shape.chunks;
    if (!subject->file) {
        config->shape.ranks = base->layout.pp;
        config->shape.micro_batches = base->layout.micro_batches;
        PP_TRY(pp_schedule_check(subject->schedule, &config->shape, err));
        config->layout.vp = config->shape.chunks;
    } else if (config->shape.ranks != base->layout.pp ||
               config->shape.micro_batches != base->layout.micro_batches) {
        return pp_error_set(err, PP_EINVAL,
                            "%s has pp %d and %d micro-batches, the others pp %d and %d",
                            subject->name, config->shape.ranks, config->shape.micro_batches,
                            base->layout.pp, base->layout.micro_batches);
    }
    return config->is_unit ? PP_OK : pp_resolve_division(arena, config, err);
}

static void set_status(struct pp_arena *arena, struct pp_result *result, enum pp_status status,
                       const struct pp_error *err)
{
    result->status = status;
    result->refusal = status != PP_OK ? pp_arena_strdup(arena, err->message) : NULL;
}

void pp_run_like(struct pp_arena *arena, const struct pp_wish *wish,
                 const struct pp_subject *subject, const struct pp_config *base,
                 struct pp_result *result)
{
    struct pp_prepared *prepared = PP_NEW(arena, struct pp_prepared);
    struct pp_config config;
    struct pp_error err = {0};

    enum pp_status status = resolve_like(arena, wish, subject, base, &config, &err);
    if (status == PP_OK)
        status = pp_resolve_choice(arena, &config, prepared, result, &err);
    result->prepared = prepared;
    result->config.schedule_name = subject->name;
    set_status(arena, result, status, &err);
}

enum pp_status pp_run_tokens(struct pp_arena *arena, struct pp_result *result, struct pp_error *err)
{
    struct pp_inference *inference = NULL;

    if (result->config.generation.passes)
        PP_TRY(pp_inference_find(arena, result, &inference, err));
    result->inference = inference;
    return PP_OK;
}

void pp_run_complete(struct pp_arena *arena, enum pp_depth depth, struct pp_result *result)
{
    const struct pp_config config = result->config;
    struct pp_prepared *prepared = result->prepared;
    struct pp_error err = {0};

    if (result->status != PP_OK)
        return;
    enum pp_status status = pp_simulate(arena, &config, depth, prepared, result, &err);
    if (status == PP_OK)
        status = pp_run_tokens(arena, result, &err);
    result->config.schedule_name = config.schedule_name;
    set_status(arena, result, status, &err);
}

static int by_time(const void *a, const void *b)
{
    const struct pp_result *x = a, *y = b;

    if (x->status != y->status)
        return x->status == PP_OK ? -1 : y->status == PP_OK ? 1 : 0;
    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    return x->metrics.iteration_s < y->metrics.iteration_s   ? -1
           : x->metrics.iteration_s > y->metrics.iteration_s ? 1
                                                             : 0;
}

/* A schedule in the comparison, and the memory of its run. */
struct rival {
    struct pp_result result;
    struct pp_arena *arena; /* NULL: it is none of the best */
};

static void end_arena(void *arena)
{
    pp_arena_destroy(arena);
}

/* Ends the memory of rivals that enough others are better than. */
static void drop_beaten(struct rival *list, int count)
{
    for (int i = 0; i < count; i++) {
        int better = 0;
        for (int k = 0; k < count; k++)
            better += by_time(&list[k], &list[i]) < 0;
        if (better < MAX_ALTERNATIVES)
            continue;
        pp_arena_destroy(list[i].arena);
        list[i].arena = NULL;
    }
}

/* Runs the schedules of the registry that the run of `base` can have; returns their number. */
static int run_rivals(const struct pp_wish *wish, const struct pp_config *base, struct rival *list)
{
    /* Schedules with and without a flush converge differently: only like ones are compared. */
    const struct pp_schedule *own = base->schedule;
    const bool is_continuous = own && own->is_continuous;
    int count = 0;

    for (int i = 0; pp_schedules[i]; i++) {
        const struct pp_subject other = {
            .schedule = pp_schedules[i], .name = pp_schedules[i]->name, .is_listed = true};
        struct rival *rival = &list[count];
        if (pp_schedules[i] == own || pp_schedules[i]->is_continuous != is_continuous ||
            !pp_schedule_runs_in(pp_schedules[i], NULL, base->tool))
            continue;
        *rival = (struct rival){.arena = pp_arena_create()};
        pp_run_like(rival->arena, wish, &other, base, &rival->result);
        if (rival->result.status == PP_OK &&
            !pp_schedule_runs_in(pp_schedules[i], &rival->result.config.shape, base->tool))
            pp_arena_destroy(rival->arena);
        else
            drop_beaten(list, ++count);
    }
    return count;
}

/* The best other schedules of the registry at the layout of `result`; in the arena. */
static struct pp_result *alternatives(struct pp_arena *arena, const struct pp_wish *wish,
                                      const struct pp_result *result, int *count)
{
    struct pp_config base = result->config;
    int schedules = 0;

    for (; pp_schedules[schedules]; schedules++)
        ;
    struct rival *rivals = PP_ARRAY(arena, struct rival, schedules);
    base.engine_options.replicas = 0;
    *count = run_rivals(wish, &base, rivals);
    if (*count == 0)
        return NULL;
    qsort(rivals, (size_t)*count, sizeof(*rivals), by_time);
    for (int i = MAX_ALTERNATIVES; i < *count; i++) /* as good as others, but not shown */
        pp_arena_destroy(rivals[i].arena);
    *count = *count < MAX_ALTERNATIVES ? *count : MAX_ALTERNATIVES;
    struct pp_result *list = PP_ARRAY(arena, struct pp_result, *count);
    for (int i = 0; i < *count; i++) {
        pp_arena_defer(arena, end_arena, rivals[i].arena);
        pp_run_complete(rivals[i].arena, PP_METRICS, &rivals[i].result);
        list[i] = rivals[i].result;
    }
    return list;
}

enum pp_status pp_run_compare(struct pp_arena *arena, const struct pp_wish *wish,
                              const struct pp_result *result, struct pp_result *alone,
                              struct pp_others *others, struct pp_error *err)
{
    struct pp_config config = result->config;

    *others = (struct pp_others){.reference = result};
    if (wish->no_alternatives || config.is_unit || result->program->mode != PP_MODE_TRAIN)
        return PP_OK;
    others->is_too_large = pp_program_whole_size(result->program) > MOST_COMPARED;
    if (others->is_too_large)
        return PP_OK;
    if (result->replicas_simulated > 1 && config.engine->shares_links) {
        config.engine = &pp_engine_dag;
        config.engine_options.sync_share = 0;
        PP_TRY(pp_simulate(arena, &config, PP_PROVED, NULL, alone, err));
        others->reference = alone;
        others->is_contention_free = true;
    }
    others->list = alternatives(arena, wish, others->reference, &others->count);
    return PP_OK;
}
