/* Options of a schedule: had, fixed or refused by the chosen one. */
#include "schedules/select/select.h"

#include "core/units.h"
#include "schedules/registry.h"

#include <stddef.h>
#include <string.h>

/* Sizes of a program that a schedule may let the user choose: their bit and their field. */
static const struct size {
    const char *name;
    unsigned bit;
    size_t offset;
} SIZES[] = {
    {"vp", PP_SIZE_CHUNKS, offsetof(struct pp_shape, chunks)},
    {"splits", PP_SIZE_SPLITS, offsetof(struct pp_shape, splits)},
    {"pipelines", PP_SIZE_PIPELINES, offsetof(struct pp_shape, pipelines)},
};
enum { SIZE_COUNT = PP_COUNT(SIZES) };

static unsigned bit_of(const char *name)
{
    for (int i = 0; i < SIZE_COUNT; i++)
        if (!strcmp(name, SIZES[i].name))
            return SIZES[i].bit;
    return 0;
}

/* Is true if the schedule lets the user choose the size or option of this name. */
static bool has_option(const struct pp_schedule *schedule, const char *name)
{
    return schedule->sizes & bit_of(name) || pp_schedule_option_at(schedule, name) >= 0;
}

static enum pp_status others_have_it(const char *name, struct pp_error *err)
{
    const char *separator = "";

    pp_error_append(err, "; schedules that have it: ");
    for (int i = 0; pp_schedules[i]; i++)
        if (has_option(pp_schedules[i], name)) {
            pp_error_append(err, "%s%s", separator, pp_schedules[i]->name);
            separator = ", ";
        }
    return PP_EINVAL;
}

/* Refuses an option that the schedule lacks, unless it is from a preset or for a list. */
static enum pp_status refuse(const struct pp_request *request, const char *name,
                             const struct pp_subject *subject, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];
    enum pp_origin origin;

    pp_request_get(request, name, &origin);
    if (subject->is_listed || origin == PP_FROM_PRESET)
        return PP_OK;
    pp_error_set(err, PP_EINVAL, "%s: %s has no such option",
                 pp_request_typed(request, name, typed), subject->schedule->name);
    return others_have_it(name, err);
}

/* Returns what the given name of a schedule means for an option; 0 = nothing. */
static int meant_value(const struct pp_subject *subject, int option)
{
    const struct pp_schedule_namesake *v = subject->schedule->namesakes;

    for (; v && v->alias && subject->alias; v++)
        if (v->option == option && pp_same_name(v->alias, subject->alias))
            return v->value;
    return 0;
}

static enum pp_status take_size(const struct pp_request *request, const struct size *size,
                                const struct pp_subject *subject, struct pp_shape *shape,
                                struct pp_error *err)
{
    enum pp_origin origin;
    const struct pp_schedule *schedule = subject->schedule;
    const struct pp_option_value *value = pp_request_get(request, size->name, &origin);
    const int fixed = size->bit == PP_SIZE_CHUNKS && schedule->chunks ? schedule->chunks : 1;
    char typed[PP_REQUEST_TYPED_BYTES];

    if (!value && size->bit == PP_SIZE_SPLITS)
        shape->splits = meant_value(subject, PP_SPLITS_AT);
    if (!value)
        return PP_OK;
    if (schedule->sizes & size->bit || schedule->programs) {
        *(int *)(void *)((char *)shape + size->offset) = (int)value->integer;
        return PP_OK;
    }
    if (value->integer == fixed)
        return PP_OK;
    if (fixed == 1 || subject->is_listed || origin == PP_FROM_PRESET)
        return refuse(request, size->name, subject, err);
    pp_error_set(err, PP_EINVAL, "%s: %s fixes it at %d",
                 pp_request_typed(request, size->name, typed), schedule->name, fixed);
    return others_have_it(size->name, err);
}

static enum pp_status take_option(const struct pp_request *request,
                                  const struct pp_schedule_option *option,
                                  const struct pp_subject *subject, struct pp_shape *shape,
                                  struct pp_error *err)
{
    const struct pp_option_value *value = pp_request_get(request, option->name, NULL);
    const int at = pp_schedule_option_at(subject->schedule, option->name);

    if (at >= 0)
        shape->option[at] = value ? (int)value->integer : meant_value(subject, at);
    else if (value && (option->choices || value->integer != option->neutral))
        return refuse(request, option->name, subject, err);
    return PP_OK;
}

