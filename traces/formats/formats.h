/* traces/formats/formats.h — traces as files: CSV, Chrome/Perfetto JSON, Paje. Strings and events
 * of a read trace are in the arena. */
#pragma once

#include "traces/trace.h"

#include <stdio.h>

/* CSV (libcsv). If ranks have separate clocks, the first line is "# clock_error_s: X". The columns
 * are step,rank,replica,stream,cell,posted_s,matched_s,start_s,end_s,duration_s,bytes,program_hash
 * The stream is weights if a W ran concurrently with the rank's other compute. Numbers are %.17g,
 * and empty without a meaning. A control op is a point in time. posted_s is when the rank arrives,
 * start_s = end_s when it continues, and the duration is 0. Errors of the stream are sticky. */
void pp_trace_print_csv(const struct pp_trace *trace, FILE *out);
/* Chrome/Perfetto JSON, names "PP:<cell>", a process per rank and replica, a thread per stream.
 * Where "ts" and "dur", whole picoseconds, do not hold an event's times to the bit, its arguments
 * have start_s and end_s, too. */
void pp_trace_print_chrome(const struct pp_trace *trace, FILE *out);
/* Paje for ViTE and pajeng: a container per rank and replica, in it one per stream; ops as states
 * with their cells, messages as links. Times are in picoseconds, too. It cannot be read again. */
void pp_trace_print_paje(const struct pp_trace *trace, FILE *out);
/* PP_EINVAL unless the name ends in one of these. */
#define PP_TRACE_NAMES ".csv, .csv.gz, .json, .json.gz, .paje, .paje.gz, .trace or .trace.gz"
enum pp_status pp_trace_check_name(const char *path, struct pp_error *err);
/* Writes a trace in the format of the suffix; ".gz" compresses. PP_EFAIL leaves no file. Formats
 * other than CSV refuse times above PP_TRACE_LONGEST_S. */
#define PP_TRACE_LONGEST_S 4e6
enum pp_status pp_trace_write(const struct pp_trace *trace, const char *path, struct pp_error *err);
/* Writes all traces or none. The paths are of different files. */
enum pp_status pp_trace_write_all(const struct pp_trace *const *traces, const char *const *paths,
                                  int count, struct pp_error *err);
/* Strict: a wrong header, number, cell, stream, order or hash is PP_EINVAL with name:line. */
enum pp_status pp_trace_parse_csv(struct pp_arena *arena, const char *name, const char *text,
                                  size_t length, struct pp_trace **trace, struct pp_error *err);
/* Reads JSON of pp_trace_print_chrome(); other Chrome traces, and more than 128 MiB of text, are
 * PP_EINVAL with file and event. Waits that took no time are not in it; all other times are those
 * written. */
enum pp_status pp_trace_parse_chrome(struct pp_arena *arena, const char *name, const char *text,
                                     size_t length, struct pp_trace **trace, struct pp_error *err);
/* PP_EINVAL for a trace in Paje's format, which cannot be read again. */
enum pp_status pp_trace_refuse_paje(const char *name, const char *text, struct pp_error *err);
/* Reads CSV or JSON, which begins with '{'. "-" is stdin, ".gz" is decompressed. */
enum pp_status pp_trace_read(struct pp_arena *arena, const char *path, struct pp_trace **trace,
                             struct pp_error *err);
