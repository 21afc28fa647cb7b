/* schedules/program_private.h — shared by program*.c alone. */
#ifndef PP_SCHEDULES_PROGRAM_PRIVATE_H
#define PP_SCHEDULES_PROGRAM_PRIVATE_H

#include "schedules/program.h"

/* Limits of one program; more is refused with a clear message. */
enum {
    PP_MAX_RANKS = UINT16_MAX,
    PP_MAX_STAGES = UINT16_MAX,
    PP_MAX_PIPELINES = UINT16_MAX,
    PP_MAX_GRANULES = 1 << 24,    /* ids of one program */
    PP_MAX_PATHS = 1 << 26,       /* pipelines * stages */
    PP_MAX_PROGRAM_OPS = 1 << 29, /* all ranks together */
};

/* A freeze in progress: what the steps share. */
struct pp_freeze {
    struct pp_arena *arena, *scratch; /* scratch is gone when freezing ends */
    const struct pp_program_head *head;
    const struct pp_orders *lists;
    struct pp_program *p;
    struct pp_error *err;
};

/* PP_EPROGRAM: "file:line:column: " or "rank r, instruction k (cell): " and the text. */
enum pp_status pp_freeze_error(const struct pp_freeze *f, int rank, int position,
                               const char *format, ...) __attribute__((format(printf, 4, 5)));

enum pp_status pp_freeze_channels(const struct pp_freeze *f);    /* program_link.c */
enum pp_status pp_freeze_collectives(const struct pp_freeze *f); /* program_link.c */
enum pp_status pp_freeze_waits(const struct pp_freeze *f);       /* program_link.c */

/* FNV-1a of the text form (program_text.c). */
uint64_t pp_program_text_hash(const struct pp_program *p);

#endif
