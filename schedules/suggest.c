#include "core/options.h"
#include "schedules/schedule.h"

const char *pp_schedule_suggest(const char *name)
{
    enum { NAMES = 512 };
    const char *names[NAMES];
    int count = 0;

    for (int i = 0; pp_schedules[i] != NULL && count < NAMES - 1; i++) {
        names[count++] = pp_schedules[i]->name;
        for (const char *const *alias = pp_schedules[i]->aliases; alias && *alias; alias++)
            if (count < NAMES - 1)
                names[count++] = *alias;
    }
    names[count] = NULL;
    return pp_suggest(name, names);
}
