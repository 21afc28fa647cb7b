/* Fills the sizes of a shape that were not given, and refuses shapes that do not fit. */
#include "schedules/order/order.h"
#include "schedules/program/program.h"

#include <stddef.h>
#include <string.h>

enum {
    STAGES_MAX = 65535,
    PATHS_MAX = 1 << 26, /* pipelines * stages */
    RANK_OPS_MAX = 1 << 24,
    ALL_OPS_MAX = 1 << 26,
    SPLITS_MAX = 255,
    GRANULES_MAX = 254
};

/* Sizes of a shape. 0 means "not given" and becomes `neutral`. Any other value than `neutral` needs
 * a schedule that has `size` (0 = none needed). */
static const struct field {
    const char *flag;
    size_t offset;
    int neutral, max;
    unsigned size;
} fields[] = {
    {"--splits", offsetof(struct pp_shape, splits), 1, SPLITS_MAX, PP_SIZE_SPLITS},
    {"--pipelines", offsetof(struct pp_shape, pipelines), 1, STAGES_MAX, PP_SIZE_PIPELINES},
    {"--steps", offsetof(struct pp_shape, steps), 1, RANK_OPS_MAX, 0},
    {"granules", offsetof(struct pp_shape, granules), 1, GRANULES_MAX, PP_SIZE_GRANULES},
};

static enum pp_status check_fields(const struct pp_schedule *schedule, struct pp_shape *shape,
                                   struct pp_error *err)
{
    const bool is_two_way = schedule->placement == PP_PLACE_TWO_WAY;

    for (size_t i = 0; i < PP_COUNT(fields); i++) {
        const struct field *field = &fields[i];
        int *value = (int *)((char *)shape + field->offset);
        const int neutral = field->size == PP_SIZE_PIPELINES && is_two_way ? 2 : field->neutral;
        if (*value < 0 || *value > field->max)
            return pp_error_set(err, PP_EINVAL, "%s %d: must be between %d and %d", field->flag,
                                *value, field->neutral, field->max);
        if (*value == 0)
            *value = neutral;
        if (*value != neutral && field->size && !(schedule->sizes & field->size))
            return pp_error_set(err, PP_EINVAL, "%s %d: %s does not have this option", field->flag,
                                *value, schedule->name);
    }
    if (shape->steps > 1 && (!schedule->is_continuous || shape->micro_batches % shape->steps))
        return pp_error_set(err, PP_EINVAL, "--steps %d: %s flushes its pipeline after each step",
                            shape->steps, schedule->name);
    return pp_schedule_option_check(schedule, shape, err);
}

static enum pp_status check_chunks(const struct pp_schedule *schedule, struct pp_shape *shape,
                                   struct pp_error *err)
{
    const char *option = schedule->is_forward_only ? "--tokens" : "--vp";

    if (shape->chunks == 0)
        shape->chunks = schedule->chunks ? schedule->chunks : schedule->is_forward_only ? 1 : 2;
    if (shape->chunks < 1)
        return pp_error_set(err, PP_EINVAL, "%s %d: must be at least 1", option, shape->chunks);
    if (schedule->chunks && shape->chunks != schedule->chunks)
        return pp_error_set(err, PP_EINVAL, "--vp %d: %s has %d chunk%s per rank; use --vp %d",
                            shape->chunks, schedule->name, schedule->chunks,
                            schedule->chunks == 1 ? "" : "s", schedule->chunks);
    if ((int64_t)shape->ranks * shape->chunks > STAGES_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "%s %d times %s %d is more than %d stages; at most %s %d",
                            pp_shape_ranks_option(shape), shape->ranks, option, shape->chunks,
                            STAGES_MAX, option, STAGES_MAX / shape->ranks);
    return PP_OK;
}

static enum pp_status check_size(const struct pp_shape *shape, struct pp_error *err)
{
    const int64_t per_mb = 2LL * shape->chunks * shape->splits * shape->granules;
    const int64_t all = ALL_OPS_MAX / (per_mb * shape->ranks);
    const int64_t most = RANK_OPS_MAX / per_mb < all ? RANK_OPS_MAX / per_mb : all;
    const int stages = pp_shape_stages(shape);

    if ((int64_t)shape->pipelines * stages > PATHS_MAX)
        return pp_error_set(err, PP_EINVAL,
                            "--pipelines %d of %d stages each is more than %d places; at most "
                            "--pipelines %d",
                            shape->pipelines, stages, PATHS_MAX, PATHS_MAX / stages);
    if (shape->micro_batches > most)
        return pp_error_set(err, PP_EINVAL,
                            "--micro-batches %d with %s %d, --vp %d and %d splits is more than "
                            "%d ops on a rank or %d in all; at most %lld",
                            shape->micro_batches, pp_shape_ranks_option(shape), shape->ranks,
                            shape->chunks, shape->splits, RANK_OPS_MAX, ALL_OPS_MAX,
                            (long long)most);
    return PP_OK;
}

