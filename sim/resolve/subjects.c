/* Parses --schedule: a name, a comma list, "all", or a program file. */
#include "sim/resolve/mode.h"
#include "sim/resolve/resolve.h"

#include "schedules/registry.h"
#include "sim/cli/cli.h"

#include <string.h>

/* Is true if the number of devices follows from what is given. */
static bool has_devices(const struct pp_wish *wish)
{
    return wish->given.gpus.count || wish->given.tp.count || wish->given.pp.count ||
           wish->given.dp.count || wish->given.cp.count || wish->given.unit.count ||
           (wish->cluster && strstr(wish->cluster, "node:"));
}

static enum pp_status add_try(struct pp_arena *arena, const struct pp_parsed *command,
                              const char *before, struct pp_error *err)
{
    return pp_error_append(err, "%s\n  try: %s", before,
                           pp_command_lines(arena, pp_command_words(arena, command), 80, 7));
}

/* Lists the schedules, and tries the command with one that runs at any size; a sweep with all.
 * Options of generation need no schedule, but their mode. */
static enum pp_status no_schedule(struct pp_arena *arena, const struct pp_wish *wish,
                                  struct pp_error *err)
{
    struct pp_parsed *command = pp_command_copy(arena, wish->request.flags);
    const bool has_lists = command->cli->commands[command->command].takes_lists,
               has_shape = wish->given.unit.count || command->command == PP_CMD_PROGRAM;

    if (has_shape && !wish->given.pp.count)
        pp_command_set(arena, command, "pp", "4", NULL);
    if (pp_resolve_mode_check(wish, err) != PP_OK) {
        pp_command_set(arena, command, "mode", "infer", NULL);
        return add_try(arena, command, "", err);
    }
    pp_command_set(arena, command, "schedule", has_lists ? "all" : "1f1b", NULL);
    if (has_shape && !wish->given.micro_batches.count)
        pp_command_set(arena, command, "micro-batches", "8", NULL);
    if (!has_shape && !has_devices(wish))
        pp_command_set(arena, command, "gpus", "8", NULL);
    pp_error_set(err, PP_EINVAL, "--schedule is needed: ");
    for (int i = 0; pp_schedules[i]; i++)
        pp_error_append(err, "%s%s", i ? ", " : "", pp_schedules[i]->name);
    return add_try(arena, command, ", all, or a program file", err);
}

/* Returns the schedule as typed. Generation has a default, also over that of a preset. */
static const char *text_of(const struct pp_wish *wish)
{
    const bool is_typed = wish->given.schedule.origin == PP_FROM_FLAG;

    return pp_wish_generates(wish) && !is_typed ? pp_generators[0]->name : wish->schedule;
}

enum pp_status pp_subjects_open(struct pp_arena *arena, const struct pp_wish *wish,
                                struct pp_subject **subjects, int *count, struct pp_error *err)
{
    const char *text = text_of(wish);
    const struct pp_schedule *const *all = pp_wish_generates(wish) ? pp_generators : pp_schedules;
    int capacity = 0;

    *subjects = NULL;
    *count = 0;
    if (!text)
        return no_schedule(arena, wish, err);
    if (!strcmp(text, "all")) {
        for (int i = 0; all[i]; i++)
            *PP_PUSH(arena, *subjects, *count, capacity) = (struct pp_subject){
                .schedule = all[i], .name = all[i]->name, .is_listed = all[1] != NULL};
        return PP_OK;
    }
    char *names = pp_arena_strdup(arena, text);
    for (char *name; (name = pp_subject_next(&names)) != NULL;) {
        struct pp_subject *subject = PP_PUSH(arena, *subjects, *count, capacity);
        const enum pp_status status =
            pp_subject_open_typed(arena, &wish->request, name, subject, err);
        if (status != PP_OK && pp_subject_has_command(text) && strcmp(name, text) != 0)
            pp_error_append(err,
                            "\n  a comma ends a command, unless it is in quotes or after a \\");
        PP_TRY(status);
        for (int i = 0; i < *count - 1; i++)
            if (!strcmp((*subjects)[i].name, subject->name))
                return pp_error_set(err, PP_EINVAL, "--schedule %s names %s twice", text,
                                    subject->name);
    }
    for (int i = 0; *count > 1 && i < *count; i++)
        (*subjects)[i].is_listed = true;
    return pp_subjects_check_dialect(&wish->request, *subjects, *count, err);
}
