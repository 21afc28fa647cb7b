/* sim/published/figures.h — tables with one published figure a row: columns metric, value and unit
 * name it, all others say what ran. Sources of offloading publish so: the largest model, a ratio of
 * two runs, a rate without the batch. Such rows count in no error of step times or memory, and no
 * constant is fitted on them. */
#pragma once

#include "sim/published/published.h"

/* How a figure follows from runs. */
enum pp_figure_kind {
    PP_FIGURE_STEP,          /* s */
    PP_FIGURE_FORWARD,       /* s of a step */
    PP_FIGURE_BACKWARD,      /* s of a step, with recomputation */
    PP_FIGURE_UPDATE,        /* s of a step: copies that nothing hides, and the optimizer */
    PP_FIGURE_SAMPLES,       /* samples/s of all devices */
    PP_FIGURE_RATE,          /* flop/s of a device, 8 for each parameter and token */
    PP_FIGURE_DEVICE_BYTES,  /* all that is taken on a device */
    PP_FIGURE_TENSOR_BYTES,  /* of it, what tensors take */
    PP_FIGURE_MEMORY_RATIO,  /* peak of one run over that of another */
    PP_FIGURE_STEP_RATIO,    /* step of one run over that of another */
    PP_FIGURE_LARGEST_PARAMS /* of the largest model that fits */
};

/* A metric of such tables. */
struct pp_figure_metric {
    const char *pattern; /* of its cell (pp_measure_matches) */
    enum pp_figure_kind kind;
    double unit; /* of a value of 1, in SI units */
    const char *unit_name;
};

/* Rule that adds options to a run if a cell matches; the first that gives an option counts. In
 * `options` words are parted by spaces; ~ stands for a space in a word, # for the number that # is
 * in the cell. NULL: the row is skipped, for `reason`. */
enum pp_figure_run { PP_FIGURE_BOTH, PP_FIGURE_FIRST, PP_FIGURE_SECOND };
struct pp_figure_rule {
    enum pp_measure_column column;
    const char *pattern;
    enum pp_figure_run run; /* of a ratio */
    const char *options, *reason;
};
extern const struct pp_figure_rule pp_figure_rules[]; /* ended by a pattern of NULL */

/* Sizes of models that sources name by their parameters alone, in rising order. */
struct pp_figure_size {
    double params_b;
    int layers, hidden;
    bool is_between; /* no candidate for the largest model: its source did not try it */
};
extern const struct pp_figure_size pp_figure_sizes[]; /* ended by 0 layers */

struct pp_published_figure {
    const struct pp_figure_metric *metric; /* NULL: the row is no such figure, or its metric is not
                                            * known */
    double published, predicted;           /* SI units; predicted NAN = skipped */
    struct pp_measure_command command[2];  /* of the run, or of both runs of a ratio */
    const char *found;                     /* "mbs 16", "90 layers": what was searched; or NULL */
    bool is_report; /* its source says too little to judge a prediction by it */
};

/* Is true for a row that publishes one figure. */
static inline bool pp_figure_is(const struct pp_measurement *row)
{
    return *row->cell[PP_COL_METRIC] != 0;
}
/* Predicts it. PP_EINVAL with a reason: the row is skipped. */
enum pp_status pp_figure_predict(struct pp_arena *arena, const struct pp_measurement *row,
                                 struct pp_published_figure *figure, struct pp_error *err);