const struct pp_schedule_call *pp_schedule_called(const struct pp_schedule *schedule,
                                                  const char *tool)
{
    for (const struct pp_schedule_call *c = schedule->calls; c && c->tool; c++)
        if (!strcmp(c->tool, tool))
            return c;
    return NULL;
}

bool pp_schedule_is_list(const struct pp_schedule *schedule, const struct pp_shape *shape)
{
    const enum pp_placement_kind kind = schedule->placement;

    return !schedule->is_continuous &&
           (kind == PP_PLACE_LOOP || kind == PP_PLACE_VEE ||
            (kind == PP_PLACE_WAVE && (!shape || shape->chunks == 2))) &&
           (!shape || (shape->pipelines == 1 && shape->splits == 1 && shape->granules == 1));
}

bool pp_schedule_runs_in(const struct pp_schedule *schedule, const struct pp_shape *shape,
                         const struct pp_tool *tool)
{
    const struct pp_schedule_call *call = tool ? pp_schedule_called(schedule, tool->name) : NULL;

    if (!tool || (call && (!shape || !call->is_same || call->is_same(shape))))
        return true;
    return tool->reads_orders && pp_schedule_is_list(schedule, shape);
}

const char *pp_schedules_of(struct pp_arena *arena, const struct pp_schedule *const *schedules,
                            const struct pp_tool *tool)
{
    const char *text = "";

    for (; *schedules; schedules++)
        if (pp_schedule_called(*schedules, tool->name))
            text = pp_arena_printf(arena, "%s%s%s", text, *text ? ", " : "", (*schedules)->name);
    return text;
}

const struct pp_schedule_variant *pp_schedule_variants(const struct pp_schedule *schedule,
                                                       const struct pp_shape *shape)
{
    return schedule->variants ? schedule->variants(shape) : NULL;
}

int pp_schedule_update_every(const struct pp_schedule *schedule, int micro_batches)
{
    if (!schedule || !schedule->is_continuous)
        return 0;
    return schedule->updates_each_backward ? 1 : micro_batches;
}

/* Checks the schedule's own limits; an open shape is accepted if one of its variants is. */
static enum pp_status check_limits(const struct pp_schedule *schedule, const struct pp_shape *shape,
                                   struct pp_error *err)
{
    const struct pp_schedule_variant *variant = pp_schedule_variants(schedule, shape);
    struct pp_error first = {0};

    if (!variant)
        return schedule->accepts ? schedule->accepts(shape, err) : PP_OK;
    for (; variant->option; variant++) {
        struct pp_shape chosen = *shape;
        struct pp_error refusal = {0};
        variant->choose(&chosen, variant->number);
        if (check_limits(schedule, &chosen, &refusal) == PP_OK)
            return PP_OK;
        first = first.status == PP_OK ? refusal : first;
    }
    if (err)
        *err = first;
    return PP_EINVAL;
}

enum pp_status pp_schedule_check(const struct pp_schedule *schedule, struct pp_shape *shape,
                                 struct pp_error *err)
{
    if (shape->ranks < 1 || shape->ranks > STAGES_MAX)
        return pp_error_set(err, PP_EINVAL, "%s %d: must be between 1 and %d",
                            pp_shape_ranks_option(shape), shape->ranks, STAGES_MAX);
    if (shape->micro_batches < 1 || shape->micro_batches > RANK_OPS_MAX)
        return pp_error_set(err, PP_EINVAL, "--micro-batches %d: must be between 1 and %d",
                            shape->micro_batches, RANK_OPS_MAX);
    if (schedule->programs)
        return pp_source_check(schedule, shape, err);
    PP_TRY(check_chunks(schedule, shape, err));
    if (schedule->defaults)
        schedule->defaults(shape);
    pp_schedule_option_defaults(schedule, shape);
    PP_TRY(check_fields(schedule, shape, err));
    PP_TRY(check_size(shape, err));
    PP_TRY(check_limits(schedule, shape, err));
    if (schedule->placement == PP_PLACE_TWO_WAY &&
        (shape->pipelines % 2 != 0 || shape->ranks % (shape->pipelines / 2) != 0))
        return pp_error_set(err, PP_EINVAL,
                            "--pipelines %d: half of them run down, half up, and that half divides "
                            "%s %d; nearest: 2",
                            shape->pipelines, pp_shape_ranks_option(shape), shape->ranks);
    return PP_OK;
}

const uint16_t *pp_schedule_ranks(struct pp_arena *arena, const struct pp_schedule *schedule,
                                  const struct pp_shape *shape)
{
    return schedule->programs ? pp_source_ranks(arena, schedule, shape)
                              : pp_placement_make(arena, schedule->placement, shape->ranks,
                                                  shape->chunks, shape->pipelines);
}

static uint16_t *pipe_of(struct pp_arena *arena, const struct pp_schedule *schedule,
                         const struct pp_shape *shape)
{
    const int granules = shape->micro_batches * shape->granules;

    if (schedule->programs)
        return pp_source_pipes(arena, schedule, shape);
    uint16_t *pipe_of = PP_ARRAY(arena, uint16_t, granules);
    for (int i = 0; schedule->pipeline_of && i < granules; i++)
        pipe_of[i] = (uint16_t)schedule->pipeline_of(shape, i / shape->granules);
    return pipe_of;
}

