/* Schedules from outside: their shapes and lists are those of a program. */
#include "schedules/order/order.h"
#include "schedules/program/program.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* Sizes that must be those of the program; 0 = not given, to be filled. */
static const struct size {
    const char *flag, *word;
    size_t offset;
} SIZES[] = {
    {"--pp", "pp", offsetof(struct pp_shape, ranks)},
    {"--vp", "vp", offsetof(struct pp_shape, chunks)},
    {"--micro-batches", "micro_batches", offsetof(struct pp_shape, micro_batches)},
    {"--splits", "splits", offsetof(struct pp_shape, splits)},
    {"--pipelines", "pipelines", offsetof(struct pp_shape, pipelines)},
    {"granules", NULL, offsetof(struct pp_shape, granules)},
};

static int *size_at(struct pp_shape *shape, const struct size *size)
{
    return (int *)(void *)((char *)shape + size->offset);
}

/* Fills a shape from the program; sizes that differ are PP_EINVAL. */
static enum pp_status take_sizes(const struct pp_program *program, struct pp_shape *shape,
                                 struct pp_error *err)
{
    struct pp_shape own = pp_program_shape(program);

    for (size_t i = 0; i < PP_COUNT(SIZES); i++) {
        int *wanted = size_at(shape, &SIZES[i]);
        const int has = *size_at(&own, &SIZES[i]);
        if (*wanted && *wanted != has) {
            pp_error_set(err, PP_EINVAL, "%s %d contradicts the program of '%s', which has %d",
                         SIZES[i].flag, *wanted, program->name, has);
            return SIZES[i].word ? pp_error_append(err, "; {%s} in its text gives it the number",
                                                   SIZES[i].word)
                                 : PP_EINVAL;
        }
        *wanted = has;
    }
    return PP_OK;
}

enum pp_status pp_source_check(const struct pp_schedule *schedule, struct pp_shape *shape,
                               struct pp_error *err)
{
    const struct pp_program *program;

    pp_schedule_option_defaults(schedule, shape);
    PP_TRY(pp_schedule_option_check(schedule, shape, err));
    PP_TRY(schedule->programs->of(schedule->programs, shape, &program, err));
    return take_sizes(program, shape, err);
}

/* Returns the program of a shape that has been accepted. */
static const struct pp_program *program_of(const struct pp_schedule *schedule,
                                           const struct pp_shape *shape)
{
    const struct pp_program *program = NULL;
    const enum pp_status status = schedule->programs->of(schedule->programs, shape, &program, NULL);

    assert(status == PP_OK);
    (void)status;
    return program;
}

static uint16_t *copy(struct pp_arena *arena, const uint16_t *list, int count)
{
    uint16_t *own = PP_ARRAY(arena, uint16_t, count);

    memcpy(own, list, sizeof(*list) * (size_t)count);
    return own;
}

uint16_t *pp_source_ranks(struct pp_arena *arena, const struct pp_schedule *schedule,
                          const struct pp_shape *shape)
{
    const struct pp_program *program = program_of(schedule, shape);

    return copy(arena, program->rank_of, program->pipelines * program->stages);
}

uint16_t *pp_source_pipes(struct pp_arena *arena, const struct pp_schedule *schedule,
                          const struct pp_shape *shape)
{
    const struct pp_program *program = program_of(schedule, shape);

    return copy(arena, program->pipe_of, program->micro_batches * program->granules);
}

struct pp_orders *pp_source_lists(struct pp_arena *arena, const struct pp_schedule *schedule,
                                  const struct pp_shape *shape)
{
    return pp_program_thaw(arena, program_of(schedule, shape));
}
