/* Programs of the library. */
#include "schedules/library/pipesched_parts.h"

#include "schedules/build/build.h"
#include "schedules/registry.h"
#include "schedules/verify/verify.h"

#include <string.h>

const char *pipesched_version(void)
{
    return PP_VERSION;
}

int pipesched_schedule(int i, struct pipesched_schedule *schedule)
{
    for (int k = 0; i >= 0 && pp_schedules[k]; k++)
        if (k == i) {
            *schedule = (struct pipesched_schedule){.name = pp_schedules[k]->name,
                                                    .summary = pp_schedules[k]->summary,
                                                    .rule = pp_schedules[k]->rule,
                                                    .limits = pp_schedules[k]->limits,
                                                    .source = pp_schedules[k]->source};
            return 1;
        }
    return 0;
}

/* ---- making programs ------------------------------------------------------------------------- */

static struct pipesched_program *create(void)
{
    struct pp_arena *arena = pp_arena_create();
    struct pipesched_program *made = PP_NEW(arena, struct pipesched_program);

    made->arena = arena;
    return made;
}

/* Returns the made program, or frees it. */
static enum pipesched_status finish(struct pipesched_program *made, enum pp_status status,
                                    const struct pp_error *err, struct pipesched_program **program,
                                    struct pipesched_error *error)
{
    if (status == PP_OK)
        *program = made;
    else
        pp_arena_destroy(made->arena);
    return pp_pipesched_tell(status, err, error);
}

static enum pp_status check_sign(const char *name, int value, struct pp_error *err)
{
    return value < 0 ? pp_error_set(err, PP_EINVAL, "--%s %d: expected at least 0", name, value)
                     : PP_OK;
}

static enum pp_status take_option(const struct pp_schedule *schedule, const char *name, int value,
                                  struct pp_shape *shape, struct pp_error *err)
{
    const struct pp_schedule_option *option = pp_schedule_option_find(name);
    const int at = pp_schedule_option_at(schedule, name);

    if (at >= 0)
        shape->option[at] = value;
    else if (value != 0 && option->choices)
        return pp_error_set(err, PP_EINVAL, "--%s: %s does not have this option", name,
                            schedule->name);
    else if (value != 0 && value != option->neutral)
        return pp_error_set(err, PP_EINVAL, "--%s %d: %s does not have this option", name, value,
                            schedule->name);
    return PP_OK;
}

static enum pp_status take_shape(const struct pp_schedule *schedule,
                                 const struct pipesched_shape *from, struct pp_shape *shape,
                                 struct pp_error *err)
{
    const struct {
        const char *name;
        int value;
    } sizes[] = {{"pp", from->ranks},
                 {"micro-batches", from->micro_batches},
                 {"vp", from->chunks},
                 {"splits", from->splits},
                 {"pipelines", from->pipelines}},
      options[] = {{"group", from->group},
                   {"extra-warmup", from->extra_warmup},
                   {"depth-first", from->depth_first},
                   {"max-activations", from->max_activations},
                   {"concat", (int)from->concat},
                   {"bfs-backward", from->backward_descending != 0},
                   {"warmup-style", from->warmup_lazy != 0},
                   {"shifted", from->shifted}};
    const size_t count = PP_COUNT(options);

    for (size_t i = 0; i < PP_COUNT(sizes); i++)
        PP_TRY(check_sign(sizes[i].name, sizes[i].value, err));
    if ((unsigned)from->concat > PIPESCHED_CONCAT_HALVING)
        return pp_error_set(err, PP_EINVAL, "--concat %d: expected 0, 1 or 2", (int)from->concat);
    for (size_t i = 0; i < count; i++)
        PP_TRY(check_sign(options[i].name, options[i].value, err));
    *shape = (struct pp_shape){.ranks = from->ranks,
                               .chunks = from->chunks,
                               .micro_batches = from->micro_batches,
                               .splits = from->splits,
                               .pipelines = from->pipelines};
    for (size_t i = 0; i < count; i++)
        PP_TRY(take_option(schedule, options[i].name, options[i].value, shape, err));
    return PP_OK;
}

static enum pp_status build(struct pipesched_program *made, const char *name,
                            const struct pipesched_shape *from,
                            const struct pipesched_durations *order, struct pp_error *err)
{
    struct pp_build build = {.schedule = pp_schedule_find(name)};
    struct pp_shape *shape = &build.shape;

    made->schedule = build.schedule;
    if (!made->schedule) {
        pp_error_set(err, PP_EINVAL, "unknown schedule '%s'", name);
        return pp_schedule_unknown(err, name);
    }
    PP_TRY(take_shape(made->schedule, from, shape, err));
    PP_TRY(pp_schedule_check(made->schedule, shape, err));
    const struct pp_costs_shape of = {shape->ranks, pp_shape_stages(shape), shape->splits,
                                      shape->granules};
    PP_TRY(pp_pipesched_costs(made->arena, order, &of, false, &build.costs, err));
    PP_TRY(pp_build_order(made->arena, &build, err));
    made->program = build.given;
    return PP_OK;
}

enum pipesched_status pipesched_build(const char *schedule, const struct pipesched_shape *shape,
                                      const struct pipesched_durations *order,
                                      struct pipesched_program **program,
                                      struct pipesched_error *error)
{
    struct pipesched_program *made = create();
    struct pp_error err = {0};

    return finish(made, build(made, schedule, shape, order, &err), &err, program, error);
}

enum pipesched_status pipesched_read(const char *path, struct pipesched_program **program,
                                     struct pipesched_error *error)
{
    struct pipesched_program *made = create();
    struct pp_program *read = NULL;
    struct pp_error err = {0};
    const enum pp_status status = pp_program_read(made->arena, path, PP_DIALECT_2025, &read, &err);

