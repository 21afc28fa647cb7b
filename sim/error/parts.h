/* sim/error/parts.h — published rows with their errors, and the choice of those like a run. */
#pragma once

#include "sim/error/band.h"

enum pp_criterion {
    PP_LIKE_DEVICE,
    PP_LIKE_GENERATION,
    PP_LIKE_VERSION,
    PP_LIKE_FRAMEWORK,
    PP_LIKE_PRECISION,
    PP_LIKE_PIPELINE,
    PP_LIKE_TENSOR,
    PP_LIKE_NODES,
    PP_LIKE_EXPERTS,
    PP_LIKE_SIZE,
    PP_LIKE_PLACE,
    PP_CRITERIA
};

/* Rows with the same criteria. */
struct pp_error_group {
    const char *device, *framework, *precision;
    bool has_pp, has_nodes, has_experts, has_tp, is_small, is_away;
    int source_count, count;
    const uint8_t *sources;  /* numbers of the documents that published them, or of families */
    const int16_t *permille; /* predicted / published - 1, in 1/1000 */
    enum pp_error_figure figure;
};
#define PP_ERROR_SOURCES(...) ((const uint8_t[]){__VA_ARGS__})

/* A group or a run in words; NULL: this is no criterion of the run. */
struct pp_likeness {
    const char *word[PP_CRITERIA];
};
/* Returns the criteria of a run on a known device. Those of generation alone are in it, too. */
struct pp_likeness pp_likeness_of_run(const struct pp_config *config,
                                      const struct pp_device *known);

/* Groups of one figure; criteria in the order in which they are dropped. The rest is always kept.
 */
struct pp_error_rows {
    const struct pp_error_group *groups;
    int count;
    const enum pp_criterion *order;
    int order_count, sources_min;
    enum pp_error_figure figure;
};
/* Returns the band of the rows like `run`; without rows if too few are. */
struct pp_error_band pp_error_band_like(struct pp_arena *arena, const struct pp_likeness *run,
                                        const struct pp_error_rows *rows);
