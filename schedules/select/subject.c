/* --schedule: one name or one program file. */
#include "schedules/select/select.h"

#include "core/text/file.h"
#include "schedules/registry.h"

#include <string.h>

static bool is_file(const char *name)
{
    return strchr(name, '/') || !strcmp(name, "-") || pp_has_suffix(name, ".csv") ||
           pp_has_suffix(name, ".csv.gz");
}

enum pp_status pp_subject_open(struct pp_arena *arena, const struct pp_request *request,
                               const char *name, struct pp_subject *subject, struct pp_error *err)
{
    *subject = (struct pp_subject){.name = name};
    if (is_file(name)) {
        const struct pp_option_value *dialect = pp_request_get(request, "dialect", NULL);
        struct pp_program *program;
        PP_TRY(pp_program_read(arena, name,
                               dialect ? (enum pp_dialect)dialect->integer : PP_DIALECT_2025,
                               &program, err));
        subject->file = program;
        return PP_OK;
    }
    subject->schedule = pp_schedule_find(name);
    if (!subject->schedule) {
        pp_error_set(err, PP_EINVAL, "--schedule %s: unknown schedule", name);
        pp_schedule_unknown(err, name);
        return pp_error_append(err, "\n  pipesim schedules describes them; a program file ends in "
                                    ".csv or has a / in its name");
    }
    subject->name = subject->schedule->name;
    return PP_OK;
}

enum pp_status pp_subjects_check_dialect(const struct pp_request *request,
                                         const struct pp_subject *subjects, int count,
                                         struct pp_error *err)
{
    const struct pp_option_value *dialect = pp_options_get(request->flags, "dialect");

    for (int i = 0; i < count; i++)
        if (subjects[i].file)
            return PP_OK;
    if (!dialect->count)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s has no effect: no program file is read",
                        dialect->typed);
}
