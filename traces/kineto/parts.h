/* traces/kineto/parts.h — what the files of the reader share. Private to this folder. Times
 * are whole nanoseconds of the process's own clock. */
#pragma once

#include "core/text/json_stream.h"
#include "traces/kineto/kineto.h"
#include "traces/messages.h"

enum pp_kineto_what { PP_KINETO_COMPUTE, PP_KINETO_MESSAGE, PP_KINETO_SUM, PP_KINETO_UPDATE };

/* What a range has run on one stream of the device. */
struct pp_kineto_extent {
    int64_t stream, start_ns, end_ns, busy_ns;
    struct pp_kineto_extent *next;
};

/* One range; first on the host, then when it ran. */
struct pp_kineto_range {
    int64_t start_ns, end_ns;
    const char *cell; /* "U": an update, of whatever that optimizer has */
    enum pp_kineto_what what;
    bool is_fused;
    struct pp_op op;
    int step; /* number, -1: of none */
    struct pp_kineto_extent *extents;
};

/* A range that the profiler has drawn on the device. */
struct pp_kineto_drawn {
    const char *cell;
    int64_t stream, start_ns, end_ns;
};

/* One process. */
struct pp_kineto_file {
    const char *name;
    int rank; /* of all processes */
    bool has_rank, is_rank_of_name;
    const char *device;
    int64_t base_ns;
    struct pp_kineto_range *ranges; /* [count] by start on the host, then in the order of time */
    int count, capacity;
    struct pp_kineto_drawn *drawn;
    int drawn_count, drawn_capacity;
    struct pp_kineto_range *windows; /* by start; `step` is N of ProfilerStep#N */
    int window_count, window_capacity;
    int64_t element_count;
    int unknown_count;         /* names of no known op */
    const char *unknown;       /* one of them */
    int lost_count;            /* ranges without a time on the device */
    bool is_of_host, is_drawn; /* where the times of ranges come from */
    int *steps;                /* [step_count] numbers, ascending; those in whole */
    int step_count, partial_count;
    int first_stage, pipeline_rank, replica;
    int64_t shift_ns; /* to be added to its clock */
};

/* ---- traces/kineto/slice.c ---- */
/* For those who read the trace: a sentence. */
void pp_kineto_note(struct pp_arena *arena, struct pp_kineto *run, const char *text);
/* Parse an element that is an object; a piece that is none is PP_EINVAL with the file and its
 * place. To be released with json_decref(). */
enum pp_status pp_kineto_parse(const char *name, const struct pp_json_piece *piece, json_t **object,
                               struct pp_error *err);
/* ts and dur of a slice, as start and end; PP_EINVAL, without a name, where it has none. */
enum pp_status pp_kineto_times(json_t *slice, int64_t *start_ns, int64_t *end_ns,
                               struct pp_error *err);
/* For qsort, of pointers to ranges of one array: by cell, then in their order. */
int pp_kineto_by_cell(const void *left, const void *right);

/* ---- traces/kineto/process.c ---- */
/* Read one file, or its content where `bytes` has it. Ranges that lie in `arena` are all that is
 * kept. */
enum pp_status pp_kineto_file_read(struct pp_arena *arena, const char *name,
                                   const struct pp_bytes *bytes, struct pp_kineto_file *file,
                                   struct pp_error *err);

/* ---- traces/kineto/device.c ---- */
/* Put the times of the device in place of those of the host. */
enum pp_status pp_kineto_find_device(struct pp_json_stream *stream, struct pp_kineto_file *file,
                                     struct pp_error *err);

/* ---- traces/kineto/ranks.c ---- */
/* Find the pipeline rank and replica of each process; files that belong to no whole replica are
 * moved past `*count`. */
enum pp_status pp_kineto_find_ranks(struct pp_arena *arena, struct pp_kineto *run,
                                    struct pp_kineto_file *files, int *count, struct pp_error *err);

/* ---- traces/kineto/clock.c ---- */
struct pp_kineto_message {
    struct pp_message_end end;
    int file;
    struct pp_kineto_range *range;
};
/* The ends of all messages, the two of each next to each other. */
struct pp_kineto_message *pp_kineto_messages(struct pp_arena *arena,
                                             const struct pp_kineto_file *files, int file_count,
                                             int *count);
static inline bool pp_kineto_is_pair(const struct pp_kineto_message *m)
{
    return pp_message_is_same(&m[0].end, &m[1].end) && !m[0].end.is_recv && m[1].end.is_recv;
}
/* Set the shifts of clocks that messages contradict. Returns by how much two clocks may still be
 * apart, seconds; 0 where no message says. */
double pp_kineto_align(struct pp_arena *arena, struct pp_kineto *run, struct pp_kineto_file *files,
                       int file_count, const struct pp_kineto_message *messages, int count);
