/* sim/validate/parts.h — parts of the reports of a validation. Private to sim/validate. */
#pragma once

#include "sim/validate/validate.h"

#include <jansson.h>

/* Returns the errors of n values, which it overwrites by their sizes. */
struct pp_validation_errors pp_validation_errors_of(double *values, int n);

/* Returns the rows that a filter takes, in the order of `compare`, which meets pointers to them. */
const struct pp_validation_row **pp_validation_sorted(struct pp_arena *arena,
                                                      const struct pp_validation *v,
                                                      pp_validation_filter is_in,
                                                      int (*compare)(const void *, const void *),
                                                      int *count);

/* Rows with one figure each: sim/validate/figures.c. */
void pp_validation_figure(struct pp_arena *arena, const struct pp_measurement *m,
                          struct pp_validation_row *row);
void pp_validation_print_figures(struct pp_arena *arena, const struct pp_validation *validation,
                                 FILE *out);
void pp_validation_markdown_figures(struct pp_arena *arena, const struct pp_validation *validation,
                                    FILE *out);
/* Prints a row that publishes one figure: its runs, what was searched, and the error. PP_EINVAL if
 * it is skipped. */
enum pp_status pp_validation_print_figure(struct pp_arena *arena, const struct pp_measurement *m,
                                          FILE *out, struct pp_error *err);
/* Returns the members of such a row. */
json_t *pp_validation_figure_json(const struct pp_validation_row *row);

/* Rows of runs that generate: sim/validate/generation.c. */
void pp_validation_print_generation(struct pp_arena *arena, const struct pp_validation *validation,
                                    int worst, FILE *out);
void pp_validation_markdown_generation(struct pp_arena *arena,
                                       const struct pp_validation *validation, FILE *out);
/* Adds the figures of such a row; null where it publishes none. */
void pp_validation_put_generation(const struct pp_validation_row *row, json_t *o);