const int *pp_schedule_pipes(struct pp_arena *arena, const struct pp_schedule *schedule,
                             const struct pp_shape *shape)
{
    int *count = PP_ARRAY(arena, int, shape->pipelines);

    if (shape->pipelines == 1) {
        count[0] = shape->micro_batches;
        return count;
    }
    PP_ARENA_AUTO struct pp_arena *scratch = pp_arena_create();
    const uint16_t *pipes = pipe_of(scratch, schedule, shape);
    for (int mb = 0; mb < shape->micro_batches; mb++)
        count[pipes[mb * shape->granules]]++;
    return count;
}

enum pp_status pp_schedule_orders(struct pp_arena *arena, const struct pp_schedule *schedule,
                                  const struct pp_shape *shape, const struct pp_costs *costs,
                                  struct pp_orders **orders, struct pp_order_maps *maps,
                                  struct pp_error *err)
{
    struct pp_shape few = *shape;

    few.micro_batches -= pp_order_left_out(schedule, shape);
    maps->rank_of = pp_schedule_ranks(arena, schedule, shape);
    maps->pipe_of = pipe_of(arena, schedule, &few);
    if (schedule->programs) {
        *orders = pp_source_lists(arena, schedule, shape);
        return PP_OK;
    }
    *orders = pp_orders_create(arena, shape->ranks);
    if (schedule->generate)
        return schedule->generate(arena, shape, costs, *orders, err);
    (*orders)->left_out = shape->micro_batches - few.micro_batches;
    const struct pp_places places = pp_places_make(arena, &few, maps);
    if (schedule->phases)
        pp_phases_expand(arena, schedule, &places, *orders);
    else
        pp_key_expand(arena, schedule, &places, *orders);
    return PP_OK;
}

int pp_schedule_set_versions(const struct pp_schedule *schedule, const struct pp_shape *shape,
                             struct pp_orders *orders)
{
    int most = 0;

    for (int rank = 0; schedule->version && rank < orders->ranks; rank++)
        for (int i = 0; i < orders->count[rank]; i++) {
            struct pp_op *op = &orders->ops[rank][i];
            op->version = (uint8_t)schedule->version(shape, rank, op->mb / shape->granules);
            most = op->version > most ? op->version : most;
        }
    if (!schedule->version)
        return 1;
    return most > 0 ? most + 1 : 2;
}

/* Sets pipelines and granules as in a frozen program. */
static void set_pipes(const struct pp_order_maps *maps, struct pp_orders *orders)
{
    for (int rank = 0; rank < orders->ranks; rank++)
        for (int i = 0; i < orders->count[rank]; i++) {
            struct pp_op *op = &orders->ops[rank][i];
            op->pipe = maps->pipe_of[op->mb];
            op->granules = op->granules ? op->granules : 1;
        }
}

enum pp_status pp_schedule_lists(struct pp_arena *arena, const struct pp_schedule *schedule,
                                 const struct pp_shape *shape, const struct pp_costs *costs,
                                 struct pp_orders **orders, struct pp_program_head *head,
                                 struct pp_error *err)
{
    struct pp_shape checked = *shape;
    struct pp_order_maps maps;

    PP_TRY(pp_schedule_check(schedule, &checked, err));
    const struct pp_schedule_variant *open = pp_schedule_variants(schedule, &checked);
    if (open)
        return pp_error_set(err, PP_EINVAL, "--%s auto: %s needs one choice, such as %s",
                            open->option, schedule->name, open->value);
    PP_TRY(pp_schedule_orders(arena, schedule, &checked, costs, orders, &maps, err));
    set_pipes(&maps, *orders);
    checked.micro_batches -= (*orders)->left_out;
    *head =
        (struct pp_program_head){.name = schedule->name,
                                 .level = PP_LEVEL_COMPUTE,
                                 .mode = schedule->is_forward_only ? PP_MODE_INFER : PP_MODE_TRAIN,
                                 .ranks = checked.ranks,
                                 .stages = pp_shape_stages(&checked),
                                 .pipelines = checked.pipelines,
                                 .micro_batches = checked.micro_batches,
                                 .granules = checked.granules,
                                 .splits = checked.splits,
                                 .versions = pp_schedule_set_versions(schedule, &checked, *orders),
                                 .passes = schedule->is_forward_only ? checked.chunks : 0,
                                 .rank_of = maps.rank_of,
                                 .pipe_of = maps.pipe_of};
    return PP_OK;
}

enum pp_status pp_schedule_program(struct pp_arena *arena, const struct pp_schedule *schedule,
                                   const struct pp_shape *shape, const struct pp_costs *costs,
                                   struct pp_program **program, struct pp_error *err)
{
    struct pp_orders *orders;
    struct pp_program_head head;

    PP_TRY(pp_schedule_lists(arena, schedule, shape, costs, &orders, &head, err));
    return pp_program_freeze(arena, &head, orders, program, err);
}
