/* --schedule: a name, a comma list, "all", or a program file. */
#include "sim/commands.h"
#include "sim/resolve.h"

#include <string.h>

static bool is_file(const char *name)
{
    const size_t length = strlen(name);

    return strchr(name, '/') || !strcmp(name, "-") ||
           (length > 4 && !strcmp(name + length - 4, ".csv")) ||
           (length > 7 && !strcmp(name + length - 7, ".csv.gz"));
}

static enum pp_status open_one(struct pp_arena *arena, const struct pp_request *request,
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
        const char *near = pp_schedule_suggest(name);
        pp_error_set(err, PP_EINVAL, "--schedule %s: unknown schedule", name);
        if (near)
            pp_error_append(err, "; did you mean %s?", near);
        return pp_error_append(
            err,
            "\n  pipesim schedules lists them; a program file ends in .csv or has a / in its name");
    }
    subject->name = subject->schedule->name;
    return PP_OK;
}

static enum pp_status open_all(struct pp_arena *arena, struct pp_subject **subjects, int *count)
{
    int capacity = 0;

    for (int i = 0; pp_schedules[i]; i++)
        *PP_PUSH(arena, *subjects, *count, capacity) = (struct pp_subject){
            .schedule = pp_schedules[i], .name = pp_schedules[i]->name, .is_listed = true};
    return PP_OK;
}

static enum pp_status no_schedule(struct pp_error *err)
{
    pp_error_set(err, PP_EINVAL, "--schedule is needed: ");
    for (int i = 0; pp_schedules[i]; i++)
        pp_error_append(err, "%s%s", i ? ", " : "", pp_schedules[i]->name);
    return pp_error_append(
        err, ", all, or a program file\n  try: pipesim --schedule chimera --gpus 2048");
}

enum pp_status pp_subjects_open(struct pp_arena *arena, const struct pp_request *request,
                                struct pp_subject **subjects, int *count, struct pp_error *err)
{
    const char *text = pp_request_text(request, "schedule", NULL);
    int capacity = 0;

    *subjects = NULL;
    *count = 0;
    if (!text)
        return no_schedule(err);
    if (!strcmp(text, "all"))
        return open_all(arena, subjects, count);
    char *names = pp_arena_strdup(arena, text);
    for (char *name = names, *next; name; name = next) {
        next = strchr(name, ',');
        if (next)
            *next++ = '\0';
        struct pp_subject *subject = PP_PUSH(arena, *subjects, *count, capacity);
        PP_TRY(open_one(arena, request, name, subject, err));
        for (int i = 0; i < *count - 1; i++)
            if (!strcmp((*subjects)[i].name, subject->name))
                return pp_error_set(err, PP_EINVAL, "--schedule %s names %s twice", text,
                                    subject->name);
    }
    for (int i = 0; *count > 1 && i < *count; i++)
        (*subjects)[i].is_listed = true;
    const struct pp_option_value *dialect = pp_options_get(&pp_sim_cli, request->flags, "dialect");
    bool has_file = false;
    for (int i = 0; i < *count; i++)
        has_file = has_file || (*subjects)[i].file;
    if (dialect->count && !has_file)
        return pp_error_set(err, PP_EINVAL, "%s has no effect: no program file is read",
                            dialect->typed);
    return PP_OK;
}
