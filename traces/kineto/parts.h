/* traces/kineto/parts.h — private to the folder: declarations that files of the reader share. Times
 * are whole nanoseconds of the process's own clock. */
#pragma once

#include "core/text/json_stream.h"
#include "traces/kineto/kineto.h"
#include "traces/messages.h"

enum pp_kineto_what { PP_KINETO_COMPUTE, PP_KINETO_MESSAGE, PP_KINETO_SUM, PP_KINETO_UPDATE };

/* Work of a range on one stream of the device. */
struct pp_kineto_extent {
    int64_t stream, start_ns, end_ns, busy_ns;
    struct pp_kineto_extent *next;
};

/* One range; its times are those on the host, then those on the device. */
struct pp_kineto_range {
    int64_t start_ns, end_ns;
    const char *cell; /* "U": an update, of all stages of that optimizer */
    enum pp_kineto_what what;
    bool is_fused;
    struct pp_op op;
    int step; /* number, -1: none */
    struct pp_kineto_extent *extents;
};

/* A range on the device, from the profiler. */
struct pp_kineto_drawn {
    const char *cell;
    int64_t stream, start_ns, end_ns;
};

/* One process. */
struct pp_kineto_file {
    const char *name;
    int rank; /* among all processes */
    bool has_rank, is_rank_of_name;
    const char *device;
    int64_t base_ns;
    struct pp_kineto_range *ranges; /* [count] by start on the host, then by time */
    int count, capacity;
    struct pp_kineto_drawn *drawn;
    int drawn_count, drawn_capacity;
    struct pp_kineto_range *windows; /* by start; `step` is N of ProfilerStep#N */
    int window_count, window_capacity;
    int64_t element_count;
    int unknown_count;         /* names of no known op */
    const char *unknown;       /* one of them */
    int lost_count;            /* ranges without a time on the device */
    bool is_of_host, is_drawn; /* sources of the times of ranges */
    int *steps;                /* [step_count] numbers of whole steps, ascending */
    int step_count, partial_count;
    int first_stage, pipeline_rank, replica;
    int64_t shift_ns; /* correction of its clock */
};

/* Adds a note for readers of the trace, a sentence. */
void pp_kineto_note(struct pp_arena *arena, struct pp_kineto *run, const char *text);
/* Parses an element; PP_EINVAL with file and place if it is no object. To be json_decref()ed. */
enum pp_status pp_kineto_parse(const char *name, const struct pp_json_piece *piece, json_t **object,
                               struct pp_error *err);
/* ts and dur of a slice, as start and end; PP_EINVAL, without a name, if one is missing. */
enum pp_status pp_kineto_times(json_t *slice, int64_t *start_ns, int64_t *end_ns,
                               struct pp_error *err);
/* For qsort, of pointers to ranges of one array: by cell, then by address. */
int pp_kineto_by_cell(const void *left, const void *right);

/* Reads one file, or its content if `bytes` has it. Keeps only ranges, in `arena`. */
enum pp_status pp_kineto_file_read(struct pp_arena *arena, const char *name,
                                   const struct pp_bytes *bytes, struct pp_kineto_file *file,
                                   struct pp_error *err);

/* Replaces the times of the host by those of the device. */
enum pp_status pp_kineto_find_device(struct pp_json_stream *stream, struct pp_kineto_file *file,
                                     struct pp_error *err);

/* Finds rank and replica of each process; moves files of incomplete replicas past `*count`. */
enum pp_status pp_kineto_find_ranks(struct pp_arena *arena, struct pp_kineto *run,
                                    struct pp_kineto_file *files, int *count, struct pp_error *err);

struct pp_kineto_message {
    struct pp_message_end end;
    int file;
    struct pp_kineto_range *range;
};
/* The ends of all messages; the two ends of one are neighbours. */
struct pp_kineto_message *pp_kineto_messages(struct pp_arena *arena,
                                             const struct pp_kineto_file *files, int file_count,
                                             int *count);
static inline bool pp_kineto_is_pair(const struct pp_kineto_message *m)
{
    return pp_message_is_same(&m[0].end, &m[1].end) && !m[0].end.is_recv && m[1].end.is_recv;
}
/* Sets shifts of clocks that messages contradict; returns the remaining error in seconds, or 0. */
double pp_kineto_align(struct pp_arena *arena, struct pp_kineto *run, struct pp_kineto_file *files,
                       int file_count, const struct pp_kineto_message *messages, int count);
