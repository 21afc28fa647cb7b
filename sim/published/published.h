/* sim/published/published.h — compares published measurements with predictions.
 *
 * A row of a table becomes a command line with the options that a user would type. It is resolved
 * and simulated like any other. Cells named metric_* are the measurements, which no other code
 * reads. The tables of words.c translate cells that are not plain numbers. */
#pragma once

#include "sim/config/config.h"

/* ---- rows: sim/published/read.c -------------------------------------------------------------- */

/* Columns by name, in any order: those of columns.h, their aliases in names.c, and options of a
 * run. Others are ignored, with a hint. */
enum pp_measure_column {
#define PP_COLUMN(name, text, least, most) PP_COL_##name,
#include "sim/published/columns.h"
#undef PP_COLUMN
    PP_MEASURE_COLUMNS
};
extern const char *const pp_measure_columns[PP_MEASURE_COLUMNS]; /* "id", "family", ... */

struct pp_option;
struct pp_measure_given {
    const struct pp_option *option;
    const char *value; /* printable, never empty */
};

struct pp_measurement {
    const char *file;
    int line;
    const char *cell[PP_MEASURE_COLUMNS]; /* printable; "" if empty or missing */
    struct pp_measure_given *given;       /* [given_count] options in columns of their own */
    int given_count;
    bool is_generation;       /* of a run that generates: prompt_tokens, new_tokens */
    bool is_sweep;            /* a row of a sweep: `given` is all of its configuration */
    const char *id, *family;  /* from cells, else "FILE:LINE" and the file's name; never empty */
    double step_s, mem_bytes; /* published; NAN = not */
    bool is_out_of_memory;    /* published as such */
    bool is_computed;         /* its figures are formulas of its authors: nothing ran */
    bool is_own;              /* of a table that does not say which rows are complete */
    bool is_complete;         /* every knob is stated */
    const char *constants;    /* file of --constants for its command; NULL = none */
    const char *refused;      /* metric_* cells that are no measurement, in words; NULL = none */
    const char *defect;       /* why the row cannot be read; NULL = it can */
};
struct pp_measurements {
    struct pp_measurement *rows;
    int count, capacity;
    const char **hints; /* ignored columns: name, line, column, and the name that it nearly has */
    int hint_count, hint_capacity;
};

/* Appends the rows of a table. PP_EINVAL with name:line for a text that is no CSV, and for a header
 * without any column of a configuration. A row with other fields than the header has a defect. */
enum pp_status pp_measurements_parse(struct pp_arena *arena, const char *name, const char *text,
                                     size_t length, struct pp_measurements *list,
                                     struct pp_error *err);
/* Appends the rows of a file; PP_EFAIL if it cannot be read. */
enum pp_status pp_measurements_read(struct pp_arena *arena, const char *path,
                                    struct pp_measurements *list, struct pp_error *err);

/* Returns "ID, FILE:LINE", or the latter alone for a row without an id of its own. */
const char *pp_measurement_place(struct pp_arena *arena, const struct pp_measurement *row);
/* Prints a table to fill: comments, header, two rows that are predicted. */
void pp_measurements_template(FILE *out);

/* ---- numbers: sim/published/numbers.c -------------------------------------------------------- */

/* Reads "16" or "16.0", in [1, most]; `fallback` if empty. PP_EINVAL with column and cell. */
enum pp_status pp_measure_int(const struct pp_measurement *row, enum pp_measure_column column,
                              int64_t most, int64_t fallback, int64_t *value, struct pp_error *err);
/* Returns a positive number in the column's range; NAN if the cell is empty or has none. */
double pp_measure_number(const struct pp_measurement *row, enum pp_measure_column column);
/* PP_EINVAL, with column and cell, if a cell of a number in the configuration has other text. */
enum pp_status pp_measure_check_numbers(struct pp_arena *arena, const struct pp_measurement *row,
                                        struct pp_error *err);
/* Returns the metric_* cells that are no numbers, in words; NULL if all are. */
const char *pp_measure_refused(struct pp_arena *arena, const struct pp_measurement *row);

/* ---- what was published: sim/published/metric.c ---------------------------------------------- */

/* Fills refused, mem_bytes, and step_s: from its own cell, else from tokens per second. */
void pp_measure_metrics(struct pp_arena *arena, struct pp_measurement *row);
/* Returns the published seconds of a step: step_s, else from a rate of flops that its source
 * defines beyond doubt, else NAN. */
double pp_measure_step_s(const struct pp_measurement *row, const struct pp_config *config);

