/* The list of schedules. */
#include "schedules/registry.h"

#include <stdbool.h>

#define PP_SCHEDULE(name) extern const struct pp_schedule pp_schedule_##name;
#define PP_GENERATOR      PP_SCHEDULE
#include "schedules/rows.h"
#undef PP_GENERATOR
#undef PP_SCHEDULE

const struct pp_schedule *const pp_schedules[] = {
#define PP_SCHEDULE(name) &pp_schedule_##name,
#include "schedules/rows.h"
#undef PP_SCHEDULE
    NULL,
};
const struct pp_schedule *const pp_generators[] = {
#define PP_GENERATOR(name) &pp_schedule_##name,
#include "schedules/rows.h"
#undef PP_GENERATOR
    NULL,
};

enum {
    TRAINING = sizeof pp_schedules / sizeof *pp_schedules - 1,
    ALL = TRAINING + sizeof pp_generators / sizeof *pp_generators - 1,
};

/* Returns the i-th schedule of both lists, or NULL. */
static const struct pp_schedule *schedule_at(int i)
{
    return i < TRAINING ? pp_schedules[i] : i < ALL ? pp_generators[i - TRAINING] : NULL;
}

const char *pp_schedule_name(int i)
{
    return i < ALL ? schedule_at(i)->name : NULL;
}

/* Is true if an earlier schedule has the same option. */
static bool is_repeated(int schedule, const struct pp_schedule_option *option)
{
    for (int i = 0; i < schedule; i++)
        if (pp_schedule_option_at(pp_schedules[i], option->name) >= 0)
            return true;
    return false;
}

const struct pp_schedule_option *pp_schedule_option(int i)
{
    for (int s = 0; pp_schedules[s]; s++)
        for (int k = 0; k < PP_SHAPE_OPTIONS && pp_schedules[s]->options[k]; k++)
            if (!is_repeated(s, pp_schedules[s]->options[k]) && i-- == 0)
                return pp_schedules[s]->options[k];
    return NULL;
}

const struct pp_schedule_option *pp_schedule_option_find(const char *name)
{
    for (int s = 0; pp_schedules[s]; s++) {
        const int at = pp_schedule_option_at(pp_schedules[s], name);
        if (at >= 0)
            return pp_schedules[s]->options[at];
    }
    return NULL;
}

const struct pp_schedule *pp_schedule_find(const char *name)
{
    for (int i = 0; i < ALL; i++) {
        const struct pp_schedule *schedule = schedule_at(i);

        if (pp_same_name(name, schedule->name))
            return schedule;
        for (const char *const *alias = schedule->aliases; alias && *alias; alias++)
            if (pp_same_name(name, *alias))
                return schedule;
    }
    return NULL;
}

enum { NAMES = 512 };

static void list_names(bool has_aliases, const char *names[NAMES])
{
    int count = 0;

    for (int i = 0; i < ALL && count < NAMES - 1; i++) {
        const char *const *alias = has_aliases ? schedule_at(i)->aliases : NULL;
        names[count++] = schedule_at(i)->name;
        for (; alias && *alias && count < NAMES - 1; alias++)
            names[count++] = *alias;
    }
    names[count] = NULL;
}

const char *pp_schedule_suggest(const char *name)
{
    const char *names[NAMES];

    list_names(true, names);
    return pp_suggest(name, names);
}

enum pp_status pp_schedule_unknown(struct pp_error *err, const char *name)
{
    const char *names[NAMES];

    list_names(pp_schedule_suggest(name) != NULL, names);
    return pp_suggest_or_list(err, name, names);
}