    made->program = read;
    made->is_given = true;
    return finish(made, status, &err, program, error);
}

enum pipesched_status pipesched_parse(const char *name, const char *text, size_t length,
                                      struct pipesched_program **program,
                                      struct pipesched_error *error)
{
    struct pipesched_program *made = create();
    struct pp_program *read = NULL;
    struct pp_error err = {0};
    const enum pp_status status =
        pp_program_parse(made->arena, name, text, length, PP_DIALECT_2025, &read, &err);

    made->program = read;
    made->is_given = true;
    return finish(made, status, &err, program, error);
}

void pipesched_free(struct pipesched_program *program)
{
    if (program)
        pp_arena_destroy(program->arena);
}

/* ---- lowering -------------------------------------------------------------------------------- */

static uint16_t *copy(struct pp_arena *arena, const uint16_t *from, int count)
{
    uint16_t *to = PP_ARRAY(arena, uint16_t, count);

    memcpy(to, from, sizeof(*to) * (size_t)count);
    return to;
}

/* Copies the data that a lowered program points to: the library's user may free the original. */
static struct pp_program adopt(struct pp_arena *arena, const struct pp_program *p)
{
    struct pp_program own = *p;

    own.name = pp_arena_strdup(arena, p->name);
    own.file = p->file ? pp_arena_strdup(arena, p->file) : NULL;
    own.rank_of = copy(arena, p->rank_of, p->pipelines * p->stages);
    own.pipe_of = copy(arena, p->pipe_of, p->micro_batches * p->granules);
    return own;
}

static enum pp_status lower(struct pp_arena *arena, const struct pipesched_program *compute,
                            const struct pipesched_lowering *from, struct pp_program **lowered,
                            struct pp_error *err)
{
    if (compute->program->level != PP_LEVEL_COMPUTE)
        return pp_error_set(err, PP_EINVAL, "%s is complete already", compute->program->name);
    PP_TRY(check_sign("dp", from->replicas, err));
    PP_TRY(check_sign("recv-slots", from->recv_slots, err));
    const struct pp_program own = adopt(arena, compute->program);
    struct pp_build build = {
        .schedule = compute->schedule,
        .given = &own,
        .wishes = {.recv_slots = from->recv_slots ? from->recv_slots : PP_USUAL_RECV_SLOTS,
                   .grad_sync = from->sums_early ? PP_SYNC_EAGER : PP_SYNC_END},
        .has_update = true,
        .is_recomputed = from->recomputes};
    pp_build_take_zero(&build, from->shards_optimizer != 0, from->replicas);
    return pp_build(arena, &build, lowered, err);
}

enum pipesched_status pipesched_lower(const struct pipesched_program *compute,
                                      const struct pipesched_lowering *lowering,
                                      struct pipesched_program **program,
                                      struct pipesched_error *error)
{
    struct pipesched_program *made = create();
    struct pp_program *lowered = NULL;
    struct pp_error err = {0};
    const enum pp_status status = lower(made->arena, compute, lowering, &lowered, &err);

    made->program = lowered;
    made->schedule = compute->schedule;
    made->is_given = compute->is_given;
    return finish(made, status, &err, program, error);
}

/* ---- queries --------------------------------------------------------------------------------- */

struct pipesched_size pipesched_size(const struct pipesched_program *program)
{
    const struct pp_program *p = program->program;

    return (struct pipesched_size){.ranks = p->ranks,
                                   .stages = p->stages,
                                   .pipelines = p->pipelines,
                                   .micro_batches = p->micro_batches,
                                   .splits = p->splits,
                                   .is_complete = p->level == PP_LEVEL_LOWERED,
                                   .instructions = pp_program_size(p)};
}

int pipesched_count(const struct pipesched_program *program, int rank)
{
    const struct pp_program *p = program->program;

    return rank >= 0 && rank < p->ranks ? p->begin[rank + 1] - p->begin[rank] : 0;
}

struct pipesched_op pipesched_op(const struct pipesched_program *program, int rank, int i)
{
    const struct pp_program *p = program->program;

    if (i < 0 || i >= pipesched_count(program, rank))
        return (struct pipesched_op){.micro_batch = -1, .peer = -1};
    const struct pp_op op = pp_program_op(p, p->begin[rank] + i);
    const bool has_mb = pp_op_kinds[op.kind].has_mb && op.mb >= 0;
    const bool is_message = pp_op_is_send(op.kind) || pp_op_is_recv(op.kind);
    return (struct pipesched_op){.kind = pp_op_kinds[op.kind].text,
                                 .stage = op.stage,
                                 .pipeline = op.pipe,
                                 .micro_batch = has_mb ? op.mb / p->granules : -1,
                                 .split = has_mb ? op.split : 0,
                                 .peer = is_message ? op.peer : -1,
                                 .of_a_pair = pp_op_is_compute(op.kind) ? op.aux : 0};
}

const char *pipesched_text(struct pipesched_program *program)
{
    if (!program->text)
        program->text = pp_program_text(program->arena, program->program);
    return program->text;
}

enum pipesched_status pipesched_verify(const struct pipesched_program *program, int max_activations,
                                       struct pipesched_error *error)
{
    const struct pp_verify_options options = {.max_activations = max_activations};
    struct pp_error err = {0};
    enum pp_status status = check_sign("max-activations", max_activations, &err);

    if (status == PP_OK)
        status = pp_verify(program->program, &options, &err);
    return pp_pipesched_tell(status, &err, error);
}
