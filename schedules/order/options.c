/* Options that single schedules declare: lookup by name, defaults, checks. */
#include "schedules/order/options.h"

#include "schedules/order/schedule.h"

#include <limits.h>
#include <string.h>

const struct pp_schedule_option pp_group_option = {
    .name = "group",
    .min = 1,
    .max = INT_MAX,
    .argument = "G",
    .default_text = "N / max(1, N div D)",
    .help = "Micro-batches that run through one chunk before the next chunk starts (interleaved). "
            "In the default N is --micro-batches and D is --pp.",
    .aliases = PP_NAMES("microbatch-group-size-per-virtual-pipeline-stage"),
    .after = "concat",
    .is_explained = true,
};

const struct pp_schedule_option pp_limit_option = {
    .name = "max-activations",
    .min = 1,
    .max = INT_MAX,
    .argument = "M",
    .help =
        "Memory limit of schedules that search: number of chunk activations that a rank may hold.",
    .after = "bfs-backward",
    .goes_with_file = true,
};

static const struct pp_schedule_option *row(const struct pp_schedule *schedule, int k)
{
    return schedule && k < PP_SHAPE_OPTIONS ? schedule->options[k] : NULL;
}

int pp_schedule_option_at(const struct pp_schedule *schedule, const char *name)
{
    for (int k = 0; row(schedule, k); k++)
        if (!strcmp(row(schedule, k)->name, name))
            return k;
    return -1;
}

int pp_schedule_option_value(const struct pp_schedule *schedule, const struct pp_shape *shape,
                             const char *name)
{
    const int at = pp_schedule_option_at(schedule, name);

    return at < 0 ? 0 : shape->option[at];
}

void pp_schedule_option_defaults(const struct pp_schedule *schedule, struct pp_shape *shape)
{
    for (int k = 0; row(schedule, k); k++)
        if (shape->option[k] == 0)
            shape->option[k] = row(schedule, k)->neutral;
}

enum pp_status pp_schedule_option_check(const struct pp_schedule *schedule,
                                        const struct pp_shape *shape, struct pp_error *err)
{
    for (int k = 0; k < PP_SHAPE_OPTIONS; k++) {
        const struct pp_schedule_option *option = schedule->options[k];
        if (!option && shape->option[k] != 0)
            return pp_error_set(err, PP_EINVAL, "option %d: %s does not have so many", k + 1,
                                schedule->name);
        if (!option)
            continue;
        if (shape->option[k] < 0 || shape->option[k] > option->max)
            return pp_error_set(err, PP_EINVAL, "--%s %d: must be between %d and %d", option->name,
                                shape->option[k], option->neutral, option->max);
    }
    return PP_OK;
}
