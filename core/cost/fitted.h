/* core/cost/fitted.h — constants fitted on a user's own measured steps, in a file.
 *
 * `pipesim validate TABLE --refit -o FILE.json` writes it, --constants FILE reads it. Its values
 * replace those of core/cost/constants.h for runs on devices of the same generation with the same
 * framework. Units are in the names. Everything lives in an arena. */
#pragma once

#include "core/arena.h"
#include "core/cost/constants.h"
#include "core/model/model.h"

#include <stdio.h>

#define PP_FITTED_SCHEMA "pipesim.constants/1"

struct pp_fitted_value {
    const struct pp_constant *constant;
    const char *owner; /* "hopper", "megatron" */
    double value;
};
struct pp_fitted_model {
    const char *name;
    int hidden, ffn; /* models of these sizes are alike, with any number of layers */
};
struct pp_fitted {
    const char *path;
    struct pp_fitted_value *values; /* those of one owner follow each other */
    int count, capacity;
    const char *generation, *framework; /* its owners; NULL = none. "plain" has no constants */
    struct pp_fitted_model *models;     /* [model_count] that ran */
    int model_count, model_capacity;
    const char **ids; /* [rows] of the steps that taught */
    int rows;
    double strength;      /* width of the prior, of a logarithm */
    double before, after; /* median error of these rows, built in and fitted: fractions */
    double left_out;      /* the same of layouts that taught nothing; NAN = one layout alone */
};

/* Prints the file, "pipesim.constants/1". */
void pp_fitted_print(const struct pp_fitted *fitted, FILE *out);
/* Reads strictly. PP_EINVAL with file, key and the nearest known key; PP_EFAIL if the file cannot
 * be read. */
enum pp_status pp_fitted_read(struct pp_arena *arena, const char *path, struct pp_fitted **fitted,
                              struct pp_error *err);
enum pp_status pp_fitted_parse(struct pp_arena *arena, const char *name, const char *text,
                               size_t length, struct pp_fitted **fitted, struct pp_error *err);
/* Share of the change, of a logarithm, that serves models that were not measured: other kernels err
 * otherwise. docs/validate.md, "Constants of your own", has the evidence. */
extern const double pp_fitted_other_share;
bool pp_fitted_has_model(const struct pp_fitted *fitted, const struct pp_model *model);
/* Sets the constants of a cluster and of a framework for a run of the model. PP_EINVAL if they are
 * of other devices or another framework. */
enum pp_status pp_fitted_apply(const struct pp_fitted *fitted, const struct pp_model *model,
                               struct pp_cluster *cluster, struct pp_framework *framework,
                               struct pp_error *err);
/* Returns "constants.json: 4 measured steps of llama3-8b (hopper, megatron)". */
const char *pp_fitted_text(struct pp_arena *arena, const struct pp_fitted *fitted,
                           const struct pp_model *model);
