/* Schedule options: which the chosen schedule has, which it fixes, which it refuses. */
#include "schedules/select/select.h"

#include "core/units.h"
#include "schedules/registry.h"

#include <stddef.h>
#include <string.h>

/* Options that shape an order, in one table: the bit a schedule names, the field it sets. */
struct shape_option {
    const char *name;
    unsigned bit;
    size_t offset;
    int neutral; /* the value that changes nothing */
};
static const struct shape_option SHAPE_OPTIONS[] = {
    {"vp", PP_OPT_CHUNKS, offsetof(struct pp_shape, chunks), 1},
    {"group", PP_OPT_GROUP, offsetof(struct pp_shape, group), 0},
    {"extra-warmup", PP_OPT_WARMUP, offsetof(struct pp_shape, extra_warmup), 0},
    {"splits", PP_OPT_SPLITS, offsetof(struct pp_shape, splits), 1},
    {"depth-first", PP_OPT_DEPTH, offsetof(struct pp_shape, depth_first), 1},
    {"max-activations", PP_OPT_MEMORY, offsetof(struct pp_shape, max_activations), 0},
    {"pipelines", PP_OPT_PIPELINES, offsetof(struct pp_shape, pipelines), 1},
};
enum { SHAPE_OPTION_COUNT = sizeof(SHAPE_OPTIONS) / sizeof(*SHAPE_OPTIONS) };

static enum pp_status others_have_it(unsigned bit, struct pp_error *err)
{
    const char *separator = "";

    pp_error_append(err, "; schedules that have it: ");
    for (int i = 0; pp_schedules[i]; i++)
        if (pp_schedules[i]->options & bit) {
            pp_error_append(err, "%s%s", separator, pp_schedules[i]->name);
            separator = ", ";
        }
    return PP_EINVAL;
}

static enum pp_status no_such_option(const struct pp_request *request, const char *option,
                                     unsigned bit, const char *schedule, struct pp_error *err)
{
    char typed[PP_REQUEST_TYPED_BYTES];

    pp_error_set(err, PP_EINVAL, "%s: %s has no such option",
                 pp_request_typed(request, option, typed), schedule);
    return others_have_it(bit, err);
}

/* The value to which a schedule without the option is fixed. */
static int fixed_value(const struct shape_option *option, const struct pp_schedule *schedule)
{
    if (option->bit == PP_OPT_CHUNKS && schedule->chunks)
        return schedule->chunks;
    return option->neutral;
}

static enum pp_status take_option(const struct pp_request *request,
                                  const struct shape_option *option,
                                  const struct pp_subject *subject, struct pp_shape *shape,
                                  struct pp_error *err)
{
    enum pp_origin origin;
    const struct pp_option_value *value = pp_request_get(request, option->name, &origin);
    int *field = (int *)(void *)((char *)shape + option->offset);

    if (!value)
        return PP_OK;
    const int fixed = fixed_value(option, subject->schedule);
    char typed[PP_REQUEST_TYPED_BYTES];
    if (subject->schedule->options & option->bit) {
        *field = (int)value->integer;
        return PP_OK;
    }
    if (subject->is_listed || origin == PP_FROM_PRESET || value->integer == fixed)
        return PP_OK;
    if (fixed != option->neutral) {
        pp_error_set(err, PP_EINVAL, "%s: %s fixes it at %d",
                     pp_request_typed(request, option->name, typed), subject->schedule->name,
                     fixed);
        return others_have_it(option->bit, err);
    }
    return no_such_option(request, option->name, option->bit, subject->schedule->name, err);
}

static enum pp_status take_choices(const struct pp_request *request,
                                   const struct pp_subject *subject, struct pp_shape *shape,
                                   struct pp_error *err)
{
    enum pp_origin origin;
    const struct pp_option_value *backward = pp_request_get(request, "bfs-backward", &origin);

    if (backward && subject->schedule->options & PP_OPT_BACKWARD)
        shape->backward_descending = backward->integer == 1;
    else if (backward && !subject->is_listed && origin == PP_FROM_FLAG)
        return no_such_option(request, "bfs-backward", PP_OPT_BACKWARD, subject->schedule->name,
                              err);
    const struct pp_option_value *concat = pp_request_get(request, "concat", &origin);
    if (concat && subject->schedule->options & PP_OPT_CONCAT)
        shape->concat = concat->integer;
    else if (concat && !subject->is_listed && origin == PP_FROM_FLAG)
        return no_such_option(request, "concat", PP_OPT_CONCAT, subject->schedule->name, err);
    return PP_OK;
}

