/* Parses --schedule: a name, a comma list, "all", or a program file. */
#include "sim/resolve/resolve.h"

#include "schedules/registry.h"

#include <string.h>

static enum pp_status no_schedule(struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "--schedule is needed: ");
    for (int i = 0; pp_schedules[i]; i++)
        pp_error_append(err, "%s%s", i ? ", " : "", pp_schedules[i]->name);
    return pp_error_append(
        err, ", all, or a program file\n  try: pipesim --schedule chimera --gpus 2048");
}

enum pp_status pp_subjects_open(struct pp_arena *arena, const struct pp_wish *wish,
                                struct pp_subject **subjects, int *count, struct pp_error *err)
{
    const char *text = wish->schedule;
    int capacity = 0;

    *subjects = NULL;
    *count = 0;
    if (!text)
        return no_schedule(err);
    if (!strcmp(text, "all")) {
        for (int i = 0; pp_schedules[i]; i++)
            *PP_PUSH(arena, *subjects, *count, capacity) = (struct pp_subject){
                .schedule = pp_schedules[i], .name = pp_schedules[i]->name, .is_listed = true};
        return PP_OK;
    }
    char *names = pp_arena_strdup(arena, text);
    for (char *name; (name = pp_subject_next(&names)) != NULL;) {
        struct pp_subject *subject = PP_PUSH(arena, *subjects, *count, capacity);
        PP_TRY(pp_subject_open_typed(arena, &wish->request, name, subject, err));
        for (int i = 0; i < *count - 1; i++)
            if (!strcmp((*subjects)[i].name, subject->name))
                return pp_error_set(err, PP_EINVAL, "--schedule %s names %s twice", text,
                                    subject->name);
    }
    for (int i = 0; *count > 1 && i < *count; i++)
        (*subjects)[i].is_listed = true;
    return pp_subjects_check_dialect(&wish->request, *subjects, *count, err);
}
