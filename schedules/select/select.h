/* schedules/select/select.h — opens a schedule of the command line by name or file, and reads its
 * options. options.h declares the options. */
#pragma once

#include "core/cli/request.h"
#include "schedules/order/schedule.h"
#include "schedules/program/program.h"
#include "schedules/search/rule.h"

/* One schedule of a run: a registry row, or a program file already read. */
struct pp_subject {
    const struct pp_schedule *schedule; /* a row, or of programs from outside; NULL for a file */
    const struct pp_program *file;
    const char *name;  /* name in the registry, or the file as given */
    const char *alias; /* the name as given; NULL = that of the registry */
    bool is_listed;    /* one of several: options that it does not have are ignored */
};
/* Opens a registry name, or a program file: "-", or a name with a / or ending in .csv or .csv.gz.
 * A file name may have words in braces (schedules/select/source.h).
 * PP_EINVAL with a suggestion for an unknown name. --dialect gives the letters of a file. */
enum pp_status pp_subject_open(struct pp_arena *arena, const struct pp_request *request,
                               const char *name, struct pp_subject *subject, struct pp_error *err);
/* Opens also a command, "!COMMAND" (schedules/select/source.h). Call it only with what the user has
 * typed: a table or a saved report must not run commands. */
enum pp_status pp_subject_open_typed(struct pp_arena *arena, const struct pp_request *request,
                                     const char *name, struct pp_subject *subject,
                                     struct pp_error *err);
/* Cuts the first item off a comma list, and returns it without blanks before it; NULL at its end.
 * A command has commas only in quotes of the shell or after a backslash. Nothing else of the shell
 * is understood: $(a,b) and {a,b} are cut. */
char *pp_subject_next(char **list);
bool pp_subject_has_command(const char *list);
/* PP_EINVAL when --dialect is given and none of the subjects is a file. */
enum pp_status pp_subjects_check_dialect(const struct pp_request *request,
                                         const struct pp_subject *subjects, int count,
                                         struct pp_error *err);

struct pp_selection {
    struct pp_shape shape;
    struct pp_order_choice order; /* --order */
    unsigned chosen; /* bits of what is not given: PP_SIZE_*, and PP_CHOSEN_OPTION << k for option k
                        if it is explained */
};
enum { PP_CHOSEN_OPTION = 1 << 8 };
/* Reads the schedule's options. Ranks and micro-batches stay 0, except for a file, which has them.
 * Options that the schedule does not have are refused, unless they come from a preset or go to a
 * list. A continuous schedule in a list falls back to its strict order. */
enum pp_status pp_select_shape(const struct pp_request *request, const struct pp_subject *subject,
                               struct pp_selection *selection, struct pp_error *err);

/* Is true if a schedule of a list ignores this option, whatever its value. */
bool pp_select_drops(const struct pp_subject *subject, const char *option);
