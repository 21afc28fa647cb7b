/* traces/trace.h — what happened when: the same table from every engine and every backend.
 * traces know ops, not schedules. Lives in an arena. Times are seconds. */
#ifndef PP_TRACES_TRACE_H
#define PP_TRACES_TRACE_H

#include "core/arena.h"
#include "core/error.h"
#include "core/op.h"
#include "traces/about.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct pp_trace_event {
    int step, rank, replica;
    uint8_t kind;   /* enum pp_op_kind; a fused pair is one event of kind PP_F with fused set */
    uint8_t target; /* WAIT: kind waited for */
    uint8_t is_fused;
    uint8_t is_beside;          /* W that ran beside the other compute of its rank */
    uint8_t stream;             /* enum pp_stream */
    const char *cell;           /* "0F3", "(0F3;3B5)OVERLAP_F_B", "(1RECV_F0)WAIT" */
    double posted_s, matched_s; /* NAN where they mean nothing */
    double start_s, end_s;
    double bytes;
    double tp_s, cp_s, ep_s, gather_s, copy_s; /* shares of a compute event (not written to CSV) */
    double forward_frac; /* fused pair: share of it that counts as forward; NAN = not known (not
                          * written to CSV) */
    int waits_for;       /* WAIT: index of the event waited for in the trace, else -1 (not written
                          * to CSV, found again by reading) */
};

struct pp_trace {
    const char *program; /* name */
    uint64_t program_hash;
    const char *engine;                 /* "dag", "simgrid", "cpu", ... */
    const struct pp_trace_about *about; /* of a real run; NULL: nobody says (not written to CSV) */
    int ranks, replicas, steps;
    bool is_partial; /* of another program, that records some kinds of ops and no program (not
                      * written) */
    const char *const *notes; /* what a reader must know of how it was read: sentences, ended by
                               * NULL; NULL: none (not written) */
    double clock_error_s;     /* stamps of two ranks may be so far apart; 0: on one clock */
    struct pp_trace_event *events; /* by replica, rank, order of the list; a list that holds several
                                    * steps has them by turns. A WAIT has the step of what it waits
                                    * for */
    int count;
};

/* CSV (libcsv): where ranks have clocks of their own "# clock_error_s: X" first, then
 * step,rank,replica,stream,cell,posted_s,matched_s,start_s,end_s,duration_s,bytes,program_hash;
 * stream is weights where a W ran beside the rank's other compute; numbers %.17g, empty where they
 * mean nothing. A control op is a point in time:
 * posted_s when the rank arrives, start_s = end_s when it goes on, duration 0.
 * Errors of the stream are sticky. */
void pp_trace_print_csv(const struct pp_trace *trace, FILE *out);
/* Chrome/Perfetto JSON, names "PP:<cell>", one process per rank and replica, one thread per stream.
 */
void pp_trace_print_chrome(const struct pp_trace *trace, FILE *out);
/* Paje for ViTE and pajeng: a container per rank and replica, in it one per stream; ops as states
 * with their cells, messages as links. Of picoseconds, too. It cannot be read again. */
void pp_trace_print_paje(const struct pp_trace *trace, FILE *out);
/* PP_EINVAL unless the name ends in one of these. */
#define PP_TRACE_NAMES ".csv, .csv.gz, .json, .json.gz, .paje, .paje.gz, .trace or .trace.gz"
enum pp_status pp_trace_check_name(const char *path, struct pp_error *err);
/* By suffix; ".gz" compresses. On failure no file is left behind (PP_EFAIL). */
enum pp_status pp_trace_write(const struct pp_trace *trace, const char *path, struct pp_error *err);
/* Several that belong together: all of them or none. The paths lead to different files. */
enum pp_status pp_trace_write_all(const struct pp_trace *const *traces, const char *const *paths,
                                  int count, struct pp_error *err);
/* Strict: a wrong header, number, cell, stream, order or hash is PP_EINVAL with file:line. */
enum pp_status pp_trace_read_csv(struct pp_arena *arena, const char *path, struct pp_trace **trace,
                                 struct pp_error *err);
/* The same from memory; `name` stands in messages. */
enum pp_status pp_trace_parse_csv(struct pp_arena *arena, const char *name, const char *text,
                                  size_t length, struct pp_trace **trace, struct pp_error *err);
/* A trace in the JSON that pp_trace_print_chrome() writes; other Chrome traces, and more than 128
 * MiB of text, are PP_EINVAL with file and event. What is not drawn is not there: waits that took
 * no time. Times are whole picoseconds, exact up to 9,000 s. */
enum pp_status pp_trace_parse_chrome(struct pp_arena *arena, const char *name, const char *text,
                                     size_t length, struct pp_trace **trace, struct pp_error *err);
/* PP_EINVAL for the text of a trace in Paje's format, which cannot be read again. */
enum pp_status pp_trace_refuse_paje(const char *name, const char *text, struct pp_error *err);
/* Either, by content: a file that begins with '{' is JSON. "-" is stdin, ".gz" is decompressed. */
enum pp_status pp_trace_read(struct pp_arena *arena, const char *path, struct pp_trace **trace,
                             struct pp_error *err);
/* Set `waits_for` of every WAIT from the cells of its list; PP_EINVAL when it waits for what was
 * not posted before it. */
enum pp_status pp_trace_link_waits(struct pp_arena *arena, struct pp_trace *trace,
                                   struct pp_error *err);

#endif
