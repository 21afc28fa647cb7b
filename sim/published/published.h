/* sim/published/published.h — published measurements held against predictions.
 *
 * A row of a table becomes a command line with the options that a user would type. It is then
 * resolved and simulated like any other. Cells named metric_* are the measurements, which no
 * other code reads. The tables of words.c translate what is not a plain number. */
#pragma once

#include "sim/config/config.h"

/* ---- rows: sim/published/read.c ---- */

/* Columns by name, in any order; others are ignored. */
enum pp_measure_column {
#define PP_COLUMN(name, text, least, most) PP_COL_##name,
#include "sim/published/columns.h"
#undef PP_COLUMN
    PP_MEASURE_COLUMNS
};
extern const char *const pp_measure_columns[PP_MEASURE_COLUMNS]; /* "id", "family", ... */

struct pp_measurement {
    const char *file;
    int line;
    const char *cell[PP_MEASURE_COLUMNS]; /* printable; "" where empty or the column is missing */
    const char *id, *family;  /* of the cells, else "FILE:LINE" and "none": never empty */
    double step_s, mem_bytes; /* published; NAN = not */
    bool is_out_of_memory;    /* published as such */
    bool is_computed;         /* its figures are its authors' formulas: nothing ran */
    bool is_complete;         /* every knob is stated */
    const char *refused;      /* metric_* cells that are no measurement, in words; NULL = none */
    const char *defect;       /* why the row cannot be read, NULL = it can */
};
struct pp_measurements {
    struct pp_measurement *rows;
    int count, capacity;
    const char **hints; /* columns that are ignored, but may be misspelt: name, line and
                         * column */
    int hint_count, hint_capacity;
};

/* Append the rows of a table. PP_EINVAL with name:line for what is no CSV, and for a header without
 * any column of a configuration. A row whose fields are not those of the header has a defect. */
enum pp_status pp_measurements_parse(struct pp_arena *arena, const char *name, const char *text,
                                     size_t length, struct pp_measurements *list,
                                     struct pp_error *err);
/* The same from a file; one that cannot be read is PP_EFAIL. */
enum pp_status pp_measurements_read(struct pp_arena *arena, const char *path,
                                    struct pp_measurements *list, struct pp_error *err);

/* ---- numbers: sim/published/numbers.c ---- */

/* A whole number in [1, most] ("16", "16.0"); `fallback` for an empty cell. PP_EINVAL with the
 * column and the cell. */
enum pp_status pp_measure_int(const struct pp_measurement *row, enum pp_measure_column column,
                              int64_t most, int64_t fallback, int64_t *value, struct pp_error *err);
/* A positive number that such a column can hold, NAN for an empty cell or what is none. */
double pp_measure_number(const struct pp_measurement *row, enum pp_measure_column column);
/* PP_EINVAL with column and cell where a number of the configuration is filled with none. */
enum pp_status pp_measure_check_numbers(struct pp_arena *arena, const struct pp_measurement *row,
                                        struct pp_error *err);
/* The same of all metric_* cells, in words; NULL where nothing is refused. */
const char *pp_measure_refused(struct pp_arena *arena, const struct pp_measurement *row);

/* ---- what was published: sim/published/metric.c ---- */

/* Fill step_s, mem_bytes and refused from the metric_* cells: the step time, else from tokens per
 * second. */
void pp_measure_metrics(struct pp_arena *arena, struct pp_measurement *row);
/* Published seconds of a step: step_s, else from a rate of flops where the source says beyond doubt
 * which flops it counts, else NAN. */
double pp_measure_step_s(const struct pp_measurement *row, const struct pp_config *config);

enum pp_measure_memory {
    PP_MEASURE_DEVICE,   /* nvidia-smi: all that is taken on the device */
    PP_MEASURE_RESERVED, /* what the allocator holds */
    PP_MEASURE_TENSORS,  /* what tensors take: max_memory_allocated, and analytic values */
};
extern const char *const pp_measure_memory_words[]; /* what each counts, for people */
/* What a published memory of this row would count, by its words. */
enum pp_measure_memory pp_measure_memory_of(const struct pp_measurement *row);
/* The same of a result. */
double pp_measure_memory_bytes(const struct pp_measurement *row, const struct pp_result *result);

/* ---- from a row to a request: sim/published/words.c, model.c, request.c ---- */

enum { PP_MEASURE_WORDS = 96, PP_MEASURE_NOTES = 12 };
struct pp_measure_command {
    int argc;
    char *argv[PP_MEASURE_WORDS]; /* "pipesim", "run", "--schedule", "1f1b", ... */
    int note_count;
    const char *notes[PP_MEASURE_NOTES]; /* what was concluded rather than stated, and why */
};

/* The words for one cell or rule. First match wins. */
struct pp_measure_rule {
    enum pp_measure_column column;
    const char *pattern; /* "=x": the cell is x; "^x": it begins with x; "x": x is in it; "": the
                          * cell is empty; "*": any; "x|y": x or y. Case is ignored */
    const char *option, *value; /* what is typed; value NULL = nothing to type */
    const char *reason;         /* of a conclusion from other cells; NULL = the cell says so */
};
bool pp_measure_matches(const char *cell, const char *pattern);

/* The command line of a row. PP_EINVAL with a reason in words when cells are missing, contradict
 * each other or say what is not known: such a row is skipped. */
enum pp_status pp_measure_command(struct pp_arena *arena, const struct pp_measurement *row,
                                  struct pp_measure_command *command, struct pp_error *err);
/* ---- for a shell: sim/published/command.c ---- */

/* For a shell, in lines of at most `width` columns where words allow; each but the last ends with
 * a backslash. The first begins after `indent` columns already printed; the others are
 * indented so. */
const char *pp_measure_command_lines(struct pp_arena *arena,
                                     const struct pp_measure_command *command, int width,
                                     int indent);

/* ---- predictions: sim/published/predict.c ---- */

/* A row, resolved: all that does not depend on constants. */
struct pp_measure_case {
    const struct pp_measurement *row;
    struct pp_measure_command command; /* argc 0: there is none */
    const char *skipped;               /* why there is no prediction; NULL = there is one */
    const char *refused;               /* of the published figures, and why; NULL = none */
    double step_s;                     /* published; NAN = not */
    struct pp_config config;
};
/* Resolve a row; one that cannot be is skipped with the reason. */
void pp_measure_case_open(struct pp_arena *arena, const struct pp_measurement *row,
                          struct pp_measure_case *out);

/* The first line of an error, as the reason for which a row is skipped. */
const char *pp_measure_reason(struct pp_arena *arena, const struct pp_error *err);

struct pp_row_prediction {
    double step_s;
    double mem_bytes;        /* of what the published number counts */
    double model_flops;      /* of a step, all devices */
    double peak_flops_per_s; /* of a device, of the precision */
    bool fits;
};
struct pp_row_prediction pp_measure_prediction(const struct pp_measurement *row,
                                               const struct pp_result *result);
