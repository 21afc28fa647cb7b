/* schedules/select/select.h — a schedule of the command line: its name or file opened, its options
 * taken. The options themselves: options.h. */
#pragma once

#include "core/cli/request.h"
#include "schedules/order/schedule.h"
#include "schedules/program/program.h"

/* One schedule of a run: a registry row, or a program file already read. */
struct pp_subject {
    const struct pp_schedule *schedule; /* NULL for a file */
    const struct pp_program *file;
    const char *name; /* of the registry, or the file as given */
    bool is_listed;   /* one of several: options that it does not have are dropped */
};
/* A name, or a program file: it ends in .csv, has a / in its name, or is "-". PP_EINVAL with a
 * suggestion for an unknown name; reads a file with the letters of --dialect. */
enum pp_status pp_subject_open(struct pp_arena *arena, const struct pp_request *request,
                               const char *name, struct pp_subject *subject, struct pp_error *err);
/* PP_EINVAL when --dialect is given and none of the subjects is a file. */
enum pp_status pp_subjects_check_dialect(const struct pp_request *request,
                                         const struct pp_subject *subjects, int count,
                                         struct pp_error *err);

struct pp_selection {
    struct pp_shape shape;
    bool is_eager;   /* --order eager */
    int eager_limit; /* chunk activations, 0 = no limit */
    unsigned chosen; /* bits of what is not given: PP_SIZE_*, and PP_CHOSEN_OPTION << k for option k
                      * of the schedule where it is explained */
};
enum { PP_CHOSEN_OPTION = 1 << 8 };
/* The schedule's options; ranks and micro-batches are left at 0 except for a file, which brings
 * them. What the schedule does not have is refused, unless it comes from a preset or goes to a
 * list. A continuous schedule in a list falls back to its strict order. */
enum pp_status pp_select_shape(const struct pp_request *request, const struct pp_subject *subject,
                               struct pp_selection *selection, struct pp_error *err);

/* Whether a schedule of a list does not look at this option, whatever its value. */
bool pp_select_drops(const struct pp_subject *subject, const char *option);