/* Takes the shape of a file. Flags that repeat it are accepted; others are refused. */
static enum pp_status check_file_shape(const struct pp_request *request,
                                       const struct pp_program *file, struct pp_shape *shape,
                                       struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    *shape = pp_program_shape(file);
    const struct {
        const char *option;
        int value;
    } fixed[] = {{"pp", shape->ranks},
                 {"vp", shape->chunks},
                 {"micro-batches", shape->micro_batches},
                 {"splits", shape->splits},
                 {"pipelines", shape->pipelines}};
    for (size_t i = 0; i < PP_COUNT(fixed); i++) {
        enum pp_origin origin;
        const struct pp_option_value *value = pp_request_get(request, fixed[i].option, &origin);
        if (value && origin == PP_FROM_FLAG && value->integer != fixed[i].value)
            return pp_error_set(err, PP_EINVAL, "%s contradicts %s, which has %d",
                                pp_request_typed(request, fixed[i].option, typed), file->name,
                                fixed[i].value);
    }
    for (int i = 0; pp_schedule_option(i); i++) {
        const struct pp_schedule_option *option = pp_schedule_option(i);
        enum pp_origin origin;
        if (pp_request_get(request, option->name, &origin) && origin == PP_FROM_FLAG &&
            !option->goes_with_file)
            return pp_error_set(err, PP_EINVAL, "%s has no effect on a program file",
                                pp_request_typed(request, option->name, typed));
    }
    return PP_OK;
}

static bool splits_by_default(const struct pp_schedule *schedule)
{
    struct pp_shape any = {.ranks = 1, .chunks = 1, .micro_batches = 1};

    if (schedule->sizes & PP_SIZE_SPLITS && schedule->defaults)
        schedule->defaults(&any);
    return any.splits > 1;
}

/* Refuses another order of a continuous schedule; in a list, takes its strict order instead. */
static enum pp_status check_continuous(const struct pp_subject *subject,
                                       struct pp_selection *selection, struct pp_error *err)
{
    struct pp_order_choice *order = &selection->order;

    if (order->rule == PP_ORDER_STRICT || !subject->schedule || !subject->schedule->is_continuous)
        return PP_OK;
    if (!subject->is_listed)
        return pp_error_set(err, PP_EINVAL,
                            "--order %s: %s names a fixed number of weight versions, which only "
                            "its strict order keeps",
                            pp_order_rule_names[order->rule], subject->schedule->name);
    *order = (struct pp_order_choice){.rule = PP_ORDER_STRICT};
    return PP_OK;
}

/* Returns the bits of sizes and options that are not given, so that the tool chooses them. */
static unsigned open_options(const struct pp_request *request, const struct pp_schedule *schedule)
{
    unsigned open = 0;

    if (schedule->sizes & PP_SIZE_CHUNKS && !pp_request_has(request, "vp"))
        open |= PP_SIZE_CHUNKS;
    if (splits_by_default(schedule) && !pp_request_has(request, "splits"))
        open |= PP_SIZE_SPLITS;
    for (int k = 0; k < PP_SHAPE_OPTIONS && schedule->options[k]; k++)
        if (schedule->options[k]->is_explained &&
            !pp_request_has(request, schedule->options[k]->name))
            open |= PP_CHOSEN_OPTION << k;
    return open;
}

enum pp_status pp_select_shape(const struct pp_request *request, const struct pp_subject *subject,
                               struct pp_selection *selection, struct pp_error *err)
{
    const struct pp_schedule *schedule = subject->schedule;
    struct pp_shape *shape = &selection->shape;

    *selection = (struct pp_selection){0};
    PP_TRY(pp_order_read(pp_request_text(request, "order", "strict"), &selection->order, err));
    PP_TRY(check_continuous(subject, selection, err));
    if (subject->file)
        return check_file_shape(request, subject->file, shape, err);
    if (schedule->programs)
        shape->chunks = schedule->programs->chunks;
    else
        *shape = (struct pp_shape){.chunks = schedule->chunks ? schedule->chunks : 2,
                                   .pipelines = schedule->placement == PP_PLACE_TWO_WAY ? 2 : 1};
    for (int i = 0; i < SIZE_COUNT; i++)
        PP_TRY(take_size(request, &SIZES[i], subject, shape, err));
    for (int i = 0; pp_schedule_option(i); i++)
        PP_TRY(take_option(request, pp_schedule_option(i), subject, shape, err));
    pp_schedule_option_defaults(schedule, shape);
    selection->chosen = open_options(request, schedule);
    return PP_OK;
}

bool pp_select_drops(const struct pp_subject *subject, const char *option)
{
    const struct pp_schedule *schedule = subject->schedule;

    if (!schedule || !subject->is_listed)
        return false;
    if (bit_of(option))
        return !(schedule->sizes & bit_of(option));
    if (pp_schedule_option_find(option))
        return pp_schedule_option_at(schedule, option) < 0;
    if (!strcmp(option, "dialect")) /* letters of program files */
        return !schedule->programs;
    return !strcmp(option, "order") && schedule->is_continuous;
}
