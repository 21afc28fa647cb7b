/* sim/validate/validate.h — predicts many rows, and sums up the errors. */
#pragma once

#include "sim/published/published.h"

struct pp_validation_row {
    const struct pp_measurement *row;
    const char *skipped;  /* why there is no prediction; NULL = there is one */
    const char *inferred; /* "mbs 1": settings that no cell states; NULL = none. Such rows count
                           * apart, in no other figure */
    const char *refused;  /* published cells that are no measurement; NULL = none */
    const char *device;   /* "a100" */
    const char *schedule; /* "1f1b" */
    const char *precision, *framework;
    const char *use; /* "h100, PP > 1, several nodes" */
    int pp;
    bool is_multi_node, is_mixture; /* has more devices than a node; has experts */
    double step_s;                  /* published; NAN = not */
    struct pp_row_prediction prediction;
    double error_frac, mem_error_frac; /* predicted / published - 1; NAN if one is missing */
    double mfu;                        /* published: model flops / (step * peak * devices) */
    double baseline_error_frac;        /* of one MFU for all, the median of the other families */
    bool is_generation;                /* of a run that generates, which counts in no other error */
    double published[PP_GENERATION_FIGURES], predicted[PP_GENERATION_FIGURES];
    bool is_figure; /* the row publishes one figure, and counts in no other error */
    const struct pp_figure_metric *figure; /* NULL: its metric is not known */
    double figure_published, figure_predicted;
    bool is_report; /* its source says too little to judge it */
};
struct pp_validation {
    struct pp_validation_row *rows;
    int count;
};

/* Predicts all rows. Predictions and texts live in the arena. */
void pp_validation_run(struct pp_arena *arena, const struct pp_measurements *list,
                       struct pp_validation *validation);
/* Predicts one row; `result` (may be NULL) lives in the arena. */
void pp_validation_predict(struct pp_arena *arena, const struct pp_measure_case *open,
                           struct pp_validation_row *row, struct pp_result *result);
/* Prints the command of a row, its prediction and its errors; with details, how each value came. */
enum pp_status pp_validation_print_row(struct pp_arena *arena, const struct pp_measurement *row,
                                       bool has_details, FILE *out, struct pp_error *err);
/* Fills baseline_error_frac of all rows. */
void pp_validation_baseline(struct pp_arena *arena, struct pp_validation *validation);

typedef bool (*pp_validation_filter)(const struct pp_validation_row *row);
bool pp_validation_is_figure(const struct pp_validation_row *row);     /* predicted, one figure */
bool pp_validation_is_generation(const struct pp_validation_row *row); /* predicted, generates */
bool pp_validation_is_complete(const struct pp_validation_row *row);   /* every knob, no experts */
bool pp_validation_is_pipelined(const struct pp_validation_row *row);  /* complete, with PP > 1 */
bool pp_validation_is_incomplete(const struct pp_validation_row *row); /* predicted, not complete */
bool pp_validation_is_any(const struct pp_validation_row *row);        /* predicted, no inferred */
bool pp_validation_is_inferred(const struct pp_validation_row *row);   /* predicted, inferred */

struct pp_validation_errors {
    int n;
    double median_abs, p90_abs, mean_abs; /* of |error_frac| */
    double bias;                          /* median of error_frac */
};
struct pp_validation_group {
    const char *name;
    struct pp_validation_errors time, memory, baseline;
    double mfu; /* of families, for the baseline */
};
enum pp_validation_key {
    PP_BY_FAMILY,
    PP_BY_DEVICE,
    PP_BY_SCHEDULE,
    PP_BY_PRECISION,
    PP_BY_FRAMEWORK,
    PP_BY_USE,
    PP_VALIDATION_KEYS
};
extern const char *const pp_validation_key_names[PP_VALIDATION_KEYS];

/* Returns all rows that pass the filter as one group. */
struct pp_validation_group pp_validation_all(struct pp_arena *arena,
                                             const struct pp_validation *validation,
                                             pp_validation_filter filter, const char *name);
/* Returns a group for each value of the key, in the order of rows. */
struct pp_validation_group *pp_validation_by(struct pp_arena *arena,
                                             const struct pp_validation *validation,
                                             pp_validation_filter filter,
                                             enum pp_validation_key key, int *count);
/* Returns the median over families of median errors of complete rows with a time, or NAN;
 * `of_baseline`: of the baseline's. */
double pp_validation_median_of_families(struct pp_arena *arena,
                                        const struct pp_validation *validation, bool of_baseline,
                                        int *count);
/* Returns the errors of latency and tokens/s of runs that generate, which no group has. */
struct pp_validation_errors pp_validation_generation_errors(struct pp_arena *arena,
                                                            const struct pp_validation *validation);
/* Reasons to skip rows, most frequent first. With `is_refused`, to refuse published values of rows
 * that are predicted all the same. */
struct pp_validation_reason {
    const char *text;
    int n;
    const struct pp_measurement *first;
};
struct pp_validation_reason *pp_validation_reasons(struct pp_arena *arena,
                                                   const struct pp_validation *validation,
                                                   bool is_refused, int *count);
struct pp_validation_count {
    int rows, predicted;
    int figure_rows, figures;         /* with one figure each, not among those; predicted */
    int generation_rows, generations; /* of runs that generate, likewise */
    int inferred;                     /* predicted with an inferred setting, not among those */
    int complete, complete_predicted; /* of rows that state every knob */
    /* of predicted rows: the published outcome, and the same outcome predicted */
    int oom, oom_refused; /* out of memory */
    int ran, ran_fits;    /* with a measurement; predicted to fit */
};
struct pp_validation_count pp_validation_count(const struct pp_validation *validation);

/* `worst`: number of rows with the largest errors. */
void pp_validation_print(struct pp_arena *arena, const struct pp_validation *validation, int worst,
                         FILE *out);
/* Page docs/accuracy.md: rows predicted with the built-in constants and, unless NULL, with
 * constants fitted without their family. */
struct pp_validation_page {
    const struct pp_validation *built_in, *judged;
};
void pp_validation_markdown(struct pp_arena *arena, const struct pp_validation_page *page,
                            FILE *out);
void pp_validation_json(struct pp_arena *arena, const struct pp_validation *validation, FILE *out);
void pp_validation_csv(const struct pp_validation *validation, FILE *out);
