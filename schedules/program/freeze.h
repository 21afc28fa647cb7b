/* schedules/program/freeze.h — types and steps of freezing and reading; private to this folder. */
#pragma once

#include "schedules/program/program.h"

#include <stdbool.h>

/* Limits of one program; a larger one is refused with a message. */
enum {
    PP_MAX_RANKS = UINT16_MAX,
    PP_MAX_STAGES = UINT16_MAX,
    PP_MAX_PIPELINES = UINT16_MAX,
    PP_MAX_GRANULES = 1 << 24,    /* ids of one program */
    PP_MAX_PATHS = 1 << 26,       /* pipelines * stages */
    PP_MAX_PROGRAM_OPS = 1 << 29, /* all ranks together */
};

/* A subset of a program's instructions: rank r has at[begin[r]] .. at[begin[r + 1] - 1]. */
struct pp_subset {
    int32_t *at, *begin;
};

struct pp_freeze {
    struct pp_arena *arena, *scratch; /* scratch is freed when freezing ends */
    const struct pp_program_head *head;
    const struct pp_orders *lists;
    struct pp_program *p;
    struct pp_error *err;
    struct pp_subset messages, collectives; /* SENDs and RECVs; instructions of the reduce stream */
    int32_t *other_posts;                   /* [rank]: posts other than messages */
    int wait_count;
};

/* PP_EPROGRAM with the place of instruction i and the text. The place is `file:line:column` or
 * `rank r, instruction k (cell)`. */
enum pp_status pp_freeze_error(const struct pp_freeze *f, int i, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Checks and stores the instructions of a rank. Call it for ascending ranks. */
enum pp_status pp_freeze_ops(struct pp_freeze *f, int rank);     /* freeze_ops.c */
enum pp_status pp_freeze_channels(const struct pp_freeze *f);    /* freeze_link.c */
enum pp_status pp_freeze_collectives(const struct pp_freeze *f); /* freeze_groups.c */
enum pp_status pp_freeze_waits(const struct pp_freeze *f);       /* freeze_link.c */
/* passes.c: refuses passes that do not fit the other sizes and the placement. */
enum pp_status pp_freeze_check_passes(const struct pp_program_head *head, struct pp_error *err);

enum pp_meta_size {
    PP_META_RANKS,
    PP_META_STAGES,
    PP_META_PIPELINES,
    PP_META_MICRO_BATCHES,
    PP_META_GRANULES,
    PP_META_SPLITS,
    PP_META_VERSIONS,
    PP_META_PASSES,
    PP_META_SIZES
};
extern const char *const pp_meta_size_names[PP_META_SIZES];

struct pp_meta {
    bool is_given; /* the file names the format */
    const char *schedule;
    int level, mode;                                /* -1 = not given */
    int sizes[PP_META_SIZES], lines[PP_META_SIZES]; /* 0 = not given */
    const uint16_t *rank_of;                        /* [pipeline * stages + stage], or NULL */
    const uint16_t *pipe_of;                        /* [granule id], or NULL */
    struct pp_program_state state;
    int placement_line, state_line;
};
void pp_program_meta_print(const struct pp_program *p, FILE *out);
/* `comments` are rows with one field, as from pp_csv_parse(). */
struct pp_csv;
enum pp_status pp_program_meta_parse(struct pp_arena *arena, const char *file,
                                     const struct pp_csv *comments, struct pp_meta *meta,
                                     struct pp_error *err);

/* State of a read in progress; the steps fill `head`. */
struct pp_reading {
    struct pp_arena *arena, *scratch;
    const char *file;
    struct pp_orders *lists;
    int32_t **line, **column; /* parallel to the lists */
    struct pp_meta meta;
    struct pp_program_head head;
    struct pp_error *err;
};
/* PP_EPROGRAM with `file:line:column: cell` of one instruction, and the text. */
enum pp_status pp_reading_error(const struct pp_reading *reading, int rank, int position,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Sets sizes, level and mode of the head (read_sizes.c). */
enum pp_status pp_reading_sizes(struct pp_reading *reading);
/* Sets placement and pipelines of the head (read_infer.c). */
enum pp_status pp_reading_placement(struct pp_reading *reading);
