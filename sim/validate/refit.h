/* sim/validate/refit.h — fits the constants of core/cost/constants.h to published step times.
 *
 * The fit minimizes the size of log(predicted / published) over all rows. A family of rows weighs
 * by the square root of its size; far outliers weigh little (Huber). The prior: a constant is like
 * its siblings, and these are like its typical value, within the spreads of core/cost/constants.h.
 * A constant that no row determines keeps its prior. Steps are Gauss-Newton with slopes by
 * differences; the engine is the ordinary one.
 *
 * A family can be left out: its errors are then those of an unknown family. */
#pragma once

#include "core/cost/constants.h"
#include "sim/published/published.h"

/* Knowledge before any row. PUBLISHED: typical values and their spreads. OWN: the built-in values,
 * for a few steps of a user's own; constants of a part move together. */
enum pp_refit_prior { PP_REFIT_PUBLISHED, PP_REFIT_OWN };

struct pp_refit_value {
    const struct pp_constant *constant;
    const char *owner;
    double log_value;
    int rows; /* number of rows that depend on it */
    /* Gaussian prior of the logarithm: siblings differ from their common value by `spread`, and
     * that from `mean` by `common` */
    double mean, spread, common;
    int siblings; /* number of their group */
};

struct pp_refit_row {
    const struct pp_measure_case *row;
    int family;
    double residual; /* log(predicted / published) at the values */
    double weight;   /* of its square; 0: the row is judged, but teaches nothing */
    int count;       /* number of values that it depends on */
    int *index;      /* [count] */
    double *slope;   /* [count] d residual / d log value */
};

struct pp_refit {
    struct pp_arena *arena;
    struct pp_refit_value *values;
    int value_count, value_capacity;
    struct pp_refit_row *rows;
    int row_count, family_count;
    const char **families; /* [family_count] */
    enum pp_refit_prior prior;
    int steps;
    int refused; /* rows that these values cannot predict */
};

/* Width of the prior of a part's constants, OWN: the best of the values in docs/validate.md,
 * "Constants of your own". */
extern const double pp_refit_own_width;
/* Lists the constants of rows with a step time and a prediction, with the presets' values. OWN:
 * rows of one layout err alike, and a family is all rows of a layout. */
void pp_refit_open(struct pp_arena *arena, const struct pp_measure_case *cases, int count,
                   enum pp_refit_prior prior, struct pp_refit *refit);
/* Fills the prior of a value from its constant, PUBLISHED. */
void pp_refit_typical(struct pp_refit_value *value);
/* Predicts the rows that teach, and their slopes by the values. Uses all cores. */
enum pp_status pp_refit_evaluate(struct pp_refit *refit, struct pp_error *err);
/* Steps until the loss hardly falls, at most `steps` times. */
enum pp_status pp_refit_solve(struct pp_refit *refit, int steps, struct pp_error *err);
/* Fits values without a family: [value_count] logarithms, from those of the fit on all rows. Steps
 * with new predictions and that fit's slopes until the loss hardly falls, at most `steps` times. If
 * one step of the linear model is small, it is the fit. */
enum pp_status pp_refit_without(const struct pp_refit *refit, int family, int steps,
                                double *log_values, struct pp_error *err);
/* Fills residuals of a family at other values (NULL: the fit's), [row_count]; keeps the others. */
enum pp_status pp_refit_judge(const struct pp_refit *refit, int family, const double *log_values,
                              double *residuals, struct pp_error *err);

struct pp_validation;
/* Fits on the rows of all families but one, for each in turn, and replaces that family's errors in
 * `validation`. Prints the constants to `out` (NULL: nowhere). */
enum pp_status pp_refit_validation(struct pp_arena *arena, const struct pp_measurements *list,
                                   struct pp_validation *validation, FILE *out,
                                   struct pp_error *err);

/* Predicts the rows that teach, without those of the family `without`; -1: none left out. */
enum pp_status pp_refit_residuals(struct pp_refit *refit, int without, struct pp_error *err);

double pp_refit_loss(const struct pp_refit *refit, int without);
/* Finds the minimum of the linear model around the present values: the change of each,
 * [value_count]. `without` is a family to leave out, -1 for none. */
void pp_refit_step(const struct pp_refit *refit, int without, double *change);