enum pp_measure_memory {
    PP_MEASURE_DEVICE,   /* nvidia-smi: all memory in use on the device */
    PP_MEASURE_RESERVED, /* held by the allocator */
    PP_MEASURE_TENSORS,  /* of tensors: max_memory_allocated, and analytic values */
};
extern const char *const pp_measure_memory_words[]; /* what each counts, in words */
/* Returns the kind of memory that the row publishes, by its words. */
enum pp_measure_memory pp_measure_memory_of(const struct pp_measurement *row);
/* Returns the memory of that kind in a result. */
double pp_measure_memory_bytes(const struct pp_measurement *row, const struct pp_result *result);

/* ---- from a row to a request: sim/published/words.c, model.c, request.c ---------------------- */

enum { PP_MEASURE_WORDS = 192, PP_MEASURE_NOTES = 12 };
struct pp_measure_command {
    int argc;
    char *argv[PP_MEASURE_WORDS]; /* "pipesim", "run", "--schedule", "1f1b", ... */
    int note_count;
    const char *notes[PP_MEASURE_NOTES]; /* conclusions beyond the stated cells, with reasons */
    const char *inferred;                /* "mbs 1": settings that no cell states; NULL = none */
};

/* Option for a cell. The first match wins. */
struct pp_measure_rule {
    enum pp_measure_column column;
    const char *pattern; /* "=x": is x; "^x": begins with x; "x": has x; "<x": a number below x; "":
                          * is empty; "*": any; "x|y": x or y. Case is ignored */
    const char *option, *value; /* as typed; value NULL: nothing is typed */
    const char *reason;         /* of a conclusion; NULL = the cell says so */
};
bool pp_measure_matches(const char *cell, const char *pattern);

/* Makes the command line of a row. PP_EINVAL with a reason, for cells that are missing, unknown or
 * contradict each other: such a row is skipped. */
enum pp_status pp_measure_command(struct pp_arena *arena, const struct pp_measurement *row,
                                  struct pp_measure_command *command, struct pp_error *err);
/* ---- for a shell: sim/published/command.c ---------------------------------------------------- */

/* Returns the command for a shell, in lines of at most `width` columns where words allow. Each but
 * the last ends in a backslash. `indent` columns are already printed before the first line; the
 * others are indented so. */
const char *pp_measure_command_lines(struct pp_arena *arena,
                                     const struct pp_measure_command *command, int width,
                                     int indent);

/* ---- predictions: sim/published/predict.c ---------------------------------------------------- */

/* Resolved row: all that does not depend on constants. */
struct pp_measure_case {
    const struct pp_measurement *row;
    struct pp_measure_command command; /* argc 0: there is none */
    const char *skipped;               /* why there is no prediction; NULL = there is one */
    const char *refused;               /* refused published figures, and why; NULL = none */
    double step_s;                     /* published; NAN = not */
    struct pp_config config;
};
/* Resolves a row; one that cannot be resolved is skipped with the reason. */
void pp_measure_case_open(struct pp_arena *arena, const struct pp_measurement *row,
                          struct pp_measure_case *out);

/* Resolves a command like a typed one. */
enum pp_status pp_measure_resolve(struct pp_arena *arena, const struct pp_measure_command *command,
                                  struct pp_config *config, struct pp_error *err);
/* Returns the first line of an error, as the reason to skip a row. */
const char *pp_measure_reason(struct pp_arena *arena, const struct pp_error *err);

/* Figures of runs that generate: sim/published/generation.c. */
enum pp_generation_figure {
    PP_GENERATION_LATENCY, /* seconds of the whole batch */
    PP_GENERATION_RATE,    /* tokens a second of all sequences */
    PP_GENERATION_FIRST,   /* seconds to the first token */
    PP_GENERATION_TOKEN,   /* seconds of each later one */
    PP_GENERATION_MEMORY,  /* bytes */
    PP_GENERATION_FIGURES
};
extern const char *const pp_generation_keys[PP_GENERATION_FIGURES];  /* "latency_s", ... */
extern const char *const pp_generation_names[PP_GENERATION_FIGURES]; /* "latency", ... */
/* Fills what a row publishes; NAN = nothing. */
void pp_generation_published(const struct pp_measurement *row,
                             double figures[PP_GENERATION_FIGURES]);
/* Fills what is predicted of a result with times; NAN = nothing. */
enum pp_status pp_generation_predicted(struct pp_arena *arena, const struct pp_result *result,
                                       double figures[PP_GENERATION_FIGURES], struct pp_error *err);

struct pp_row_prediction {
    double step_s;
    double mem_bytes;        /* of the kind that the row publishes */
    double model_flops;      /* of a step, on all devices */
    double peak_flops_per_s; /* of a device, at its precision */
    bool fits;
};
struct pp_row_prediction pp_measure_prediction(const struct pp_measurement *row,
                                               const struct pp_result *result);