/* A file brings its own shape; flags that repeat it are accepted. */
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
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
        enum pp_origin origin;
        const struct pp_option_value *value = pp_request_get(request, fixed[i].option, &origin);
        if (value && origin == PP_FROM_FLAG && value->integer != fixed[i].value)
            return pp_error_set(err, PP_EINVAL, "%s contradicts %s, which has %d",
                                pp_request_typed(request, fixed[i].option, typed), file->name,
                                fixed[i].value);
    }
    static const char *const ORDER_OPTIONS[] = {"group", "extra-warmup", "depth-first",
                                                "bfs-backward", "concat"};
    for (size_t i = 0; i < sizeof(ORDER_OPTIONS) / sizeof(*ORDER_OPTIONS); i++) {
        enum pp_origin origin;
        if (pp_request_get(request, ORDER_OPTIONS[i], &origin) && origin == PP_FROM_FLAG)
            return pp_error_set(err, PP_EINVAL, "%s has no effect on a program file",
                                pp_request_typed(request, ORDER_OPTIONS[i], typed));
    }
    return PP_OK;
}

static enum pp_status take_order(const struct pp_request *request, struct pp_selection *selection,
                                 struct pp_error *err)
{
    static const char EAGER[] = "eager";
    const size_t length = sizeof(EAGER) - 1;
    const char *text = pp_request_text(request, "order", "strict");
    int64_t limit = 0;

    selection->is_eager = !strncmp(text, EAGER, length);
    const char *rest = selection->is_eager ? text + length : text;
    if (selection->is_eager ? *rest && (*rest != ':' || pp_units_parse_int(rest + 1, 1, 1 << 24,
                                                                           &limit, err) != PP_OK)
                            : strcmp(text, "strict") != 0)
        return pp_error_set(err, PP_EINVAL,
                            "--order %s: expected strict, eager, or eager:LIMIT with a limit of 1 "
                            "or more chunk activations, such as eager:4",
                            text);
    selection->eager_limit = (int)limit;
    return PP_OK;
}

static bool splits_by_default(const struct pp_schedule *schedule)
{
    struct pp_shape any = {.ranks = 1, .chunks = 1, .micro_batches = 1};

    if (schedule->options & PP_OPT_SPLITS && schedule->defaults)
        schedule->defaults(&any);
    return any.splits > 1;
}

/* A continuous schedule has a fixed number of weight versions. */
static enum pp_status check_continuous(const struct pp_subject *subject,
                                       struct pp_selection *selection, struct pp_error *err)
{
    if (!selection->is_eager || !subject->schedule || !subject->schedule->is_continuous)
        return PP_OK;
    if (!subject->is_listed)
        return pp_error_set(err, PP_EINVAL,
                            "--order eager: %s names a fixed number of weight versions, which only "
                            "its strict order keeps",
                            subject->schedule->name);
    selection->is_eager = false;
    return PP_OK;
}

/* What the tool will choose, because nobody did. */
static unsigned open_options(const struct pp_request *request, const struct pp_schedule *schedule)
{
    static const struct {
        const char *name;
        unsigned bit;
    } OPEN[] = {{"vp", PP_OPT_CHUNKS},
                {"group", PP_OPT_GROUP},
                {"splits", PP_OPT_SPLITS},
                {"concat", PP_OPT_CONCAT}};
    unsigned open = 0;

    for (size_t i = 0; i < sizeof(OPEN) / sizeof(*OPEN); i++)
        if (schedule->options & OPEN[i].bit && !pp_request_has(request, OPEN[i].name) &&
            (OPEN[i].bit != PP_OPT_SPLITS || splits_by_default(schedule)))
            open |= OPEN[i].bit;
    return open;
}

enum pp_status pp_select_shape(const struct pp_request *request, const struct pp_subject *subject,
                               struct pp_selection *selection, struct pp_error *err)
{
    const struct pp_schedule *schedule = subject->schedule;
    struct pp_shape *shape = &selection->shape;

    *selection = (struct pp_selection){0};
    PP_TRY(take_order(request, selection, err));
    PP_TRY(check_continuous(subject, selection, err));
    if (subject->file)
        return check_file_shape(request, subject->file, shape, err);
    *shape = (struct pp_shape){.chunks = schedule->chunks ? schedule->chunks : 2,
                               .pipelines = schedule->placement == PP_PLACE_TWO_WAY ? 2 : 1,
                               .depth_first = 1};
    for (int i = 0; i < SHAPE_OPTION_COUNT; i++)
        PP_TRY(take_option(request, &SHAPE_OPTIONS[i], subject, shape, err));
    PP_TRY(take_choices(request, subject, shape, err));
    selection->chosen = open_options(request, schedule);
    return PP_OK;
}

bool pp_select_drops(const struct pp_subject *subject, const char *option)
{
    const struct pp_schedule *schedule = subject->schedule;

    if (!schedule || !subject->is_listed)
        return false;
    for (int i = 0; i < SHAPE_OPTION_COUNT; i++)
        if (!strcmp(option, SHAPE_OPTIONS[i].name))
            return !(schedule->options & SHAPE_OPTIONS[i].bit);
    if (!strcmp(option, "bfs-backward"))
        return !(schedule->options & PP_OPT_BACKWARD);
    if (!strcmp(option, "concat"))
        return !(schedule->options & PP_OPT_CONCAT);
    if (!strcmp(option, "dialect")) /* letters of program files */
        return true;
    return !strcmp(option, "order") && schedule->is_continuous;
}
