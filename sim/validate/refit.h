/* sim/validate/refit.h — fitting the constants of core/cost/constants.h on published step
 * times.
 *
 * The fit minimizes the logarithm of predicted / published over all rows. A family of rows
 * weighs by the square root of its size, far outliers weigh little (Huber). The prior: a
 * constant is like those of its siblings, and these are like its typical value, within the
 * spreads of core/cost/constants.h. A constant that no row tells stays there. Gauss-Newton
 * steps with slopes by differences; the engine is the ordinary one.
 *
 * A family can be left out: then its errors are those that an unknown family would see. */
#pragma once

#include "core/cost/constants.h"
#include "sim/published/published.h"

/* A constant of an owner. */
struct pp_refit_value {
    const struct pp_constant *constant;
    const char *owner;
    double log_value;
    int rows; /* that depend on it */
};

struct pp_refit_row {
    const struct pp_measure_case *row;
    int family;
    double residual; /* log(predicted / published) at the values */
    double weight;   /* of its square; 0: it teaches nothing, and is only judged */
    int count;       /* values it depends on, and by how much */
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
    int steps;
    int refused; /* rows that these values cannot predict */
};

/* Which values there are for these rows; those without a step time or a prediction are left out.
 * Values begin at those of the presets. */
void pp_refit_open(struct pp_arena *arena, const struct pp_measure_case *cases, int count,
                   struct pp_refit *refit);
/* Predict the rows that teach, and how that changes with the values. On all cores. */
enum pp_status pp_refit_evaluate(struct pp_refit *refit, struct pp_error *err);
/* Steps until the loss hardly falls any more, at most `steps`. */
enum pp_status pp_refit_solve(struct pp_refit *refit, int steps, struct pp_error *err);
/* Values fitted without a family, [value_count] logarithms, from those of the fit on all
 * rows. Steps with new predictions and that fit's slopes until the loss hardly falls, at most
 * `steps`. One step of the linear model where it is a small one. */
enum pp_status pp_refit_without(const struct pp_refit *refit, int family, int steps,
                                double *log_values, struct pp_error *err);
/* The residuals of the rows of a family at other values (NULL: those of the fit), [row_count];
 * those of other rows are left alone. */
enum pp_status pp_refit_judge(const struct pp_refit *refit, int family, const double *log_values,
                              double *residuals, struct pp_error *err);

/* ---- sim/validate/refit_report.c ---- */
struct pp_validation;
/* For each family in turn, fit on all rows of `validation` but that family, and replace the
 * family's errors by those of this fit. The constants go to `out` (NULL: nowhere). */
enum pp_status pp_refit_validation(struct pp_arena *arena, const struct pp_measurements *list,
                                   struct pp_validation *validation, FILE *out,
                                   struct pp_error *err);

/* ---- parts: sim/validate/refit.c ---- */
/* Predict the rows that teach but those of the family `without`; -1: none left out. */
enum pp_status pp_refit_residuals(struct pp_refit *refit, int without, struct pp_error *err);

/* ---- parts: sim/validate/refit_steps.c ---- */
double pp_refit_loss(const struct pp_refit *refit, int without);
/* Minimum of the linear model around the present values: the change of each, [value_count].
 * `without` is a family to leave out, -1 for none. */
void pp_refit_step(const struct pp_refit *refit, int without, double *change);
