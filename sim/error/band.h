/* sim/error/band.h — the error of a prediction, from published runs like it.
 *
 * rows.h lists |predicted / published - 1| of every published run that is predicted
 * (tests/published, docs/accuracy.md). A run is compared with rows that share its criteria. If
 * fewer than PP_ERROR_ROWS_MIN rows of PP_ERROR_SOURCES_MIN sources are alike, criteria are dropped
 * one by one, in this order:
 *
 *   step    version of the framework, PP > 1, several nodes, device, precision, framework
 *   memory  version of the framework, several nodes, device, generation, PP > 1, precision,
 *           framework
 *
 * The generation of the device (of a step) and whether the model has experts are never dropped.
 * fp16 and bf16 are alike. The framework `plain` is no criterion: nothing published ran with it.
 *
 * Constants of --constants have the error of the step that their file states, for models in it. */
#pragma once

#include "sim/config/config.h"

enum { PP_ERROR_ROWS_MIN = 8, PP_ERROR_SOURCES_MIN = 3 };

/* Figures of a run; generation has all, training the first one. */
enum pp_error_figure {
    PP_ERROR_LATENCY,
    PP_ERROR_TOKENS,
    PP_ERROR_FIRST_TOKEN,
    PP_ERROR_TOKEN,
    PP_ERROR_FIGURES
};

struct pp_error_band {
    int rows;                     /* that are alike; 0: too few */
    double median_frac, p90_frac; /* of |predicted / published - 1|; NAN: not known */
    const char *like;  /* kept criteria: "h100, 16 bits, PP > 1, no experts"; NULL: too few rows */
    const char *brief; /* the same without what is usual, such as one node */
    const char *lacks; /* generation of the device, of which none of the rows is; NULL: they are */
};
struct pp_error_bands {
    struct pp_error_band step, memory;
    const char *missing; /* why `step` has no rows, as a sentence; NULL = it has */
};

/* Finds the bands of a run. Texts are in the arena. There is none in unit mode, nor with measured
 * costs (--cost), nor for a device unlike its preset. Its peak then differs by more than a factor
 * of 1.25, or its memory bandwidth by more than 1.5. */
struct pp_error_bands pp_error_bands_of(struct pp_arena *arena, const struct pp_config *config);
/* Bands of a run that generates. generation_rows.h lists the errors of published ones. Dropped are
 * framework, TP > 1, PP > 1, several nodes, device, precision, and at last the generation of the
 * device, of which few are published. Experts, data on other tiers and less than 2 B parameters are
 * never dropped. Rows of one family are enough. */
struct pp_error_served {
    struct pp_error_band band[PP_ERROR_FIGURES];
    const char *missing; /* why no figure has rows, as a sentence; NULL = some have */
};
struct pp_error_served pp_error_served_of(struct pp_arena *arena, const struct pp_config *config);
/* Returns why no published run can be like this one, or NULL and the preset of its device. */
const char *pp_error_unknown(const struct pp_config *config, const struct pp_device **known);
/* Returns the preset that the device is, or nearly is; NULL for a device of the user's. */
const struct pp_device *pp_error_device(const struct pp_device *device);
