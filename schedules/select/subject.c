/* --schedule: one name or one program file. */
#include "schedules/select/select.h"

#include "core/text/file.h"
#include "schedules/registry.h"
#include "schedules/select/source.h"

#include <string.h>

static bool is_file(const char *name)
{
    return strchr(name, '/') || !strcmp(name, "-") || pp_has_suffix(name, ".csv") ||
           pp_has_suffix(name, ".csv.gz");
}

static enum pp_status open_file(struct pp_arena *arena, const struct pp_request *request,
                                const char *name, struct pp_subject *subject, struct pp_error *err)
{
    const struct pp_option_value *value = pp_request_get(request, "dialect", NULL);
    const enum pp_dialect dialect = value ? (enum pp_dialect)value->integer : PP_DIALECT_2025;
    struct pp_program *program;

    if (pp_source_has_words(name))
        return pp_source_open(arena, name, dialect, &subject->schedule, err);
    PP_TRY(pp_source_is_command(name) ? pp_source_read(arena, name, dialect, &program, err)
                                      : pp_program_read(arena, name, dialect, &program, err));
    subject->file = program;
    return PP_OK;
}

enum pp_status pp_subject_open_typed(struct pp_arena *arena, const struct pp_request *request,
                                     const char *name, struct pp_subject *subject,
                                     struct pp_error *err)
{
    *subject = (struct pp_subject){.name = name};
    return pp_source_is_command(name) ? open_file(arena, request, name, subject, err)
                                      : pp_subject_open(arena, request, name, subject, err);
}

enum pp_status pp_subject_open(struct pp_arena *arena, const struct pp_request *request,
                               const char *name, struct pp_subject *subject, struct pp_error *err)
{
    *subject = (struct pp_subject){.name = name};
    if (pp_source_is_command(name))
        return pp_error_set(err, PP_EINVAL,
                            "--schedule %s: a command runs only if the command line names it",
                            name);
    if (is_file(name))
        return open_file(arena, request, name, subject, err);
    subject->schedule = pp_schedule_find(name);
    if (!subject->schedule) {
        pp_error_set(err, PP_EINVAL, "--schedule %s: unknown schedule", name);
        pp_schedule_unknown(err, name);
        return pp_error_append(err, "\n  pipesim schedules describes them; a program file ends in "
                                    ".csv or has a / in its name");
    }
    subject->name = subject->schedule->name;
    subject->alias = name;
    return PP_OK;
}

/* Finds the comma that ends a command: one that the shell does not see in quotes or after a
 * backslash. NULL if there is none. */
static char *command_end(char *at)
{
    char quote = '\0';

    for (; *at && (quote || *at != ','); at++) {
        if (*at == '\\' && quote != '\'' && at[1])
            at++;
        else if (quote ? *at == quote : *at == '\'' || *at == '"')
            quote = quote ? '\0' : *at;
    }
    return *at ? at : NULL;
}

char *pp_subject_next(char **list)
{
    char *item = *list, *end = NULL;

    if (!item)
        return NULL;
    item += strspn(item, " ");
    end = pp_source_is_command(item) ? command_end(item) : strchr(item, ',');
    if (end)
        *end++ = '\0';
    *list = end;
    return item;
}

bool pp_subject_has_command(const char *list)
{
    return pp_source_is_command(list) || strstr(list, ",!");
}

enum pp_status pp_subjects_check_dialect(const struct pp_request *request,
                                         const struct pp_subject *subjects, int count,
                                         struct pp_error *err)
{
    const struct pp_option_value *dialect = pp_options_get(request->flags, "dialect");

    for (int i = 0; i < count; i++)
        if (subjects[i].file || (subjects[i].schedule && subjects[i].schedule->programs))
            return PP_OK;
    if (!dialect->count)
        return PP_OK;
    return pp_error_set(err, PP_EINVAL, "%s has no effect: no program file is read",
                        dialect->typed);
}
